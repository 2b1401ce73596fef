/** What agents outside leave: permits, questions, intents, workflows of their own, and one that is stopped. */
import type { Holdpoint } from "./api.ts";

const agent = "agent:courier";
const ANN = { by: "person:ann", reason: "nearer to the station" };
/** Longer than any fixture is old. */
const LONG_MS = 10 * 365 * 24 * 3_600_000;

async function leaveWorkflows({ outside, approvals }: Holdpoint) {
  const { workflows } = outside;
  const checkpoints = [{ name: "Plan", timeoutSeconds: null }];
  const begin = async (requestId: string) => {
    const id = await workflows.create({
      name: "Trip",
      checkpoints,
      poster: "person:bob",
      by: agent,
      requestId,
    });
    await workflows.start(id, { agent });
    const booking = await outside.propose({ tool: "book", args: { requestId }, workflow: id, agent });
    await outside.report({ action: booking.action, agent, status: "applied", result: { ref: requestId } });
    const stand = { checkpoint: "Plan", agent, summary: "One hotel", outputs: { hotel: 1 } };
    const { approval } = await workflows.checkpoint(id, stand);
    return { id, approval: approval ?? "", booking: booking.action };
  };
  const waiting = await begin("waits at a checkpoint");
  const rejected = await begin("is to be undone");
  await approvals.reject(rejected.approval, ANN);
  return { waiting, rejected };
}

export async function leaveOutside(hp: Holdpoint) {
  hp.declare({ name: "wire", policy: "approve", timeoutMs: LONG_MS });
  hp.declare({ name: "ship", timeoutMs: LONG_MS });
  hp.declare({ name: "book", policy: "approve", undo: true });
  const propose = (tool: string, requestId: string, by = agent) =>
    hp.outside.propose({ tool, args: { requestId }, requestId, agent: by });
  const permit = await propose("wire", "wire 1");
  const asked = await propose("ship", "ship 1");
  await hp.stop({ by: "person:ann", reason: "a drill", agent: "agent:halted" });
  const held = await propose("wire", "held", "agent:halted");
  const task = await hp.intents.send({
    intentType: "translate",
    toAgent: "agent://helper",
    payload: { n: 1 },
  });
  const known = await hp.intents.send({
    intentType: "translate",
    toAgent: "agent://helper",
    payload: { n: 2 },
  });
  await hp.intents.acknowledge(known.id, { by: "agent:helper" });
  const people = { intentType: "human_approval", toAgent: "person:ann", payload: { n: 3 } };
  return {
    permit: permit.action,
    asked: { action: asked.action, approval: asked.approval },
    held: held.action,
    intents: { task: task.id, known: known.id, asked: await hp.intents.send(people) },
    workflows: await leaveWorkflows(hp),
  };
}
