/** Intents that people are to approve, through the instance, under a clock that the test moves. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { OutgoingIntent } from "../../src/index.ts";
import { isHoldpointError } from "../../src/kernel/errors.ts";
import { joins } from "../fixtures/people.ts";
import { machine, settled } from "../fixtures/runtime.ts";

const DAY = 24 * 60 * 60 * 1_000;
const WEEK_SECONDS = 604_800;
const ANN = { by: "person:ann" };
const DEPLOY: OutgoingIntent = {
  intentType: "human_approval",
  toAgent: "agent://approver",
  payload: { task: "Deploy model v2.3 to production", risk_level: "high" },
};

const code = (wanted: string) => (error: unknown) => isHoldpointError(error) && error.code === wanted;

describe("an intent that people are to approve", () => {
  test("is an approval like any other, with the agent's words, and answers whoever waits", async () => {
    const computer = machine();
    const agent = computer.process();
    const sent = await agent.intents.send(DEPLOY);
    const approval = await agent.approvals.get(sent.approval ?? "");
    assert.partialDeepStrictEqual(approval, {
      tool: "human_approval",
      rationale: "Deploy model v2.3 to production (risk level: high)",
      args: DEPLOY.payload,
      about: "intent",
      intent: sent.id,
    });
    assert.equal((await agent.intents.get(sent.id)).lifecycleStatus, "WAITING");
    const waited = agent.intents.waitFor(sent.id, { timeoutSeconds: WEEK_SECONDS });
    await settled();
    await agent.approvals.approve(approval.id, { ...ANN, note: "go" });
    assert.partialDeepStrictEqual(await waited, {
      status: "completed",
      data: { approved: true, decision: "approved", rationale: "go", approved_by: [ANN.by] },
    });
    assert.equal((await agent.intents.get(sent.id)).lifecycleStatus, "COMPLETED");
    assert.deepEqual((await agent.journal.verify()).findings, []);
    await agent.close();
  });

  test("is waited for over six days and a restart, on no more than a day's sleep at a time", async () => {
    const computer = machine();
    const before = computer.process();
    const { id, approval } = await before.intents.send(DEPLOY);
    const given = before.intents.waitFor(id, { timeoutSeconds: WEEK_SECONDS });
    given.catch(() => undefined);
    for (let day = 0; day < 3; day++) await computer.clock.jump(DAY);
    before.crash();
    const after = computer.process();
    const waited = after.intents.waitFor(id, { timeoutSeconds: WEEK_SECONDS });
    for (let day = 0; day < 3; day++) await computer.clock.jump(DAY);
    const people = computer.process({ agent: "desk" });
    await people.approvals.reject(approval ?? "", { ...ANN, reason: "not before Monday" });
    assert.partialDeepStrictEqual(await waited, {
      status: "completed",
      data: { approved: false, decision: "rejected", rationale: "not before Monday", approved_by: [] },
    });
    await after.close();
    await people.close();
  });

  test("a wait that is over is not the intent's end: waiting again goes on", async () => {
    const computer = machine();
    const agent = computer.process();
    const { id, approval } = await agent.intents.send(DEPLOY);
    const first = agent.intents.waitFor(id, { timeoutSeconds: 60 });
    await settled();
    await computer.clock.jump(60_000);
    assert.deepEqual(await first, { status: "timed_out_waiting", intent: id });
    assert.equal((await agent.intents.get(id)).lifecycleStatus, "WAITING");
    await agent.approvals.approve(approval ?? "", ANN);
    assert.partialDeepStrictEqual(await agent.intents.waitFor(id), { data: { approved: true } });
    await agent.close();
  });

  test("nobody decides in time: whoever waits is told, without anybody who sweeps", async () => {
    const computer = machine();
    const agent = computer.process();
    const { id, approval } = await agent.intents.send({ ...DEPLOY, withinMs: DAY });
    const waited = agent.intents.waitFor(id);
    await settled();
    await computer.clock.jump(DAY);
    assert.partialDeepStrictEqual(await waited, { status: "timed_out" });
    assert.equal((await agent.intents.get(id)).lifecycleStatus, "TIMED_OUT");
    assert.equal((await agent.approvals.get(approval ?? "")).status, "expired");
    await agent.close();
  });

  test("more time for people is more time for the intent", async () => {
    const computer = machine();
    const agent = computer.process();
    const { id, approval } = await agent.intents.send({ ...DEPLOY, withinMs: DAY });
    await agent.approvals.extend(approval ?? "", { ...ANN, byMs: DAY });
    const waited = agent.intents.waitFor(id);
    await settled();
    await computer.clock.jump(DAY + 1_000);
    await agent.approvals.approve(approval ?? "", { ...ANN, edit: { risk_level: "low" } });
    assert.partialDeepStrictEqual(await waited, {
      data: {
        decision: "modified",
        modifications: { task: "Deploy model v2.3 to production", risk_level: "low" },
      },
    });
    await agent.close();
  });

  test("cancelled by its sender it asks nobody any more; answered past the approval it is refused", async () => {
    const computer = machine();
    const agent = computer.process();
    const { id, approval } = await agent.intents.send(DEPLOY);
    await assert.rejects(agent.intents.answer(id, { ...ANN, data: { approved: true } }), code("wrong_state"));
    assert.equal((await agent.intents.cancel(id, { reason: "done by hand" })).lifecycleStatus, "CANCELED");
    assert.equal((await agent.approvals.get(approval ?? "")).status, "cancelled");
    assert.partialDeepStrictEqual(await agent.intents.waitFor(id), {
      status: "cancelled",
      reason: "done by hand",
    });
    await agent.close();
  });

  test("a person who sends it does not approve it, and a group in which nobody is cannot be asked", async () => {
    const computer = machine();
    const agent = computer.process();
    await joins(agent.runtime, ANN.by, { roles: ["supervisor"] });
    await joins(agent.runtime, "person:bob", { roles: ["supervisor"] });
    const { approval } = await agent.intents.send({ ...DEPLOY, from: ANN.by });
    await assert.rejects(agent.approvals.approve(approval ?? "", ANN), code("not_eligible"));
    await agent.approvals.approve(approval ?? "", { by: "person:bob" });
    await assert.rejects(
      agent.intents.send({ ...DEPLOY, toAgent: "group:finance" }),
      code("unsatisfiable_quorum"),
    );
    await assert.rejects(agent.intents.send({ ...DEPLOY, toAgent: "agent://doer" }), code("invalid_input"));
    assert.equal(await agent.approvals.count("any"), 1);
    await agent.close();
  });
});
