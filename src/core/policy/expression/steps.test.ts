import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { PolicyInput } from "../../verdict.ts";
import { compilePolicy } from "../compile.ts";
import type { PolicyText } from "../document.ts";
import { checkExpression, runnable } from "../expression.ts";
import { STEPS_PER_VERDICT } from "./meter.ts";
import type { Readers, Scene } from "./scene.ts";
import { ANY } from "./types.ts";
import { TooCostly, type Value } from "./values.ts";

const many = (count: number) => Array.from({ length: count }, (_, index) => index);
const LONG = 2_000;
const ARGS = {
  list: many(LONG),
  texts: many(LONG).map((n) => `text ${n}`),
  objects: many(LONG).map((n) => ({ n })),
  big: Object.fromEntries(many(10_000).map((n) => [`k${n}`, n])),
  one: { a: 1 },
  amount: 12.345,
  plain: "aB".repeat(5_000),
  other: "aéB".repeat(3_000),
  x: "x".repeat(100_000),
} as const;

type Seen = Scene & { readonly args: Value };
const READERS: Readers<Seen> = new Map([["args", ({ args }: Seen) => args]]);

/** How many steps it takes, and whether it came to an end. */
function steps(text: string, left = 10_000_000) {
  const { node, flaws } = checkExpression(text, {
    names: new Map([["args", ANY]]),
    wants: "bool",
    tools: [],
  });
  assert.ok(node !== null && flaws.length === 0, `${text} ${JSON.stringify(flaws)}`);
  const scene: Seen = { left, locals: [], args: ARGS as unknown as Value };
  try {
    runnable(node, READERS)(scene);
  } catch (error) {
    if (error instanceof TooCostly) return { taken: left, isOver: true };
  }
  return { taken: left - scene.left, isOver: false };
}

/** Each was dearer than its steps: the work that it does has to be in them. */
const WORK: readonly (readonly [string, string, number])[] = [
  ["to compare with an object of many keys", "args.one == args.big", 20_000],
  ["to compare with an object of many keys, the other way", "args.big == args.one", 20_000],
  ["to count the keys of an object", "size(args.big) > 0", 20_000],
  ["to go through the keys of an object", "args.big.all(k, true)", 30_000],
  ["an item that errs, and is made up for", "args.list.exists(x, x.no > 1)", 100 * LONG],
  ["a side that errs, and is made up for", "args.list.all(x, args.no > 1 || true)", 100 * LONG],
  ["to round", "args.list.all(x, round(args.amount, 2) > 0)", 30 * LONG],
  ["to read a length of time", 'args.list.all(x, duration("1h30m") > duration("1s"))', 60 * LONG],
  ["to read a time", 'args.list.all(x, timestamp("2026-03-01T09:00:00Z").getHours() == 9)', 30 * LONG],
  ["a pattern on a short text", 'args.texts.all(x, x.matches("^t.*$"))', 30 * LONG],
  ["to make an object", 'args.list.all(x, {"a": x, "b": x} != {})', 12 * LONG],
  ["small letters of text that has others", "args.other.lowerAscii() != ''", 4_500],
  ["to count characters", "size(args.x) > 0", 12_500],
  ["to look for text that nearly is there", "args.x.indexOf('xy') < 0", 12_500],
];

