/** People who look after workflows: send them back, cancel them, and look through what waits for a decision. */

import { cancelById, rollBackById } from "../../engine/workflow/operate-workflows.ts";
import { isHoldpointError } from "../../kernel/errors.ts";
import { meet } from "./nodes.ts";
import { aliveIn, count, type Life, onLife, type Sim } from "./sim.ts";

async function listed(sim: Sim, life: Life, view: string, bucket?: string) {
  const query = { view, ...(bucket === undefined ? {} : { bucket }), limit: 50 };
  const said = await onLife(life, () => life.runtime.store.query(life.tenant, query));
  if (said.kind === "error") meet(sim, life, "of a list", said.error);
  return said.kind === "value" ? said.value : [];
}

/** Said again until it is heard: on another process, if this one is gone. */
async function insist(sim: Sim, tenant: string, work: (life: Life) => Promise<unknown>): Promise<void> {
  const { random, scheduler } = sim;
  for (let tries = 0; tries < 20; tries++) {
    const life = random.pick(aliveIn(sim, tenant));
    const said = life === undefined ? undefined : await onLife(life, () => work(life));
    if (said?.kind === "value") return;
    if (said?.kind === "error" && isHoldpointError(said.error, "wrong_state")) return;
    if (said?.kind === "error" && life !== undefined) meet(sim, life, "of an overseer", said.error);
    await scheduler.sleep(500);
  }
}

async function pickOne(sim: Sim, life: Life): Promise<string | undefined> {
  const rows = await listed(sim, life, "workflows");
  const open = rows.filter(({ bucket }) => bucket !== "completed" && bucket !== "failed");
  return open.length === 0 ? undefined : sim.random.pick(open).stream.id;
}

export async function sendBack(sim: Sim, life: Life): Promise<void> {
  const id = await pickOne(sim, life);
  if (id === undefined) return;
  const { random } = sim;
  count(sim, "workflow sent back by an operator");
  const request = {
    by: "person:operator",
    reason: "try again",
    ...(random.chance(0.6) ? { to: "start" } : {}),
    after: random.chance(0.7) ? "again" : "fail",
  } as const;
  await insist(sim, life.tenant, ({ runtime }) => rollBackById(runtime, id, request));
}

export async function callOff(sim: Sim, life: Life): Promise<void> {
  const id = await pickOne(sim, life);
  if (id === undefined) return;
  count(sim, "workflow cancelled");
  const said = { by: "person:operator", reason: "called off" };
  await insist(sim, life.tenant, ({ runtime }) => cancelById(runtime, id, said));
}

/** Nothing else is left to do about a workflow whose tool was changed under a call. */
export async function callOffUnfit(sim: Sim, tenant: string): Promise<void> {
  const said = { by: "person:operator", reason: "its tool is not there any more" };
  for (const id of sim.oracle.unfit(tenant))
    await insist(sim, tenant, ({ runtime }) => cancelById(runtime, id, said));
}

/** Nobody depends on being told: what waits is on a list. */
export async function lookThrough(sim: Sim, life: Life): Promise<void> {
  for (const row of await listed(sim, life, "approvals", "pending"))
    sim.told.push({ tenant: life.tenant, approval: row.stream.id, decideBy: row.due });
}
