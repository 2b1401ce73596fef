import assert from "node:assert/strict";
import { test } from "node:test";
import { BLANK_KEY, keyOfferOf } from "./key-form.ts";

test("a key is for somebody and has a name, or it is not asked for", () => {
  assert.equal(keyOfferOf(BLANK_KEY), null);
  assert.equal(keyOfferOf({ ...BLANK_KEY, who: "mailer" }), null);
  assert.equal(keyOfferOf({ ...BLANK_KEY, who: "agent:", name: "web-1" }), null);
});

test("a prefix that was typed along does no harm", () => {
  assert.equal(keyOfferOf({ ...BLANK_KEY, who: "agent:mailer", name: "web-1" })?.principal, "agent:mailer");
});

test("what was left open is not sent: no expiry, no scopes, and no roles of a person", () => {
  const form = { ...BLANK_KEY, who: "ann", name: "laptop", seconds: 0 } as const;
  assert.deepEqual(keyOfferOf({ ...form, kind: "person" }), { principal: "person:ann", name: "laptop" });
  assert.deepEqual(keyOfferOf({ ...form, kind: "service", scopes: ["journal:read"] }), {
    principal: "service:ann",
    name: "laptop",
    roles: ["executor"],
    scopes: ["journal:read"],
  });
});
