import assert from "node:assert/strict";
import { test } from "node:test";
import { tamperWith, verifyHonest } from "./tamper.ts";

test("2,000 tamperings without the key are all found against a saved seal, by both verifiers alike", () => {
  const { kinds, wrong } = tamperWith(2000, 1_000_000);
  assert.deepEqual(wrong, []);
  assert.ok([...kinds.values()].every(({ tried, found }) => tried >= 50 && found === tried));
});

test("500 honest journals, with erased bodies and unsealed tails, raise no alarm", () => {
  const { honest, wrong } = verifyHonest(500, 2_000_000);
  assert.deepEqual(wrong, []);
  assert.equal(honest, 500);
});
