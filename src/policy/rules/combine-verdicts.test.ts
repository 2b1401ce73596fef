import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as fc from "fast-check";
import { digestOf } from "../../kernel/canonical-json.ts";
import type { Json } from "../../kernel/json.ts";
import { stricterVerdict } from "./combine-verdicts.ts";
import { reviewAction } from "./review.ts";
import { type ApprovalTerms, approvalTerms, listStageRules } from "./stages.ts";
import type { ApproverRule, PolicyInput, StageRule, Verdict } from "./verdict.ts";

type Escalation = Extract<Verdict, { verdict: "escalate" }>;

const [ANN, BOB, CAT] = ["person:ann", "person:bob", "person:cat"] as const;
const HOUR = 3_600_000;
const asks = (given: Omit<Escalation, "verdict"> = {}): Escalation => ({ verdict: "escalate", ...given });
const MANAGERS = { quorum: 2, from: [ANN, BOB, CAT] };
const TWO = asks({ approvers: MANAGERS, reason: "two managers", rule: "two" });
const INPUT = { requester: ["agent:a"], args: {}, tool: "pay" } as unknown as PolicyInput;

const both = (first: Verdict, second: Verdict) =>
  reviewAction(
    { policy: () => stricterVerdict(first, second), validate: (value: Json) => ({ ok: true, value }) },
    INPUT,
  );
const termsOfBoth = (first: Escalation, second: Escalation) => {
  const review = both(first, second);
  assert.ok(review.verdict === "escalate", review.reason);
  return review;
};
const people = (...names: readonly string[]): ApproverRule => ({ quorum: 1, from: names, veto: true });

describe("of two verdicts", () => {
  const block: Verdict = { verdict: "block", reason: "no" };
  const revise: Verdict = { verdict: "revise", set: {}, reason: "less" };
  const approve: Verdict = { verdict: "approve" };
  const order = [approve, TWO, revise, block];
  test("the stricter one holds, whoever says it", () => {
    for (const [index, one] of order.entries())
      for (const other of order.slice(index + 1)) {
        assert.equal(stricterVerdict(one, other), other);
        assert.equal(stricterVerdict(other, one), other);
      }
  });

  test("of a kind that asks nobody, the first one holds", () => {
    for (const one of [approve, revise, block]) assert.equal(stricterVerdict(one, { ...one }), one);
  });

  test("one that is none does not leave the decision to the other: it is blocked", () => {
    for (const none of [{ verdict: "aprove" }, {}, undefined, null, "approve"] as unknown as Verdict[])
      for (const other of [approve, TWO]) {
        assert.equal(both(none, other).verdict, "block");
        assert.equal(both(other, none).verdict, "block");
      }
  });

  test("an escalation whose terms are none is blocked, whatever the other asks", () => {
    const none = asks({ approvers: { from: "everybody" as never } });
    for (const answer of [both(none, asks()), both(asks(), none), both(TWO, none)])
      assert.match(answer.reason, /can be used: approvers.from/);
  });
});

