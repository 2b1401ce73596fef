/**
 * Compact JWS (RFC 7515) with Ed25519 (RFC 8037), for seals and receipts.
 *
 * - Header and payload are canonical JSON; the header is exactly `alg`, `kid`, `typ`. So one payload has one JWS.
 * - `kid` is the RFC 7638 thumbprint of the public key. A JWS is accepted only under the `typ` the caller expects.
 */
import { createHash, createPrivateKey, createPublicKey, type KeyObject, sign, verify } from "node:crypto";
import { canonicalJson } from "../kernel/canonical-json.ts";
import { HoldpointError } from "../kernel/errors.ts";
import { isJsonObject, type JsonObject, parseJson } from "../kernel/json.ts";

export type PublicJwk = { readonly kty: "OKP"; readonly crv: "Ed25519"; readonly x: string };

export type SigningKey = {
  readonly kid: string;
  readonly privateKey: KeyObject;
  readonly publicJwk: PublicJwk;
};

/** A parsed JWS, not verified. */
type OpenedJws = {
  readonly kid: string;
  readonly payload: JsonObject;
  readonly signed: string;
  readonly signature: string;
};

export function thumbprint(jwk: PublicJwk): string {
  const { crv, kty, x } = jwk;
  return createHash("sha256").update(canonicalJson({ crv, kty, x })).digest("base64url");
}

export function signingKeyFromPkcs8(pem: string): SigningKey {
  const privateKey = readPrivateKey(pem);
  const { x } = createPublicKey(privateKey).export({ format: "jwk" });
  if (privateKey.asymmetricKeyType !== "ed25519" || x === undefined) {
    throw unusable("The signing key is not an Ed25519 key.");
  }
  const publicJwk: PublicJwk = { kty: "OKP", crv: "Ed25519", x };
  return { kid: thumbprint(publicJwk), privateKey, publicJwk };
}

function readPrivateKey(pem: string): KeyObject {
  try {
    return createPrivateKey({ key: pem, format: "pem" });
  } catch (cause) {
    throw unusable("The signing key is not a private key in PEM form.", cause);
  }
}

function unusable(what: string, cause?: unknown): HoldpointError {
  return new HoldpointError("key_unusable", what, { cause });
}

/** Reads a public key from JSON; undefined if it is none. Members other than `kty`, `crv` and `x` are dropped. */
export function readPublicJwk(value: unknown): PublicJwk | undefined {
  if (!isJsonObject(value)) return undefined;
  const { kty, crv, x } = value;
  if (kty !== "OKP" || crv !== "Ed25519" || typeof x !== "string") return undefined;
  const bytes = Buffer.from(x, "base64url");
  return bytes.length === 32 && bytes.toString("base64url") === x ? { kty, crv, x } : undefined;
}

export function signJws(payload: JsonObject, key: SigningKey, typ: string): string {
  const header = canonicalJson({ alg: "EdDSA", kid: key.kid, typ });
  const signed = `${encode(header)}.${encode(canonicalJson(payload))}`;
  return `${signed}.${sign(null, Buffer.from(signed), key.privateKey).toString("base64url")}`;
}

export function verifyJws(jws: string, publicKey: PublicJwk, typ: string): JsonObject | undefined {
  const opened = openJws(jws, typ);
  if (opened?.kid !== thumbprint(publicKey)) return undefined;
  return isSignatureValid(opened, publicKey) ? opened.payload : undefined;
}

export function isSignatureValid(jws: OpenedJws, publicKey: PublicJwk): boolean {
  const key = createPublicKey({ key: { ...publicKey }, format: "jwk" });
  return verify(null, Buffer.from(jws.signed), key, Buffer.from(jws.signature, "base64url"));
}

export function openJws(jws: string, typ: string): OpenedJws | undefined {
  const [head, body, signature, ...rest] = jws.split(".");
  if (head === undefined || body === undefined || signature === undefined || rest.length > 0)
    return undefined;
  const header = decode(head);
  const payload = decode(body);
  const kid = header?.["kid"];
  if (typeof kid !== "string" || payload === undefined) return undefined;
  if (canonicalJson(header) !== canonicalJson({ alg: "EdDSA", kid, typ })) return undefined;
  if (Buffer.from(signature, "base64url").toString("base64url") !== signature) return undefined;
  return { kid, payload, signed: `${head}.${body}`, signature };
}

const encode = (text: string): string => Buffer.from(text).toString("base64url");

function decode(part: string): JsonObject | undefined {
  const text = Buffer.from(part, "base64url").toString();
  if (encode(text) !== part) return undefined;
  try {
    const value = parseJson(text);
    return isJsonObject(value) && canonicalJson(value) === text ? value : undefined;
  } catch {
    return undefined;
  }
}
