/** What an approver notes reaches the tool, whoever asked, the workflow and the model. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { machine, pendingOf } from "../fixtures/runtime.ts";
import { CONTEXT, FINAL, given, refund, scripted } from "../supervise/refund.ts";
import { ANN, BOB, office, question } from "../workflows/office.ts";

describe("an approver's note", () => {
  test("is in the tool's context and in the answer, of everybody who agreed", async () => {
    const hp = machine().process();
    const seen: (readonly string[])[] = [];
    const tool = hp.gate({
      name: "deploy",
      policy: { verdict: "escalate", approvers: { quorum: 2 } },
      run: (_: object, { notes }) => void seen.push(notes),
    });
    const call = tool({}, { requestId: "r" });
    const id = await pendingOf(hp);
    await hp.approvals.approve(id, { ...ANN, note: "after 18:00" });
    await hp.approvals.approve(id, { ...BOB, note: "tell me how it went" });
    const answer = await call;
    const notes = ["after 18:00", "tell me how it went"];
    assert.deepEqual(seen, [notes]);
    assert.ok(answer.status === "done");
    assert.deepEqual(answer.notes, notes);
    // The same answer for ever.
    assert.deepEqual(await tool({}, { requestId: "r" }), answer);
    await hp.close();
  });

  test("is the reason of a rejection, for the caller", async () => {
    const hp = machine().process();
    const tool = hp.gate({ name: "deploy", run: () => 1 });
    const call = tool({}, { requestId: "r" });
    await hp.approvals.reject(await pendingOf(hp), { ...ANN, reason: "not on a Friday" });
    const answer = await call;
    assert.partialDeepStrictEqual(answer, {
      status: "refused",
      code: "rejected",
      by: "person:ann",
      reason: "not on a Friday",
      retry: false,
    });
    await hp.close();
  });

  test("is what a standing permission has none of", async () => {
    const hp = machine().process();
    const tool = hp.gate({ name: "deploy", policy: "approve", run: (_: object, { notes }) => notes });
    const answer = await tool({}, { requestId: "r" });
    assert.ok(answer.status === "done" && !("notes" in answer));
    assert.deepEqual(answer.result, []);
    await hp.close();
  });

  test("reaches a workflow from its checkpoint, its question and its calls", async () => {
    const place = office();
    const desk = place.open();
    const asked = desk.gate({ name: "asked", policy: "escalate", run: (_: object, { notes }) => notes });
    const flow = desk.workflow("w", {}, async (ctx, _: object) => {
      const passed = await ctx.checkpoint("Look");
      const answer = await ctx.ask("Name", "Which one?", { suggestion: "a" });
      const called = await ctx.call(asked, {});
      return [
        passed.note,
        answer.answered ? answer.note : answer.reason,
        called.status === "done" ? [called.notes, called.result] : called.reason,
      ] as never;
    });
    const { id } = await flow.start({});
    for (const note of ["look twice", "the first", "only this once"])
      await desk.approvals.approve(await question(place, desk), { ...ANN, note });
    const result = await place.finish(desk.workflows.result(id));
    const once = ["only this once"];
    assert.partialDeepStrictEqual(result, {
      status: "completed",
      result: ["look twice", "the first", [once, once]],
    });
    await desk.close();
  });

  test("is shown to the model: of the last step whole, of those before in a line", async () => {
    const place = office();
    const desk = place.open();
    const model = scripted(CONTEXT, refund(1200), CONTEXT, FINAL);
    const running = desk.supervise(given(desk, model));
    await desk.approvals.approve(await question(place, desk), { ...ANN, note: "say sorry too" });
    await place.finish(running);
    const [, , third, fourth] = model.asked.map(({ prompt }) => JSON.parse(prompt));
    assert.equal(third.state_summary.last_step.human_approval.comment, "say sorry too");
    assert.equal(fourth.recent_step_summaries[1].human_comment, "say sorry too");
    assert.ok(!("human_comment" in fourth.recent_step_summaries[0]));
    await desk.close();
  });
});
