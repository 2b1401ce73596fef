import assert from "node:assert/strict";
import { test } from "node:test";
import { issuesAgainst } from "./stored-schema.ts";

const SCHEMA = {
  type: "object",
  properties: {
    amount: { type: "number" },
    to: { type: "object", properties: { name: { type: "string" } } },
  },
  required: ["amount"],
  additionalProperties: false,
};

test("what does not fit is named by its path, and what is wrong with the whole has none", async () => {
  assert.equal(await issuesAgainst(SCHEMA, { amount: 1 }), undefined);
  assert.match(String(await issuesAgainst(SCHEMA, { amount: "x" })), /^amount: /);
  assert.match(String(await issuesAgainst(SCHEMA, { amount: 1, to: { name: 5 } })), /^to\.name: /);
  const whole = String(await issuesAgainst(SCHEMA, { amount: 1, mount: 2 }));
  assert.match(whole, /^Unrecognized key/, "without a colon before it");
  assert.doesNotMatch(whole, /(^|; ):/);
});
