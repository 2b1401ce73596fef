import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { compilePolicy } from "./compile.ts";
import type { PolicyFault, PolicyText } from "./document.ts";
import type { KnownTool } from "./tools.ts";

const tool = (name: string, properties: KnownTool["schema"], required: readonly string[]): KnownTool => ({
  name,
  effectClass: name.startsWith("get_") ? "read" : "once",
  schema: {
    type: "object",
    properties: properties ?? {},
    required: [...required],
    additionalProperties: false,
  },
});
const TOOLS: readonly KnownTool[] = [
  tool("issue_refund", { amount_usd: { type: "number" }, reason: { type: "string" } }, ["amount_usd"]),
  tool("send_email", { to: { type: "string" } }, ["to"]),
  tool("get_context", { user_id: { type: "integer" } }, ["user_id"]),
];

const lines = (found: readonly PolicyFault[]) =>
  found.map(({ path, message }) => `${path.join(".")}: ${message}`);
const check = (document: unknown, tools: readonly KnownTool[] | null = TOOLS) => {
  const made = compilePolicy({ policy: "p", default: "block", ...(document as object) } as PolicyText, tools);
  return { faults: made.ok ? [] : lines(made.faults), warnings: lines(made.warnings) };
};
const rule = (given: object) => ({ rules: [{ id: "a", verdict: "block", ...given }] });

