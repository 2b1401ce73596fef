/**
 * People who run the place: switches, standing, budgets, withdrawals, doubts, deployments and clocks. Some look after
 * workflows: send them back, cancel them, look through what waits. Some permit things in advance and revoke that, and the
 * world changes under what tools show.
 */

import { cancelApproval, revokeApproval } from "../../src/approvals/rules/withdraw.ts";
import { extendApproval } from "../../src/approvals/verbs.ts";
import { resolveByPerson } from "../../src/effects/rules/outcome.ts";
import { grantVerbs } from "../../src/grants/verbs.ts";
import { isHoldpointError } from "../../src/kernel/errors.ts";
import { actionStream, approvalStream } from "../../src/kernel/stream.ts";
import type { Draft } from "../../src/kernel/transaction.ts";
import { readState, runCommand } from "../../src/runtime/store-access.ts";
import { bindLibrary } from "../../src/runtime/verb.ts";
import { cancelById } from "../../src/workflows/operate.ts";
import { workflowVerbs } from "../../src/workflows/verbs.ts";
import { setStanding } from "../fixtures/people.ts";
import { setBudget, setSwitch } from "./commands.ts";
import { handleTopError } from "./nodes.ts";
import { delegateSome, moveMember } from "./people.ts";
import { amountPolicy, deskPolicy, stagedPolicy } from "./scenario.ts";
import {
  aliveIn,
  count,
  runOnProcess,
  type Sim,
  type SimProcess,
  shutDownProcess,
  type WorkResult,
} from "./sim.ts";
import { CURRENCY, drawGrant, drawPolicy, grantCondition, type ToolVersion } from "./specs.ts";
import { truthOf } from "./world.ts";

async function listRows(sim: Sim, life: SimProcess, view: string, bucket?: string) {
  const query = { view, ...(bucket === undefined ? {} : { bucket }), limit: 50 };
  const said = await runOnProcess(life, () => life.runtime.store.query(life.tenant, query));
  if (said.kind === "error") handleTopError(sim, life, "of a list", said.error);
  return said.kind === "value" ? said.value : [];
}

/** Said again until it is heard: on another process, if this one is gone. */
async function retryOnAnyProcess(
  sim: Sim,
  tenant: string,
  work: (life: SimProcess) => Promise<unknown>,
): Promise<void> {
  const { random, scheduler } = sim;
  for (let tries = 0; tries < 20; tries++) {
    const life = random.pick(aliveIn(sim, tenant));
    const said = life === undefined ? undefined : await runOnProcess(life, () => work(life));
    if (said?.kind === "value") return;
    if (said?.kind === "error" && isHoldpointError(said.error, "wrong_state")) return;
    if (said?.kind === "error" && life !== undefined) handleTopError(sim, life, "of an overseer", said.error);
    await scheduler.sleep(500);
  }
}

async function pickOne(sim: Sim, life: SimProcess): Promise<string | undefined> {
  const rows = await listRows(sim, life, "workflows");
  const open = rows.filter(({ bucket }) => bucket !== "completed" && bucket !== "failed");
  return open.length === 0 ? undefined : sim.random.pick(open).stream.id;
}

async function sendBack(sim: Sim, life: SimProcess): Promise<void> {
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
  await retryOnAnyProcess(sim, life.tenant, ({ runtime }) =>
    workflowVerbs.verbs.rollback.perform({ runtime, how: {} }, { id, ...request }),
  );
}

async function cancelOne(sim: Sim, life: SimProcess): Promise<void> {
  const id = await pickOne(sim, life);
  if (id === undefined) return;
  count(sim, "workflow cancelled");
  const said = { by: "person:operator", reason: "called off" };
  await retryOnAnyProcess(sim, life.tenant, ({ runtime }) => cancelById(runtime, id, said));
}

/** Nothing else is left to do about a workflow whose tool was changed under a call. */
export async function cancelUnfit(sim: Sim, tenant: string): Promise<void> {
  const said = { by: "person:operator", reason: "its tool is not there any more" };
  for (const id of sim.oracle.unfit(tenant))
    await retryOnAnyProcess(sim, tenant, ({ runtime }) => cancelById(runtime, id, said));
}

/** Nobody depends on being told: what waits is on a list. */
export async function lookThrough(sim: Sim, life: SimProcess): Promise<void> {
  for (const row of await listRows(sim, life, "approvals", "pending"))
    sim.told.push({ tenant: life.tenant, approval: row.stream.id, decideBy: row.due });
}

