import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  AGENT,
  ANN,
  APPROVE,
  ARGS,
  BLOCK,
  BOB,
  ESCALATE,
  says,
  toolRules,
} from "../../../tests/fixtures/rules.ts";
import type { Json } from "../../kernel/json.ts";
import { reviewAction } from "./review.ts";
import type { ToolRules } from "./tool-rules.ts";
import type { PolicyInput, Verdict } from "./verdict.ts";

const input: PolicyInput = {
  tool: "refund",
  args: ARGS,
  agent: AGENT,
  requester: [AGENT],
  effectClass: "once",
  workflow: null,
  history: [],
  requestId: "r-1",
  now: 1,
};
const review = (policy: ToolRules["policy"], more: Partial<ToolRules> = {}) =>
  reviewAction(toolRules({ policy, ...more }), input);
const nonsense = (answer: unknown) => review(() => answer as Verdict);
const revise = (set: object): Verdict => ({ verdict: "revise", set: set as never, reason: "cap" });

describe("a review", () => {
  test("answers the verdict with the rule and the reason that the policy gave", () => {
    assert.partialDeepStrictEqual(review(says(BLOCK)), {
      verdict: "block",
      rule: "never",
      reason: "not today",
    });
    assert.partialDeepStrictEqual(review(says(APPROVE)), { verdict: "approve", rule: "policy", reason: "" });
  });

  test("asks any one person, with a veto and without a deadline, unless the policy says otherwise", () => {
    assert.partialDeepStrictEqual(review(says(ESCALATE)), {
      verdict: "escalate",
      approvers: { quorum: 1, from: null, veto: true },
      decideWithinMs: null,
      executeWithinMs: null,
    });
  });

  test("gives the policy everything it may know, and nothing it could change", () => {
    let seen: PolicyInput | undefined;
    const answer = review((given) => {
      seen = given;
      (given.args as Record<string, Json>)["amount"] = 1;
      return APPROVE;
    });
    assert.partialDeepStrictEqual(seen, { tool: "refund", agent: AGENT, requestId: "r-1", now: 1 });
    assert.deepEqual(answer.args, ARGS);
    assert.deepEqual(ARGS, { order: "A-1", amount: 100 });
  });
});

describe("a revision", () => {
  const cap = (given: PolicyInput): Verdict =>
    (given.args as { amount: number }).amount > 50 ? revise({ amount: 50 }) : ESCALATE;

  test("is applied first, and people are asked about the revised action", () => {
    assert.partialDeepStrictEqual(review(cap), {
      verdict: "escalate",
      args: { order: "A-1", amount: 50 },
      revisions: [{ args: { order: "A-1", amount: 50 }, reason: "cap" }],
    });
  });

  test("that is followed by a block is blocked", () => {
    const policy = (given: PolicyInput) =>
      (given.args as { amount: number }).amount > 50 ? revise({ amount: 50 }) : BLOCK;
    assert.equal(review(policy).verdict, "block");
  });

  for (const [rounds, verdict] of [
    [5, "approve"],
    [6, "block"],
  ] as const) {
    test(`in ${rounds} rounds: ${verdict}`, () => {
      let left: number = rounds;
      const policy = () => (left-- > 0 ? revise({ amount: left }) : APPROVE);
      const answer = review(policy);
      assert.equal(answer.verdict, verdict);
      if (verdict === "block") assert.match(answer.reason, /still revising after 5 rounds/);
      assert.equal(answer.revisions.length, Math.min(rounds, 5), "a sixth is not made");
    });
  }

  test("that does not fit the tool is refused as the policy's own fault", () => {
    assert.partialDeepStrictEqual(review(says(revise({ amount: "much" }))), {
      verdict: "block",
      invalidRevision: true,
      reason: "the policy's revision does not fit the tool: amount: not a number",
    });
  });

  test("cannot be done to by a schema what it does to its input", () => {
    const validate = (args: Json) => {
      (args as Record<string, Json>)["amount"] = 7;
      return { ok: true as const, value: { ...(args as object), amount: 50 } as Json };
    };
    const policy = (given: PolicyInput) =>
      (given.args as { amount: number }).amount > 50 ? revise({ amount: 50 }) : APPROVE;
    assert.deepEqual(review(policy, { validate }).args, { order: "A-1", amount: 50 });
  });

  for (const set of [
    { amount: Number.NaN },
    { amount: 1n },
    { amount: () => 1 },
    { at: new Date(0) },
    { text: "\ud800" },
  ]) {
    test(`with a value that is not JSON (${String(Object.values(set)[0])}) blocks`, () => {
      assert.equal(review(says(revise(set))).verdict, "block");
    });
  }
});

