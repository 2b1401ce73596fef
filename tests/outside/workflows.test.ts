/** Workflows that an agent drives from outside, on the real store. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type Holdpoint, isHoldpointError, type Permit, type RemoteAnswer } from "../../src/index.ts";
import { pendingApproval, temporaryFolder } from "../fixtures/folder.ts";

const ANN = { by: "person:ann" };
const FAR = { agent: "agent:far" };
const BY = { by: FAR.agent };

const code = (wanted: string) => (error: unknown) => isHoldpointError(error) && error.code === wanted;

function permit(answer: RemoteAnswer): Permit {
  if (answer.status === "permitted") return answer;
  return assert.fail(`not permitted but ${answer.status}`);
}

function tools(hp: Holdpoint): void {
  hp.remote.tool({ name: "book", policy: "approve", undo: true });
  hp.remote.tool({ name: "mail", policy: "approve" });
  hp.remote.tool({ name: "look", policy: "approve", effect: "read" });
}

async function begun(hp: Holdpoint, more: object = {}): Promise<string> {
  const { workflows } = hp.remote;
  const id = await workflows.create({ name: "Trip", checkpoints: ["Plan", "Result"], ...BY, ...more });
  assert.equal(await workflows.start(id, FAR), "executing");
  return id;
}

/** Permitted, performed and reported. */
async function act(hp: Holdpoint, workflow: string, tool: string, result: unknown): Promise<string> {
  const given = permit(await hp.remote.propose({ tool, args: { of: result }, workflow, ...FAR }));
  await hp.remote.report(given.action, { ...FAR, status: "applied", result });
  return given.action;
}

async function undo(hp: Holdpoint, workflow: string, undoes: string): Promise<void> {
  const given = permit(await hp.remote.workflows.undo(workflow, { undoes, ...FAR }));
  await hp.remote.report(given.action, { ...FAR, status: "applied" });
}

/** Stands at each, and people agree. */
async function passes(hp: Holdpoint, workflow: string, ...checkpoints: readonly string[]): Promise<void> {
  for (const checkpoint of checkpoints) {
    await hp.remote.workflows.checkpoint(workflow, { checkpoint, ...FAR });
    await hp.approvals.approve(await pendingApproval(hp), ANN);
  }
}

async function untilStatus(hp: Holdpoint, id: string, wanted: string): Promise<void> {
  for (let look = 0; look < 1_000; look++) {
    if ((await hp.workflows.get(id)).status === wanted) return;
    await new Promise<void>((resolve) => setTimeout(resolve, 10));
  }
  assert.fail(`it never is ${wanted}, but ${(await hp.workflows.get(id)).status}`);
}

