/** `onRefusal: "continue"`: what is refused goes back to the model, in one truthful structure, and counts as a step. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { SuperviseOptions } from "../../src/supervise/options.ts";
import { ANN, office, question } from "../workflows/office.ts";
import { CONTEXT, FINAL, given, type Line, refund, scripted } from "./refund.ts";

async function run(lines: readonly Line[], more: Partial<SuperviseOptions> = {}) {
  const place = office();
  const desk = place.open();
  const done: string[] = [];
  const model = scripted(...lines);
  const running = desk.supervise({ ...given(desk, model, done), onRefusal: "continue", ...more });
  const seen = (step: number) => JSON.parse(model.asked[step - 1]?.prompt ?? "{}").state_summary.last_step;
  return { place, desk, done, model, running, seen };
}

describe("a refusal that goes back", () => {
  test("by policy says by whom, why, and what to do next; the model may do better", async () => {
    const { place, running, done, seen, desk } = await run([refund(-5), refund(5), FINAL]);
    const result = await place.finish(running);
    assert.equal(result.stop_reason, "success");
    assert.deepEqual(done, ["refund 5 annual plan"]);
    const { observation, executed_action, supervisor } = seen(2);
    assert.deepEqual(observation, {
      status: "refused",
      by: "policy (amount)",
      code: "blocked",
      reason: "invalid_refund_amount",
      retry: false,
      next: "Do not try the same action again; ask for something the policy allows.",
    });
    assert.equal(executed_action, null);
    assert.deepEqual(supervisor, { decision: "block", reason: "invalid_refund_amount" });
    assert.deepEqual(
      result.trace.map(({ step, ok, stop_reason }) => ({ step, ok, stop_reason })),
      [
        { step: 1, ok: false, stop_reason: "supervisor_block:invalid_refund_amount" },
        { step: 2, ok: true, stop_reason: undefined },
        { step: 3, ok: true, stop_reason: undefined },
      ],
    );
    assert.equal(result.history.length, 3);
    await desk.close();
  });

  test("by a person says what the person said", async () => {
    const { place, running, desk, done, seen } = await run([refund(1500), refund(900), FINAL]);
    await desk.approvals.reject(await question(place, desk), { ...ANN, reason: "at most 900" });
    const result = await place.finish(running);
    assert.equal(result.stop_reason, "success");
    assert.deepEqual(done, ["refund 900 annual plan"]);
    assert.partialDeepStrictEqual(seen(2).observation, {
      status: "refused",
      code: "rejected",
      reason: "at most 900",
    });
    assert.deepEqual(result.history[0]?.human_approval, {
      approved: false,
      by: ["person:ann"],
      comment: "at most 900",
    });
    await desk.close();
  });

  test("of an output that was no action says which rule of the form it broke, and shows what was read", async () => {
    const { place, running, desk, seen } = await run(["certainly!", { ...refund(5), approved: true }, FINAL]);
    const result = await place.finish(running);
    assert.equal(result.stop_reason, "success");
    assert.partialDeepStrictEqual(seen(2), {
      raw_action: { kind: "invalid", raw: "certainly!" },
      observation: {
        status: "refused",
        by: "gateway",
        code: "invalid_action",
        reason: "invalid_action:non_json",
      },
    });
    assert.equal(seen(3).observation.reason, "invalid_action:extra_keys_tool");
    assert.equal(result.trace.length, 3);
    await desk.close();
  });

  test("of the final answer lets the model do what was missing", async () => {
    const policy = ((call: { tool: string; history: readonly { tool: string }[] }) =>
      call.tool === "final" && !call.history.some(({ tool }) => tool === "get_refund_context")
        ? { verdict: "block", reason: "final_requires_context" }
        : "approve") as never;
    const { place, running, desk } = await run([FINAL, CONTEXT, FINAL], { policy });
    const result = await place.finish(running);
    assert.equal(result.stop_reason, "success");
    assert.deepEqual(
      result.trace.map(({ tool, ok }) => `${tool} ${ok}`),
      ["final false", "get_refund_context true", "final true"],
    );
    await desk.close();
  });

  test("counts as a step: a model that insists is asked for its answer in the end", async () => {
    const lines = [...Array.from({ length: 8 }, () => refund(-1)), "Nothing could be done."];
    const { place, running, desk, done } = await run(lines);
    const result = await place.finish(running);
    assert.equal(result.stop_reason, "max_steps");
    assert.equal(result.answer, "Nothing could be done.");
    assert.equal(result.trace.length, 9);
    assert.deepEqual(done, []);
    await desk.close();
  });

  test("is not counted as a call of a tool", async () => {
    const lines = [refund(-1), refund(-2), refund(1), refund(2), FINAL];
    const { place, running, desk, done } = await run(lines, { limits: { toolCalls: 2 } });
    assert.equal((await place.finish(running)).stop_reason, "success");
    assert.equal(done.length, 2);
    await desk.close();
  });
});
