/** One simulation from its seed to its verdict. */
import { createHash } from "node:crypto";
import { createMemoryDatabase } from "../../src/stores/memory/database.ts";
import type { Projection } from "../../src/stores/store.ts";
import { FOLDS, PROJECTIONS } from "../../src/streams.ts";
import { askAgain, bringRequest, bringStart, drawRequest, drawStart, type Request } from "./callers.ts";
import { type Counters, countUp } from "./counters.ts";
import { startProcess } from "./nodes.ts";
import {
  cancelUnfit,
  giveEarly,
  lookThrough,
  openBudget,
  operate,
  resolveDoubts,
  revokeUnder,
  setPersonStanding,
  turnSwitch,
} from "./operators.ts";
import { createOracle } from "./oracle/oracle.ts";
import { answerNotices, restaffDesk, staffDesk } from "./people.ts";
import { createRandom } from "./random.ts";
import {
  drawScenario,
  hasAmounts,
  hasDesk,
  hasStages,
  withAmounts,
  withDesk,
  withStages,
} from "./scenario.ts";
import { createScheduler } from "./scheduler.ts";
import {
  aliveIn,
  count,
  crashProcess,
  databaseTime,
  fail,
  type Sim,
  type SimProcess,
  type Violation,
} from "./sim.ts";
import { drawPriorPermissions } from "./specs.ts";
import { hasFlows, withWorkflows } from "./workflow-scenario.ts";
import { createWorld } from "./world.ts";

/** One entry of a run's journal, as it was written. */
export type WrittenEntry = { readonly header: string; readonly body: string };

type SeedResult = {
  readonly seed: bigint;
  readonly digest: string;
  /** The journal of each tenant, one after the other, in the order of writing. */
  readonly journal: readonly WrittenEntry[];
  readonly entries: number;
  readonly steps: number;
  readonly counters: Counters;
  readonly violations: readonly Violation[];
};

/** True milliseconds that callers, people and recovery get after the last fault. */
const QUIET_MS = 400_000;
const MOST_STEPS = 60_000;
/** The tries of a compensation that fails take the longest. */
const MOST_REST_MS = 60_000;

function createSim(seed: bigint, trace: Sim["trace"]): Sim {
  const random = createRandom(seed);
  const plain = drawScenario(random);
  const working = hasFlows(seed) ? withWorkflows(plain, createRandom(~seed)) : plain;
  const drawn = hasStages(seed) ? withStages(working, createRandom(seed ^ 0x57a6e5n)) : working;
  const manned = hasDesk(seed) ? withDesk(drawn, createRandom(seed ^ 0xde5cn)) : drawn;
  const ruled = hasAmounts(seed) ? withAmounts(manned, createRandom(seed ^ 0xa303n)) : manned;
  const scenario = { ...ruled, beforehand: drawPriorPermissions(seed, ruled.tools) };
  const counters: Counters = new Map();
  const scheduler = createScheduler(() => {
    answerNotices(sim);
    revokeUnder(sim);
  });
  const sim: Sim = {
    random,
    scheduler,
    scenario,
    counters,
    world: createWorld(),
    deployed: new Map(scenario.firstVersions),
    lives: [],
    violations: [],
    told: [],
    looked: [],
    indexed: new Map(),
    recovering: new Set(),
    trace: trace === null ? null : (text) => trace(`${scheduler.now().toFixed(2).padStart(10)}  ${text}`),
    faultsOn: true,
    diskFullUntil: 0,
    databaseOffset: 0,
    busy: 0,
    peopleListen: true,
    get database() {
      return database;
    },
    get oracle() {
      return oracle;
    },
  };
  const database = createMemoryDatabase({
    folds: FOLDS,
    projections: PROJECTIONS as unknown as readonly Projection[],
    clock: { now: () => databaseTime(sim) },
    random: random.bytes,
    ...(scenario.leaseMs === null ? {} : { leaseMs: scenario.leaseMs }),
  });
  const oracle = createOracle(sim);
  return sim;
}

async function runFor(sim: Sim, ms: number, done: () => boolean): Promise<void> {
  const until = sim.scheduler.now() + ms;
  const over = () => sim.violations.length > 0 || sim.scheduler.steps() > MOST_STEPS || done();
  await sim.scheduler.run(until, over);
}

async function openBudgets(sim: Sim): Promise<void> {
  for (const tenant of sim.scenario.tenants) {
    for (const { id, limit } of sim.scenario.budgets) {
      const [life] = aliveIn(sim, tenant);
      if (life !== undefined) await openBudget(sim, life, id, limit);
    }
  }
}

