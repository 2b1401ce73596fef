import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { toolRules } from "../../../tests/fixtures/rules.ts";
import type { Json } from "../../kernel/json.ts";
import { compilePolicy } from "./compile.ts";
import type { PolicyText } from "./document.ts";
import { reviewAction } from "./review.ts";
import type { PastCall, PolicyInput } from "./verdict.ts";

const input = (args: Json, given: Partial<PolicyInput> = {}): PolicyInput => ({
  tool: "pay",
  effectClass: "once",
  args,
  agent: "agent:one",
  requester: ["agent:one"],
  requestId: null,
  workflow: null,
  history: [],
  now: Date.UTC(2026, 0, 1),
  ...given,
});

function policyOf(document: Omit<PolicyText, "policy">) {
  const made = compilePolicy({ policy: "p", ...document }, null);
  assert.ok(made.ok, JSON.stringify(made));
  return made.policy;
}

type Rules = NonNullable<PolicyText["rules"]>;
const ruleFor = (rules: Rules, args: Json, rest: Omit<PolicyText, "policy"> = {}) =>
  policyOf({ rules, ...rest }).judge(input(args)).rule;

const approve = { id: "approve", verdict: "approve" } as const;
const block = { id: "block", verdict: "block" } as const;
const escalate = { id: "escalate", verdict: "escalate" } as const;
const revise = { id: "revise", verdict: "revise", set: { currency: "USD" } } as const;

describe("which rule decides", () => {
  it("block over revise over escalate over approve, wherever they stand", () => {
    assert.equal(ruleFor([approve, escalate, revise, block], {}), "block");
    assert.equal(ruleFor([approve, escalate, revise], {}), "revise");
    assert.equal(ruleFor([approve, escalate], {}), "escalate");
    assert.equal(ruleFor([approve], {}), "approve");
  });

  it("of several of a kind, the first in the file", () => {
    for (const rule of [approve, block, escalate, revise])
      assert.equal(
        ruleFor(
          [
            { ...rule, id: "first" },
            { ...rule, id: "second" },
          ],
          {},
        ),
        "first",
      );
  });

  it("a revision that has nothing left to change steps aside", () => {
    assert.equal(ruleFor([revise, approve], { currency: "EUR" }), "revise");
    assert.equal(ruleFor([revise, approve], { currency: "USD" }), "approve");
    assert.equal(ruleFor([revise], { currency: "USD" }), "default");
  });

  it("an unconditional revision ends in what comes after it, and two of them in both", () => {
    const policy = policyOf({
      default: "block",
      rules: [
        revise,
        {
          id: "note",
          when: "has(args.currency)",
          verdict: "revise",
          set: { note: { expr: "string(args.amount) + args.currency" } },
        },
        approve,
      ],
    });
    const review = reviewAction(
      toolRules({ policy: (asked) => policy.judge(asked), validate: (value) => ({ ok: true, value }) }),
      input({ amount: 5 }),
    );
    assert.equal(review.verdict, "approve");
    assert.deepEqual(review.args, { amount: 5, currency: "USD", note: "5USD" });
    assert.deepEqual(
      review.revisions.map(({ rule }) => rule),
      ["revise", "note"],
    );
  });

  it("a rule that cannot be answered blocks, even one that would approve", () => {
    const odd = { id: "odd", when: "args.missing > 1", verdict: "approve" } as const;
    assert.deepEqual(policyOf({ rules: [approve, odd] }).judge(input({})), {
      verdict: "block",
      rule: "odd",
      reason: 'rule odd cannot be answered: there is no field "missing"',
    });
    assert.equal(ruleFor([block, odd], {}), "block");
    assert.equal(ruleFor([odd, block], {}), "odd");
  });

  it("a value that cannot be computed blocks", () => {
    const odd = { id: "odd", verdict: "revise", set: { a: { expr: "args.b / 0" } } } as const;
    assert.equal(ruleFor([odd, approve], { b: 1 }), "odd");
  });

  it("only rules that speak of the tool are asked", () => {
    const rules = [
      { ...block, tool: "delete_*" },
      { ...escalate, tool: ["refund", "p*y"] },
      { ...approve, tool: "pay" },
    ];
    assert.equal(ruleFor(rules, {}), "escalate");
  });

  it("nothing matches: the default, which is to block", () => {
    assert.deepEqual(policyOf({}).judge(input({})), {
      verdict: "block",
      rule: "default",
      reason: "no rule of p speaks of this call of pay",
    });
    assert.equal(policyOf({ default: "approve" }).judge(input({})).verdict, "approve");
    assert.deepEqual(
      policyOf({
        default: { verdict: "escalate", decide_by: "1h", approvers: { from: "person:ann" } },
      }).judge(input({})),
      {
        verdict: "escalate",
        rule: "default",
        reason: "no rule of p speaks of this call of pay",
        approvers: { from: ["person:ann"] },
        decideWithinMs: 3_600_000,
      },
    );
  });
});