describe("what keeps a policy from being used", () => {
  const table: readonly (readonly [object, string])[] = [
    [
      rule({ tool: "issue_refnd" }),
      "rules.0.tool: there is no tool issue_refnd (did you mean issue_refund?)",
    ],
    [
      rule({ tool: "send_email", when: "args.amount_usd > 1" }),
      "rules.0.when: args has no field amount_usd (it has: to)",
    ],
    [
      rule({ when: "args.amount_usd > 1" }),
      "rules.0.when: args has no field amount_usd (it has: to) (of send_email)",
    ],
    [
      rule({ when: "has(args.amunt_usd)" }),
      "rules.0.when: args has no field amunt_usd (did you mean amount_usd?)",
    ],
    [
      rule({ when: "args.amount_usd >", tool: "issue_refund" }),
      "rules.0.when: the expression ends where more is needed",
    ],
    [rule({ verdict: "revise" }), "rules.0: a revises, and has no set to say what"],
    [rule({ set: { a: 1 } }), "rules.0.set: set belongs to revise, not to block"],
    [rule({ decide_by: "1h" }), "rules.0.decide_by: decide_by belongs to escalate, not to block"],
    [
      rule({ verdict: "escalate", approvers: { from: ["person:ann"], quorum: 2 } }),
      "rules.0.approvers: the quorum can never be met: 2 people are asked for and 1 of those named may vote",
    ],
    [
      rule({
        verdict: "escalate",
        stages: [{ from: "person:ann" }, { from: ["person:bob", "person:bob"], quorum: 2 }],
      }),
      "rules.0.stages.1: the quorum can never be met: 2 people are asked for and 1 of those named may vote",
    ],
    [
      rule({ verdict: "escalate", approvers: { from: "ann" } }),
      "rules.0.approvers.from.0: ann is not a person; write person:ann, role:… or group:…",
    ],
    [
      rule({ verdict: "escalate", approvers: { from: "agent:x" } }),
      "rules.0.approvers.from.0: agent:x does not decide, only people do; name them as person:…, role:… or group:…",
    ],
    [
      rule({ verdict: "escalate", approvers: { quorum: 1 }, stages: [{ quorum: 1 }] }),
      "rules.0.approvers: approvers and stages cannot both be there; make it the first stage",
    ],
    [
      {
        rules: [
          { id: "a", verdict: "block" },
          { id: "a", verdict: "block", when: "now > now" },
        ],
      },
      "rules.1.id: the id a is taken by rule 1",
    ],
    [
      { rules: [{ id: "limit:calls", verdict: "block" }] },
      "rules.0.id: the id limit:calls is one of Holdpoint's own; take another",
    ],
    [
      { tools: { get_context: { effect: "once" } } },
      "tools.get_context.effect: get_context is of class read, not once",
    ],
    [
      { tools: { get_contxt: {} } },
      "tools.get_contxt: there is no tool get_contxt (did you mean get_context?)",
    ],
    [{ totals: { x: { tool: "issue_refund" } } }, "totals.x: x needs either sum or count: true"],
    [
      { totals: { x: { tool: "issue_refund", sum: "args.reason" } } },
      "totals.x.sum: a number is needed, and this is text",
    ],
    [{ totals: { x: { tool: "issue_refund", sum: "now" } } }, "totals.x.sum: there is no now here"],
    [
      { risk: { conditions: [], levels: { medium: 70 } } },
      "risk.levels: medium 70, high 60, critical 90: each level has to be above the one before",
    ],
    [
      { risk: { conditions: [{ id: "r", when: "risk.score > 1", weight: 1 }] } },
      "risk.conditions.0.when: there is no risk here",
    ],
    [rule({ when: "totals.missing > 1" }), "rules.0.when: totals has no field missing"],
    [
      rule({ verdict: "revise", set: { a: { expr: "now" } } }),
      "rules.0.set.a.expr: JSON is needed, and this is a time",
    ],
    [
      { limits: { tool_call: 5 } },
      "limits.tool_call: tool_call is not a key here (did you mean tool_calls?)",
    ],
    [{ rules: [{ verdict: "block" }] }, "rules.0.id: id is missing"],
    [
      { rules: [{ id: "a" }] },
      "rules.0.verdict: verdict is missing: one of approve, revise, block, escalate",
    ],
    [
      { rules: [{ id: "a", verdict: "blok" }] },
      "rules.0.verdict: verdict is not one of approve, revise, block, escalate (did you mean block?)",
    ],
    [
      { default: "aprove" },
      "default: default is not approve, block, escalate or { verdict: … } (did you mean approve?)",
    ],
    [
      rule({ when: { function: "() => true" } }),
      "rules.0.when: when is a function of a program, which only that program can run",
    ],
    [rule({ when: 5 }), "rules.0.when: when is not an expression"],
    [
      rule({ tool: "issue_refund", verdict: "revise", set: { reson: "x" } }),
      "rules.0.set.reson: issue_refund has no field reson (did you mean reason?)",
    ],
    [
      rule({ tool: "issue_refund", verdict: "revise", set: { amount_usd: "5" } }),
      "rules.0.set.amount_usd: amount_usd of issue_refund is a number, and this is text",
    ],
    [{ default: "revise" }, "default: default is not approve, block, escalate or { verdict: … }"],
  ];
  for (const [document, expected] of table) {
    it(expected, () => {
      const { faults } = check(document);
      assert.ok(faults.includes(expected), faults.join("\n"));
    });
  }

  it("a field that only some tools have is asked for with has", () => {
    const { faults, warnings } = check(rule({ when: "has(args.amount_usd) && args.amount_usd > 1000" }));
    assert.deepEqual({ faults, warnings }, { faults: [], warnings: [] });
  });

  it("a tool may not be named final, unless it is what answers go through", () => {
    const named = (properties: KnownTool["schema"], effectClass: string) =>
      check({}, [...TOOLS, { ...tool("final", properties, []), effectClass }]).faults.length;
    assert.equal(named({}, "read"), 1);
    assert.equal(named({ answer: { type: "string" } }, "once"), 1);
    assert.equal(named({ answer: { type: "string" }, to: { type: "string" } }, "read"), 1);
    assert.equal(named({ answer: { type: "string" } }, "read"), 0);
  });

  it("all expressions together are limited too", () => {
    const costly = "history.all(a, history.all(b, a.at < b.at || a.tool == b.tool))";
    const rules = Array.from({ length: 20 }, (_, index) => ({
      id: `r${index}`,
      verdict: "block",
      when: costly,
    }));
    assert.match(
      check({ rules }).faults.join(),
      /the policy's expressions cost \d+, and 1000000 is the limit/,
    );
  });

  it("what is not plain data is refused", () => {
    const made = compilePolicy({ policy: "p", rules: [new Map()] } as unknown as PolicyText, null);
    assert.ok(!made.ok);
    for (const odd of [null, undefined, 5, "x", [], () => 1, new Date(0)])
      assert.ok(!compilePolicy(odd as unknown as PolicyText, null).ok, String(odd));
  });
});

