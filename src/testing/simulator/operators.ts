/** People who run the place: switches, standing, budgets, withdrawals, doubts, deployments and clocks. */

import { cancel, revoke } from "../../approvals/rules/end.ts";
import { approvalVerbs } from "../../approvals/verbs.ts";
import { resolveByPerson } from "../../core/action/resolve.ts";
import { setBudget } from "../../engine/budgets.ts";
import { setStanding } from "../../engine/identity/people.ts";
import { setSwitch } from "../../engine/operate.ts";
import { readState } from "../../engine/read-state.ts";
import { runCommand } from "../../engine/run-command.ts";
import { isHoldpointError } from "../../kernel/errors.ts";
import { actionStream, approvalStream } from "../../kernel/stream.ts";
import type { Draft } from "../../kernel/transaction.ts";
import { handOver, moveMember } from "./desk.ts";
import { deskPolicy } from "./desk-spec.ts";
import { giveSome, moveWorld, revokeSome } from "./granters.ts";
import { shutDown } from "./life.ts";
import { meet } from "./nodes.ts";
import { callOff, lookThrough, sendBack } from "./overseers.ts";
import { aliveIn, count, type Life, onLife, type Said, type Sim } from "./sim.ts";
import { amountPolicy, stagedPolicy } from "./stage-spec.ts";
import { CURRENCY, drawPolicy, type ToolVersion } from "./tool-spec.ts";
import { truthOf } from "./world.ts";

type Deed = (sim: Sim, life: Life) => Promise<void>;

async function attempt<Value>(sim: Sim, life: Life, work: () => Promise<Value>): Promise<Said<Value>> {
  const said = await onLife(life, work);
  if (said.kind === "error") meet(sim, life, "of an operator", said.error);
  return said;
}

export async function turnSwitch(sim: Sim, life: Life, agent: string | null, stop: boolean): Promise<void> {
  const command = { by: "person:operator", reason: "drill", ...(agent === null ? {} : { agent }) };
  const said = await attempt(sim, life, () => setSwitch(life.runtime, stop, command));
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

export async function stand(sim: Sim, life: Life, person: string, suspend: boolean): Promise<void> {
  const command = { person, by: "person:operator", reason: "drill" };
  const said = await attempt(sim, life, () => setStanding(life.runtime, suspend, command));
  if (said.kind === "value") sim.oracle.acknowledged({ kind: "standing", person, suspend });
}

const suspendSomebody: Deed = async (sim, life) => {
  const person = sim.random.pick(sim.scenario.people);
  count(sim, "approver suspended");
  await stand(sim, life, person, true);
  await sim.scheduler.sleep(sim.random.between(200, 12_000));
  const other = sim.random.pick(aliveIn(sim, life.tenant));
  if (other !== undefined) await stand(sim, other, person, false);
};

export async function openBudget(sim: Sim, life: Life, id: string, limit: number): Promise<void> {
  const money = { currency: CURRENCY, micros: BigInt(limit) };
  await attempt(sim, life, () => setBudget(life.runtime, id, money, "person:operator"));
}

const changeBudget: Deed = async (sim, life) => {
  const { random, scenario } = sim;
  if (scenario.budgets.length === 0) return;
  count(sim, "budget changed");
  await openBudget(sim, life, random.pick(scenario.budgets).id, random.between(50, 4_000));
};

async function listed(sim: Sim, life: Life, view: string, bucket: string): Promise<readonly string[]> {
  const query = { view, bucket, limit: 20 };
  const said = await attempt(sim, life, () => life.runtime.store.query(life.tenant, query));
  return said.kind === "value" ? said.value.map((row) => row.stream.id) : [];
}

async function withdrawOne(sim: Sim, life: Life, approval: string, end: typeof cancel): Promise<void> {
  const command = { approval, by: "person:operator", reason: "withdrawn" };
  await attempt(sim, life, () =>
    runCommand(life.runtime, { write: [approvalStream(approval)] }, (draft: Draft) => end(draft, command)),
  );
}

const withdraw: Deed = async (sim, life) => {
  const pending = sim.random.chance(0.4);
  const ids = await listed(sim, life, "approvals", pending ? "pending" : "approved");
  if (ids.length > 0) await withdrawOne(sim, life, sim.random.pick(ids), pending ? cancel : revoke);
};

/** Withdraws the question of a checkpoint under its workflow. */
const withdrawCheckpoint: Deed = async (sim, life) => {
  const ids = await listed(sim, life, "approvals", "pending");
  const said = await attempt(sim, life, () =>
    Promise.all(ids.map(async (id) => ({ id, ...(await readState(life.runtime, approvalStream(id))) }))),
  );
  const states = said.kind === "value" ? said.value : [];
  const asked = states.filter((state) => state.status === "pending" && state.subject?.kind === "checkpoint");
  if (asked.length > 0) await withdrawOne(sim, life, sim.random.pick(asked).id, cancel);
};

/** Says what is true, once it can be known. */
export const resolveDoubts: Deed = async (sim, life) => {
  for (const action of await listed(sim, life, "actions", "in_doubt")) {
    const status = truthOf(sim.world, action);
    if (status === undefined || (sim.faultsOn && sim.random.chance(0.5))) continue;
    const command = { action, status, by: "person:operator", reason: "looked" };
    await attempt(sim, life, () =>
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
  for (const life of sim.lives.filter(({ alive }) => alive)) if (random.chance(0.6)) void shutDown(sim, life);
};

/** By somebody who may, or who may not. */
const giveTime: Deed = async (sim, life) => {
  const ids = await listed(sim, life, "approvals", "pending");
  if (ids.length === 0) return;
  const { random, scenario } = sim;
  const more = { by: random.pick(scenario.people), byMs: random.between(100, 5_000) };
  const { runtime } = life;
  const said = await onLife(life, () =>
    approvalVerbs.verbs.extend.perform({ runtime, how: {} }, { id: random.pick(ids), ...more }),
  );
  const isRefused = (error: unknown) =>
    isHoldpointError(error, "not_eligible") || isHoldpointError(error, "wrong_state");
  if (said.kind === "error" && !isRefused(said.error)) meet(sim, life, "of more time", said.error);
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
  [callOff, 2],
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
  [handOver, 14],
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
