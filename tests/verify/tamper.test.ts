import assert from "node:assert/strict";
import { test } from "node:test";
import { tamperWith, verifyHonest } from "./tamper.ts";

test("1,000 tamperings without the key are all found against a saved seal, by both verifiers alike", () => {
  const { kinds, wrong } = tamperWith(1000, 1_000_000);
  assert.deepEqual(wrong, []);
  assert.ok([...kinds.values()].every(({ tried, found }) => tried >= 25 && found === tried));
});

test("250 honest journals, with erased bodies and unsealed tails, raise no alarm", () => {
  const { honest, wrong } = verifyHonest(250, 2_000_000);
  assert.deepEqual(wrong, []);
  assert.equal(honest, 250);
});
