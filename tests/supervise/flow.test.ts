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

describe("what a run says of itself", () => {
  test("has the tokens that came out of a cache, where the provider says so", async () => {
    const place = office();
    const desk = place.open();
    const cached = async () => ({
      text: JSON.stringify(CONTEXT),
      tokens: { input: 100, output: 10, cached: 64 },
    });
    const result = await place.finish(desk.supervise(given(desk, scripted(cached, FINAL))));
    assert.deepEqual(result.tokens, { input: 200, output: 20, cached: 64 });
    await desk.close();
  });

  test("is undone, and not ok, of a step that was taken back", async () => {
    const place = office();
    const desk = place.open();
    const done: string[] = [];
    const pay = desk.gate({
      name: "pay",
      policy: "approve",
      run: () => void done.push("paid"),
      undo: () => void done.push("paid back"),
    });
    const note = desk.gate({ name: "note", policy: "approve", undo: "nothing", run: () => null });
    let isAsked = false;
    const thinks = () => {
      isAsked = true;
      return new Promise<never>(() => undefined);
    };
    const call = (name: string) => ({ kind: "tool", name, args: {} });
    const model = scripted(call("pay"), call("note"), thinks);
    const running = desk.supervise({ goal: "g", tools: [pay, note], model });
    await place.until(async () => isAsked);
    const { items } = await desk.workflows.list();
    await desk.workflows.rollback(items[0]?.id ?? "", { ...ANN, reason: "no", after: "fail" });
    const { trace, history, stop_reason } = await place.finish(running);
    assert.equal(stop_reason, "rolled_back");
    assert.deepEqual(done, ["paid", "paid back"]);
    assert.deepEqual(
      trace.map(({ tool, ok, undone }) => [tool, ok, undone]),
      [
        ["pay", false, true],
        ["note", true, undefined],
      ],
    );
    assert.deepEqual(
      history.map(({ undone }) => undone),
      [true, undefined],
    );
    await desk.close();
  });
});

for (const [what, said, stop] of [
  [
    "an amount that is no number",
    { amount_usd: "1200" },
    "invalid_action:bad_arg_type:issue_refund:amount_usd",
  ],
  ["a kind that nobody knows", null, "invalid_action:bad_kind"],
] as const)
  test(`${what} ends a run before any policy is asked`, async () => {
    const place = office();
    const desk = place.open();
    const proposal =
      said === null
        ? { kind: "refund", args: {} }
        : { kind: "tool", name: "issue_refund", args: { user_id: 42, reason: "x", ...said } };
    const policy = () => assert.fail("it was asked");
    const options = { ...given(desk, scripted(proposal)), policy: policy as never };
    const { stop_reason, phase } = await place.finish(desk.supervise(options));
    assert.deepEqual([stop_reason, phase], [stop, "worker"]);
    await desk.close();
  });
