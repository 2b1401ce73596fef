import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { findingText, policyFileOf, readCases } from "./read.ts";

const TEXT = `cases:
  - name: a small refund is approved
    when: { tool: issue_refund, args: { amount: 5 } }
    then: { verdict: approve }

  - name: none comes after it
    given:
      history:
        - { tool: issue_refund, args: { amount: 5 }, at: "2026-01-01T10:00:00+01:00" }
    when: { tool: issue_refund }
    then: { verdict: block, risk: high }
`;

describe("a file of cases", () => {
  it("is read with the line of each case", () => {
    const read = readCases(TEXT);
    assert.ok(read.ok, JSON.stringify(read));
    assert.deepEqual(read.lines, [2, 6]);
    assert.deepEqual(
      read.cases.cases.map(({ name }) => name),
      ["a small refund is approved", "none comes after it"],
    );
  });

  it("what is wrong in it is found by line", () => {
    const found = (text: string) => {
      const read = readCases(text);
      return read.ok ? [] : read.findings.map((one) => findingText("t.yaml", one));
    };
    assert.deepEqual(found(TEXT.replace("then: { verdict: approve }", "then: { verdict: revise }")), [
      "t.yaml:4:13  verdict is not one of approve, block, escalate",
    ]);
    assert.deepEqual(found(TEXT.replace("given:", "givn:")), [
      "t.yaml:7:5  givn is not a key here (did you mean given?)",
    ]);
    assert.deepEqual(found("cases: []\n").length, 1);
    assert.match(found("cases: [\n").join(), /^t\.yaml:\d+:\d+ {2}/);
  });

  it("belongs to the policy of the same name", () => {
    assert.equal(policyFileOf("a/refunds.test.yaml"), "a/refunds.yaml");
    assert.equal(policyFileOf("refunds.policy.test.json"), "refunds.policy.json");
    assert.equal(policyFileOf("refunds.yaml"), undefined);
  });
});
