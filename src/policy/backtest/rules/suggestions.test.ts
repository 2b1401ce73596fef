import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { conditionHolds, whenFault } from "../../../grants/rules.ts";
import { isJsonObject, type Json, type JsonObject } from "../../../kernel/json.ts";
import { openSamples, suggestionsFrom } from "./suggestions.ts";

type Samples = ReturnType<typeof openSamples>;
type Sample = NonNullable<ReturnType<Samples["given"]["get"]>>;

const DAY = 86_400_000;

type Given = {
  readonly args: JsonObject | null;
  readonly decision: Sample["decision"];
  readonly by?: string;
  readonly day?: number;
  /** The same day unless set. */
  readonly decidedOn?: number;
  readonly ofSeveral?: boolean;
};

function samplesOf(given: readonly Given[], agent = "agent:support"): Samples {
  const samples = openSamples(null);
  const list = given.map(({ args, decision, by, day, decidedOn, ofSeveral = false }, index) => ({
    at: (day ?? index) * DAY,
    decidedAt: decision === null ? null : (decidedOn ?? day ?? index) * DAY,
    ofSeveral,
    args,
    argsDigest: "",
    rule: "large",
    decision,
    by: [by ?? "person:ann"],
    isChanged: false,
  }));
  samples.groups.set(agent, { tool: "issue_refund", agent, samples: list });
  return samples;
}

const yes = (amount: number, more: JsonObject = {}): Given => ({
  args: { amount_usd: amount, ...more },
  decision: "approved",
});
const no = (amount: number, more: JsonObject = {}): Given => ({
  args: { amount_usd: amount, ...more },
  decision: "rejected",
});
const times = (count: number, make: (index: number) => Given) =>
  Array.from({ length: count }, (_, i) => make(i));
