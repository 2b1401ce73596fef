/** How many calls a supervised run makes in all, where nobody has said: a policy that says so stands in its place. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { admin } from "../../src/admin.ts";
import type { RunLimits } from "../../src/supervise/rules/limits.ts";
import { temporaryFolder } from "../fixtures/folder.ts";
import { GOAL, scripted } from "../supervise/refund.ts";

const OPEN = { policy: "open", default: "approve" } as const;
const NAMES = ["a", "b", "c", "d", "e", "f"];

/** The sixth call is one too many. */
async function stopped(context: TestContext, limits: Partial<RunLimits> = {}) {
  const hp = temporaryFolder(context).open();
  const tools = NAMES.map((name) => hp.gate({ name, effect: "read", policy: "approve", run: () => "seen" }));
  const model = scripted(...NAMES.map((name) => ({ kind: "tool", name, args: {} })));
  const run = await hp.supervise({ goal: GOAL, tools, model, policy: OPEN, limits });
  assert.equal(run.stop_reason, "max_tool_calls");
  return async (more: object) => {
    const { changed, limited } = await admin(hp).policies.backtest({ ...OPEN, ...more });
    return { changed, limited };
  };
}

test("the usual number gives way to a policy with a number of its own, and to no other", async (context) => {
  const backtest = await stopped(context);
  assert.deepEqual(await backtest({ limits: { tool_calls: 10 } }), { changed: 1, limited: 0 });
  assert.deepEqual(await backtest({ tools: { "*": { calls: 9 } } }), { changed: 0, limited: 1 });
  assert.deepEqual(await backtest({}), { changed: 0, limited: 1 });
});

test("a number that the program gave its run stays, whatever the policy says", async (context) => {
  const backtest = await stopped(context, { toolCalls: 5 });
  assert.deepEqual(await backtest({ limits: { tool_calls: 10 } }), { changed: 0, limited: 1 });
});
