/** One run: a load on a store, processes that die by plan, and checks after every restart. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { createRandom, type Random } from "../simulator/random.ts";
import {
  type Checks,
  checkRest,
  checkRestart,
  checkUnderLoad,
  createChecks,
  endOfDoubt,
  wasThere,
} from "./checks.ts";
import { startEffectServer } from "./child.ts";
import { begin, createCrew, DECIDER, disband, dismiss, gone, kill, settleOnce } from "./crew.ts";
import type { Order } from "./orders.ts";
import { nameOf, type Place } from "./places.ts";
import { type Planned, planRun, unitFor } from "./plan.ts";
import { openPlace, type StorePlace } from "./store-place.ts";
import { faultsOf, type RunOptions, type Summary } from "./summary.ts";

const FULL_EVERY = 50;
/** A place that is not reached in this time is given up, and tried again later. */
const PATIENCE_MS = 10_000;
const LOOKS = 100;
const TRIES = 3;
const SETTLING = 20;

type Run = {
  readonly options: RunOptions;
  readonly random: Random;
  readonly place: StorePlace;
  readonly crew: ReturnType<typeof createCrew>;
  readonly checks: Checks;
  readonly plan: Planned[];
  readonly hits: Map<string, number>;
  readonly missed: Map<string, number>;
  readonly say: (line: string) => void;
  readonly begun: number;
  newest: string;
  kills: number;
  serverCrashes: number;
  takenForDead: number;
};

const workers = ({ options }: Run): readonly string[] =>
  Array.from({ length: options.workers }, (_, number) => `w${number + 1}`);

function orderOf(planned: Planned | undefined, wants: "fresh" | "running"): Order | null {
  if (planned?.kind !== "place" || planned.place.fresh !== (wants === "fresh")) return null;
  return { die: { place: planned.place, nth: planned.nth } };
}

/** Puts back whoever died, with an order to die if that is next and has to come at the very start; then checks. */
async function restart(run: Run, name: string): Promise<void> {
  await begin(run.crew, name, name === DECIDER ? null : orderOf(run.plan[0], "fresh"));
  if (name !== DECIDER) run.newest = name;
  await checkRestart(run.checks, run.crew);
}

/** Processes that ended by themselves: on a lease, one may have been taken for dead; nothing else is in order. */
async function restartGone(run: Run): Promise<void> {
  for (const { name, child } of gone(run.crew)) {
    const { code, signal } = await child.ended;
    if (code === 3 && run.options.store === "postgres") run.takenForDead++;
    else run.checks.wrong.push(`${name} ended by itself with ${code ?? signal}: ${child.said()}`);
    await restart(run, name);
  }
}

function victimOf(run: Run, who: "newest" | "any" | "decider"): string {
  if (who === "decider") return DECIDER;
  return who === "newest" ? run.newest : run.random.pick(workers(run));
}

async function dieAtMoment(run: Run, planned: Extract<Planned, { kind: "moment" }>): Promise<void> {
  const victim = victimOf(run, planned.who);
  await sleep(planned.afterMs);
  await kill(run.crew, victim);
  run.kills++;
  await restart(run, victim);
}

async function dieAtPlace(run: Run, planned: Extract<Planned, { kind: "place" }>): Promise<void> {
  const { place } = planned;
  const victim = place.fresh ? run.newest : victimOf(run, place.who === "decider" ? "decider" : "any");
  const child = run.crew.members.get(victim);
  if (child === undefined) throw new Error(`there is no process ${victim}`);
  if (!place.fresh) child.send(orderOf(planned, "running") as Order);
  const isDead = await Promise.race([
    child.ended.then(() => true),
    sleep(PATIENCE_MS, false, { ref: false }),
  ]);
  const death = child.death();
  if (isDead && death === undefined) {
    await restartGone(run);
    return missed(run, planned);
  }
  await kill(run.crew, victim);
  run.kills++;
  await restart(run, victim);
  if (death !== undefined && wasThere(run.checks, place, { pid: child.pid, requestId: death.requestId }))
    hit(run, place);
  else missed(run, planned);
}

function hit(run: Run, place: Place): void {
  const name = nameOf(place);
  run.hits.set(name, (run.hits.get(name) ?? 0) + 1);
}

function missed(run: Run, planned: Extract<Planned, { kind: "place" }>): void {
  const name = nameOf(planned.place);
  const times = (run.missed.get(name) ?? 0) + 1;
  run.missed.set(name, times);
  run.say(`nobody died at ${name} the ${times}. time`);
  if (times <= TRIES) run.plan.push(...unitFor(planned.place, 1));
}

/** Every worker has to be answered again after the server is back, by itself or in its next life. */
async function goOn(run: Run): Promise<void> {
  const before = new Map(run.crew.answers);
  const waiting = () => workers(run).filter((name) => run.crew.answers.get(name) === before.get(name));
  for (let looks = 0; looks < LOOKS && waiting().length > 0; looks++) {
    await sleep((2 * PATIENCE_MS) / LOOKS);
    await restartGone(run);
    await checkRestart(run.checks, run.crew);
  }
  for (const name of waiting()) run.checks.wrong.push(`${name} does not go on after the server's crash`);
}