const EXPECTED_GRANT_ERRORS = ["not_eligible", "unknown_tool", "unknown_id"] as const;

async function runExpecting<Value>(sim: Sim, life: SimProcess, work: () => Promise<Value>): Promise<void> {
  const answer = await runOnProcess(life, work);
  if (answer.kind !== "error" || EXPECTED_GRANT_ERRORS.some((code) => isHoldpointError(answer.error, code)))
    return;
  handleTopError(sim, life, "of a grant", answer.error);
}

async function giveSome(sim: Sim, life: SimProcess): Promise<void> {
  const { random, scenario } = sim;
  const spec = drawGrant(random);
  const when = grantCondition(spec);
  const { agent, uses, forMs, total } = spec;
  await runExpecting(sim, life, () =>
    bindLibrary(async () => life.runtime, grantVerbs).give({
      tool: random.pick(scenario.tools).name,
      by: random.pick(scenario.people),
      reason: "routine",
      uses,
      forMs,
      ...(when === null ? {} : { when }),
      ...(agent === null ? {} : { agent }),
      ...(total === null
        ? {}
        : { total: { currency: CURRENCY, micros: BigInt(total) * 1_000_000n }, amount: "args.amount" }),
    }),
  );
}

async function revokeSome(sim: Sim, life: SimProcess): Promise<void> {
  const { random, scenario } = sim;
  const query = { view: "grants", bucket: "active", limit: 20 };
  const found = await runOnProcess(life, () => life.runtime.store.query(life.tenant, query));
  if (found.kind !== "value" || found.value.length === 0) return;
  const { stream } = random.pick(found.value);
  const command = { by: random.pick(scenario.people), reason: "enough" };
  await runExpecting(sim, life, () =>
    bindLibrary(async () => life.runtime, grantVerbs).revoke(stream.id, command),
  );
}

/** Sometimes a person revokes a grant that a call has just found: the next call may still find it listed. */
export function revokeUnder(sim: Sim): void {
  for (const { tenant, grant } of sim.looked.splice(0)) {
    if (!sim.faultsOn || !sim.random.chance(0.15)) continue;
    const life = sim.random.pick(aliveIn(sim, tenant));
    const command = { by: sim.random.pick(sim.scenario.people), reason: "just in time" };
    if (life === undefined) continue;
    void runExpecting(sim, life, () =>
      bindLibrary(async () => life.runtime, grantVerbs).revoke(grant, command),
    );
  }
}

/** What a preview shows is another thing from now on. */
async function moveWorld(sim: Sim): Promise<void> {
  const name = sim.random.pick([...sim.scenario.beforehand.previewed]);
  sim.world.levels.set(name, (sim.world.levels.get(name) ?? 0) + 1);
}

const EARLY = 20;

/** Some are there from the beginning. */
export async function giveEarly(sim: Sim): Promise<void> {
  for (const tenant of sim.scenario.tenants)
    for (let given = 0; given < EARLY; given++) {
      const life = sim.random.pick(aliveIn(sim, tenant));
      if (life !== undefined) await giveSome(sim, life);
    }
}

type Deed = (sim: Sim, life: SimProcess) => Promise<void>;

async function attemptWork<Value>(
  sim: Sim,
  life: SimProcess,
  work: () => Promise<Value>,
): Promise<WorkResult<Value>> {
  const said = await runOnProcess(life, work);
  if (said.kind === "error") handleTopError(sim, life, "of an operator", said.error);
  return said;
}

export async function turnSwitch(
  sim: Sim,
  life: SimProcess,
  agent: string | null,
  stop: boolean,
): Promise<void> {
  const command = { by: "person:operator", reason: "drill", ...(agent === null ? {} : { agent }) };
  const said = await attemptWork(sim, life, () => setSwitch(life.runtime, { ...command, stop }));
  if (said.kind === "value") sim.oracle.acknowledged({ kind: "switch", scope: agent ?? "tenant", stop });
}

const flipSwitch: Deed = async (sim, life) => {
  const { random, scheduler } = sim;
  const scope = random.chance(0.5) ? null : life.runtime.agent;
  await turnSwitch(sim, life, scope, true);
  await scheduler.sleep(random.between(200, 6_000));
  const other = random.pick(aliveIn(sim, life.tenant));
  if (other !== undefined) await turnSwitch(sim, other, scope, false);
};

