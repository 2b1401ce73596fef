/** Supervised runs under a policy document: of the run, or of the instance. */
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import type { PolicyText } from "../../src/policy/rules/document.ts";
import type { SuperviseOptions } from "../../src/supervise/options.ts";
import { temporaryFolder } from "../fixtures/folder.ts";
import { ANN, office, question } from "../workflows/office.ts";
import { CONTEXT, FINAL, GOAL, given, type Line, MAIL, refund, scripted, toolsOf } from "./refund.ts";

const POLICY: PolicyText = {
  policy: "refunds",
  default: "block",
  limits: { steps: 4, tool_calls: 3, seconds: 20 },
  tools: { get_refund_context: { calls: 3 }, issue_refund: { calls: 3 } },
  totals: { contexts: { tool: "get_refund_context", count: true } },
  risk: { conditions: [{ id: "large", tool: "issue_refund", when: "args.amount_usd > 1000.0", weight: 40 }] },
  rules: [
    { id: "read", tool: "get_refund_context", verdict: "approve", reason: "read_only_context" },
    {
      id: "reason",
      tool: "issue_refund",
      when: "!has(args.reason)",
      verdict: "revise",
      set: { reason: "within policy" },
      reason: "refund_reason_required",
    },
    {
      id: "high",
      tool: "issue_refund",
      when: "args.amount_usd > 1000.0",
      verdict: "escalate",
      reason: "high_refund_requires_human",
    },
    { id: "auto", tool: "issue_refund", verdict: "approve", reason: "refund_within_auto_limit" },
    {
      id: "context",
      tool: "final",
      when: "totals.contexts == 0",
      verdict: "block",
      reason: "final_requires_context",
    },
    { id: "answer", tool: "final", verdict: "approve", reason: "final_with_context" },
  ],
};

async function run(lines: readonly Line[], more: Partial<SuperviseOptions> = {}) {
  const place = office();
  const desk = place.open();
  const model = scripted(...lines);
  const running = desk.supervise({ ...given(desk, model), policy: POLICY, ...more });
  running.catch(() => undefined);
  return { place, desk, model, running, end: () => place.finish(running) };
}

const stopOf = async (lines: readonly Line[], more: Partial<SuperviseOptions> = {}) =>
  (await (await run(lines, more)).end()).stop_reason;