describe("stages and time-outs", () => {
  it("are handed on", () => {
    const rule = {
      ...escalate,
      stages: [
        { from: ["person:ann"], decide_by: "30m" },
        { quorum: 2, veto: false },
      ],
      on_timeout: "escalate",
    } as const;
    assert.deepEqual(policyOf({ rules: [rule] }).judge(input({})), {
      verdict: "escalate",
      rule: "escalate",
      reason: "rule escalate",
      stages: [
        { from: ["person:ann"], decideWithinMs: 1_800_000 },
        { quorum: 2, veto: false },
      ],
      onTimeout: "escalate",
    });
  });
});

describe("risk", () => {
  const risk: PolicyText["risk"] = {
    conditions: [
      { id: "big", when: "args.amount > 1000", weight: 40 },
      { id: "foreign", when: "args.country != 'DE'", weight: 30 },
      { id: "known", tool: "pay", when: "args.known", weight: -10 },
      { id: "elsewhere", tool: "other", when: true, weight: 500 },
    ],
    routes: { high: "escalate", critical: "block", low: "approve" },
  };
  const judged = (amount: number, country: string, known = false, rules: Rules = []) =>
    policyOf({ risk, rules }).judge(input({ amount, country, known }));

  it("is the sum of the weights of what holds, and a level", () => {
    const { verdict, rule, risk: scored } = judged(5000, "FR");
    assert.deepEqual(
      { verdict, rule, scored },
      {
        verdict: "escalate",
        rule: "risk:high",
        scored: { score: 70, level: "high", conditions: ["big", "foreign"] },
      },
    );
    assert.equal(judged(5, "DE").rule, "risk:low");
    assert.equal(judged(5, "FR").rule, "default", "medium has no route");
    assert.equal(judged(5, "FR", true).rule, "risk:low", "20 is low");
  });

  it("a route stands last: a rule of the same kind comes first, and one that is stricter wins", () => {
    assert.equal(judged(5000, "FR", false, [escalate]).rule, "escalate");
    assert.equal(judged(5000, "FR", false, [approve]).rule, "risk:high");
    assert.equal(judged(5000, "FR", false, [block]).rule, "block");
  });

  it("can be asked for by rules", () => {
    const rules: Rules = [
      { id: "level", when: "risk.level == 'high' && risk.score >= 70", verdict: "block" },
    ];
    assert.equal(judged(5000, "FR", false, rules).rule, "level");
    assert.equal(judged(5, "FR", false, rules).rule, "default");
  });

  it("levels may be set, and a condition that cannot be answered blocks", () => {
    const other = policyOf({
      default: "approve",
      risk: { ...risk, levels: { medium: 1, high: 2, critical: 3 } },
    });
    assert.equal(other.judge(input({ amount: 5000, country: "DE", known: false })).rule, "risk:critical");
    assert.deepEqual(other.judge(input({ country: "DE", known: false })), {
      verdict: "block",
      rule: "risk:big",
      reason: 'rule risk:big cannot be answered: there is no field "amount"',
    });
  });
});

