/** Loop detection holds in every supervised run, whoever decides about its calls. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Policy } from "../../src/effects/define-tool.ts";
import type { PolicyText } from "../../src/policy/rules/document.ts";
import type { PolicyInput } from "../../src/policy/rules/verdict.ts";
import type { SuperviseOptions } from "../../src/supervise/options.ts";
import { temporaryFolder } from "../fixtures/folder.ts";
import { ANN, office, question } from "../workflows/office.ts";
import { CONTEXT, FINAL, GOAL, given, type Line, refund, scripted, toolsOf } from "./refund.ts";

const EVERY_CALL = "loop_detected:per_tool_limit";
const SAME_CALL = "loop_detected:signature_repeat";
const context = (user_id: number) => ({ kind: "tool", name: "get_refund_context", args: { user_id } });

async function run(lines: readonly Line[], more: Partial<SuperviseOptions> = {}) {
  const place = office();
  const desk = place.open();
  const done: string[] = [];
  const result = await place.finish(desk.supervise({ ...given(desk, scripted(...lines), done), ...more }));
  await desk.close();
  return { result, done };
}

const stopOf = async (lines: readonly Line[], more: Partial<SuperviseOptions> = {}) =>
  (await run(lines, more)).result.stop_reason;

/** Nobody but the tools' own policies, which let everything through. */
async function unruled(lines: readonly Line[]) {
  const place = office();
  const desk = place.open();
  const model = scripted(...lines);
  const result = await place.finish(desk.supervise({ goal: GOAL, tools: toolsOf(desk), model }));
  await desk.close();
  return result;
}

describe("a run without any document", () => {
  test("ends at the third call of a tool, whatever the arguments", async () => {
    const result = await unruled([refund(1), refund(2), refund(3)]);
    assert.equal(result.stop_reason, EVERY_CALL);
    assert.equal(result.phase, "execution");
    assert.deepEqual(result.action, refund(3));
    assert.deepEqual(
      result.trace.map(({ ok }) => ok),
      [true, true, false],
    );
  });

  test("ends at the second call of a tool with the same arguments, white space aside", async () => {
    assert.equal((await unruled([refund(5), refund(5)])).stop_reason, SAME_CALL);
    const spaced = refund(5, { reason: " annual   plan " });
    assert.equal((await unruled([refund(5), spaced])).stop_reason, SAME_CALL);
    assert.equal((await unruled([refund(5), refund(6), FINAL])).stop_reason, "success");
  });

  test("lets a read be repeated once, and ends at the third", async () => {
    assert.equal((await unruled([CONTEXT, CONTEXT, FINAL])).stop_reason, "success");
    assert.equal((await unruled([CONTEXT, CONTEXT, context(7)])).stop_reason, EVERY_CALL);
  });

  test("goes on to other calls where a refusal goes back to the model", async () => {
    const place = office();
    const desk = place.open();
    const options = given(desk, scripted(refund(5), refund(5), refund(6), FINAL));
    const result = await place.finish(desk.supervise({ ...options, onRefusal: "continue" }));
    assert.equal(result.stop_reason, "success");
    assert.partialDeepStrictEqual(result.history[1]?.observation, {
      status: "refused",
      code: "blocked",
      by: "policy (limit:repeats)",
    });
    await desk.close();
  });
});

describe("a run under a policy in code", () => {
  test("has the same loop detection", async () => {
    assert.equal(await stopOf([refund(1), refund(2), refund(3)]), EVERY_CALL);
    assert.equal(await stopOf([refund(5), refund(5)]), SAME_CALL);
  });

  test("is told the policy's own block before a limit", async () => {
    assert.equal(await stopOf([refund(1), refund(2), refund(-1)]), "supervisor_block:invalid_refund_amount");
  });

  test("compares what would run: a call that policy revises to an earlier one is repeated, and one that it revises from it is not", async () => {
    const bare = (amount: number) => refund(amount, {});
    assert.equal(await stopOf([bare(5), bare(5)]), SAME_CALL);
    const raises = (({ tool, args, history }: PolicyInput) => {
      const isAgain = tool === "issue_refund" && history.some((past) => past.tool === tool);
      if (!isAgain || (args as { amount_usd: number }).amount_usd !== 5) return "approve";
      return { verdict: "revise", set: { amount_usd: 6 }, reason: "not the same again" };
    }) as unknown as Policy<never>;
    const { result, done } = await run([refund(5), refund(5), FINAL], { policy: raises });
    assert.equal(result.stop_reason, "success");
    assert.deepEqual(done, ["refund 5 annual plan", "refund 6 annual plan"]);
  });

  test("does not ask people about a call that would be refused", async () => {
    const place = office();
    const desk = place.open();
    const high = refund(1200);
    const running = desk.supervise(given(desk, scripted(high, high)));
    await desk.approvals.approve(await question(place, desk), ANN);
    assert.equal((await place.finish(running)).stop_reason, SAME_CALL);
    assert.equal(await desk.approvals.count("any"), 1);
    await desk.close();
  });
});

