/** The refund case through a scripted model: what ran, and what trace and history say of it. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { ANN, office, question } from "../workflows/office.ts";
import { CONTEXT, FINAL, given, MAIL, refund, scripted } from "./refund.ts";

describe("a supervised run", () => {
  test("answers with what was proposed, decided, executed and observed", async () => {
    const place = office();
    const desk = place.open();
    const done: string[] = [];
    const model = scripted(CONTEXT, refund(1000), MAIL, FINAL);
    const result = await place.finish(desk.supervise(given(desk, model, done)));
    assert.deepEqual(done, ["refund 1000 annual plan", "mail 800"]);
    assert.equal(result.status, "ok");
    assert.equal(result.stop_reason, "success");
    assert.equal(result.answer, FINAL.answer);
    assert.deepEqual(result.trace[0], {
      step: 1,
      tool: "get_refund_context",
      args_hash: "feaa769a39ae",
      supervisor_decision: "approve",
      executed_from: "original",
      ok: true,
    });
    assert.deepEqual(result.trace[3], {
      step: 4,
      tool: "final",
      supervisor_decision: "approve",
      executed_from: "original",
      ok: true,
    });
    assert.deepEqual(result.history[1], {
      step: 2,
      action: refund(1000),
      supervisor: { decision: "approve", reason: "refund_within_auto_limit" },
      executed_action: refund(1000),
      executed_from: "original",
      observation: { status: "ok", refund: refund(1000).args },
    });
    assert.deepEqual(result.history[3]?.observation, { status: "final" });
    assert.deepEqual(result.tokens, { input: 400, output: 40 });
    await desk.close();
  });

  test("shows the model where it stands, and no more than three steps back", async () => {
    const place = office();
    const desk = place.open();
    const model = scripted(CONTEXT, refund(1000), MAIL, refund(5), FINAL);
    await place.finish(desk.supervise(given(desk, model)));
    const prompt = JSON.parse(model.asked[4]?.prompt ?? "{}");
    assert.equal(prompt.state_summary.steps_completed, 4);
    assert.deepEqual(prompt.state_summary.tools_used, [
      "get_refund_context",
      "issue_refund",
      "send_refund_email",
      "issue_refund",
    ]);
    assert.equal(prompt.recent_step_summaries.length, 3);
    assert.deepEqual(prompt.recent_step_summaries[0], {
      step: 2,
      proposed_tool: "issue_refund",
      supervisor_decision: "approve",
      executed_tool: "issue_refund",
      executed_from: "original",
      observation_status: "ok",
    });
    assert.equal(prompt.available_tools[0].description, "Facts about a customer");
    assert.equal(prompt.available_tools[0].args.properties.user_id.type, "integer");
    await desk.close();
  });

  test("waits for a person, who caps the amount: human_revised", async () => {
    const place = office();
    const desk = place.open();
    const done: string[] = [];
    const running = desk.supervise(given(desk, scripted(CONTEXT, refund(1200), FINAL), done));
    const id = await question(place, desk);
    await desk.approvals.approve(id, { ...ANN, edit: { amount_usd: 800 }, note: "800 is enough" });
    const result = await place.finish(running);
    assert.deepEqual(done, ["refund 800 annual plan"]);
    assert.equal(result.stop_reason, "success");
    assert.partialDeepStrictEqual(result.trace[1], {
      supervisor_decision: "escalate",
      executed_from: "human_revised",
      human_approved: true,
      ok: true,
    });
    assert.deepEqual(result.history[1]?.supervisor, {
      decision: "escalate",
      reason: "high_refund_requires_human",
    });
    assert.deepEqual(result.history[1]?.human_approval, {
      approved: true,
      by: ["person:ann"],
      comment: "800 is enough",
      revised_action: refund(800),
    });
    assert.deepEqual(result.history[1]?.executed_action, refund(800));
    // Reviewed under the run's own policy, the edit is what was approved: nobody is asked again, and it is the approval that is used.
    const started = (await desk.journal.read(result.workflow)).filter(
      ({ type }) => type === "effect.started",
    );
    assert.partialDeepStrictEqual(started[1]?.body, { grant: { kind: "approval", approval: id } });
    await desk.close();
  });

  test("that policy revised before a person was asked shows both, and is not human_revised", async () => {
    const place = office();
    const desk = place.open();
    const done: string[] = [];
    const running = desk.supervise(given(desk, scripted(CONTEXT, refund(1200, {}), FINAL), done));
    await desk.approvals.approve(await question(place, desk), ANN);
    const result = await place.finish(running);
    assert.deepEqual(done, ["refund 1200 as policy says"]);
    assert.partialDeepStrictEqual(result.trace[1], {
      supervisor_decision: "escalate",
      executed_from: "supervisor_revised",
      human_approved: true,
    });
    assert.deepEqual(result.history[1]?.supervisor, {
      decision: "escalate",
      reason: "high_refund_requires_human",
      revised_action: refund(1200, { reason: "as policy says" }),
      revised: [{ reason: "refund_reason_required", rule: "reason" }],
    });
    await desk.close();
  });

  test("whose action policy revises runs the revised one", async () => {
    const place = office();
    const desk = place.open();
    const result = await place.finish(desk.supervise(given(desk, scripted(CONTEXT, refund(500, {}), FINAL))));
    assert.partialDeepStrictEqual(result.trace[1], {
      supervisor_decision: "revise",
      executed_from: "supervisor_revised",
    });
    assert.deepEqual(result.history[1]?.supervisor, {
      decision: "revise",
      reason: "refund_reason_required",
      revised_action: refund(500, { reason: "as policy says" }),
    });
    await desk.close();
  });
});