describe("rules on trial", () => {
  it("are recorded and change nothing", () => {
    const rules: Rules = [
      { ...block, shadow: true, reason: "too late in the day" },
      { id: "odd", when: "args.missing", verdict: "block", shadow: true },
      { id: "silent", when: "args.amount > 5", verdict: "block", shadow: true },
      approve,
    ];
    assert.deepEqual(policyOf({ rules }).judge(input({ amount: 1 })), {
      verdict: "approve",
      rule: "approve",
      reason: "rule approve",
      shadow: [
        { rule: "block", verdict: "block", reason: "too late in the day" },
        { rule: "odd", verdict: "error", reason: 'there is no field "missing"' },
      ],
    });
  });
});

describe("final", () => {
  const judged = (rules: Rules, effectClass = "read") =>
    policyOf({ default: "approve", rules }).judge(input({ answer: "x" }, { tool: "final", effectClass }));

  it("is meant by its name only", () => {
    assert.equal(judged([{ ...block, tool: "*" }, escalate]).rule, "final:not_named");
    assert.equal(judged([{ ...block, tool: ["pay", "final"] }]).rule, "block");
    assert.equal(judged([{ ...approve, tool: "final", when: "args.answer == 'y'" }]).rule, "default");
  });

  it("with an effect is no answer, and does not slip past rules for every tool", () => {
    const { verdict, rule } = judged([{ ...block, tool: "*" }], "once");
    assert.deepEqual([verdict, rule], ["block", "final:not_an_answer"]);
  });
});

describe("totals", () => {
  const call = (given: Partial<PastCall>): PastCall => ({
    action: "act_1",
    tool: "pay",
    args: { amount: 10 },
    status: "applied",
    result: { fee: 1 },
    generation: 1,
    undone: false,
    at: 0,
    ...given,
  });
  const workflow = { id: "wf_1", name: "w", generation: 1 };
  const judged = (totals: PolicyText["totals"], when: string, history: readonly PastCall[]) =>
    policyOf({ default: "approve", totals, rules: [{ id: "over", when, verdict: "block" }] }).judge(
      input({}, { workflow, history }),
    );

  it("count and sum what fits", () => {
    const history = [call({}), call({ tool: "read" }), call({ args: { amount: 0.5 } })];
    const totals: PolicyText["totals"] = {
      paid: { tool: "pay", sum: "args.amount" },
      fees: { tool: ["pay", "read"], sum: "result.fee" },
      small: { tool: "pay", when: "args.amount < 1", count: true },
    };
    assert.equal(
      judged(totals, "totals.paid == 10.5 && totals.fees == 3 && totals.small == 1", history).rule,
      "over",
    );
  });

  it("what is unknown counts, and where it cannot be counted the rule blocks", () => {
    const open = [call({ status: "in_doubt", result: null })];
    const byResult: PolicyText["totals"] = { dear: { tool: "pay", when: "result.fee > 5", count: true } };
    assert.equal(judged(byResult, "totals.dear > 0", open).rule, "over");
    assert.equal(judged(byResult, "totals.dear > 0", [call({})]).rule, "default");
    assert.deepEqual(judged({ fees: { tool: "pay", sum: "result.fee" } }, "totals.fees > 100", open), {
      verdict: "block",
      rule: "over",
      reason: "rule over cannot be answered: totals.fees cannot be known while act_1 is in_doubt",
    });
  });

  it("are asked for in the middle of another expression without harm", () => {
    const totals: PolicyText["totals"] = {
      odd: { tool: "pay", when: "[1, 2].exists(x, x == args.amount)", count: true },
    };
    const when = "['a', 'b'].all(x, totals.odd == 1 && x in ['a', 'b'])";
    assert.equal(judged(totals, when, [call({ args: { amount: 2 } })]).rule, "over");
  });
});

