/** Programs that start workflows: under a request id, again after crashes, and some wait for the end. */
import { isHoldpointError } from "../../kernel/errors.ts";
import { meet } from "./nodes.ts";
import { aliveIn, count, fail, type Life, onLife, type Sim } from "./sim.ts";

export type Start = {
  readonly tenant: string;
  readonly requestId: string;
  readonly workflow: string;
  readonly n: number;
};

export function drawStart(sim: Sim, n: number): Start {
  const { random, scenario } = sim;
  const parents = scenario.flows.workflows.filter(({ name }) => name.startsWith("flow"));
  return {
    tenant: random.pick(scenario.nodes).tenant,
    requestId: `flow-request-${n}`,
    workflow: random.pick(parents).name,
    n: random.int(1_000),
  };
}

/** Answers whether it is known to be started. */
async function startOnce(sim: Sim, life: Life, start: Start): Promise<boolean> {
  const workflow = life.workflows.get(start.workflow);
  if (workflow === undefined) return false;
  const { tenant, requestId, n } = start;
  const waits = sim.random.chance(0.3);
  const said = await onLife(life, () => workflow.start({ n }, { requestId }));
  if (said.kind === "error") {
    if (isHoldpointError(said.error, "request_conflict"))
      fail(sim, "R1", `${requestId} was refused its own input`);
    else meet(sim, life, "of a start", said.error);
  }
  if (said.kind !== "value") return false;
  sim.oracle.begun(tenant, requestId, said.value.id);
  if (waits) void awaitResult(sim, life, said.value.result);
  return true;
}

type Result = Parameters<Sim["oracle"]["finished"]>[1];

async function awaitResult(sim: Sim, life: Life, result: () => Promise<Result>): Promise<void> {
  const said = await onLife(life, result);
  if (said.kind === "error") meet(sim, life, "of waiting for a workflow", said.error);
  if (said.kind === "value") sim.oracle.finished(life.tenant, said.value);
}

/** Comes at its time, and again until it is told that it is started. */
export async function bringStart(sim: Sim, start: Start): Promise<void> {
  const { random, scheduler, scenario } = sim;
  sim.busy++;
  await scheduler.sleep(random.float() * scenario.workMs * 0.6);
  for (let times = random.chance(0.2) ? 2 : 1, tries = 0; times > 0 && tries < 30; tries++) {
    const life = random.pick(aliveIn(sim, start.tenant));
    if (life !== undefined && (await startOnce(sim, life, start)) && --times > 0)
      count(sim, "workflow started again under its request id");
    await scheduler.sleep(random.between(100, 1_500));
  }
  sim.busy--;
}