export async function setPersonStanding(
  sim: Sim,
  life: SimProcess,
  person: string,
  suspend: boolean,
): Promise<void> {
  const command = { person, by: "person:operator", reason: "drill" };
  const said = await attemptWork(sim, life, () => setStanding(life.runtime, suspend, command));
  if (said.kind === "value") sim.oracle.acknowledged({ kind: "standing", person, suspend });
}

const suspendSomebody: Deed = async (sim, life) => {
  const person = sim.random.pick(sim.scenario.people);
  count(sim, "approver suspended");
  await setPersonStanding(sim, life, person, true);
  await sim.scheduler.sleep(sim.random.between(200, 12_000));
  const other = sim.random.pick(aliveIn(sim, life.tenant));
  if (other !== undefined) await setPersonStanding(sim, other, person, false);
};

export async function openBudget(sim: Sim, life: SimProcess, id: string, limit: number): Promise<void> {
  const money = { currency: CURRENCY, micros: BigInt(limit) };
  await attemptWork(sim, life, () => setBudget(life.runtime, id, money));
}

const changeBudget: Deed = async (sim, life) => {
  const { random, scenario } = sim;
  if (scenario.budgets.length === 0) return;
  count(sim, "budget changed");
  await openBudget(sim, life, random.pick(scenario.budgets).id, random.between(50, 4_000));
};

async function listIds(sim: Sim, life: SimProcess, view: string, bucket: string): Promise<readonly string[]> {
  const query = { view, bucket, limit: 20 };
  const said = await attemptWork(sim, life, () => life.runtime.store.query(life.tenant, query));
  return said.kind === "value" ? said.value.map((row) => row.stream.id) : [];
}

async function withdrawOne(
  sim: Sim,
  life: SimProcess,
  approval: string,
  end: typeof cancelApproval,
): Promise<void> {
  const command = { approval, by: "person:operator", reason: "withdrawn" };
  await attemptWork(sim, life, () =>
    runCommand(life.runtime, { write: [approvalStream(approval)] }, (draft: Draft) => end(draft, command)),
  );
}

const withdraw: Deed = async (sim, life) => {
  const pending = sim.random.chance(0.4);
  const ids = await listIds(sim, life, "approvals", pending ? "pending" : "approved");
  if (ids.length > 0)
    await withdrawOne(sim, life, sim.random.pick(ids), pending ? cancelApproval : revokeApproval);
};

/** Withdraws the question of a checkpoint under its workflow. */
const withdrawCheckpoint: Deed = async (sim, life) => {
  const ids = await listIds(sim, life, "approvals", "pending");
  const said = await attemptWork(sim, life, () =>
    Promise.all(ids.map(async (id) => ({ id, ...(await readState(life.runtime, approvalStream(id))) }))),
  );
  const states = said.kind === "value" ? said.value : [];
  const asked = states.filter((state) => state.status === "pending" && state.subject?.kind === "checkpoint");
  if (asked.length > 0) await withdrawOne(sim, life, sim.random.pick(asked).id, cancelApproval);
};

/** Says what is true, once it can be known. */
export const resolveDoubts: Deed = async (sim, life) => {
  for (const action of await listIds(sim, life, "actions", "in_doubt")) {
    const status = truthOf(sim.world, action);
    if (status === undefined || (sim.faultsOn && sim.random.chance(0.5))) continue;
    const command = { action, status, by: "person:operator", reason: "looked" };
    await attemptWork(sim, life, () =>
      runCommand(life.runtime, { write: [actionStream(action)] }, (draft: Draft) =>
        resolveByPerson(draft, command),
      ),
    );
  }
};

const deployNew: Deed = async (sim) => {
  const { random, scenario, deployed } = sim;
  const { name } = random.pick(scenario.tools);
  const now = deployed.get(name) as ToolVersion;
  const schema = random.chance(0.35);
  count(sim, schema ? "tool schema changed" : "policy reloaded");
  const drawn = schema ? now.policy : drawPolicy(random, scenario.people);
  const staged = scenario.staged && !schema ? stagedPolicy(random, scenario.people, drawn) : drawn;
  const manned = scenario.desk && !schema ? deskPolicy(random, scenario.people, staged) : staged;
  const policy = scenario.byAmount && !schema ? amountPolicy(random, scenario.people, manned) : manned;
  deployed.set(name, schema ? { ...now, schema: now.schema + 1 } : { ...now, policy });
  for (const life of sim.lives.filter(({ alive }) => alive))
    if (random.chance(0.6)) void shutDownProcess(sim, life);
};