describe("under a document of its own a run", () => {
  test("shows the document's reasons, risk and what a person changed", async () => {
    const { place, desk, end } = await run([CONTEXT, refund(1200, {}), FINAL]);
    await desk.approvals.approve(await question(place, desk), { ...ANN, edit: { amount_usd: 800 } });
    const result = await end();
    assert.equal(result.stop_reason, "success");
    assert.deepEqual(result.trace[1]?.risk_score, 40);
    assert.partialDeepStrictEqual(result.trace[1], {
      supervisor_decision: "escalate",
      executed_from: "human_revised",
      human_approved: true,
    });
    assert.deepEqual(result.history[1]?.supervisor, {
      decision: "escalate",
      reason: "high_refund_requires_human",
      revised_action: refund(1200, { reason: "within policy" }),
      revised: [{ reason: "refund_reason_required", rule: "reason" }],
    });
    assert.equal(result.history[2]?.supervisor?.reason, "final_with_context");
    await desk.close();
  });

  test("has its version in the journal before the first verdict", async () => {
    const { desk, end } = await run([CONTEXT, FINAL]);
    await end();
    const types: string[] = [];
    for await (const line of desk.journal.export())
      types.push(...[...line.matchAll(/\\"type\\":\\"([a-z_.]+)\\"/g)].map(([, type]) => type ?? ""));
    assert.ok(types.includes("policy.adopted"), types.join());
    assert.ok(types.indexOf("policy.adopted") < types.indexOf("action.reviewed"));
    await desk.close();
  });

  test("ends at the document's limits and list of tools", async () => {
    assert.equal(await stopOf([MAIL]), "tool_denied:send_refund_email");
    assert.equal(await stopOf([refund(1), refund(2), CONTEXT, refund(3)]), "max_tool_calls");
    const calls = { ...POLICY, tools: { issue_refund: { calls: 1 } } };
    assert.equal(await stopOf([refund(1), refund(2)], { policy: calls }), "loop_detected:per_tool_limit");
    assert.equal(
      await stopOf([refund(5), refund(5, { reason: "annual  plan " })]),
      "loop_detected:signature_repeat",
    );
    assert.equal(await stopOf([CONTEXT, CONTEXT, CONTEXT]), "loop_detected:signature_repeat");
    assert.equal(await stopOf([FINAL]), "supervisor_block:final_requires_context");
  });

  test("takes as many steps as the document says, and the program may only ask for fewer", async () => {
    assert.equal(await stopOf([CONTEXT, refund(1), refund(2), FINAL], { limits: { steps: 99 } }), "success");
    const { end, model } = await run([CONTEXT, refund(1), "Enough."], { limits: { steps: 2 } });
    assert.equal((await end()).stop_reason, "max_steps");
    assert.equal(model.asked.length, 3);
    const five = await run([CONTEXT, CONTEXT, refund(1), FINAL], { limits: { steps: 99, toolCalls: 99 } });
    assert.equal((await five.end()).stop_reason, "success");
  });

  test("decides about a tool that has no policy of its own", async () => {
    const place = office();
    const desk = place.open();
    const tools = [desk.gate({ name: "get_refund_context", effect: "read", run: () => ({}) })];
    const policy: PolicyText = { policy: "reads", default: "approve" };
    const result = desk.supervise({ goal: GOAL, tools, policy, model: scripted(CONTEXT, FINAL) });
    assert.equal((await place.finish(result)).stop_reason, "success");
    await desk.close();
  });

  test("is not begun where the document is wrong", async () => {
    const wrong = { ...POLICY, rules: [{ id: "x", when: "args.amount >", verdict: "block" }] } as PolicyText;
    const { running, desk } = await run([], { policy: wrong });
    await assert.rejects(running, { code: "policy_invalid" });
    assert.equal((await desk.workflows.list()).items.length, 0);
    const missing = await run([], { policy: "no-such-file.yaml" });
    await assert.rejects(missing.running, { code: "policy_invalid" });
    await desk.close();
  });

  test("goes on under the limits it was started with, when it is asked for again under others", async () => {
    const place = office();
    const desk = place.open();
    const tools = toolsOf(desk);
    const options = { goal: GOAL, tools, id: "r", policy: POLICY, model: scripted(CONTEXT, FINAL) };
    const first = await place.finish(desk.supervise(options));
    const looser = { ...POLICY, limits: { steps: 9 } };
    assert.deepEqual(await place.finish(desk.supervise({ ...options, policy: looser })), first);
    await assert.rejects(place.finish(desk.supervise({ ...options, limits: { steps: 1 } })), {
      code: "request_conflict",
    });
    await desk.close();
  });
});

describe("under the instance's document a run", () => {
  test("is decided and limited by it, as a file", async (context) => {
    const folder = temporaryFolder(context);
    const file = join(folder.path, "..", "refunds.json");
    writeFileSync(file, JSON.stringify({ ...POLICY, limits: { steps: 2, tool_calls: 1 } }));
    const hp = folder.open({ policy: file });
    const tools = toolsOf(hp);
    const first = await hp.supervise({ goal: GOAL, tools, model: scripted(CONTEXT, refund(5)) });
    assert.equal(first.stop_reason, "max_tool_calls");
    const second = await hp.supervise({ goal: GOAL, tools, model: scripted(CONTEXT, FINAL) });
    assert.equal(second.stop_reason, "success");
    assert.equal(second.history[1]?.supervisor?.reason, "final_with_context");
    assert.equal((await hp.journal.verify()).ok, true);
  });
});
