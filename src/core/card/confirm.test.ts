import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { RISK_LEVELS } from "../verdict.ts";
import { asksToConfirm } from "./confirm.ts";

const ONE = [{ quorum: 1 }];
const final = { isIrreversible: true, risk: null, rules: ONE };

describe("a word is typed before approving", () => {
  test("what cannot be taken back and is of high or critical risk", () => {
    const asked = RISK_LEVELS.filter((level) => asksToConfirm({ ...final, risk: { level } }));
    assert.deepEqual(asked, ["high", "critical"]);
  });

  test("what cannot be taken back and needs several people, where nobody scores the risk", () => {
    assert.equal(asksToConfirm(final), false);
    assert.equal(asksToConfirm({ ...final, rules: [{ quorum: 2 }] }), true);
    assert.equal(asksToConfirm({ ...final, rules: [...ONE, ...ONE] }), true);
  });

  test("never what was scored low, however many people are asked", () => {
    const low = { ...final, risk: { level: "low" } } as const;
    assert.equal(asksToConfirm({ ...low, rules: [{ quorum: 3 }, { quorum: 2 }] }), false);
  });

  test("never what can be taken back", () => {
    const grave = { risk: { level: "critical" }, rules: [{ quorum: 5 }] } as const;
    assert.equal(asksToConfirm({ ...grave, isIrreversible: false }), false);
  });
});