/** The database server loses its memory under load; processes go on by themselves, or are started again. */
async function crashServer(run: Run, { downMs }: Extract<Planned, { kind: "server" }>): Promise<void> {
  await sleep(run.random.between(0, 200));
  await run.place.crash();
  await sleep(downMs);
  await run.place.restart();
  run.serverCrashes++;
  await checkRestart(run.checks, run.crew);
  await goOn(run);
}

async function step(run: Run, planned: Planned): Promise<void> {
  if (planned.kind === "moment") await dieAtMoment(run, planned);
  else if (planned.kind === "place") await dieAtPlace(run, planned);
  else await crashServer(run, planned);
  await restartGone(run);
}

function progress(run: Run): void {
  const { crew, checks, kills, options } = run;
  const seconds = Math.round((Date.now() - run.begun) / 1000);
  const crashes = options.serverCrashes > 0 ? `, ${run.serverCrashes} server crashes` : "";
  run.say(
    `${seconds} s: ${kills} kills${crashes}, ${crew.told.length} answers, ${checks.received.length} requests, ${checks.journal.entries()} entries, ${checks.wrong.length + checks.lost.length} faults`,
  );
}

async function startAll(run: Run): Promise<void> {
  for (const name of [DECIDER, ...workers(run)]) await begin(run.crew, name);
  run.newest = workers(run).at(-1) ?? "w1";
}

/** Everybody stops; the store is looked through; everybody starts again. */
async function fullCheck(run: Run): Promise<void> {
  await dismiss(run.crew);
  await checkRest(run.checks, run.crew);
  progress(run);
}

function isAtFault({ checks, crew }: Run): boolean {
  const { lost, duplicated, unexplained } = checks.found;
  return [checks.wrong, checks.lost, crew.wrong, lost, duplicated, unexplained].some(
    (list) => list.length > 0,
  );
}

/** Until the plan is done, or something is wrong. */
async function carryOut(run: Run): Promise<void> {
  await startAll(run);
  for (let cycle = 1; ; cycle++) {
    const planned = run.plan.shift();
    if (planned === undefined || isAtFault(run)) return;
    await step(run, planned);
    if (cycle % FULL_EVERY === FULL_EVERY / 2) await checkUnderLoad(run.checks);
    if (cycle % FULL_EVERY !== 0) continue;
    await fullCheck(run);
    await startAll(run);
  }
}

async function settle(run: Run): Promise<void> {
  for (let round = 0; round < SETTLING; round++) {
    await settleOnce(run.crew);
    await checkRestart(run.checks, run.crew);
    if (!run.checks.isUnsettled()) return;
    run.say(`round ${round + 1}: what the dead left is not settled yet`);
    await sleep(run.place.settleMs);
  }
  run.checks.wrong.push("effects of dead processes were not taken over in the end");
}

function summaryOf(run: Run, doubts: Summary["doubts"]): Summary {
  const { options, kills, serverCrashes, takenForDead, hits, missed, crew, checks } = run;
  const { found } = checks;
  return {
    options,
    kills,
    serverCrashes,
    takenForDead,
    hits,
    missed: [...missed.keys()].filter((name) => !hits.has(name)),
    answers: crew.told.length,
    requests: checks.received.length,
    repeated: checks.received.filter(({ outcome }) => outcome === "duplicate").length,
    applications: found.applications,
    entries: checks.journal.entries(),
    lost: [...checks.lost, ...found.lost],
    duplicated: found.duplicated,
    unexplained: found.unexplained,
    doubts,
    wrong: [...checks.wrong, ...crew.wrong],
    seconds: (Date.now() - run.begun) / 1000,
  };
}

/** To the end, and what is left of doubt with it; at a fault it stops where it is, and leaves everything as it was. */
async function toTheEnd(run: Run): Promise<Summary> {
  const { checks, crew } = run;
  await carryOut(run);
  await dismiss(crew);
  if (!isAtFault(run)) await settle(run);
  if (!isAtFault(run)) await checkRest(checks, crew);
  return summaryOf(run, isAtFault(run) ? checks.found.doubts : await endOfDoubt(checks, crew));
}

export async function superviseRun(options: RunOptions, say: (line: string) => void): Promise<Summary> {
  const root = mkdtempSync(join(tmpdir(), "holdpoint-crash-"));
  const effects = join(root, "effects.log");
  await using atEnd = new AsyncDisposableStack();
  let isClean = false;
  atEnd.defer(() => (isClean ? rmSync(root, { recursive: true, force: true }) : say(`kept: ${root}`)));
  const server = await startEffectServer(effects);
  atEnd.defer(server.stop);
  const place = await openPlace(options.store);
  atEnd.defer(place.close);
  const setup = { root, port: server.port, database: place.database };
  const checks = await createChecks(setup, place, effects);
  atEnd.defer(checks.close);
  const crew = createCrew(setup);
  atEnd.defer(() => disband(crew));
  const random = createRandom(BigInt(options.seed));
  const plan = [...planRun(options, random)];
  const counts = { kills: 0, serverCrashes: 0, takenForDead: 0 };
  const parts = { options, random, place, crew, checks, plan, say, ...counts };
  const run: Run = { ...parts, hits: new Map(), missed: new Map(), begun: Date.now(), newest: "w1" };
  const summary = await toTheEnd(run);
  isClean = faultsOf(summary).length === 0;
  return summary;
}