describe("the steps of an expression", () => {
  for (const [what, text, least] of WORK)
    it(`pay for ${what}`, () => {
      const { taken } = steps(text);
      assert.ok(taken >= least, `${taken} steps, and ${least} are its work`);
    });

  it("are the same every time", () => {
    for (const [, text] of WORK) assert.deepEqual(steps(text), steps(text));
  });

  it("end whatever goes through long lists inside long lists, or one after the other", () => {
    for (const text of [
      "args.list.all(x, args.list.all(y, x >= 0 && y >= 0))",
      "args.list.map(x, args.list.filter(y, y > x)).size() > 0",
      "args.list.all(x, args.list.all(y, args.one != args.big))",
      "args.list.exists(x, args.list.exists(y, y.no))",
      "args.objects.all(x, args.objects.all(y, x != y || true))",
      many(40)
        .map(() => "args.list.all(x, x >= 0)")
        .join(" && "),
    ])
      assert.equal(steps(text, STEPS_PER_VERDICT).isOver, true, text);
  });

  it("are so few that all of them are some twenty milliseconds", () => {
    assert.ok(STEPS_PER_VERDICT <= 250_000);
  });

  it("are enough for what policies say of long lists", () => {
    for (const text of [
      "args.list.all(x, x >= 0 && x < 10000)",
      "sum(args.list.map(x, x * 2).filter(x, x > 10)) > 0",
      "args.objects.filter(o, has(o.n) && o.n > 5).map(o, o.n).exists(n, n in [7, 8, 9])",
      'args.texts.all(t, t.startsWith("text ") && size(t) < 20)',
    ])
      assert.equal(steps(text, STEPS_PER_VERDICT).isOver, false, text);
  });
});

function judged(document: Omit<PolicyText, "policy">, args: unknown) {
  const made = compilePolicy({ policy: "p", default: "approve", ...document }, null);
  assert.ok(made.ok, JSON.stringify(made));
  return made.policy.judge({
    ...{ tool: "t", effectClass: "once", agent: "agent:a", requester: [], requestId: null },
    ...{ workflow: null, history: [], now: 0, args: args as PolicyInput["args"] },
  });
}

describe("a verdict that runs out of steps", () => {
  const isOver = /cannot be answered: the policy takes more than 250000 steps over this action/;

  it("blocks, by the rule that could not be answered", () => {
    const when = "args.list.all(x, args.list.all(y, x >= 0))";
    const said = judged({ rules: [{ id: "loops", when, verdict: "approve" }] }, ARGS);
    assert.deepEqual([said.verdict, said.rule], ["block", "loops"]);
    assert.match(said.reason ?? "", isOver);
  });

  it("counts all rules together", () => {
    const rules = many(40).map((n) => {
      return { id: `r${n}`, when: "args.list.exists(x, x < 0 && x > 5)", verdict: "block" } as const;
    });
    assert.match(judged({ rules }, ARGS).reason ?? "", isOver);
    assert.equal(judged({ rules: rules.slice(0, 3) }, ARGS).verdict, "approve");
  });

  it("counts what revisions copy and compare", () => {
    const rules = many(30).map((n) => {
      return { id: `r${n}`, verdict: "revise", set: { big: { expr: "args.big" } } } as const;
    });
    assert.match(judged({ rules }, ARGS).reason ?? "", isOver);
  });

  it("counts what totals look at, each pattern of a tool too", () => {
    const tool = many(100).map((n) => `*some*${n}*`);
    const document = { totals: { t: { tool, count: true } } } as const;
    const made = compilePolicy(
      {
        policy: "p",
        default: "approve",
        ...document,
        rules: [{ id: "r", when: "totals.t > 5", verdict: "block" }],
      },
      null,
    );
    assert.ok(made.ok, JSON.stringify(made));
    const call = {
      tool: "t",
      args: {},
      status: "applied",
      result: null,
      generation: 1,
      undone: false,
      at: 0,
    };
    const history = many(LONG).map((n) => ({
      action: `act_${n}`,
      ...call,
    })) as unknown as PolicyInput["history"];
    const said = made.policy.judge({
      ...{
        tool: "t",
        effectClass: "once",
        agent: "agent:a",
        requester: [],
        requestId: null,
        args: {},
        now: 0,
      },
      workflow: { id: "wf_1", name: "w", generation: 1 },
      history,
    });
    assert.match(said.reason ?? "", isOver);
  });

  it("is not held up by a reason that is far too long", () => {
    const rules = [{ id: "r", verdict: "approve", reason: { expr: "args.x" } }] as const;
    const said = judged({ rules }, ARGS);
    assert.deepEqual([said.verdict, said.rule], ["block", "r"]);
    assert.match(said.reason ?? "", /has 100000 characters/);
  });
});
