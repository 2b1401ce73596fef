import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as fc from "fast-check";
import { type ApprovalTerms, approvalTerms, canBeSeated, whyUnmeetable } from "./stages.ts";
import type { ApproverRule, Verdict } from "./verdict.ts";

const [ANN, BOB, CAT] = ["person:ann", "person:bob", "person:cat"] as const;
const terms = (given: Omit<Extract<Verdict, { verdict: "escalate" }>, "verdict">) =>
  approvalTerms(given) as ApprovalTerms;
const rule = (from: readonly string[] | null, quorum = 1): ApproverRule => ({ quorum, from, veto: true });

describe("the terms of an approval", () => {
  test("without stages are what they always were: nothing more is recorded", () => {
    assert.deepEqual(approvalTerms({ decideWithinMs: 5, onTimeout: "expire" }), {
      approvers: { quorum: 1, from: null, veto: true },
      decideWithinMs: 5,
      executeWithinMs: null,
    });
  });

  test("with one stage are the same as with approvers alone", () => {
    assert.deepEqual(
      approvalTerms({ stages: [{ from: [ANN], decideWithinMs: 5 }] }),
      approvalTerms({ approvers: { from: [ANN] }, decideWithinMs: 5 }),
    );
  });

  test("give each stage its own time, or the time that stands beside them", () => {
    const { stages, decideWithinMs } = terms({
      stages: [{}, { decideWithinMs: 7, veto: false }],
      decideWithinMs: 5,
    });
    assert.equal(decideWithinMs, 5);
    assert.deepEqual(stages, [
      { quorum: 1, from: null, veto: true, decideWithinMs: 5 },
      { quorum: 1, from: null, veto: false, decideWithinMs: 7 },
    ]);
  });

  for (const [what, given] of [
    ["approvers beside stages", { approvers: {}, stages: [{}, {}] }],
    ["no stage at all", { stages: [] }],
    ["eleven stages", { stages: Array.from({ length: 11 }, () => ({})) }],
    ["stages that are no list", { stages: { 0: {} } }],
    ["a stage that is no object", { stages: [{}, "ann"] }],
    ["a stage from somebody who is no list", { stages: [{}, { from: ANN }] }],
    ["a stage with a time that is none", { stages: [{}, { decideWithinMs: -1 }] }],
    ["a stage with a veto that is none", { stages: [{}, { veto: "yes" }] }],
    ["another end of the time", { onTimeout: "approve" }],
  ] as const)
    test(`are none with ${what}`, () => {
      assert.equal(typeof approvalTerms(given as never), "string");
    });
});

describe("a quorum over stages", () => {
  test("is refused when the people of one stage cannot meet it", () => {
    const said = whyUnmeetable(terms({ stages: [{}, { from: [ANN, BOB], quorum: 3 }] }), []);
    assert.match(String(said), /^stage 2: 3 people are asked for and 2/);
  });

  test("is refused when only the requester is left of a stage", () => {
    assert.match(
      String(whyUnmeetable(terms({ stages: [{ from: [ANN] }, { from: [BOB] }] }), [BOB])),
      /^stage 2/,
    );
  });

  test("is refused when two stages need the same person, since each decides once", () => {
    assert.match(
      String(whyUnmeetable(terms({ stages: [{ from: [ANN] }, { from: [ANN] }] }), [])),
      /more people than they name/,
    );
    assert.equal(whyUnmeetable(terms({ stages: [{ from: [ANN, BOB] }, { from: [ANN] }] }), []), undefined);
  });

  test("is met by any person where nobody is named", () => {
    assert.equal(whyUnmeetable(terms({ stages: [{ from: [ANN] }, {}, { quorum: 2 }] }), []), undefined);
  });

  test("can be seated exactly when some way of seating people exists", () => {
    const from = fc.option(fc.subarray([ANN, BOB, CAT, "person:dan"]), { nil: null });
    const rules = fc.array(
      fc.record({ from, quorum: fc.integer({ min: 1, max: 2 }), veto: fc.constant(true) }),
      {
        maxLength: 4,
      },
    );
    const seatable = (left: readonly ApproverRule[], used: readonly string[]): boolean => {
      const [first, ...rest] = left;
      if (first === undefined) return true;
      if (first.from === null) return seatable(rest, used);
      if (first.quorum === 0) return seatable(rest, used);
      const fewer = { ...first, quorum: first.quorum - 1 };
      return first.from.some((who) => !used.includes(who) && seatable([fewer, ...rest], [...used, who]));
    };
    void fc.assert(
      fc.property(rules, (list) => {
        assert.equal(
          canBeSeated(list, () => false),
          seatable(list, []),
        );
      }),
    );
    assert.equal(
      canBeSeated([rule([ANN])], (who) => who === ANN),
      false,
    );
  });
});
