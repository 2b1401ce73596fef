import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { test } from "node:test";
import { isHoldpointError } from "../kernel/errors.ts";
import { openJws, readPublicJwk, signingKeyFromPkcs8, signJws, thumbprint, verifyJws } from "./jws.ts";

/** The key of RFC 8037, appendix A. */
const PEM = `-----BEGIN PRIVATE KEY-----
MC4CAQAwBQYDK2VwBCIEIJ1hsZ3v/VpguoRK9JLsLMREScVpezJpGXA7rAMcrn9g
-----END PRIVATE KEY-----
`;
const KEY = signingKeyFromPkcs8(PEM);
const TYP = "test+jws";

test("public key and thumbprint are those of RFC 8037, appendix A", () => {
  assert.deepEqual(KEY.publicJwk, {
    kty: "OKP",
    crv: "Ed25519",
    x: "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo",
  });
  assert.equal(KEY.kid, "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k");
});

test("signing is deterministic, and what was signed verifies", () => {
  const jws = signJws({ b: 1, a: "é" }, KEY, TYP);
  assert.equal(jws, signJws({ a: "é", b: 1 }, KEY, TYP));
  assert.deepEqual(verifyJws(jws, KEY.publicJwk, TYP), { a: "é", b: 1 });
});

test("another type, another key, or any changed character is refused", () => {
  const jws = signJws({ amount: 1 }, KEY, TYP);
  const other = Buffer.alloc(32, 1).toString("base64url");
  assert.equal(verifyJws(jws, KEY.publicJwk, "other+jws"), undefined);
  assert.equal(verifyJws(jws, { ...KEY.publicJwk, x: other }, TYP), undefined);
  for (let at = 0; at < jws.length; at++) {
    const changed = jws.slice(0, at) + (jws[at] === "A" ? "B" : "A") + jws.slice(at + 1);
    assert.equal(verifyJws(changed, KEY.publicJwk, TYP), undefined, `character ${at}`);
  }
});

test("a JWS has one spelling: no other header, no white space, no padding, no fourth part", () => {
  const [head = "", body = "", signature = ""] = signJws({ a: 1 }, KEY, TYP).split(".");
  const encode = (text: string) => Buffer.from(text).toString("base64url");
  const none = encode(JSON.stringify({ alg: "none", kid: KEY.kid, typ: TYP }));
  const critical = encode(JSON.stringify({ alg: "EdDSA", crit: ["b64"], kid: KEY.kid, typ: TYP }));
  const wrong = [
    "",
    "..",
    `${head}.${body}`,
    `${head}.${body}.${signature}.`,
    `${head}.${body}.${signature}=`,
    `${head}.${body}. ${signature}`,
    `${none}.${body}.`,
    `${critical}.${body}.${signature}`,
    `${head}.${encode('{ "a":1}')}.${signature}`,
    `${head}.${encode('{"a":1,"a":1}')}.${signature}`,
    `${head}.${encode("[1]")}.${signature}`,
  ];
  for (const jws of wrong) assert.equal(openJws(jws, TYP), undefined, jws);
});

test("a file that holds no Ed25519 private key is refused", () => {
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const ec = privateKey.export({ type: "pkcs8", format: "pem" }).toString();
  for (const pem of ["", "no key", ec]) {
    assert.throws(
      () => signingKeyFromPkcs8(pem),
      (error) => isHoldpointError(error, "key_unusable"),
    );
  }
});

test("a public key is read from JSON strictly; other members are dropped", () => {
  const jwk = { ...KEY.publicJwk, kid: "a name", use: "sig" };
  assert.deepEqual(readPublicJwk(jwk), KEY.publicJwk);
  assert.equal(thumbprint(KEY.publicJwk), KEY.kid);
  for (const wrong of [
    null,
    [],
    {},
    { ...jwk, kty: "EC" },
    { ...jwk, x: "AAAA" },
    { ...jwk, x: `${jwk.x}=` },
  ]) {
    assert.equal(readPublicJwk(wrong), undefined);
  }
});