describe("a workflow from outside", () => {
  test("is created, started, asked about, modified, goes on, and is completed", async (context) => {
    const hp = temporaryFolder(context).open();
    tools(hp);
    const { workflows } = hp.remote;
    const creation = {
      name: "Trip",
      description: "to Rome",
      checkpoints: ["Plan", { name: "Result", requiresApproval: false }],
      escrow: { currency: "USD", micros: 100_000_000n },
      poster: "person:poster",
      executor: FAR.agent,
      requestId: "trip-1",
      by: "service:desk",
    };
    const id = await workflows.create(creation);
    assert.equal(await workflows.create(creation), id);
    await assert.rejects(workflows.create({ ...creation, description: "to Oslo" }), code("request_conflict"));
    assert.partialDeepStrictEqual(await workflows.get(id), {
      status: "initialized",
      agent: FAR.agent,
      escrow: { currency: "USD", micros: "100000000" },
      parties: { poster: "person:poster", executor: FAR.agent },
      checkpoints: [{ name: "Plan", timeoutSeconds: 300 }, { name: "Result" }],
    });
    await assert.rejects(workflows.checkpoint(id, { checkpoint: "Plan", ...FAR }), code("wrong_state"));
    assert.equal(await workflows.start(id, FAR), "executing");
    const stand = {
      checkpoint: "cp_plan",
      summary: "Found 100 records. Ready?",
      context: { records: 100 },
      recommendation: "approve",
      confidence: 0.95,
      outputs: { threshold: 100, city: "Rome" },
      executionState: { step: 3, decision_trace: ["looked", "found"], agent_memory: { facts: [1] } },
      requestId: "c-1",
      ...FAR,
    } as const;
    const stood = await workflows.checkpoint(id, stand);
    assert.partialDeepStrictEqual(stood, {
      kind: "waiting",
      checkpoint: "Plan",
      status: "awaiting_approval",
    });
    assert.deepEqual(await workflows.checkpoint(id, stand), stood);
    assert.partialDeepStrictEqual(await hp.workflows.snapshot(id, "Plan"), {
      execution_state: { agent_memory: { facts: [1], step: 3 }, decision_trace: ["looked", "found"] },
      task_state: { outputs: { threshold: 100, city: "Rome" } },
      approval_interface: { summary: stand.summary, context: { records: 100 }, confidence: 0.95 },
    });
    await hp.approvals.approve(await pendingApproval(hp), { ...ANN, edit: { threshold: 150 }, note: "more" });
    assert.partialDeepStrictEqual(await workflows.get(id), {
      status: "executing",
      modifications: { threshold: 150 },
      snapshots: 1,
      questions: 1,
      decisions: 1,
      lastDecision: {
        decision: "modified",
        by: ["person:ann"],
        reason: "more",
        outputs: { threshold: 150, city: "Rome" },
      },
    });
    assert.equal((await workflows.checkpoint(id, stand)).kind, "passed");
    await act(hp, id, "book", 1);
    const passed = await workflows.checkpoint(id, { checkpoint: "Result", ...FAR });
    assert.partialDeepStrictEqual(passed, { kind: "passed", approval: null });
    assert.equal(await workflows.complete(id, { ...FAR, result: { booked: 1 } }), "completed");
    assert.equal(await workflows.complete(id, { ...FAR, result: { booked: 1 } }), "completed");
    await assert.rejects(workflows.complete(id, { ...FAR, result: 2 }), code("wrong_state"));
    await assert.rejects(workflows.start(id, FAR), code("wrong_state"));
    assert.deepEqual(await hp.workflows.result(id), {
      status: "completed",
      workflow: id,
      result: { booked: 1 },
    });
    const { items } = await hp.workflows.list();
    assert.partialDeepStrictEqual(items, [{ id, status: "completed" }]);
    assert.equal((await hp.journal.verify()).ok, true);
    const kinds = (await hp.workflows.timeline(id)).map(({ kind }) => kind);
    assert.ok(kinds.includes("checkpoint") && kinds.includes("call"));
  });

  test("reaches no checkpoint that its poster alone could decide, where the poster is kept apart", async (context) => {
    const hp = temporaryFolder(context).open();
    const approvers = { from: ["person:ann"], separate: true };
    const id = await begun(hp, { poster: "person:ann", checkpoints: [{ name: "Plan", approvers }] });
    const reached = hp.remote.workflows.checkpoint(id, { checkpoint: "Plan", ...FAR });
    await assert.rejects(reached, code("unsatisfiable_quorum"));
    assert.equal((await hp.workflows.get(id)).status, "executing");
  });

  test("is never run by a program that has a definition of its name", async (context) => {
    const folder = temporaryFolder(context);
    const hp = folder.open();
    const ran: string[] = [];
    const own = hp.workflow("Trip", {}, async () => void ran.push("ran"));
    const over = new AbortController();
    const working = hp.work(over.signal);
    const idle = await hp.remote.workflows.create({ name: "Trip", ...BY });
    const driven = await begun(hp);
    await own.run({}, { requestId: "own" });
    assert.deepEqual(ran, ["ran"]);
    assert.equal((await hp.workflows.get(idle)).status, "initialized");
    assert.equal((await hp.workflows.get(driven)).runner, FAR.agent);
    over.abort();
    await working;
    assert.deepEqual(
      folder.notices.filter(({ kind }) => kind === "maintenance_failed"),
      [],
    );
  });

  test("is driven by its agent alone", async (context) => {
    const hp = temporaryFolder(context).open();
    tools(hp);
    const id = await begun(hp);
    const near = { agent: "agent:near" };
    const { workflows } = hp.remote;
    await assert.rejects(workflows.checkpoint(id, { checkpoint: "Plan", ...near }), code("not_eligible"));
    await assert.rejects(workflows.complete(id, near), code("not_eligible"));
    await assert.rejects(workflows.fail(id, { ...near, reason: "x" }), code("not_eligible"));
    await assert.rejects(hp.remote.propose({ tool: "book", workflow: id, ...near }), code("not_eligible"));
  });

  test("does nothing while people decide, and a rejected action lets it complete", async (context) => {
    const hp = temporaryFolder(context).open();
    tools(hp);
    const id = await begun(hp);
    const asked = await hp.remote.propose({ tool: "unheard", workflow: id, requestId: "u", ...FAR });
    assert.equal(asked.status, "pending");
    assert.equal((await hp.workflows.get(id)).status, "executing");
    await assert.rejects(hp.remote.workflows.complete(id, FAR), code("wrong_state"));
    await hp.approvals.reject(await pendingApproval(hp), { ...ANN, reason: "no" });
    await hp.remote.workflows.checkpoint(id, { checkpoint: "Plan", ...FAR });
    await assert.rejects(hp.remote.propose({ tool: "book", workflow: id, ...FAR }), code("wrong_state"));
    await assert.rejects(hp.remote.workflows.complete(id, FAR), code("wrong_state"));
    await hp.approvals.approve(await pendingApproval(hp), ANN);
    await passes(hp, id, "Result");
    assert.equal(await hp.remote.workflows.complete(id, FAR), "completed");
    const refused = (await hp.workflows.timeline(id)).filter(({ status }) => status === "refused");
    assert.ok(refused.length >= 2);
  });

  test("is cancelled by an operator, which withdraws what it asks", async (context) => {
    const hp = temporaryFolder(context).open();
    const id = await begun(hp);
    const asked = await hp.remote.propose({ tool: "x", workflow: id, requestId: "x", ...FAR });
    assert.equal(await hp.remote.workflows.cancel(id, { ...ANN, reason: "enough" }), "failed");
    assert.equal(await hp.approvals.count(), 0);
    assert.partialDeepStrictEqual(await hp.remote.start(asked.action, FAR), {
      status: "refused",
      code: "cancelled",
    });
    await assert.rejects(hp.workflows.fork(id, { at: "Plan" }), code("wrong_state"));
  });

  test("a checkpoint whose time runs out takes the path of a rejection", async (context) => {
    const hp = temporaryFolder(context).open();
    const checkpoints = [{ name: "Plan", timeoutSeconds: 1, canRollback: false }];
    const id = await begun(hp, { checkpoints });
    await hp.remote.workflows.checkpoint(id, { checkpoint: "Plan", ...FAR });
    await untilStatus(hp, id, "failed");
    assert.partialDeepStrictEqual(await hp.remote.workflows.get(id), { end: { code: "expired" } });
  });

  test("an approval of one checkpoint is never the answer to another under the same request id", async (context) => {
    const hp = temporaryFolder(context).open();
    const { workflows } = hp.remote;
    const id = await begun(hp, { checkpoints: ["Plan", "Deploy"] });
    const plan = { checkpoint: "Plan", requestId: "r1", outputs: { budget: 10 }, ...FAR };
    await workflows.checkpoint(id, plan);
    await hp.approvals.approve(await pendingApproval(hp), ANN);
    const large = { budget: 1_000_000 };
    for (const other of [
      { checkpoint: "Deploy", outputs: large },
      { checkpoint: "Deploy" },
      { outputs: large },
    ])
      await assert.rejects(workflows.checkpoint(id, { ...plan, ...other }), code("request_conflict"));
    await assert.rejects(
      workflows.checkpoint(id, { ...plan, summary: "all is well" }),
      code("request_conflict"),
    );
    const passed = { kind: "passed", checkpoint: "Plan" };
    assert.partialDeepStrictEqual(await workflows.checkpoint(id, { ...plan, checkpoint: "cp_plan" }), passed);
    assert.equal((await hp.approvals.list()).items.length, 0);
  });

  test("a request id that was rejected stays so after the next one was rejected too", async (context) => {
    const hp = temporaryFolder(context).open();
    const { workflows } = hp.remote;
    const id = await begun(hp, { attempts: 5 });
    const asks = (requestId: string) => workflows.checkpoint(id, { checkpoint: "Plan", requestId, ...FAR });
    const approvals: (string | null)[] = [];
    for (const requestId of ["r1", "r2"]) {
      approvals.push((await asks(requestId)).approval);
      await hp.approvals.reject(await pendingApproval(hp), { ...ANN, reason: "no" });
      await untilStatus(hp, id, "executing");
    }
    const again = await asks("r1");
    assert.partialDeepStrictEqual(again, { kind: "decided", checkpoint: "Plan", approval: approvals[0] });
    assert.equal((await hp.approvals.list()).items.length, 0);
  });

  test("conditions of a checkpoint are judged on what the agent captured", async (context) => {
    const hp = temporaryFolder(context).open();
    tools(hp);
    const when = { confidenceBelow: 0.5, costAbove: { currency: "USD", micros: 1_000_000n } };
    const id = await begun(hp, { checkpoints: [{ name: "Plan", when }] });
    const stand = { checkpoint: "Plan", confidence: 0.9, ...FAR };
    const cheap = { resource_consumption: { estimated_cost_usd: 0.5 } };
    const passed = await hp.remote.workflows.checkpoint(id, { ...stand, executionState: cheap });
    assert.equal(passed.kind, "passed");
    const dear = { resource_consumption: { estimated_cost_usd: 2 } };
    assert.equal(
      (await hp.remote.workflows.checkpoint(id, { ...stand, executionState: dear })).kind,
      "waiting",
    );
  });

  test("says who decides at a checkpoint that was not declared, and proposes within the workflow", async (context) => {
    const hp = temporaryFolder(context).open();
    tools(hp);
    const { workflows } = hp.remote;
    const id = await begun(hp, { checkpoints: [] });
    const terms = { timeoutSeconds: null, approvers: { from: ["person:ann"], remindEveryMs: 7_200_000 } };
    const reached = { checkpoint: "Own", requestId: "own", summary: null, ...terms, ...FAR };
    const { approval } = await workflows.checkpoint(id, reached);
    assert.partialDeepStrictEqual(await hp.approvals.get(approval ?? ""), {
      decideBy: null,
      approvers: { from: ["person:ann"], remindEveryMs: 7_200_000 },
    });
    await assert.rejects(
      workflows.checkpoint(id, { ...reached, approvers: { remindEveryMs: 59_999 } }),
      code("invalid_input"),
    );
    await assert.rejects(workflows.checkpoint(id, { ...reached, summry: "x" } as never), /"summry"/);
    await hp.approvals.approve(approval ?? "", ANN);
    assert.equal((await workflows.checkpoint(id, reached)).kind, "passed");
    const given = permit(await workflows.propose(id, { tool: "book", args: {}, ...FAR }));
    await hp.remote.report(given.action, { ...FAR, status: "applied" });
    await hp.workflows.rollback(id, { ...ANN, reason: "back", to: "start" });
    const { compensations, settling } = await workflows.outstanding(id);
    assert.deepEqual([compensations.map(({ undoes }) => undoes), settling], [[given.action], false]);
    const undoing = permit(await workflows.compensate(id, given.action, FAR));
    await hp.remote.report(undoing.action, { ...FAR, status: "applied" });
    assert.equal((await workflows.get(id)).status, "executing");
  });
});

