import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { PastCall, PolicyInput, Verdict } from "../../policy/rules/verdict.ts";
import { type RunLimits, runGuard } from "./limits.ts";

const past = (tool: string, args: object, status: PastCall["status"] = "applied", generation = 1) =>
  ({ tool, args, status, generation }) as unknown as PastCall;
const call = (tool: string, args: object, history: readonly PastCall[], effectClass = "once") =>
  ({ tool, args, history, effectClass, workflow: { generation: 1 } }) as unknown as PolicyInput;
const APPROVE: Verdict = { verdict: "approve" };
const free = { toolCalls: 99 };
const never = () => false;
const always = () => true;

function says(
  input: PolicyInput,
  {
    limits = free,
    isCounted = never,
    said = APPROVE,
  }: Partial<{
    readonly limits: Pick<RunLimits, "toolCalls" | "tools">;
    readonly isCounted: (tool: string) => boolean;
    readonly said: Verdict;
  }> = {},
): string {
  const { verdict, rule = "" } = runGuard(limits, isCounted)(input, said);
  return verdict === "block" ? rule : verdict;
}

describe("a run's own limits", () => {
  test("count what was started in this attempt, whatever came of it, and no answer", () => {
    const history = [
      past("pay", { n: 1 }, "in_doubt"),
      past("pay", { n: 2 }, "refused"),
      past("pay", { n: 3 }, "waiting"),
      past("pay", { n: 4 }, "applied", 2),
      past("final", { answer: "x" }),
    ];
    assert.equal(says(call("pay", { n: 9 }, history)), "approve");
    assert.equal(
      says(call("pay", { n: 9 }, [...history, past("pay", { n: 5 }, "not_applied")])),
      "limit:calls",
    );
    assert.equal(says(call("pay", { n: 9 }, history), { limits: { toolCalls: 1 } }), "limit:tool_calls");
    assert.equal(says(call("pay", { n: 9 }, history), { limits: { toolCalls: 2 } }), "approve");
    assert.equal(says(call("pay", { n: 1 }, history)), "limit:repeats");
    assert.equal(says(call("pay", { n: 2 }, history)), "approve");
  });

  test("let a read be repeated once more than anything else", () => {
    const one = [past("look", { at: "here" })];
    assert.equal(says(call("look", { at: " here " }, one, "once")), "limit:repeats");
    assert.equal(says(call("look", { at: " here " }, one, "read")), "approve");
    assert.equal(
      says(call("look", { at: "here" }, [...one, ...one], "read"), {
        limits: { ...free, tools: { look: { calls: 9 } } },
      }),
      "limit:repeats",
    );
  });

  test("leave the calls of a tool to a document that counts them, and the calls of all to nobody", () => {
    const history = [past("pay", { n: 1 }), past("pay", { n: 1 }), past("pay", { n: 1 })];
    const input = call("pay", { n: 1 }, history);
    assert.equal(says(input, { isCounted: always }), "approve");
    assert.equal(says(input, { isCounted: always, limits: { toolCalls: 3 } }), "limit:tool_calls");
    assert.equal(
      says(input, { isCounted: always, limits: { ...free, tools: { pay: { calls: 3 } } } }),
      "limit:calls",
    );
    assert.equal(says(input, { isCounted: (tool) => tool !== "pay" }), "limit:calls");
  });

  test("come after a block, and of what is no verdict they make none", () => {
    const input = call("pay", { n: 1 }, [past("pay", { n: 1 }), past("pay", { n: 1 })]);
    const block: Verdict = { verdict: "block", rule: "mine", reason: "no" };
    assert.equal(says(input, { said: block }), "mine");
    const none = { verdict: "aprove" } as unknown as Verdict;
    assert.equal(runGuard(free, never)(input, none), none);
  });

  test("judge a repetition only once nothing is revised any more", () => {
    const input = call("pay", { n: 1 }, [past("pay", { n: 1 })]);
    assert.equal(says(input, { said: { verdict: "revise", set: { n: 2 }, reason: "" } }), "revise");
    assert.equal(says(input, { said: { verdict: "escalate" } }), "limit:repeats");
  });

  test("keep what a policy remarked, and say nothing of an answer", () => {
    const risk = { score: 1, level: "low", conditions: [] } as const;
    const input = call("pay", { n: 1 }, [past("pay", { n: 1 })]);
    assert.deepEqual(runGuard(free, never)(input, { ...APPROVE, risk }).risk, risk);
    const answer = call("final", { answer: "x" }, [
      past("final", { answer: "x" }),
      past("final", { answer: "x" }),
    ]);
    assert.equal(says(answer, { limits: { toolCalls: 0 } }), "approve");
  });

  test("are not those of a tool that is named like something every object has", () => {
    assert.equal(
      says(call("constructor", {}, [past("constructor", {})]), { limits: { ...free, tools: {} } }),
      "limit:repeats",
    );
  });
});