describe("a policy that fails blocks", () => {
  test("when it throws, with the error as the reason", () => {
    const answer = review(() => {
      throw new Error("no such field: customer");
    });
    assert.partialDeepStrictEqual(answer, {
      verdict: "block",
      reason: "the policy failed: no such field: customer",
    });
  });

  const answers: Readonly<Record<string, unknown>> = {
    nothing: undefined,
    null: null,
    text: "approve please",
    true: true,
    "a promise": Promise.resolve(APPROVE),
    "an unknown verdict": { verdict: "allow" },
    "a list": [APPROVE],
    "a revision without values": { verdict: "revise", reason: "cap" },
    "a deadline that is no number": { verdict: "escalate", decideWithinMs: "soon" },
    "a deadline before now": { verdict: "escalate", decideWithinMs: -1 },
    "a deadline that no clock reaches": { verdict: "escalate", decideWithinMs: Number.MAX_SAFE_INTEGER },
    "an execution time that no clock reaches": {
      verdict: "escalate",
      executeWithinMs: Number.MAX_SAFE_INTEGER,
    },
    "a quorum of none": { verdict: "escalate", approvers: { quorum: 0 } },
    "half a person": { verdict: "escalate", approvers: { quorum: 1.5 } },
    "a name instead of names": { verdict: "escalate", approvers: { from: ANN } },
    "names that are not text": { verdict: "escalate", approvers: { from: [5] } },
    "a veto that is not yes or no": { verdict: "escalate", approvers: { veto: "no" } },
    "a reason that is not text": { verdict: "escalate", reason: { why: 1 } },
    "a reason that JSON cannot hold": { verdict: "block", reason: 1n },
    "half a character as a reason": { verdict: "approve", reason: "\ud800" },
    "a rule that is not text": { verdict: "approve", rule: 5 },
  };
  for (const [name, answer] of Object.entries(answers)) {
    test(`when it answers ${name}`, () => {
      const { verdict, reason } = nonsense(answer);
      assert.equal(verdict, "block");
      assert.equal(typeof reason, "string");
      assert.ok(reason.isWellFormed());
    });
  }

  test("when the quorum cannot be met by the people it names", () => {
    const approvers = { quorum: 2, from: [ANN, ANN] };
    assert.match(nonsense({ verdict: "escalate", approvers }).reason, /2 people are asked for and 1/);
  });

  test("when only the requester could meet the quorum", () => {
    const rules = toolRules({ policy: says({ verdict: "escalate", approvers: { quorum: 1, from: [BOB] } }) });
    assert.equal(reviewAction(rules, { ...input, requester: [AGENT, BOB] }).verdict, "block");
  });

  test("when only agents are named", () => {
    assert.equal(
      nonsense({ verdict: "escalate", approvers: { from: ["agent:a", "agent:b"] } }).verdict,
      "block",
    );
  });

  test("when it adds words to an approver rule, which are never left out in silence", () => {
    const answer = nonsense({ verdict: "escalate", approvers: { quorum: 1, because: "it is late" } });
    assert.equal(answer.verdict, "block");
    assert.match(answer.reason, /approvers has no field "because"; there are quorum, from, veto/);
  });
});