describe("a workflow from outside that is sent back", () => {
  test("asks its agent to undo what it did, newest first, and is tried again", async (context) => {
    const hp = temporaryFolder(context).open();
    tools(hp);
    const { workflows } = hp.remote;
    const id = await begun(hp);
    const first = await act(hp, id, "book", "flight");
    await act(hp, id, "look", "weather");
    const second = await act(hp, id, "book", "hotel");
    await workflows.checkpoint(id, { checkpoint: "Plan", summary: "booked", ...FAR });
    await hp.approvals.reject(await pendingApproval(hp), { ...ANN, reason: "another hotel" });
    const [now, ...more] = await workflows.compensations(id);
    assert.equal(more.length, 0);
    assert.partialDeepStrictEqual(now, {
      undoes: second,
      tool: "book",
      result: "hotel",
      args: { of: "hotel" },
      reason: "another hotel",
      attempt: 1,
      action: null,
    });
    await assert.rejects(workflows.undo(id, { undoes: first, ...FAR }), code("wrong_state"));
    await assert.rejects(hp.remote.propose({ tool: "book", workflow: id, ...FAR }), code("wrong_state"));
    const holder = "0123456789abcdefghijkl";
    const given = permit(await workflows.undo(id, { undoes: second, ...FAR, holder }));
    assert.deepEqual(await workflows.undo(id, { undoes: second, ...FAR, holder }), given);
    assert.equal((await workflows.undo(id, { undoes: second, ...FAR })).status, "pending");
    assert.deepEqual(given.args, { args: { of: "hotel" }, result: "hotel" });
    await hp.remote.report(given.action, { ...FAR, status: "not_applied", reason: "desk closed" });
    assert.partialDeepStrictEqual(await workflows.compensations(id), [{ undoes: second, attempt: 2 }]);
    await undo(hp, id, second);
    await undo(hp, id, first);
    assert.partialDeepStrictEqual(await workflows.get(id), {
      status: "executing",
      attempt: 2,
      compensations: [],
      lastDecision: { decision: "rejected", reason: "another hotel" },
      rolledBack: { undone: [second, first], notUndone: [], irreversible: [] },
    });
    await act(hp, id, "book", "other hotel");
    await passes(hp, id, "Plan", "Result");
    assert.equal(await workflows.complete(id, FAR), "completed");
    assert.equal((await hp.journal.verify()).ok, true);
  });

  test("goes back no further than to the last checkpoint that was approved", async (context) => {
    const hp = temporaryFolder(context).open();
    tools(hp);
    const { workflows } = hp.remote;
    const id = await begun(hp);
    await act(hp, id, "book", "flight");
    await workflows.checkpoint(id, { checkpoint: "Plan", ...FAR });
    await hp.approvals.approve(await pendingApproval(hp), ANN);
    const hotel = await act(hp, id, "book", "hotel");
    await workflows.checkpoint(id, { checkpoint: "Result", ...FAR });
    await hp.approvals.reject(await pendingApproval(hp), { ...ANN, reason: "no" });
    await undo(hp, id, hotel);
    assert.partialDeepStrictEqual(await workflows.get(id), { status: "executing", attempt: 2 });
  });

  test("has failed with a report where something cannot be undone, and people were told before", async (context) => {
    const hp = temporaryFolder(context).open();
    tools(hp);
    const id = await begun(hp);
    const sent = await act(hp, id, "mail", "hello");
    await hp.remote.workflows.checkpoint(id, { checkpoint: "Plan", ...FAR });
    assert.partialDeepStrictEqual((await hp.workflows.get(id)).pending, { irreversible: [{ action: sent }] });
    await hp.approvals.reject(await pendingApproval(hp), { ...ANN, reason: "no" });
    await untilStatus(hp, id, "failed");
    const { end } = await hp.remote.workflows.get(id);
    assert.partialDeepStrictEqual(end, {
      code: "rollback_failed",
      report: { irreversible: [{ action: sent }] },
    });
  });

  test("ends by itself where there is nothing to undo, and fails where the rejection was final", async (context) => {
    const hp = temporaryFolder(context).open();
    const again = await begun(hp);
    await hp.remote.workflows.checkpoint(again, { checkpoint: "Plan", ...FAR });
    await hp.approvals.reject(await pendingApproval(hp), { ...ANN, reason: "no" });
    await untilStatus(hp, again, "executing");
    await passes(hp, again, "Plan", "Result");
    await hp.remote.workflows.complete(again, FAR);
    const last = await begun(hp);
    await hp.remote.workflows.checkpoint(last, { checkpoint: "Plan", ...FAR });
    await hp.approvals.reject(await pendingApproval(hp), { ...ANN, reason: "never", final: true });
    await untilStatus(hp, last, "failed");
  });

  test("waits until what is in doubt was found out, and withdraws what people were asked", async (context) => {
    const hp = temporaryFolder(context).open();
    tools(hp);
    const { workflows } = hp.remote;
    const id = await begun(hp);
    const booked = await act(hp, id, "book", "flight");
    const lost = permit(await hp.remote.propose({ tool: "book", workflow: id, ...FAR }));
    await hp.remote.report(lost.action, { ...FAR, status: "unknown", reason: "reset" });
    const asked = await hp.remote.propose({ tool: "unheard", workflow: id, requestId: "u", ...FAR });
    await hp.workflows.rollback(id, { ...ANN, reason: "back" });
    assert.deepEqual(await workflows.compensations(id), []);
    await assert.rejects(workflows.undo(id, { undoes: booked, ...FAR }), code("wrong_state"));
    assert.equal((await hp.actions.get(asked.action)).phase, "refused");
    await hp.actions.resolve(lost.effect, { ...ANN, status: "not_applied", reason: "not there" });
    await undo(hp, id, booked);
    assert.partialDeepStrictEqual(await workflows.get(id), { status: "executing", attempt: 2 });
  });

  test("undoes here what a tool of the program did, and what its agent did by the agent", async (context) => {
    const hp = temporaryFolder(context).open();
    tools(hp);
    const done: string[] = [];
    hp.gate({
      name: "reserve",
      policy: "approve",
      effect: "idempotent",
      run: ({ of }: { of: string }) => done.push(of),
      undo: ({ of }: { of: string }) => void done.push(`undo ${of}`),
    });
    const id = await begun(hp);
    const booked = await act(hp, id, "book", "flight");
    const seat = await hp.remote.propose({ tool: "reserve", args: { of: "seat" }, workflow: id, ...FAR });
    assert.equal(seat.status, "done");
    await hp.workflows.rollback(id, { ...ANN, reason: "back" });
    await undo(hp, id, booked);
    assert.deepEqual(done, ["seat", "undo seat"]);
    assert.partialDeepStrictEqual(await hp.remote.workflows.get(id), {
      status: "executing",
      rolledBack: { undone: [seat.action, booked] },
    });
  });

  test("an undo is not proposed by itself, where its policy would let it through", async (context) => {
    const hp = temporaryFolder(context).open({ policy: { policy: "p", default: "block" } });
    tools(hp);
    const run = () => assert.fail("it ran");
    hp.gate({ name: "reserve", policy: "approve", run, undo: run });
    for (const tool of ["book.undo", "reserve.undo"])
      await assert.rejects(
        hp.remote.propose({ tool, args: { args: {}, result: 1 }, ...FAR }),
        code("invalid_input"),
      );
    const other = await hp.remote.propose({ tool: "mail.undo", ...FAR });
    assert.partialDeepStrictEqual(other, { status: "refused", code: "blocked" });
  });

  test("an undo that people are asked about and is turned down leaves the workflow failed, with the report", async (context) => {
    const folder = temporaryFolder(context);
    const hp = folder.open();
    hp.remote.tool({ name: "book", policy: "approve", undo: { policy: "escalate" } });
    const id = await begun(hp);
    const booked = await act(hp, id, "book", 1);
    await hp.workflows.rollback(id, { ...ANN, reason: "back" });
    const waiting = await hp.remote.workflows.undo(id, { undoes: booked, ...FAR });
    assert.equal(waiting.status, "pending");
    await hp.approvals.reject(await pendingApproval(hp), { ...ANN, reason: "keep it" });
    await untilStatus(hp, id, "failed");
    const { end } = await hp.remote.workflows.get(id);
    assert.partialDeepStrictEqual(end, { report: { notUndone: [{ action: booked, reason: "keep it" }] } });
  });

  test("is undone after its agent gave it up, where it was created so", async (context) => {
    const folder = temporaryFolder(context);
    const hp = folder.open();
    tools(hp);
    const id = await begun(hp, { rollbackEnabled: true });
    const booked = await act(hp, id, "book", "flight");
    assert.equal(await hp.remote.workflows.fail(id, { ...FAR, reason: "no hotel" }), "rolling_back");
    await hp.close();
    const next = folder.open();
    await undo(next, id, booked);
    assert.partialDeepStrictEqual(await next.remote.workflows.get(id), {
      status: "failed",
      end: { code: "error", reason: "no hotel", report: { undone: [booked] } },
    });
  });

  test("that is cancelled on its way back says how far it had come", async (context) => {
    const hp = temporaryFolder(context).open();
    tools(hp);
    const id = await begun(hp);
    const [one, two] = [await act(hp, id, "book", 1), await act(hp, id, "book", 2)];
    await hp.workflows.rollback(id, { ...ANN, reason: "back" });
    await undo(hp, id, two);
    await hp.remote.workflows.cancel(id, { ...ANN, reason: "leave it" });
    const { end } = await hp.remote.workflows.get(id);
    assert.partialDeepStrictEqual(end, {
      code: "cancelled",
      report: { undone: [two], notUndone: [{ action: one }] },
    });
  });
});
