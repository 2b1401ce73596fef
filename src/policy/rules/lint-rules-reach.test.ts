import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { compilePolicy } from "./compile.ts";
import type { PolicyText } from "./document.ts";

type Rules = NonNullable<PolicyText["rules"]>;

function warnings(...rules: Rules): readonly string[] {
  const made = compilePolicy({ policy: "p", default: "block", rules }, null);
  assert.ok(made.ok, JSON.stringify(made));
  return made.warnings.map(({ path, message }) => `${path.join(".")}: ${message}`);
}

const rule = (id: string, verdict: Rules[number]["verdict"], when?: string, more: object = {}) =>
  ({ id, verdict, ...(when === undefined ? {} : { when }), ...more }) as Rules[number];
const hidden = (...rules: Rules) => assert.equal(warnings(...rules).length, 1, warnings(...rules).join("\n"));
const free = (...rules: Rules) => assert.deepEqual(warnings(...rules), []);

describe("a rule that another one hides", () => {
  it("is named, with the one that comes first", () => {
    assert.deepEqual(
      warnings(rule("a", "escalate", "args.amount > 100"), rule("b", "escalate", "args.amount>100")),
      ["rules.1: b never gives its escalate: a has the same condition, and its escalate comes first"],
    );
  });

  it("is found where the condition is the same", () => {
    hidden(rule("a", "block", "args.x == 1"), rule("b", "block", "args.x == 1"));
    hidden(rule("a", "block", "args.x == 1"), rule("b", "revise", "args.x == 1", { set: { y: 1 } }));
  });

  it("is found also where it stands first, if the other's verdict is the stronger", () => {
    hidden(rule("a", "approve", "args.x == 1"), rule("b", "block", "args.x == 1"));
  });

  it("has to speak of no other tools", () => {
    hidden(
      rule("a", "block", "args.x == 1", { tool: "pay.*" }),
      rule("b", "block", "args.x == 1", { tool: ["pay.now", "pay.later"] }),
    );
    free(
      rule("a", "block", "args.x == 1", { tool: "pay.*" }),
      rule("b", "block", "args.x == 1", { tool: ["pay.now", "mail"] }),
    );
    free(rule("a", "block", "agent == 'x'"), rule("b", "block", "agent == 'x'", { tool: "final" }));
  });
});

describe("a rule that has its say", () => {
  it("is left alone: a stronger verdict, other facts, an earlier place", () => {
    free(rule("large", "escalate", "args.amount > 100"), rule("huge", "block", "args.amount > 1000"));
    free(rule("huge", "escalate", "args.amount > 1000"), rule("large", "escalate", "args.amount > 100"));
    free(rule("a", "block", "args.x == 1 && args.y == 2"), rule("b", "block", "args.x == 1"));
    free(rule("a", "block", "args.x == 1 || args.y == 2"), rule("b", "block", "args.x != 1"));
    free(rule("cap", "escalate", "args.x > 5"), rule("down", "revise", "args.x > 5", { set: { x: 5 } }));
  });

  it("is not hidden by a revision, nor by a rule on trial, and one on trial is not hidden", () => {
    free(rule("r", "revise", "args.x > 5", { set: { x: 5 } }), rule("a", "approve", "args.x > 5"));
    free(rule("t", "block", "args.x > 5", { shadow: true }), rule("a", "block", "args.x > 5"));
    free(rule("a", "block", "args.x > 5"), rule("t", "block", "args.x > 5", { shadow: true }));
  });

  it("may be a function, of which nothing is known", () => {
    const when = () => true;
    free(
      { id: "a", verdict: "block", when },
      { id: "b", verdict: "block", when },
      { id: "c", verdict: "block", when: "args.x > 1" },
    );
  });
});

it("a thousand rules are looked at before anybody gets impatient", () => {
  const many = Array.from({ length: 1_000 }, (_, n) =>
    rule(`r${n}`, "escalate", `args.a == ${n} && args.b > ${n} || args.c in [${n}, 'x${n}']`, {
      tool: `t${n % 7}`,
    }),
  );
  assert.deepEqual(warnings(...many), []);
});

describe("what takes a call back", () => {
  const PAY = {
    name: "pay",
    effectClass: "once",
    schema: { type: "object", properties: { amount: { type: "number" } }, required: ["amount"] },
  } as const;
  const told = (rules: Rules) => {
    const made = compilePolicy({ policy: "p", default: "block", rules }, [PAY]);
    return [...made.warnings, ...(made.ok ? [] : made.faults)].map(({ message }) => message);
  };

  it("is a tool that is known", () => {
    assert.deepEqual(told([rule("back", "escalate", undefined, { tool: "pay.undo" })]), []);
  });

  it("may be of another class than the call", () => {
    const tool = ["pay", "pay.undo"];
    assert.deepEqual(told([rule("keyed", "escalate", 'tool.effect == "keyed"', { tool })]), []);
  });

  it("is not hidden by a rule that reads the arguments of the call, which is not asked about it", () => {
    const cap = (tool: string) => rule("cap", "block", "args.amount > 50", { tool });
    const back = rule("back", "escalate", "args.amount > 50", { tool: "pay.undo" });
    free(cap("pay*"), back);
    hidden(cap("pay.undo"), back);
    hidden(rule("all", "block", undefined, { tool: "pay*" }), back);
  });
});
