import assert from "node:assert/strict";
import { test } from "node:test";
import { sha256 } from "../../kernel/canonical-json.ts";
import { makeId } from "../../kernel/ids.ts";
import { csrfToken, formatSession, parseSession } from "./credential.ts";

const SECRET = Uint8Array.from({ length: 32 }, (_, at) => 255 - at);
const ID = makeId("ses", 1_800_000_000_000, new Uint8Array(10).fill(9));
const TEXT = formatSession({ tenant: "Acme Inc.", id: ID, secret: SECRET }) ?? "";

test("a session's cookie is read back, and its token is made from the secret without giving it away", () => {
  assert.match(TEXT, /^[A-Z2-7]+\.ses_[0-9A-Z]{26}\.[\w-]{43}$/);
  const read = parseSession(TEXT) ?? assert.fail();
  const secret = TEXT.slice(-43);
  assert.deepEqual(read, { tenant: "Acme Inc.", id: ID, hash: sha256(SECRET), csrf: csrfToken(secret) });
  assert.notEqual(read.csrf, secret);
  assert.match(read.csrf, /^[\w-]{43}$/);
});

test("whatever is not one is not read", () => {
  const odd = [
    `${TEXT}x`,
    TEXT.slice(1),
    TEXT.replace(".", "_"),
    TEXT.replace("ses_", "key_"),
    "",
    "..",
    `a.${ID}.${"_".repeat(43)}`,
  ];
  for (const text of [...odd, "x".repeat(1e6)])
    assert.equal(parseSession(text), undefined, text.slice(0, 80));
});
