/**
 * Programs that call tools and start workflows under a request id: they come back with the same request id after crashes
 * and errors, some wait for the end, and now and then they misbehave.
 */

import { execute } from "../../src/effects/execute.ts";
import { isHoldpointError } from "../../src/kernel/errors.ts";
import type { Json } from "../../src/kernel/json.ts";
import { handleTopError } from "./nodes.ts";
import { aliveIn, count, fail, runOnProcess, SECRET, type Sim, type SimProcess } from "./sim.ts";
import { type Args, MOST } from "./specs.ts";

export type Request = {
  readonly tenant: string;
  readonly id: string | null;
  readonly tool: string;
  readonly args: Args;
  /** Its answer will not change any more. */
  settled: boolean;
};

export function drawRequest(sim: Sim, n: number): Request {
  const { random, scenario } = sim;
  const args: Args = {
    amount: random.int(MOST + 1),
    to: `account ${random.int(6)}`,
    n,
    ...(random.chance(0.15) ? { token: SECRET } : {}),
    ...(random.chance(0.01) ? { pad: "x".repeat(70_000) } : {}),
  };
  if (args.token !== undefined) count(sim, "secret in arguments");
  return {
    tenant: random.pick(scenario.nodes).tenant,
    id: random.chance(0.06) ? null : `req-${n}`,
    tool: random.pick(scenario.tools).name,
    args,
    settled: false,
  };
}

/** One call; answers whether there is any point in calling again. */
async function callOnce(sim: Sim, life: SimProcess, request: Request, args: Args): Promise<boolean> {
  const tool = life.runtime.tools.get(request.tool);
  if (tool === undefined) return true;
  const waitMs = sim.random.pick(sim.faultsOn ? [0, 0, 100, 2_000, 20_000] : [0, 2_000]);
  const conflicts = args !== request.args;
  const call = { requestId: request.id, args: args as unknown as Json, says: "please", waitMs };
  const said = await runOnProcess(life, () => execute(life.runtime, tool, call));
  if (said.kind === "crashed") return request.id !== null;
  if (said.kind === "value") {
    if (conflicts) fail(sim, "R1", `${request.id} was answered for other arguments`);
    return sim.oracle.answered(request.tenant, request.id, said.value) === "again";
  }
  if (isHoldpointError(said.error, "request_conflict")) {
    count(sim, "request id with other arguments");
    if (!conflicts) fail(sim, "R1", `${request.id} was refused its own arguments`);
    return true;
  }
  handleTopError(sim, life, "of a call", said.error);
  return request.id !== null;
}

function drawArgs(sim: Sim, request: Request): Args {
  const known = sim.faultsOn && sim.oracle.knows(request.tenant, request.id);
  if (!known || !sim.random.chance(0.04)) return request.args;
  return { ...request.args, amount: (request.args.amount + 1) % MOST };
}

async function callUntilAnswered(sim: Sim, request: Request, tries: number): Promise<void> {
  const { random, scheduler } = sim;
  for (let attempt = 0; attempt < tries && !request.settled; attempt++) {
    const life = random.pick(aliveIn(sim, request.tenant));
    if (life === undefined) {
      await scheduler.sleep(500);
      continue;
    }
    if (attempt > 0) count(sim, "same request id after a crash");
    const again = await callOnce(sim, life, request, drawArgs(sim, request));
    if (request.id === null) break;
    if (!again && !random.chance(0.1)) request.settled = true;
    await scheduler.sleep(sim.faultsOn ? random.between(0, 3_000) : random.between(0, 300));
  }
}

/** Comes at its time, often from several nodes at once. */
export async function bringRequest(sim: Sim, request: Request): Promise<void> {
  const { random, scheduler, scenario } = sim;
  sim.busy++;
  await scheduler.sleep(random.float() * scenario.workMs);
  const callers = request.id !== null && random.chance(0.25) ? random.between(2, 3) : 1;
  if (callers > 1) count(sim, "same request id at once");
  await Promise.all(
    Array.from({ length: callers }, () => callUntilAnswered(sim, request, random.between(1, 4))),
  );
  sim.busy--;
}

/** After the faults: everybody who may still get an answer asks for it. */
export async function askAgain(sim: Sim, request: Request): Promise<void> {
  if (request.id === null) return;
  sim.busy++;
  request.settled = false;
  await callUntilAnswered(sim, request, 4);
  sim.busy--;
}

type Start = {
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
async function startOnce(sim: Sim, life: SimProcess, start: Start): Promise<boolean> {
  const workflow = life.workflows.get(start.workflow);
  if (workflow === undefined) return false;
  const { tenant, requestId, n } = start;
  const waits = sim.random.chance(0.3);
  const said = await runOnProcess(life, () => workflow.start({ n }, { requestId }));
  if (said.kind === "error") {
    if (isHoldpointError(said.error, "request_conflict"))
      fail(sim, "R1", `${requestId} was refused its own input`);
    else handleTopError(sim, life, "of a start", said.error);
  }
  if (said.kind !== "value") return false;
  sim.oracle.begun(tenant, requestId, said.value.id);
  if (waits) void awaitResult(sim, life, said.value.result);
  return true;
}

type Result = Parameters<Sim["oracle"]["finished"]>[1];

async function awaitResult(sim: Sim, life: SimProcess, result: () => Promise<Result>): Promise<void> {
  const said = await runOnProcess(life, result);
  if (said.kind === "error") handleTopError(sim, life, "of waiting for a workflow", said.error);
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
