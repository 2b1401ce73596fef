import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { compilePolicy } from "./compile.ts";
import type { PolicyText } from "./document.ts";

function faults(set: object): readonly string[] {
  const rules = [{ id: "a", verdict: "revise", set }];
  const made = compilePolicy({ policy: "p", default: "block", rules } as unknown as PolicyText, null);
  return made.ok
    ? []
    : made.faults.map(({ path, message, offset }) => `${path.join(".")} ${offset ?? "-"} ${message}`);
}

describe("what a rule puts into the arguments", () => {
  it("is no handle of a secret, at any depth: a fault at its place when the policy is loaded", () => {
    const [found, ...more] = faults({ key: { $secret: "env:TOKEN" } });
    assert.match(found ?? "", /^rules\.0\.set\.key\.\$secret - a policy does not write "\$secret"/);
    assert.deepEqual(more, []);
    assert.match(
      faults({ list: [{ deep: { $artifact: "x" } }] }).join(),
      /^rules\.0\.set\.list\.0\.deep\.\$artifact/,
    );
    assert.match(faults({ $secret: "env:TOKEN" }).join(), /^rules\.0\.set\.\$secret/);
    assert.match(
      faults({ key: { expr: '{"a": {"$secret": "env:TOKEN"}}' } }).join(),
      /^rules\.0\.set\.key\.expr 7 a policy does not write "\$secret"/,
    );
  });

  it("may be what the action has, and text that only looks like it", () => {
    assert.deepEqual(faults({ key: { expr: "args.key" }, note: "$secret", to: { secret: "$secret" } }), []);
  });
});

const PAY = {
  name: "pay",
  effectClass: "once",
  schema: {
    type: "object",
    properties: {
      amount: { type: "number" },
      to: {
        type: "object",
        properties: {
          iban: { type: "string" },
          cents: { type: "integer" },
          kind: { enum: ["sepa", "swift"] },
          note: { type: "string", default: "" },
        },
        required: ["iban", "cents", "note"],
      },
      tags: { type: "array", items: { type: "string" } },
    },
    required: ["amount"],
  },
} as const;

describe("an expression inside a value that a rule puts in", () => {
  const made = (set: object, tools: Parameters<typeof compilePolicy>[1] = [PAY]) =>
    compilePolicy(
      {
        policy: "p",
        default: "block",
        rules: [{ id: "cap", tool: "pay", verdict: "revise", set }],
      } as unknown as PolicyText,
      tools,
    );
  const found = (set: object) => {
    const one = made(set);
    return one.ok ? [] : one.faults.map(({ path, message }) => `${path.join(".")}: ${message}`);
  };
  const IBAN = { expr: "args.to.iban" };

  it("is evaluated at any depth, in objects and in lists, and is not handed to the tool as it is written", () => {
    const set = { to: { cents: { expr: "min(args.amount, 5)" }, iban: "X" }, tags: ["a", { expr: "agent" }] };
    const one = made(set);
    assert.ok(one.ok, JSON.stringify(one));
    const input = {
      ...{ tool: "pay", effectClass: "once", agent: "agent:a", requester: [], requestId: null },
      ...{ workflow: null, history: [], now: 0, args: { amount: 60 } },
    };
    const said = one.policy.judge(input);
    const put = { to: { cents: 5, iban: "X" }, tags: ["a", "agent:a"] };
    assert.deepEqual([said.verdict, said.verdict === "revise" && said.set], ["revise", put]);
    // Once it is so, there is nothing left to change.
    assert.equal(one.policy.judge({ ...input, args: { amount: 60, ...put } }).verdict, "block");
  });

  it("is checked like any other: what it reads, and its type against that part of the schema", () => {
    assert.match(
      found({ to: { iban: IBAN, cents: { expr: "args.amout" } } }).join(),
      /^rules\.0\.set\.to\.cents\.expr: .*amout.*did you mean amount/,
    );
    assert.deepEqual(found({ to: { expr: "agent" } }), [
      "rules.0.set.to: to of pay is an object, and this is text",
    ]);
    assert.deepEqual(found({ tags: { expr: "args.amount" } }), [
      "rules.0.set.tags: tags of pay is a list, and this is a number",
    ]);
  });

  it("is not compared with the parts of a value: the tool's schema refuses those when the rule revises", () => {
    assert.match(found({ to: "somewhere" }).join(), /to of pay is an object, and this is text/);
    assert.deepEqual(found({ to: { cents: { expr: "agent" } }, tags: ["a", { expr: "args.amount" }] }), []);
    assert.deepEqual(found({ to: { iban: IBAN, cents: 1 } }), []);
  });
});

describe("a worker's answer that no rule names", () => {
  const warnings = (more: object) => {
    const made = compilePolicy({ policy: "p", default: "block", ...more } as unknown as PolicyText, null);
    return made.ok
      ? made.warnings.map(({ path, message }) => `${path.join(".")}: ${message}`)
      : assert.fail();
  };
  const rule = (tool: string) => ({ id: "a", tool, verdict: "approve" });

  it("is told of where the policy is written for supervised runs", () => {
    for (const limits of [{ steps: 3 }, { seconds: 3 }])
      assert.match(
        warnings({ limits, rules: [rule("pay")] }).join(),
        /^limits: no rule names final: .* is let through/,
      );
  });

  it("is not where a rule names it, it is approved anyway, or no run is thought of", () => {
    assert.deepEqual(warnings({ limits: { steps: 3 }, rules: [rule("final")] }), []);
    assert.deepEqual(warnings({ limits: { steps: 3 }, default: "approve" }), []);
    assert.deepEqual(warnings({ limits: { tool_calls: 3 }, rules: [rule("pay")] }), []);
    assert.deepEqual(warnings({ rules: [rule("*")] }), []);
  });
});