describe("what is worth a second look", () => {
  const table: readonly (readonly [object, string])[] = [
    [rule({ tool: "delete_*" }), "rules.0.tool: no tool fits delete_*"],
    [rule({ tool: "wire_money" }), "rules.0.tool: there is no tool wire_money here"],
    [rule({ tool: "get_context2" }), "rules.0.tool: there is no tool get_context2 here"],
    [
      rule({ verdict: "revise", set: { reason: "x" }, when: "has(args.amount_usd)" }),
      "rules.0.set.reason: send_email has no field reason",
    ],
    [
      { ...rule({ tool: "send_email", verdict: "approve" }), tools: { "get_*": {} } },
      "rules.0.tool: a speaks of send_email, which is not among the tools that this policy allows",
    ],
    [rule({ when: false }), "rules.0.when: a can never match: its condition is false"],
    [rule({ when: "false" }), "rules.0.when: a can never match: its condition is false"],
    [
      {
        rules: [
          { id: "all", verdict: "approve" },
          { id: "mail", tool: "send_email", when: "args.to != ''", verdict: "approve" },
        ],
      },
      "rules.1: mail is never the answer: all always matches, and its approve comes first",
    ],
    [
      {
        rules: [
          { id: "mail", tool: "send_email", verdict: "approve" },
          { id: "no", tool: "send_*", verdict: "block" },
        ],
      },
      "rules.0: mail is never the answer: no always matches, and its block comes first",
    ],
    [{ totals: { x: { tool: "issue_refund", count: true } } }, "totals.x: no expression uses totals.x"],
    [
      rule({ verdict: "escalate", on_timeout: "extend" }),
      "rules.0.on_timeout: on_timeout without decide_by: it never comes to that",
    ],
    [
      rule({ tool: "issue_refund", when: "args.reason == ''" }),
      "rules.0.when: args.reason may be missing, and the rule then blocks; ask has(args.reason) first",
    ],
    [
      { default: undefined },
      ": there is no default: what no rule speaks of is blocked. Write default: block to say so",
    ],
  ];
  for (const [document, expected] of table) {
    it(expected, () => {
      const { faults, warnings } = check(document);
      assert.deepEqual(faults, []);
      assert.ok(warnings.includes(expected), warnings.join("\n"));
    });
  }

  it("rules that can be reached are not warned about", () => {
    const rules = [
      { id: "revise", verdict: "revise", tool: "issue_refund", set: { reason: "x" } },
      { id: "big", verdict: "block", tool: "issue_refund", when: "args.amount_usd > 5" },
      { id: "trial", verdict: "block", shadow: true },
      { id: "rest", verdict: "approve" },
      { id: "answer", verdict: "approve", tool: "final" },
    ];
    assert.deepEqual(check({ rules }), { faults: [], warnings: [] });
  });
});

describe("what people write", () => {
  for (const when of [
    "sum(history.filter(h, h.tool == 'issue_refund').map(h, h.args.amount_usd)) + args.amount_usd > 2000",
    "history.filter(h, h.tool == tool.name && now - h.at < duration('1h')).size() >= 3",
    "now.getDayOfWeek('Europe/Berlin') in [0, 6] || now.getHours('Europe/Berlin') >= 20",
    "tool.effect == 'once' && workflow.name == '' && agent.startsWith('agent:')",
    "history.exists(h, h.tool == 'get_context' && h.result.user.vip == true && !h.undone)",
    "size(history) > 0 && history[0].status in ['running', 'in_doubt']",
    "args.amount_usd * 1.19 > max(100, totals.spent / 2) ? risk.level != 'low' : risk.score > 10",
    "has(args.reason) && args.reason.trim().lowerAscii().matches('(?i)urgent|now')",
    "!(args.amount_usd in [10, 20, 49.99]) && args.amount_usd % 1 != 0",
    "args.amount_usd > 5 // what is small is let through",
  ])
    it(`${when} is in order`, () => {
      const totals = { spent: { tool: "issue_refund", when: "args.amount_usd > 0", sum: "args.amount_usd" } };
      const risk = { conditions: [{ id: "late", when: "now.getHours() > 20", weight: 60 }] };
      const { faults, warnings } = check({
        totals,
        risk,
        rules: [{ id: "a", tool: "issue_refund", when, verdict: "block" }],
      });
      assert.deepEqual(faults, []);
      assert.deepEqual(
        warnings.filter((line) => !line.includes("totals.spent")),
        [],
      );
    });
});

describe("a policy's digest", () => {
  it("stays as it is stored in journals, and so does the document", () => {
    const made = compilePolicy(
      {
        policy: "refunds",
        default: "block",
        totals: { spent: { tool: "pay", sum: "args.amount" } },
        rules: [
          {
            ...{ id: "big", tool: ["pay", "refund*"], when: "totals.spent + args.amount  > 1000" },
            ...{ verdict: "escalate", approvers: { from: "person:ann" }, decide_by: "1h" },
          },
          { id: "odd", when: () => true, verdict: "revise", set: { a: { expr: "args.b" } } },
        ],
      },
      null,
    );
    assert.ok(made.ok);
    assert.equal(made.policy.digest, "0a24bd6048ee96fb04fcbb930d9caa572c0f76db7b47f5f7bd0bf7d5e8eb13bf");
  });

  it("is of what was written, whatever the order of its keys", () => {
    const digest = (document: PolicyText) => {
      const made = compilePolicy(document, null);
      assert.ok(made.ok);
      return made.policy.digest;
    };
    const one = digest({ policy: "p", default: "block", rules: [{ id: "a", verdict: "block" }] });
    assert.equal(digest({ rules: [{ verdict: "block", id: "a" }], default: "block", policy: "p" }), one);
    assert.notEqual(digest({ policy: "p", default: "approve", rules: [{ id: "a", verdict: "block" }] }), one);
    assert.match(one, /^[0-9a-f]{64}$/);
  });
});
