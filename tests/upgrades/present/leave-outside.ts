/** Permits, questions, intents and workflows of remote agents, and an agent that is paused. */
import type { Holdpoint } from "../../../src/index.ts";

const agent = "agent:courier";
const ANN = { by: "person:ann", reason: "nearer to the station" };

async function beginTrip({ remote }: Holdpoint, requestId: string) {
  const { workflows } = remote;
  const checkpoints = [{ name: "Plan", timeoutSeconds: null }];
  const creation = { name: "Trip", checkpoints, poster: "person:bob", by: agent, requestId };
  const id = await workflows.create(creation);
  await workflows.start(id, { agent });
  const booking = await remote.propose({ tool: "book", args: { requestId }, workflow: id, agent });
  await remote.report(booking.action, { agent, status: "applied", result: { ref: requestId } });
  const stand = { checkpoint: "Plan", agent, summary: "One hotel", outputs: { hotel: 1 } };
  const { approval } = await workflows.checkpoint(id, stand);
  return { id, approval: approval ?? "", booking: booking.action };
}

async function leaveIntents({ intents }: Holdpoint) {
  const to = { intentType: "translate", toAgent: "agent://helper" };
  const task = await intents.send({ ...to, payload: { n: 1 } });
  const known = await intents.send({ ...to, payload: { n: 2 } });
  await intents.acknowledge(known.id, { by: "agent:helper" });
  const people = { intentType: "human_approval", toAgent: "person:ann", payload: { n: 3 } };
  const asked = await intents.send(people);
  return { task: task.id, known: known.id, asked: { id: asked.id, approval: asked.approval ?? "" } };
}

const proposing =
  ({ remote }: Holdpoint) =>
  (tool: string, requestId: string, more = {}) =>
    remote.propose({ tool, args: { requestId }, requestId, agent, ...more });

export async function leaveOutside(hp: Holdpoint) {
  const propose = proposing(hp);
  const permit = await propose("wire", "wire 1");
  const asked = await propose("ship", "ship 1");
  await hp.pause({ by: "person:ann", reason: "a drill", agent: "agent:halted" });
  const held = await propose("wire", "held", { agent: "agent:halted" });
  const waiting = await beginTrip(hp, "waits at a checkpoint");
  const rejected = await beginTrip(hp, "is to be undone");
  await hp.approvals.reject(rejected.approval, ANN);
  return {
    permit: permit.action,
    asked: { action: asked.action, approval: String("approval" in asked ? asked.approval : "") },
    held: held.action,
    intents: await leaveIntents(hp),
    workflows: { waiting, rejected },
  };
}

/** Permits that a holder has begun, has not begun, and has begun twice; and the permit of an undo. */
export async function leaveMorePermits(hp: Holdpoint) {
  const propose = proposing(hp);
  const holder = "a-text-that-only-this-agent-has-seen";
  const issued = await propose("wire", "issued", { holder });
  const begun = await propose("wire", "begun", { holder, begin: true });
  const doubtful = await propose("wire", "doubtful", { holder, begin: true });
  await hp.remote.begin(doubtful.action, { holder, agent });
  const undone = await beginTrip(hp, "is being undone");
  await hp.approvals.reject(undone.approval, ANN);
  const [first] = await hp.remote.workflows.compensations(undone.id);
  const undo = await hp.remote.workflows.undo(undone.id, { undoes: first?.undoes ?? "", agent });
  const actions = { issued: issued.action, begun: begun.action, doubtful: doubtful.action };
  return { holder, ...actions, undo: { workflow: undone.id, action: undo.action } };
}