describe("where both ask people", () => {
  test("any one person of one policy does not stand for two managers of the other", () => {
    for (const review of [termsOfBoth(asks(), TWO), termsOfBoth(TWO, asks())]) {
      assert.deepEqual(review.approvers, { ...MANAGERS, veto: true });
      assert.equal(review.stages, undefined);
    }
  });

  test("the deadlines and stages of the other hold beside any one person", () => {
    const staged = asks({
      stages: [{ from: [ANN] }, { from: [BOB] }],
      decideWithinMs: HOUR,
      executeWithinMs: 5,
      onTimeout: "escalate",
    });
    const { verdict: _, ...given } = staged;
    assert.partialDeepStrictEqual(termsOfBoth(asks(), staged), approvalTerms(given) as ApprovalTerms);
    assert.partialDeepStrictEqual(termsOfBoth(staged, asks()), approvalTerms(given) as ApprovalTerms);
  });

  test("the same people are asked once, in whichever order they are named, within the shorter time", () => {
    const one = asks({ approvers: { from: [ANN, BOB] }, decideWithinMs: 2 * HOUR, executeWithinMs: 3 });
    const other = asks({ approvers: { from: [BOB, ANN, BOB] }, decideWithinMs: HOUR });
    const review = termsOfBoth(one, other);
    assert.deepEqual([review.stages, review.approvers], [undefined, people(ANN, BOB)]);
    assert.deepEqual([review.decideWithinMs, review.executeWithinMs], [HOUR, 3]);
  });

  test("different people are asked one after the other, those of the first policy first", () => {
    const review = termsOfBoth(asks({ approvers: { from: [CAT] }, decideWithinMs: HOUR }), TWO);
    assert.deepEqual(review.stages, [
      { ...people(CAT), decideWithinMs: HOUR },
      { ...MANAGERS, veto: true, decideWithinMs: HOUR },
    ]);
  });

  test("any one person with a deadline is a stage of its own", () => {
    const { stages } = termsOfBoth(asks({ decideWithinMs: HOUR }), TWO);
    assert.equal(stages?.length, 2);
  });

  test("one who is asked by a stage of the other is not asked twice, as long as the order is the same", () => {
    const staged = asks({ stages: [{ from: [ANN] }, { from: [BOB] }, { from: [CAT] }] });
    const rules = [people(ANN), people(BOB), people(CAT)];
    const part = asks({ stages: [{ from: [ANN] }, { from: [CAT] }] });
    assert.deepEqual(listStageRules(termsOfBoth(part, staged)), rules);
    assert.deepEqual(listStageRules(termsOfBoth(staged, part)), rules);
    const turned = asks({ stages: [{ from: [CAT] }, { from: [ANN] }] });
    assert.match(both(turned, staged).reason, /each person decides once/);
  });

  test("what nobody can meet is blocked: the same person would have to decide twice", () => {
    const answer = both(
      asks({ approvers: { from: [ANN] } }),
      asks({ approvers: { quorum: 2, from: [ANN, BOB] } }),
    );
    assert.equal(answer.verdict, "block");
    assert.match(answer.reason, /each person decides once/);
  });

  test("more stages than there may be are blocked", () => {
    const six = (prefix: string) =>
      asks({ stages: Array.from({ length: 6 }, (_, index) => ({ from: [`person:${prefix}${index}`] })) });
    assert.match(both(six("a"), six("b")).reason, /1 to 10/);
  });

  test("a deadline does not hand over from the people of one policy to those of the other", () => {
    const one = asks({
      stages: [{ from: [ANN] }, { from: [BOB] }],
      decideWithinMs: 5,
      onTimeout: "escalate",
    });
    const other = asks({ approvers: { from: [CAT] }, decideWithinMs: 5, onTimeout: "escalate" });
    assert.equal(termsOfBoth(one, other).onTimeout, undefined);
    assert.equal(termsOfBoth(one, { ...one, onTimeout: "expire" }).onTimeout, undefined);
    assert.equal(termsOfBoth(one, { ...one, executeWithinMs: 9 }).onTimeout, "escalate");
    const extend = { onTimeout: "extend" } as const;
    assert.equal(termsOfBoth({ ...one, ...extend }, { ...other, ...extend }).onTimeout, "extend");
  });

  test("reasons and rules of both are named, once each", () => {
    const other = asks({ approvers: { from: [CAT] }, reason: "over 1000", rule: "large" });
    assert.partialDeepStrictEqual(both(other, TWO), {
      rule: "large; two",
      reason: "over 1000; two managers",
    });
    assert.partialDeepStrictEqual(both(asks(), TWO), { rule: "two", reason: "two managers" });
    assert.partialDeepStrictEqual(both(TWO, TWO), { rule: "two", reason: "two managers" });
    assert.partialDeepStrictEqual(both(asks(), asks()), { rule: "policy", reason: "" });
  });

  test("risk and rules on trial are kept, whoever said them", () => {
    const risk = { score: 3, level: "high", conditions: ["new"] } as const;
    const shadow = [{ rule: "trial", verdict: "block", reason: "perhaps" }];
    assert.partialDeepStrictEqual(both(asks({ risk }), { ...TWO, shadow }), { risk, shadow });
  });
});

const time = fc.option(fc.integer({ min: 0, max: 9 }), { nil: undefined });
const stage: fc.Arbitrary<StageRule> = fc
  .record({
    from: fc.constantFrom(null, [ANN], [BOB, CAT], [CAT, BOB]),
    quorum: fc.integer({ min: 1, max: 2 }),
    veto: fc.boolean(),
    decideWithinMs: time,
  })
  .map(({ decideWithinMs, ...rule }) => (decideWithinMs === undefined ? rule : { ...rule, decideWithinMs }));
const escalation = fc
  .record({
    stages: fc.array(stage, { minLength: 1, maxLength: 3 }),
    executeWithinMs: time,
    onTimeout: fc.constantFrom("expire", "escalate", "extend"),
  })
  .map(({ executeWithinMs, ...rest }) =>
    asks({ ...rest, ...(executeWithinMs !== undefined && { executeWithinMs }) } as never),
  );

const keyOf = ({ from, quorum, veto }: ApproverRule) =>
  digestOf({ quorum, veto, from: from === null ? null : from.toSorted() });
const stagesIn = (terms: ApprovalTerms) =>
  terms.stages ?? [{ ...terms.approvers, decideWithinMs: terms.decideWithinMs }];
const least = (times: readonly (number | null)[]) =>
  Math.min(...times.map((one) => one ?? Number.POSITIVE_INFINITY));

test("whoever meets what comes of both meets each of them, and in no more time", () => {
  void fc.assert(
    fc.property(escalation, escalation, (first, second) => {
      const result = approvalTerms(stricterVerdict(first, second) as Escalation) as ApprovalTerms;
      const keys = listStageRules(result).map(keyOf);
      for (const side of [first, second].map((one) => approvalTerms(one) as ApprovalTerms)) {
        const wanted = listStageRules(side).map(keyOf);
        const left = keys.reduce((rest, key) => (rest[0] === key ? rest.slice(1) : rest), wanted);
        const anybody = wanted.length === 1 && keyOf({ quorum: 1, from: null, veto: true }) === wanted[0];
        assert.ok(left.length === 0 || anybody, "somebody is left out");
        assert.ok(least([result.executeWithinMs]) <= least([side.executeWithinMs]));
        const longest = Math.max(...stagesIn(side).map((one) => least([one.decideWithinMs])));
        for (const one of stagesIn(result)) assert.ok(least([one.decideWithinMs]) <= longest);
        if (result.onTimeout === "escalate" && !anybody) assert.deepEqual(keys, wanted);
      }
    }),
  );
});
