/** Agents outside go on where they were: permits are reported, questions answered, workflows ended or undone. */
import assert from "node:assert/strict";
import type { Holdpoint } from "../../src/index.ts";
import { ANN, type Hands } from "./carry-on.ts";

const agent = "agent:courier";

async function perform(hp: Holdpoint, tool: string, requestId: string, by = agent): Promise<string> {
  const permit = await hp.remote.propose({ tool, args: { requestId }, requestId, agent: by });
  assert.equal(permit.status, "permitted", JSON.stringify(permit));
  await hp.remote.report(permit.action, { agent: by, status: "applied", result: { requestId } });
  return permit.action;
}

async function carryOnPermits({ hp, left }: Hands): Promise<void> {
  const { permit, asked, held } = left.outside;
  const { receipt } = await hp.remote.report(permit, { agent, status: "applied", result: 1 });
  assert.deepEqual([receipt.status, receipt.by], ["applied", agent]);
  const known = { tool: "wire", args: { requestId: "wire 1" }, requestId: "wire 1", agent };
  assert.equal((await hp.remote.propose(known)).status, "done");
  await hp.approvals.approve(asked.approval, ANN);
  assert.equal(await perform(hp, "ship", "ship 1"), asked.action);
  const halted = { tool: "wire", args: { requestId: "held" }, requestId: "held", agent: "agent:halted" };
  assert.equal((await hp.remote.propose(halted)).status, "pending");
  await hp.resume({ ...ANN, reason: "the drill has ended", agent: "agent:halted" });
  assert.equal(await perform(hp, "wire", "held", "agent:halted"), held);
}

async function carryOnIntents({ hp, left }: Hands): Promise<void> {
  const { task, known, asked } = left.outside.intents;
  assert.equal((await hp.intents.get(task)).status, "created");
  assert.equal((await hp.intents.get(known)).status, "acknowledged");
  for (const id of [task, known]) await hp.intents.answer(id, { data: { id }, by: "agent:helper" });
  await hp.approvals.approve(asked.approval, ANN);
  for (const id of [task, known, asked.id])
    assert.equal((await hp.intents.waitFor(id, { timeoutSeconds: 30 })).status, "completed");
}

async function carryOnWorkflows({ hp, left }: Hands): Promise<void> {
  const { workflows } = hp.remote;
  const { waiting, rejected } = left.outside.workflows;
  await hp.approvals.approve(waiting.approval, ANN);
  assert.equal(await workflows.complete(waiting.id, { agent, result: 1 }), "completed");
  const [undo, ...others] = await workflows.compensations(rejected.id);
  assert.deepEqual(others, []);
  const permit = await workflows.undo(rejected.id, { undoes: undo?.undoes ?? "", agent });
  await hp.remote.report(permit.action, { agent, status: "applied" });
  const { status, attempt } = await workflows.get(rejected.id);
  assert.deepEqual([status, attempt], ["executing", 2]);
  const stand = { checkpoint: "Plan", agent, summary: "Another hotel", outputs: { hotel: 2 } };
  const { approval } = await workflows.checkpoint(rejected.id, stand);
  await hp.approvals.approve(approval ?? "", ANN);
  assert.equal(await workflows.complete(rejected.id, { agent, result: 2 }), "completed");
}

export async function carryOnOutside(hands: Hands): Promise<void> {
  await carryOnPermits(hands);
  await carryOnIntents(hands);
  await carryOnWorkflows(hands);
}
