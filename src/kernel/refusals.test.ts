import assert from "node:assert/strict";
import { test } from "node:test";
import { REFUSALS, type RefusalCode, refusal } from "./refusals.ts";

const MAY_CHANGE: readonly string[] = ["stopped", "over_budget", "pending"];

for (const code of Object.keys(REFUSALS) as RefusalCode[]) {
  test(`a refusal "${code}" says by whom, why, whether to try again and what to do next`, () => {
    const said = refusal(code, "somebody", "something");
    assert.deepEqual(Object.keys(said).toSorted(), ["by", "code", "next", "reason", "retry"]);
    assert.equal(said.retry, MAY_CHANGE.includes(code));
    assert.match(said.next, /^[A-Z].*\.$/);
  });
}

test("a refusal that will not change says so: the same request id has this answer for ever", () => {
  for (const [code, { retry, next }] of Object.entries(REFUSALS))
    assert.equal(/same request id/.test(next), retry, code);
});