describe("a reason by an expression", () => {
  const said = (rules: Rules, args: Json = { amount: 5, to: "bob" }, rest: Partial<PolicyText> = {}) =>
    policyOf({ default: "approve", rules, ...rest }).judge(input(args));
  const expr = { expr: '"no " + tool.name + " of " + string(args.amount)' };

  it("is made of the call, for every verdict and for rules on trial", () => {
    for (const rule of [approve, block, escalate, { ...revise, set: { to: "ann" } }])
      assert.deepEqual(
        [said([{ ...rule, reason: expr }]).verdict, said([{ ...rule, reason: expr }]).reason],
        [rule.verdict, "no pay of 5"],
      );
    assert.equal(said([{ ...block, shadow: true, reason: expr }]).shadow?.[0]?.reason, "no pay of 5");
  });

  it("that cannot be made blocks, and is not asked for where its rule does not hold or changes nothing", () => {
    const odd = { expr: "args.nothing" };
    const answer = said([{ ...approve, reason: odd }]);
    assert.deepEqual([answer.verdict, answer.rule], ["block", "approve"]);
    assert.match(answer.reason ?? "", /rule approve cannot be answered: .*nothing/);
    assert.match(said([{ ...approve, reason: { expr: "args.amount" } }]).reason ?? "", /reason is not text/);
    assert.equal(said([{ ...block, when: "args.amount > 9", reason: odd }]).rule, "default");
    assert.equal(said([{ ...revise, set: { to: "bob" }, reason: odd }]).rule, "default");
    assert.equal(said([{ ...block, shadow: true, reason: odd }]).verdict, "approve");
  });

  it("shows what cannot be seen, and has an end", () => {
    const words = [{ ...block, reason: { expr: "args.to" } }];
    assert.equal(said(words, { to: "bob\u202e\n" }).reason, "bob\\u202e\\n");
    assert.match(
      said(words, { to: "x".repeat(2_001) }).reason ?? "",
      /2001 characters, and 2000 is the limit/,
    );
  });

  it("may look back, and is counted as use of a total", () => {
    const totals = { paid: { tool: "pay", count: true as const } };
    const reason = { expr: "string(totals.paid) + ' before'" };
    const made = compilePolicy(
      { policy: "p", default: "block", totals, rules: [{ ...block, reason }] },
      null,
    );
    assert.ok(made.ok && made.warnings.length === 0 && made.policy.usesHistory("pay"));
    assert.equal(made.policy.judge(input({})).reason, "0 before");
  });

  it("is checked when the file is read: text, fields that there are, and keys", () => {
    const tools = [{ name: "pay", effectClass: "once", schema: { type: "object", properties: { to: {} } } }];
    const faults = (reason: unknown) => {
      const made = compilePolicy(
        { policy: "p", rules: [{ ...block, tool: "pay", reason }] } as PolicyText,
        tools,
      );
      return made.ok ? [] : made.faults.map(({ path, message }) => `${path.join(".")}: ${message}`);
    };
    assert.deepEqual(faults({ expr: "size(tool.name)" }), [
      "rules.0.reason.expr: text is needed, and this is a number",
    ]);
    assert.match(faults({ expr: "args.amount" }).join(), /rules.0.reason.expr: args has no field amount/);
    assert.match(faults({ exp: "'x'" }).join(), /exp is not a key here \(did you mean expr\?\)/);
    assert.match(faults(7).join(), /reason is not a text or/);
  });
});

describe("a condition in TypeScript", () => {
  it("sees the facts, enters the digest by its text, and blocks if it fails", () => {
    const rules = (when: (facts: { readonly args: Json }) => boolean): Rules => [
      { id: "code", when, verdict: "block" },
    ];
    const big = policyOf({
      default: "approve",
      rules: rules(({ args }) => (args as { amount: number }).amount > 5),
    });
    const small = policyOf({
      default: "approve",
      rules: rules(({ args }) => (args as { amount: number }).amount < 5),
    });
    assert.equal(big.judge(input({ amount: 6 })).rule, "code");
    assert.equal(big.judge(input({ amount: 5 })).rule, "default");
    assert.notEqual(big.digest, small.digest);
    assert.ok(big.usesHistory("pay"));
    const odd = policyOf({
      default: "approve",
      rules: rules(() => {
        throw new Error("no");
      }),
    });
    assert.equal(odd.judge(input({})).reason, "rule code cannot be answered: no");
    const unclear = policyOf({ default: "approve", rules: rules((() => 1) as unknown as () => boolean) });
    assert.match(unclear.judge(input({})).reason ?? "", /did not answer true or false/);
  });
});
