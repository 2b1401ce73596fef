import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { compilePolicy } from "../../rules/compile.ts";
import type { PolicyDocument, PolicyText } from "../../rules/document.ts";
import { explain, explaining, ruleStates } from "./explain.ts";

const input = {
  ...{ tool: "pay", effectClass: "once", agent: "agent:a", requester: ["agent:a"], requestId: null },
  ...{ workflow: null, history: [], now: 0 },
};

function statesOf(rules: PolicyText["rules"], args: object) {
  const made = compilePolicy({ policy: "p", default: "approve", rules: rules ?? [] }, null);
  assert.ok(made.ok, JSON.stringify(made));
  const document = made.policy.document as unknown as PolicyDocument;
  const asked = { input: { ...input, args: args as never }, asked: "call" } as const;
  return ruleStates(explain(document, made.policy, asked, (value) => ({ ok: true, value })));
}

describe("what became of each rule", () => {
  test("one decides; others matched too, did not, or speak of something else", () => {
    const states = statesOf(
      [
        { id: "mail", tool: "mail", verdict: "block" },
        { id: "small", tool: "pay", when: "args.n < 5", verdict: "block" },
        { id: "asked", tool: "pay", when: "args.n > 5", verdict: "escalate" },
        { id: "let", tool: "pay", verdict: "approve" },
        { id: "tried", tool: "pay", when: "args.n > 1", verdict: "block", shadow: true },
      ],
      { n: 7 },
    );
    assert.deepEqual(
      states.map(({ id, state, note }) => [id, state, note]),
      [
        ["mail", "other_tool", ""],
        ["small", "did_not_match", "args.n < 5; args.n = 7"],
        ["asked", "decided", "args.n > 5; args.n = 7"],
        ["let", "matched", ""],
        ["tried", "shadow", "args.n > 1; args.n = 7"],
      ],
    );
  });

  test("a rule that cannot be answered says why", () => {
    const [one] = statesOf([{ id: "asked", tool: "pay", when: "args.n > 5", verdict: "escalate" }], {});
    assert.equal(one?.state, "failed");
    assert.match(one?.note ?? "", /it blocks$/);
  });

  test("a rule that changed the arguments has decided, and is told as it was asked then", () => {
    const states = statesOf(
      [
        { id: "capped", tool: "pay", when: "args.n > 50", verdict: "revise", set: { n: 50 } },
        { id: "asked", tool: "pay", when: "args.n > 5", verdict: "escalate" },
      ],
      { n: 70 },
    );
    assert.deepEqual(states, [
      { id: "capped", verdict: "revise", state: "decided", note: "args.n > 50; args.n = 70" },
      { id: "asked", verdict: "escalate", state: "decided", note: "args.n > 5; args.n = 50" },
    ]);
  });

  test("a long value is cut", () => {
    const [one] = statesOf([{ id: "asked", tool: "pay", when: 'args.n == "x"', verdict: "block" }], {
      n: "y".repeat(1_000),
    });
    assert.ok((one?.note.length ?? 0) < 300 && one?.note.endsWith("…"));
  });
});

describe("an explanation", () => {
  const COSTLY = "(args.s + args.s + args.s + args.s).size() == 1";
  const rules = Array.from({ length: 500 }, (_, n) => ({
    ...({ id: `r${n}`, tool: "*", when: COSTLY, verdict: "escalate" } as const),
  }));

  test("has its steps for all rules together: what comes after that cannot be answered, and says why", () => {
    const states = statesOf(rules, { s: "a".repeat(64_000) });
    const failed = states.filter(({ state }) => state === "failed");
    assert.equal(states[0]?.state, "did_not_match");
    assert.ok(failed.length > 450, `${failed.length} were not answered`);
    assert.match(failed.at(-1)?.note ?? "", /took all the steps that an explanation has/);
    const small = statesOf(rules, { s: "a" });
    assert.ok(small.every(({ state }) => state === "did_not_match"));
  });

  test("is made in steps, one after each rule: others may have their turn between them", () => {
    const made = compilePolicy({ policy: "p", default: "approve", rules }, null);
    assert.ok(made.ok);
    const document = made.policy.document as unknown as PolicyDocument;
    const asked = { input: { ...input, args: { s: "a" } }, asked: "call" } as const;
    const steps = explaining(document, made.policy, asked, (value) => ({ ok: true, value }));
    let count = 0;
    while (steps.next().done !== true) count += 1;
    assert.equal(count, 500);
  });
});
