/** One run of workflows: processes that die by plan while they drive them, and every check in the end. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { admin } from "../../../src/admin.ts";
import { type Holdpoint, holdpoint } from "../../../src/index.ts";
import { createRandom } from "../../simulator/random.ts";
import { startEffectServer } from "../child.ts";
import type { Received } from "../effects.ts";
import { checkJournal } from "../full-check.ts";
import { knownEffects, reconcile } from "../reconcile.ts";
import { keysOf, openStore } from "../setup.ts";
import { openPlace } from "../store-place.ts";
import { tail } from "../told.ts";
import { checkWorkflows } from "./check.ts";
import { beginDecider, beginWorker, disband, liveOn, look, peopleLiveOn, type Run } from "./lives.ts";
import { everyPlace, placesInTurn, planLives } from "./plan.ts";
import { faultsOfWorkflows, type WorkflowRunOptions, type WorkflowSummary } from "./summary.ts";
import { checkEveryView } from "./views.ts";
import { watchWorkflows } from "./watch.ts";
import { pointOf } from "./whereabouts.ts";

/** The workflow that nobody disturbs: what the others are measured by. */
const REFERENCE = 0;
const LOOK_MS = 100;
/** Without any progress for so long, they will not end. */
const STUCK_MS = 30_000;
/** A lease and a little: then the next process finds everything free. */
const LEASE_MS = 3_200;

const isEnded = ({ watch }: Run, n: number): boolean =>
  [...watch.workflows.values()].some(
    (state) => state.status !== "none" && state.end !== null && (state.input as { n: number }).n === n,
  );

const unfinished = ({ watch }: Run): readonly string[] =>
  [...watch.workflows].flatMap(([id, state]) => (state.status !== "none" && state.end === null ? [id] : []));

/** Until everything that was begun has ended, or nothing moves any more. */
async function awaitEnds(run: Run, wanted: number): Promise<void> {
  let entries = -1;
  for (let quiet = 0; quiet < STUCK_MS && run.wrong.length === 0; quiet += LOOK_MS) {
    await look(run);
    if (run.watch.workflows.size >= wanted && unfinished(run).length === 0) return;
    if (run.watch.entries() !== entries) quiet = 0;
    entries = run.watch.entries();
    await sleep(LOOK_MS);
  }
  for (const id of unfinished(run).slice(0, 10))
    run.wrong.push(`${id} does not end: ${JSON.stringify(run.watch.workflows.get(id)).slice(0, 1_500)}`);
}

/** Once without any kill: it shows what there is to reach, and how a workflow ends. */
async function undisturbed(run: Run): Promise<void> {
  const people = await beginDecider(run, { records: true });
  const worker = await beginWorker(run, "w0", { starts: [REFERENCE], records: true });
  await awaitEnds(run, 1);
  await sleep(600);
  await Promise.all([people.kill(), worker.kill()]);
}

function plan(run: Run): void {
  const random = createRandom(BigInt(run.options.seed));
  const votes = [...run.places].filter((place) => pointOf(place).endsWith("_vote"));
  for (const place of votes) run.places.delete(place);
  const { only } = run.options;
  const places = only ?? everyPlace(run.places);
  run.plan.push(...planLives(random, places, run.options.lives));
  if (only === undefined)
    run.deciderPlan.push(...placesInTurn(random, votes).slice(0, Math.max(4, run.options.lives / 10)));
  for (const place of [...places, ...votes]) run.places.add(place);
}

/** What is left after the last planned death goes on to its end. */
async function bringHome(run: Run): Promise<void> {
  if (run.wrong.length > 0) return;
  if (run.options.store === "postgres") await sleep(LEASE_MS);
  const starts = run.queue.splice(0);
  const worker = await beginWorker(run, "w3", { starts });
  await awaitEnds(run, run.options.workflows + 1);
  await worker.kill();
  await look(run);
}

async function checkAll(run: Run, hp: Holdpoint, received: readonly Received[]): Promise<void> {
  const { watch, wrong, setup, store, options } = run;
  const numbers = Array.from({ length: options.workflows }, (_, at) => at + 1);
  wrong.push(...checkWorkflows(watch, received, { numbers: [REFERENCE, ...numbers], reference: REFERENCE }));
  const { lost, duplicated, unexplained } = reconcile(knownEffects(watch.actions), received, []);
  wrong.push(...lost, ...duplicated, ...unexplained);
  wrong.push(...(await checkJournal(hp, setup.root, undefined)));
  wrong.push(...(await checkEveryView(store, watch)));
}

function summaryOf(run: Run, received: readonly Received[], begun: number): WorkflowSummary {
  const { options, counts, killed, hits, missed, watch, wrong, places } = run;
  const ended = [...watch.workflows.values()].filter(({ status }) => status === "completed").length;
  return {
    options,
    completed: isEnded(run, REFERENCE) ? ended - 1 : ended,
    kills: counts.kills,
    deciderKills: counts.deciderKills,
    takenForDead: counts.takenForDead,
    runsKilled: [...killed.values()].reduce((sum, times) => sum + times, 0),
    workflowsKilled: killed.size,
    places: [...places],
    hits,
    missed: [...missed.keys()].filter((place) => !hits.has(place)),
    requests: received.length,
    repeated: received.filter(({ outcome }) => outcome === "duplicate").length,
    applications: received.filter(({ outcome }) => outcome === "applied").length,
    decisions: counts.decisions,
    doubts: { applied: counts.applied, notApplied: counts.notApplied },
    entries: watch.entries(),
    wrong: [...wrong],
    seconds: (Date.now() - begun) / 1000,
  };
}

async function carryOut(run: Run): Promise<void> {
  await undisturbed(run);
  plan(run);
  const people = peopleLiveOn(run);
  try {
    await Promise.all([liveOn(run, "w1"), liveOn(run, "w2")]);
    await bringHome(run);
  } finally {
    run.isOver = true;
    await people;
  }
}

export async function superviseWorkflows(
  options: WorkflowRunOptions,
  say: (line: string) => void,
): Promise<WorkflowSummary> {
  const begun = Date.now();
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
  const store = await openStore(setup);
  const hp = holdpoint({ ...keysOf(setup), store, agent: "supervisor", notify: () => undefined });
  atEnd.defer(() => hp.close());
  await admin(hp).seals.create();
  const run: Run = {
    ...{ options, setup, store, say, watch: watchWorkflows(), plan: [], deciderPlan: [] },
    queue: Array.from({ length: options.workflows }, (_, at) => at + 1),
    ...{ places: new Set(), hits: new Map(), missed: new Map(), wrong: [], killed: new Map() },
    members: new Set(),
    counts: { kills: 0, deciderKills: 0, takenForDead: 0, decisions: 0, applied: 0, notApplied: 0 },
    spare: undefined,
    isOver: false,
  };
  atEnd.defer(() => disband(run));
  await carryOut(run);
  await disband(run);
  const received = tail<Received>(effects)();
  if (run.wrong.length === 0 || options.plant !== undefined) await checkAll(run, hp, received);
  const summary = summaryOf(run, received, begun);
  isClean = faultsOfWorkflows(summary).length === 0 || options.plant !== undefined;
  return summary;
}
