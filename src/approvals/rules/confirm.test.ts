import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { RISK_LEVELS } from "../../policy/rules/verdict.ts";
import { asksToConfirm } from "./card.ts";

const ONE = [{ quorum: 1 }];
const final = { isIrreversible: true, risk: null, rules: ONE };

describe("a word is typed before approving", () => {
  test("what cannot be taken back and is of high or critical risk", () => {
    const asked = RISK_LEVELS.filter((level) => asksToConfirm({ ...final, risk: { level } }));
    assert.deepEqual(asked, ["high", "critical"]);
  });

  test("what cannot be taken back and several people have to agree to, whatever the risk is scored", () => {
    assert.equal(asksToConfirm(final), false);
    for (const risk of [null, ...RISK_LEVELS.map((level) => ({ level }))]) {
      assert.equal(asksToConfirm({ ...final, risk, rules: [{ quorum: 2 }] }), true);
      assert.equal(asksToConfirm({ ...final, risk, rules: [...ONE, ...ONE] }), true);
    }
  });

  test("never what can be taken back", () => {
    const grave = { risk: { level: "critical" }, rules: [{ quorum: 5 }] } as const;
    assert.equal(asksToConfirm({ ...grave, isIrreversible: false }), false);
  });
});
