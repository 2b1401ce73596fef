import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { compilePolicy } from "../rules/compile.ts";
import type { PolicyText } from "../rules/document.ts";
import type { PolicyInput } from "../rules/verdict.ts";
import type { EvaluationContext, Readers } from "./evaluate.ts";
import { checkExpression, compileChecked } from "./expression.ts";
import { ANY } from "./types.ts";
import { STEPS_PER_VERDICT, TooCostly, type Value } from "./values.ts";

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

type Seen = EvaluationContext & { readonly args: Value };
const READERS: Readers<Seen> = new Map([["args", ({ args }: Seen) => args]]);

/** How many steps it takes, and whether it came to an end. */
function steps(text: string, left = 100_000_000, args: unknown = ARGS) {
  const { node, flaws } = checkExpression(text, {
    names: new Map([["args", ANY]]),
    wants: "bool",
    tools: [],
  });
  assert.ok(node !== null && flaws.length === 0, `${text} ${JSON.stringify(flaws)}`);
  const scene: Seen = { left, locals: [], args: args as Value };
  try {
    compileChecked(node, READERS)(scene);
  } catch (error) {
    if (error instanceof TooCostly) return { taken: left, isOver: true };
  }
  return { taken: left - scene.left, isOver: false };
}

/** Each was dearer than its steps: the work that it does has to be in them. */
const WORK: readonly (readonly [string, string, number])[] = [
  ["to compare with an object of many keys", "args.one == args.big", 60_000],
  ["to compare with an object of many keys, the other way", "args.big == args.one", 60_000],
  ["to count the keys of an object", "size(args.big) > 0", 60_000],
  ["to go through the keys of an object", "args.big.all(k, true)", 70_000],
  ["an item that errs, and is made up for", "args.list.exists(x, x.no > 1)", 1_200 * LONG],
  ["a side that errs, and is made up for", "args.list.all(x, args.no > 1 || true)", 1_200 * LONG],
  ["to round", "args.list.all(x, round(args.amount, 2) > 0)", 200 * LONG],
  ["to read a length of time", 'args.list.all(x, duration("1h30m") > duration("1s"))', 400 * LONG],
  ["to read a time", 'args.list.all(x, timestamp("2026-03-01T09:00:00Z").getHours() == 9)', 200 * LONG],
  ["a pattern on a short text", 'args.texts.all(x, x.matches("^t.*$"))', 50 * LONG],
  ["to write a number as text", 'args.list.all(x, string(x) != "")', 80 * LONG],
  ["to read a number", 'args.list.all(x, double("1.5") > 1.0)', 80 * LONG],
  ["to make an object", 'args.list.all(x, {"a": x, "b": x} != {})', 36 * LONG],
  ["small letters of text that has others", "args.other.lowerAscii() != ''", 54_000],
  ["to count characters", "size(args.x) > 0", 50_000],
  ["to look for text that nearly is there", "args.x.indexOf('xy') < 0", 50_000],
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
        .map(() => "args.list.all(x, round(x) >= 0)")
        .join(" && "),
    ])
      assert.equal(steps(text, STEPS_PER_VERDICT).isOver, true, text);
  });

  it("are so few that all of them are some twenty milliseconds", () => {
    assert.ok(STEPS_PER_VERDICT <= 2_500_000);
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

describe("the steps of a pattern", () => {
  /** Two letters in no order, so that a pattern that counts finds a new set of places with nearly each of them. */
  const mixed = (count: number): string => {
    let seed = 1;
    const letter = () => {
      seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
      return seed % 65_536 < 32_768 ? "a" : "b";
    };
    return many(count).map(letter).join("");
  };
  const taken = (pattern: string, text: string) =>
    steps(`args.text.matches("${pattern}")`, STEPS_PER_VERDICT, { text });

  it("do not grow with the pattern where the text leads to nothing new", () => {
    const text = `${"Dear colleague, the notes of our meeting. ".repeat(1_500)}c.`;
    const small = taken("a{3}c$", text).taken;
    const large = taken("(?:a{3}|x{400})c$", text).taken;
    assert.ok(large < 2 * small, `${large} steps beside ${small}`);
  });

  it("end a text that leads to something new with each character", () => {
    const text = `${mixed(6_000)}cd`;
    assert.equal(taken("a.{0,200}b.{0,200}c$", text).isOver, true);
    assert.equal(taken("[ab]*a[ab]{60}c$", text).isOver, true);
    assert.equal(taken("a.{0,200}b.{0,200}c$", `${"-".repeat(6_000)}cd`).isOver, false);
  });

  it("are the same whatever other texts were looked at before", () => {
    const text = `${mixed(300)}cd`;
    const pattern = "[ab]*a[ab]{50}c$";
    const first = taken(pattern, text);
    for (const part of [40, 900, 6_000]) taken(pattern, `${mixed(part)}ccd`);
    assert.ok(first.taken > 50_000, String(first.taken));
    assert.deepEqual([taken(pattern, text), taken(pattern, text)], [first, first]);
  });

  it("answer as the pattern does, at either end and across pairs of code units", () => {
    for (const [pattern, text, isThere] of [
      ["^a+$", "aaa", true],
      ["^a+$", "aab", false],
      ["(?i)\\\\bkey\\\\b.*😀$", "a KEY 😀😀", true],
      ["\\\\bkey\\\\b", "monkey keys", false],
      ["(?m)^b$", "a\nb\nc", true],
      ["x?$", "", true],
    ] as const) {
      const scene: Seen = { left: STEPS_PER_VERDICT, locals: [], args: { text } };
      const { node } = checkExpression(`args.text.matches("${pattern}")`, {
        names: new Map([["args", ANY]]),
        wants: "bool",
        tools: [],
      });
      assert.ok(node !== null, pattern);
      assert.equal(compileChecked(node, READERS)(scene), isThere, `${pattern} in ${text}`);
    }
  });
});

function judged(document: Omit<PolicyText, "policy">, args: unknown, history: PolicyInput["history"] = []) {
  const made = compilePolicy({ policy: "p", default: "approve", ...document }, null);
  assert.ok(made.ok, JSON.stringify(made));
  return made.policy.judge({
    ...{ tool: "t", effectClass: "once", agent: "agent:a", requester: [], requestId: null },
    ...{
      workflow: { id: "wf_1", name: "w", generation: 1 },
      history,
      now: 0,
      args: args as PolicyInput["args"],
    },
  });
}

describe("a verdict that runs out of steps", () => {
  const isOver = /cannot be answered: the policy takes more than 2500000 steps over this action/;

  it("blocks, by the rule that could not be answered", () => {
    const when = "args.list.all(x, args.list.all(y, x >= 0))";
    const said = judged({ rules: [{ id: "loops", when, verdict: "approve" }] }, ARGS);
    assert.deepEqual([said.verdict, said.rule], ["block", "loops"]);
    assert.match(said.reason ?? "", isOver);
  });

  it("counts all rules together", () => {
    const rules = many(300).map((n) => {
      return { id: `r${n}`, when: "args.list.exists(x, x < 0 && x > 5)", verdict: "block" } as const;
    });
    assert.match(judged({ rules }, ARGS).reason ?? "", isOver);
    assert.equal(judged({ rules: rules.slice(0, 3) }, ARGS).verdict, "approve");
  });

  it("is not one of ten patterns over a mail of 60 KB", () => {
    const patterns = [
      "(?i)password\\\\s*[:=]",
      "\\\\b\\\\d{3}-\\\\d{2}-\\\\d{4}\\\\b",
      "\\\\b(?:\\\\d[ -]?){13,16}\\\\b",
      "AKIA[0-9A-Z]{16}",
      "-----BEGIN [A-Z ]+PRIVATE KEY-----",
      "(?i)confidential|internal only",
      "xox[baprs]-[0-9a-zA-Z-]+",
      "\\\\b[A-Z]{2}\\\\d{2}[A-Z0-9]{11,30}\\\\b",
      "ghp_[0-9A-Za-z]{36}",
      "(?i)bearer [a-z0-9._-]{20,}",
    ];
    const rules = patterns.map((pattern, n) => {
      return { id: `leak${n}`, when: `args.body.matches("${pattern}")`, verdict: "block" } as const;
    });
    const body = "Dear colleague, please find below the notes of our meeting. ".repeat(1_024);
    const said = judged({ rules }, { body });
    assert.equal(said.verdict, "approve", said.reason ?? "");
  });

  it("is not one of fifty rules over a history of a thousand calls", () => {
    const rules = many(50).map((n) => {
      const when = `history.exists(past, past.tool == "kyc_${n}" && past.status == "applied" && past.result.status == "ok")`;
      return { id: `r${n}`, when, verdict: "block" } as const;
    });
    const history = many(1_000).map((n) => {
      const call = { tool: "pay", args: { amount: 5 }, status: "applied", result: { status: "ok" } } as const;
      return { action: `act_${n}`, ...call, generation: 1, undone: false, at: n };
    });
    const said = judged({ rules }, {}, history);
    assert.equal(said.verdict, "approve", said.reason ?? "");
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
