import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { allHold } from "./conditions.ts";
import { type Fields, openSamples, type Sample, type Samples } from "./samples.ts";
import { suggestionsFrom } from "./suggest.ts";

const DAY = 86_400_000;

type Given = {
  readonly fields: Fields;
  readonly decision: Sample["decision"];
  readonly by?: string;
  readonly day?: number;
};

function samplesOf(given: readonly Given[], agent = "agent:support"): Samples {
  const samples = openSamples(null);
  const list = given.map(({ fields, decision, by, day }, index) => ({
    at: (day ?? index) * DAY,
    fields,
    isUnread: false,
    rule: "large",
    decision,
    by: [by ?? "person:ann"],
  }));
  samples.groups.set(agent, { tool: "issue_refund", agent, samples: list });
  return samples;
}

const yes = (amount: number, more: Fields = {}): Given => ({
  fields: { amount_usd: amount, ...more },
  decision: "approved",
});
const no = (amount: number, more: Fields = {}): Given => ({
  fields: { amount_usd: amount, ...more },
  decision: "rejected",
});
const times = (count: number, make: (index: number) => Given) =>
  Array.from({ length: count }, (_, i) => make(i));

describe("what people's decisions support", () => {
  test("is bounded by the highest that they approved", () => {
    const [one, ...rest] = suggestionsFrom(samplesOf(times(50, (i) => yes(i % 121))), 20);
    assert.equal(one?.when, "args.amount_usd <= 49");
    assert.deepEqual([one?.approved, one?.letThrough.total, one?.keptOut, rest.length], [50, 50, 0, 0]);
  });

  test("stays below everything that they rejected or changed", () => {
    const edited: Given = { fields: { amount_usd: 40 }, decision: "edited" };
    const [one] = suggestionsFrom(samplesOf([...times(60, yes), no(70), edited]), 20);
    assert.equal(one?.when, "args.amount_usd <= 39");
    assert.deepEqual([one?.approved, one?.keptOut], [40, 2]);
  });

  test("is nothing where a rejected one would be let through whatever the bound", () => {
    assert.deepEqual(suggestionsFrom(samplesOf([...times(60, yes), no(0)]), 20), []);
  });

  test("is nothing where the arguments of a rejected one cannot be looked at", () => {
    const samples = samplesOf(times(60, yes));
    const unread = { at: 0, fields: {}, isUnread: true, rule: "r", decision: "rejected", by: [] } as const;
    samples.groups.get("agent:support")?.samples.push({ ...unread });
    assert.deepEqual(suggestionsFrom(samples, 20), []);
  });

  test("is split by a text where people say yes to one value and no to another", () => {
    const given = [
      ...times(30, (i) => yes(i, { region: "eu" })),
      ...times(30, (i) => yes(i, { region: "us" })),
      no(0, { region: "us" }),
    ];
    assert.deepEqual(
      suggestionsFrom(samplesOf(given), 20).map(({ when }) => when),
      ['args.amount_usd <= 29 && args.region == "eu"'],
    );
  });

  test("bounds no number that names something, unless it was always the same", () => {
    const [many] = suggestionsFrom(samplesOf(times(30, (i) => yes(i, { user_id: i, orderId: i }))), 20);
    assert.equal(many?.when, "args.amount_usd <= 29");
    const [one] = suggestionsFrom(samplesOf(times(30, (i) => yes(i, { user_id: 7 }))), 20);
    assert.equal(one?.when, "args.amount_usd <= 29 && args.user_id == 7");
  });

  test("takes enough approvals, on two days or by two people", () => {
    const oneDay = times(30, (i) => ({ ...yes(i), day: 3 }));
    assert.equal(suggestionsFrom(samplesOf(times(19, yes)), 20).length, 0);
    assert.equal(suggestionsFrom(samplesOf(oneDay), 20).length, 0);
    const twoPeople = oneDay.map((one, i) => ({ ...one, by: `person:${i % 2}` }));
    assert.equal(suggestionsFrom(samplesOf(twoPeople), 20).length, 1);
  });

  test("asks first for a field that some actions do not have: a missing one would block", () => {
    const [one] = suggestionsFrom(samplesOf([...times(30, yes), { fields: {}, decision: null }]), 20);
    assert.equal(one?.when, "has(args.amount_usd) && args.amount_usd <= 29");
  });

  test("says nothing about names that cannot be seen", () => {
    assert.deepEqual(suggestionsFrom(samplesOf(times(30, yes), "agent:a\u202eb"), 20), []);
  });

  test("counts the busiest week, for a grant that ends after one", () => {
    const [one] = suggestionsFrom(samplesOf(times(30, (i) => ({ ...yes(10), day: Math.floor(i / 2) }))), 20);
    assert.deepEqual(one?.letThrough.weekly, 14);
    assert.deepEqual(one?.letThrough.sums, [{ field: "amount_usd", sum: 300, weekly: 140 }]);
  });

  test("never lets through what a person rejected or changed, whatever they decided", () => {
    const given = fc.record({
      fields: fc.record({ amount_usd: fc.integer({ min: 0, max: 30 }), region: fc.constantFrom("eu", "us") }),
      decision: fc.constantFrom("approved", "approved", "approved", "rejected", "edited", "expired", null),
      day: fc.integer({ min: 0, max: 40 }),
    });
    let made = 0;
    fc.assert(
      fc.property(fc.array(given, { minLength: 5, maxLength: 60 }), (all) => {
        const samples = samplesOf(all as readonly Given[]);
        const noes = samples.groups
          .get("agent:support")
          ?.samples.filter(({ decision }) => decision === "rejected" || decision === "edited");
        for (const { conditions, approved } of suggestionsFrom(samples, 3)) {
          made += 1;
          assert.ok(approved >= 3);
          assert.equal(
            noes?.some((sample) => allHold(conditions, sample)),
            false,
          );
        }
      }),
      { numRuns: 300, seed: 5 },
    );
    assert.ok(made > 50, `${made} suggestions`);
  });
});