function atOnce<Result>(steps: Generator<void, Result>): Result {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

const suggested = (given: readonly Given[], min = 20) => atOnce(suggestionsFrom(samplesOf(given), min));
const whens = (given: readonly Given[]) => suggested(given).map(({ when }) => when);

const ONLY = 'args.all(name, name in ["amount_usd"])';

describe("what people's decisions support", () => {
  test("goes up to the highest amount that they approved", () => {
    const [one, ...rest] = suggested(times(50, (i) => yes(5 + (i % 121))));
    assert.equal(one?.when, `args.amount_usd >= 0 && args.amount_usd <= 54 && ${ONLY}`);
    assert.deepEqual([one?.approved, one?.letThrough.total, one?.keptOut, rest.length], [50, 50, 0, 0]);
  });

  test("lets no other number through than people saw, unless it is an amount", () => {
    for (const field of ["keep_days", "port", "year", "keep_last", "min_balance", "min_amount"]) {
      const same = suggested(times(30, () => ({ args: { [field]: 365 }, decision: "approved" })))[0];
      assert.match(same?.when ?? "", new RegExp(`^args\\.${field} == 365 && args\\.all`));
      const ranged = times(30, (i) => ({ args: { [field]: 300 + i }, decision: "approved" }) as const);
      const [range] = suggested(ranged);
      assert.match(range?.when ?? "", new RegExp(`${field} >= 300 && args\\.${field} <= 329 &&`));
    }
    for (const field of ["amount", "total_eur", "unitPrice", "shipping_cost", "paid_usd"]) {
      const [one] = suggested(times(30, () => ({ args: { [field]: 365 }, decision: "approved" })));
      assert.match(one?.when ?? "", new RegExp(`${field} >= 0 && args\\.${field} <= 365 &&`));
    }
  });

  test("is no habit where all of it was decided in one afternoon, however long it had waited", () => {
    assert.deepEqual(whens(times(50, (i) => ({ ...yes(i), day: i, decidedOn: 60 }))), []);
    const [one] = suggested(times(50, (i) => ({ ...yes(i), day: 1, decidedOn: 60 + (i % 3) })));
    assert.deepEqual([one?.days, one?.first, one?.last], [3, 60 * DAY, 62 * DAY]);
  });

  test("says how much of it several people are asked about, and grants as much as one person may", () => {
    const both = (several: (i: number) => boolean) =>
      suggested(times(50, (i) => ({ ...yes(10), day: Math.floor(i / 25), ofSeveral: several(i) })));
    const [all] = both(() => true);
    assert.partialDeepStrictEqual(all?.letThrough, { total: 50, ofSeveral: 50, weekly: 0 });
    const [some] = both((i) => i % 5 === 0);
    assert.partialDeepStrictEqual(some?.letThrough, { total: 50, ofSeveral: 10, weekly: 40 });
    assert.deepEqual(
      some?.letThrough.sums.map(({ weekly }) => weekly),
      [400],
    );
    const [none] = both(() => false);
    assert.partialDeepStrictEqual(none?.letThrough, { ofSeveral: 0, weekly: 50 });
  });

  test("may stand beside what they rejected or changed outside of it", () => {
    const edited: Given = { args: { amount_usd: 80 }, decision: "edited" };
    const [one] = suggested([...times(60, yes), no(70), edited]);
    assert.equal(one?.when, `args.amount_usd >= 0 && args.amount_usd <= 59 && ${ONLY}`);
    assert.deepEqual([one?.approved, one?.keptOut], [60, 2]);
  });

  test("is nothing where a rejected or changed one would be let through", () => {
    assert.deepEqual(whens([...times(60, yes), no(0)]), []);
    assert.deepEqual(whens([...times(60, yes), { args: { amount_usd: 40 }, decision: "edited" }]), []);
  });

  test("is nothing where the arguments of a rejected one cannot be looked at", () => {
    assert.deepEqual(whens([...times(60, yes), { args: null, decision: "rejected" }]), []);
  });

  test("does not rest on approvals whose arguments cannot be looked at", () => {
    const [one] = suggested([...times(30, yes), { args: null, decision: "approved" }]);
    assert.equal(one?.when, `args.amount_usd >= 0 && args.amount_usd <= 29 && ${ONLY}`);
    assert.deepEqual([one?.approved, one?.letThrough.total], [30, 30]);
  });

  test("bounds an argument that some of the approved did not have", () => {
    const [one] = suggested([...times(30, yes), { args: {}, decision: "approved" }]);
    assert.equal(
      one?.when,
      `(!has(args.amount_usd) || (args.amount_usd >= 0 && args.amount_usd <= 29)) && ${ONLY}`,
    );
  });

  test("takes texts that were there and no others, unless they differ each time; that is said", () => {
    const few = suggested(times(30, (i) => yes(1, { region: i % 2 === 0 ? "eu" : "us" })))[0];
    assert.match(few?.when ?? "", /args\.region in \["eu", "us"\]/);
    assert.deepEqual(few?.open, []);
    const long = "x".repeat(500);
    const many = suggested(times(30, (i) => yes(1, { note: `${long} ${i}`, user_id: i, orderId: i })))[0];
    assert.deepEqual(many?.open, ["note", "orderId", "user_id"]);
    const [one] = suggested(times(30, () => yes(1, { user_id: 7 })));
    assert.match(one?.when ?? "", /args\.user_id == 7/);
  });

  test("says nothing about objects and lists that differ, and takes a list that is always the same", () => {
    assert.deepEqual(whens(times(30, (i) => yes(1, { to: { iban: "DE1", note: `${i}` } }))), []);
    assert.deepEqual(whens(times(30, (i) => yes(1, { items: [{ price: i }] }))), []);
    const [when = ""] = whens(times(30, () => yes(1, { tags: ["a"] })));
    assert.match(when, /args\.tags == \["a"\]/);
    assert.equal(conditionHolds(when, { amount_usd: 1, tags: ["a"] }), true);
    assert.equal(conditionHolds(when, { amount_usd: 1, tags: ["a", "b"] }), false);
  });

  test("lets no argument through that nobody has seen", () => {
    const [when = ""] = whens(times(30, yes));
    assert.equal(conditionHolds(when, { amount_usd: 3 }), true);
    assert.equal(conditionHolds(when, { amount_usd: 3, currency: "BTC" }), false);
    assert.equal(conditionHolds(when, { amount_usd: -3 }), false);
    assert.equal(conditionHolds(when, { amount_usd: "3" }), false);
    assert.equal(conditionHolds(when, {}), false);
  });

  test("says what a person wrote as text, whatever it looks like", () => {
    const text = `x" || true || "' && rm -rf $(a) #`;
    const odd = { in: 1, "to whom": text, true: "a", constructor: 2, "it's": false };
    const [when = ""] = whens(times(30, () => ({ args: odd, decision: "approved" })));
    assert.equal(whenFault(when, null), undefined);
    assert.equal(conditionHolds(when, odd), true);
    for (const name of Object.keys(odd)) {
      assert.equal(conditionHolds(when, { ...odd, [name]: "other" }), false, name);
      const { [name as "in"]: _, ...without } = odd;
      assert.equal(conditionHolds(when, without), false, `without ${name}`);
    }
  });

  test("is nothing where people would not see what was approved", () => {
    for (const hidden of ["a\u202eb", "line\nbreak", "back\\slash", "x".repeat(65)])
      assert.deepEqual(whens(times(30, () => yes(1, { to: hidden }))), [], hidden);
    assert.deepEqual(whens(times(30, () => yes(1, { "a\u202eb": 1 }))), []);
    assert.deepEqual(atOnce(suggestionsFrom(samplesOf(times(30, yes), "agent:a\u202eb"), 20)), []);
  });

  test("takes enough approvals, on two days or by two people", () => {
    const oneDay = times(30, (i) => ({ ...yes(i), day: 3 }));
    assert.equal(suggested(times(19, yes)).length, 0);
    assert.equal(suggested(oneDay).length, 0);
    assert.equal(suggested(oneDay.map((one, i) => ({ ...one, by: `person:${i % 2}` }))).length, 1);
  });

  test("asks first for a field that some actions do not have: a missing one would block", () => {
    const [one] = suggested([...times(30, yes), { args: {}, decision: null }]);
    assert.equal(
      one?.when,
      `has(args.amount_usd) && args.amount_usd >= 0 && args.amount_usd <= 29 && ${ONLY}`,
    );
  });

  test("counts the busiest week of approvals, however often somebody asked", () => {
    const asked = times(200, () => ({ ...yes(10), day: 3, decision: null }));
    const [one] = suggested([
      ...times(30, (i) => ({ ...yes(i === 0 ? 9 : 10), day: Math.floor(i / 2) })),
      ...asked,
    ]);
    assert.deepEqual(
      [one?.letThrough.total, one?.letThrough.undecided, one?.letThrough.weekly],
      [230, 200, 14],
    );
    assert.deepEqual(one?.letThrough.sums, [
      { field: "amount_usd", path: "args.amount_usd", sum: 2_299, weekly: 140 },
    ]);
  });
});

/** Slow and obvious: every value of it was approved at its place, between 0 and the highest, or stands at a place that is left open. */
function isWithin(args: Json, approved: readonly Json[], open: readonly string[], field = ""): boolean {
  if (field !== "" && open.includes(field)) return true;
  if (typeof args === "number") {
    const numbers = approved.filter((one) => typeof one === "number");
    return (numbers.some((one) => one <= args) || args >= 0) && numbers.some((one) => one >= args);
  }
  if (!isJsonObject(args)) return approved.some((one) => JSON.stringify(one) === JSON.stringify(args));
  const objects = approved.filter(isJsonObject);
  const inside = (name: string) => (field === "" ? name : `${field}.${name}`);
  const lacking = new Set(
    objects.flatMap((one) => Object.keys(one)).filter((name) => !Object.hasOwn(args, name)),
  );
  return (
    [...lacking].every(
      (name) => open.includes(inside(name)) || objects.some((one) => !Object.hasOwn(one, name)),
    ) &&
    Object.entries(args).every(([name, value]) =>
      isWithin(
        value,
        objects.flatMap((one) => (Object.hasOwn(one, name) ? [one[name] ?? null] : [])),
        open,
        inside(name),
      ),
    )
  );
}

describe("whatever people decided, a suggestion", () => {
  const text = fc.constantFrom("eu", "us", `"`, "a'b", "x\\", "\u202e");
  const value = fc.oneof(
    fc.integer({ min: -3, max: 30 }),
    text,
    fc.boolean(),
    fc.constant(null),
    fc.record({ in: fc.integer({ min: 0, max: 9 }), b: text }, { requiredKeys: ["in"] }),
    fc.array(fc.integer({ min: 0, max: 2 }), { maxLength: 2 }),
  );
  const args = fc.record(
    { amount_usd: fc.integer({ min: -3, max: 30 }), region: text, "odd key": value, user_id: value },
    { requiredKeys: ["amount_usd"] },
  ) as unknown as fc.Arbitrary<JsonObject>;
  const given = fc.record({
    args: fc.oneof(
      { weight: 6, arbitrary: fc.record({ amount_usd: fc.integer({ min: 0, max: 30 }), region: text }) },
      { weight: 2, arbitrary: args },
    ) as unknown as fc.Arbitrary<JsonObject>,
    decision: fc.constantFrom("approved", "approved", "approved", "approved", "rejected", "edited", null),
    day: fc.integer({ min: 0, max: 40 }),
  });

  test("lets nothing through that is wider, and nothing that a person rejected or changed", () => {
    let made = 0;
    let covered = 0;
    fc.assert(
      fc.property(
        fc.array(given, { minLength: 4, maxLength: 30 }),
        fc.array(args, { minLength: 20, maxLength: 20 }),
        (all, others) => {
          const approved = all.flatMap((one) => (one.decision === "approved" ? one.args : []));
          const noes = all.flatMap((one) =>
            one.decision === "rejected" || one.decision === "edited" ? one.args : [],
          );
          for (const { when, open } of suggested(all as readonly Given[], 3)) {
            made += 1;
            assert.equal(whenFault(when, null), undefined, when);
            assert.ok(!noes.some((one) => conditionHolds(when, one)), when);
            for (const one of [...others, ...all.map((each) => each.args)])
              if (conditionHolds(when, one)) {
                covered += 1;
                assert.ok(isWithin(one, approved, open), `${when} covers ${JSON.stringify(one)}`);
              }
          }
        },
      ),
      { numRuns: 1_000, seed: 5 },
    );
    assert.ok(made > 50 && covered > 200, `${made} suggestions cover ${covered}`);
  });
});