describe("a document's own numbers", () => {
  const policy: PolicyText = {
    policy: "often",
    default: "approve",
    tools: { "*": {}, issue_refund: { calls: 4, repeats: 3 } },
  };

  test("win over the usual ones", async () => {
    const three = [refund(5), refund(5), refund(5)];
    assert.equal(await stopOf([...three, FINAL], { policy }), "success");
    assert.equal(await stopOf([...three, refund(5)], { policy }), SAME_CALL);
    assert.equal(await stopOf([...three, refund(1), refund(2)], { policy }), EVERY_CALL);
    assert.equal(await stopOf([CONTEXT, CONTEXT, CONTEXT], { policy }), EVERY_CALL);
  });

  test("are the instance's as well as the run's", async (t) => {
    const hp = temporaryFolder(t).open({ policy });
    const model = scripted(refund(5), refund(5), refund(5), FINAL);
    const result = await hp.supervise({ goal: GOAL, tools: toolsOf(hp), model });
    assert.equal(result.stop_reason, "success");
  });

  test("are missed where it says nothing of calls: then the usual ones hold", async () => {
    const silent: PolicyText = { policy: "silent", default: "approve" };
    assert.equal(await stopOf([refund(5), refund(5)], { policy: silent }), SAME_CALL);
    assert.equal(await stopOf([refund(1), refund(2), refund(3)], { policy: silent }), EVERY_CALL);
  });

  test("are not passed by the program's, which may only ask for less", async () => {
    const less = { tools: { issue_refund: { calls: 1 } } };
    assert.equal(await stopOf([refund(1), refund(2)], { policy, limits: less }), EVERY_CALL);
    const more = { toolCalls: 9, tools: { issue_refund: { calls: 9, repeats: 9 } } };
    const four = [refund(5), refund(5), refund(5), refund(5)];
    assert.equal(await stopOf(four, { policy, limits: more }), SAME_CALL);
  });
});

describe("a program's own numbers for a tool", () => {
  const limits = { tools: { issue_refund: { calls: 3, repeats: 2 } } };

  test("hold where no document counts its calls", async () => {
    assert.equal(await stopOf([refund(5), refund(5), refund(6), FINAL], { limits }), "success");
    assert.equal(await stopOf([refund(5), refund(5), refund(5)], { limits }), SAME_CALL);
    assert.equal(await stopOf([refund(5), refund(5), refund(6), refund(7)], { limits }), EVERY_CALL);
    assert.equal(await stopOf([CONTEXT, CONTEXT, context(7)], { limits }), EVERY_CALL);
  });

  test("are part of what a run was asked for with", async () => {
    const place = office();
    const desk = place.open();
    const options = { ...given(desk, scripted(refund(5), refund(5), FINAL)), id: "r" };
    const first = await place.finish(desk.supervise({ ...options, limits }));
    assert.equal(first.stop_reason, "success");
    assert.deepEqual(await place.finish(desk.supervise(options)), first);
    const others = { tools: { issue_refund: { calls: 9 } } };
    await assert.rejects(place.finish(desk.supervise({ ...options, limits: others })), {
      code: "request_conflict",
    });
    await desk.close();
  });

  test("are refused where they mean nothing", async () => {
    for (const tools of [
      { isue_refund: { calls: 3 } },
      { issue_refund: { calls: 0 } },
      { issue_refund: { call: 3 } },
    ])
      await assert.rejects(run([], { limits: { tools } as never }), { code: "invalid_input" });
  });
});