/** Faults stop, every process starts anew, and people put right what they can. */
async function calmDown(sim: Sim, requests: readonly Request[]): Promise<void> {
  const { scenario, scheduler } = sim;
  sim.faultsOn = false;
  sim.diskFullUntil = 0;
  for (const life of sim.lives.filter((one) => one.alive && !staysOn(sim, one)))
    crashProcess(sim, life, "for the last time");
  await scheduler.sleep(7_000);
  for (const life of sim.lives) life.clockOffset = 0;
  for (const tenant of scenario.tenants) {
    const life = aliveIn(sim, tenant)[0];
    if (life === undefined) continue;
    for (const agent of [null, "agent:a0", "agent:a1", "agent:a2"]) await turnSwitch(sim, life, agent, false);
    for (const person of scenario.people) await setPersonStanding(sim, life, person, false);
    await restaffDesk(sim, life);
  }
  await Promise.all(requests.map((request) => askAgain(sim, request)));
  while (sim.busy > 0) await scheduler.sleep(1_000);
  if (scenario.flows.starts > 0) await finishFlows(sim);
  sim.peopleListen = false;
  await Promise.all(requests.map((request) => askAgain(sim, request)));
  await scheduler.sleep(15_000);
  for (const tenant of scenario.tenants) {
    const life = aliveIn(sim, tenant)[0];
    if (life !== undefined) await resolveDoubts(sim, life);
  }
  if (scenario.flows.starts > 0) await restFlows(sim);
}

/** A process that has everything goes on where there are workflows: what a fault did to it must not last. */
function staysOn(sim: Sim, life: SimProcess): boolean {
  const { tools, flows, leaseMs } = sim.scenario;
  // One that has lost its lease is only put right by whoever starts it again.
  if (flows.starts === 0 || leaseMs !== null || sim.random.chance(0.3)) return false;
  return tools.every(({ name }) => life.tools.has(name)) && life.workflows.size === flows.workflows.length;
}

/** Until no workflow moves by itself any more, or long enough. */
async function restFlows(sim: Sim): Promise<void> {
  for (let waited = 0; waited < MOST_REST_MS && sim.oracle.restless().length > 0; waited += 500)
    await sim.scheduler.sleep(500);
}

/** People look through what waits, and find out about doubts. */
async function finishFlows(sim: Sim): Promise<void> {
  for (let round = 0; round < 4; round++) {
    for (const tenant of sim.scenario.tenants) {
      const life = aliveIn(sim, tenant)[0];
      if (life === undefined) continue;
      await resolveDoubts(sim, life);
      await lookThrough(sim, life);
      await cancelUnfit(sim, tenant);
    }
    while (sim.busy > 0) await sim.scheduler.sleep(1_000);
    await restFlows(sim);
  }
}

function digestOfSim(sim: Sim): string {
  const hash = createHash("sha256");
  for (const [tenant, kept] of sim.database.data.tenants)
    for (const [name, { head }] of kept.streams) hash.update(`${tenant} ${name} ${head.seq} ${head.hash}\n`);
  for (const [key, sends] of sim.world.applied) hash.update(`${key} ${JSON.stringify(sends)}\n`);
  hash.update(JSON.stringify([...sim.counters].sort()));
  return hash.digest("hex");
}

async function play(sim: Sim): Promise<void> {
  const { scenario } = sim;
  if (scenario.tenants.length > 1) count(sim, "two tenants");
  if (scenario.leaseMs !== null) count(sim, "leases");
  for (const node of scenario.nodes.keys()) startProcess(sim, node);
  void openBudgets(sim);
  if (scenario.beforehand.grants) void giveEarly(sim);
  if (scenario.desk) void staffDesk(sim);
  const requests = Array.from({ length: scenario.requests }, (_, n) => drawRequest(sim, n));
  for (const request of requests) void bringRequest(sim, request);
  for (let n = 0; n < scenario.flows.starts; n++) void bringStart(sim, drawStart(sim, n));
  void operate(sim);
  await runFor(sim, scenario.workMs * 2, () => sim.scheduler.now() > scenario.workMs && sim.busy === 0);
  if (sim.violations.length > 0) return;
  let calm = false;
  void calmDown(sim, requests).then(() => {
    calm = true;
  });
  await runFor(sim, QUIET_MS, () => calm && sim.busy === 0);
  if (sim.violations.length > 0) return;
  if (sim.scheduler.steps() > MOST_STEPS) fail(sim, "liveness", `${MOST_STEPS} steps and no end`);
  else if (!calm) fail(sim, "liveness", "somebody still waits for an answer when all is calm");
  sim.oracle.end();
}

export async function runSeed(seed: bigint, trace: Sim["trace"] = null): Promise<SeedResult> {
  const sim = createSim(seed, trace);
  await play(sim);
  const tenants = [...sim.database.data.tenants.values()];
  for (const { seals } of tenants) countUp(sim.counters, "seal", seals.length);
  const journal = tenants.flatMap(({ log }) =>
    log.map(({ header, body }) => ({ header, body: body ?? "null" })),
  );
  const { counters, violations } = sim;
  const figures = { entries: journal.length, steps: sim.scheduler.steps(), counters, violations };
  return { seed, digest: digestOfSim(sim), journal, ...figures };
}