/** By somebody who may, or who may not. */
const giveTime: Deed = async (sim, life) => {
  const ids = await listIds(sim, life, "approvals", "pending");
  if (ids.length === 0) return;
  const { random, scenario } = sim;
  const more = { by: random.pick(scenario.people), byMs: random.between(100, 5_000) };
  const { runtime } = life;
  const said = await runOnProcess(life, () => extendApproval(runtime, random.pick(ids), more));
  const isRefused = (error: unknown) =>
    isHoldpointError(error, "not_eligible") || isHoldpointError(error, "wrong_state");
  if (said.kind === "error" && !isRefused(said.error)) handleTopError(sim, life, "of more time", said.error);
};

const HOUR_MS = 3_600_000;

const setClocks: Deed = async (sim, life) => {
  const { random, scenario } = sim;
  if (scenario.databaseClockMoves && random.chance(0.6)) {
    const back = random.chance(0.5);
    count(sim, back ? "database clock set back" : "database clock set ahead");
    // A workflow that sleeps asks every second: an hour of that is a long simulation.
    const most = scenario.flows.starts > 0 ? 10_000 : HOUR_MS;
    sim.databaseOffset += (back ? -1 : 1) * random.between(100, most);
    return;
  }
  count(sim, "node clock jump");
  life.clockOffset += random.pick([-1, 1]) * random.pick([50, 5_000, HOUR_MS]);
};

const fillDisk: Deed = async (sim) => {
  sim.diskFullUntil = sim.scheduler.now() + sim.random.between(100, 1_500);
};

const DEEDS: readonly (readonly [Deed, number])[] = [
  [flipSwitch, 2],
  [suspendSomebody, 3],
  [changeBudget, 2],
  [withdraw, 6],
  [resolveDoubts, 3],
  [deployNew, 2],
  [setClocks, 3],
  [fillDisk, 1],
];
const FLOW_DEEDS: readonly (readonly [Deed, number])[] = [
  [sendBack, 4],
  [cancelOne, 2],
  [lookThrough, 4],
  [withdraw, 4],
  [withdrawCheckpoint, 5],
  [resolveDoubts, 4],
];
const STAGE_DEEDS: readonly (readonly [Deed, number])[] = [[giveTime, 12]];
const bagOf = (deeds: typeof DEEDS): readonly Deed[] =>
  deeds.flatMap(([deed, weight]) => Array.from({ length: weight }, () => deed));
const BAG = bagOf(DEEDS);
const FLOW_BAG = bagOf(FLOW_DEEDS);
const STAGE_BAG = bagOf(STAGE_DEEDS);
const GRANT_BAG = bagOf([
  [giveSome, 8],
  [revokeSome, 4],
]);
const DESK_BAG = bagOf([
  [moveMember, 10],
  [delegateSome, 14],
  [giveTime, 2],
]);
const MOVE_BAG = bagOf([[moveWorld, 16]]);

/** What belongs to what the scenario has. */
function extras({ flows, staged, beforehand, desk }: Sim["scenario"]): readonly Deed[] {
  const grants = beforehand.grants ? GRANT_BAG : [];
  const moves = beforehand.previewed.size > 0 ? MOVE_BAG : [];
  return [
    ...(flows.starts > 0 ? FLOW_BAG : []),
    ...(staged ? STAGE_BAG : []),
    ...(desk ? DESK_BAG : []),
    ...grants,
    ...moves,
  ];
}

export async function operate(sim: Sim): Promise<void> {
  const { random, scheduler } = sim;
  const bag = [...BAG, ...extras(sim.scenario)].filter(() => random.chance(0.7));
  const restMs = random.between(1_000, 4_000);
  while (sim.faultsOn && bag.length > 0) {
    await scheduler.sleep(random.float() * restMs);
    const life = sim.faultsOn ? random.pick(sim.lives.filter(({ alive }) => alive)) : undefined;
    if (life !== undefined) await random.pick(bag)(sim, life);
  }
}
