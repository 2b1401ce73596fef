import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as fc from "fast-check";
import { runs } from "../../../tests/properties/runs.ts";
import { sha256 } from "../../kernel/canonical-json.ts";
import { makeId } from "../../kernel/ids.ts";
import { formatCredential, parseCredential, tenantFromText, tenantText } from "./credential.ts";

const bytes = (count: number) => fc.uint8Array({ minLength: count, maxLength: count });
const ID = makeId("key", 1_800_000_000_000, new Uint8Array(10).fill(7));
const SECRET = Uint8Array.from({ length: 32 }, (_, at) => at);
const TEXT = formatCredential("hpk", { tenant: "default", id: ID, secret: SECRET }) ?? "";
const KEY = new RegExp(`^hpk_default_${ID.slice(4)}_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8[\\w-]{6}$`);

describe("the text of a key", () => {
  test("has a prefix, its tenant, its id, the secret and a checksum", () => {
    assert.match(TEXT, KEY);
    assert.deepEqual(parseCredential("hpk", TEXT), { tenant: "default", id: ID, hash: sha256(SECRET) });
  });

  test("is read back as it was written, for any tenant, id and secret", () => {
    const tenant = fc.oneof(
      fc.stringMatching(/^[a-z0-9-]{1,64}$/),
      fc.string({ minLength: 1, maxLength: 60, unit: "binary" }),
    );
    void fc.assert(
      fc.property(tenant, bytes(10), bytes(32), (name, random, secret) => {
        const id = makeId("key", 1_800_000_000_000, random);
        const text = formatCredential("hpk", { tenant: name, id, secret }) ?? "";
        assert.deepEqual(parseCredential("hpk", text), { tenant: name, id, hash: sha256(secret) });
        assert.equal(parseCredential("hpl", text), "malformed");
      }),
      runs(300),
    );
  });

  test("with one character changed, missing or added is never read", () => {
    const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let [tried, told] = [0, 0];
    for (let at = 0; at < TEXT.length; at++) {
      const put = (middle: string, skip: number) => TEXT.slice(0, at) + middle + TEXT.slice(at + skip);
      const mutants = [...alphabet].flatMap((one) => [put(one, 1), put(one, 0)]);
      for (const mutant of [...mutants, put("", 1)].filter((one) => one !== TEXT)) {
        tried += 1;
        const read = parseCredential("hpk", mutant);
        assert.equal(typeof read, "string", mutant);
        if (read === "wrong_checksum") told += 1;
      }
    }
    assert.ok(tried > 10_000, `${tried} tried`);
    assert.ok(told > 1_000, `${told} told by the checksum`);
  });

  test("whatever else comes is malformed, and takes no time to tell", () => {
    void fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 200 }), (text) => {
        assert.equal(parseCredential("hpk", text), "malformed");
        assert.equal(parseCredential("hpk", `hpk_${text}`), "malformed");
      }),
      runs(300),
    );
    for (const text of [
      "",
      "hpk_",
      "a".repeat(1e6),
      `${TEXT}\n`,
      ` ${TEXT}`,
      TEXT.toUpperCase(),
      `hpk_${"-".repeat(1e6)}`,
    ])
      assert.equal(parseCredential("hpk", text), "malformed");
  });
});

describe("a tenant's name in a credential", () => {
  test("stands as it is where it can, and each name has one form", () => {
    assert.equal(tenantText("acme-2"), "acme-2");
    assert.equal(tenantText("Acme_2"), "BIFRW2ZK7GI");
    for (const text of ["BIFRW2ZK7GJ", "B", "BA", "BME", "Acme", "acme_2", "", "-\u0000", "BMFRW2ZI"])
      assert.equal(tenantFromText(text), undefined, text);
    assert.equal(tenantText(""), undefined);
    assert.equal(tenantText("\ud800"), undefined);
    assert.equal(tenantText("é".repeat(200)), undefined);
  });
});
