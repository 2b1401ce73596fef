import assert from "node:assert/strict";
import { test } from "node:test";
import { BLANK_GRANT, grantFaults, grantFormOf, offerOf } from "./grant-form.ts";

const OFFER = {
  tool: "payments.refund",
  when: "args.amount_usd <= 100",
  agent: "clerk",
  uses: 50,
  for_seconds: 604_800,
  total: { currency: "USD", micros: "500000000" },
  amount: "args.amount_usd",
  reason: "small refunds, week 20",
};

test("a suggested grant is laid out whole, and given as it was suggested", () => {
  assert.deepEqual(offerOf(grantFormOf(OFFER)), OFFER);
});

test("what was left out is not sent", () => {
  const form = { ...BLANK_GRANT, tool: "mail.send", reason: "newsletter" };
  assert.deepEqual(offerOf(form), {
    tool: "mail.send",
    uses: 20,
    for_seconds: 604_800,
    reason: "newsletter",
  });
});

test("a grant without a tool, a reason or a count of uses is not sent", () => {
  assert.equal(offerOf(BLANK_GRANT), null);
  assert.equal(offerOf({ ...grantFormOf(OFFER), reason: " " }), null);
  assert.equal(offerOf({ ...grantFormOf(OFFER), uses: "0" }), null);
  assert.equal(offerOf({ ...grantFormOf(OFFER), uses: "many" }), null);
});

test("a total needs its currency and the argument that it is summed from", () => {
  const faults = grantFaults({ ...BLANK_GRANT, total: "12.x", currency: "", amount: "" });
  assert.deepEqual(Object.keys(faults), ["total", "currency", "amount"]);
  assert.deepEqual(grantFaults(BLANK_GRANT), {});
});

test("a suggestion that is no grant leaves a blank form", () => {
  assert.deepEqual(grantFormOf(null), BLANK_GRANT);
});
