/** The supervisor's own instance on the store, and what it has found out so far. */
import { setTimeout as sleep } from "node:timers/promises";
import { admin } from "../../src/admin.ts";
import { type Holdpoint, holdpoint, isHoldpointError } from "../../src/index.ts";
import type { Store } from "../../src/stores/store.ts";
import { lostOf, type States } from "./acknowledged.ts";
import { type Crew, collect } from "./crew.ts";
import type { Received } from "./effects.ts";
import { checkBudget, checkJournal, checkReceipts, checkViews, readFile } from "./full-check.ts";
import { type JournalWatch, watchJournal } from "./journal-watch.ts";
import type { Place } from "./places.ts";
import { type Doubt, knownEffects, type Reconciled, reconcile } from "./reconcile.ts";
import { folderOf, keysOf, openStore, type Setup } from "./setup.ts";
import type { StorePlace } from "./store-place.ts";
import { type Told, tail } from "./told.ts";
import { BUDGET, SPECS } from "./tools.ts";

type Died = { readonly pid: number; readonly requestId: string | null };

export type Checks = {
  readonly setup: Setup;
  readonly place: StorePlace;
  readonly hp: Holdpoint;
  readonly store: Store;
  readonly journal: JournalWatch;
  readonly received: Received[];
  readonly readEffects: () => Received[];
  readonly wrong: string[];
  /** Acknowledged and not there. */
  readonly lost: string[];
  /** The last word on lost, duplicated and unexplained. */
  found: Reconciled;
  /** Whether an effect still runs, or a probe has yet to say what became of one. */
  isUnsettled(): boolean;
  close(): Promise<void>;
};

const NOTHING: Reconciled = { lost: [], duplicated: [], unexplained: [], doubts: [], applications: 0 };

export async function createChecks(setup: Setup, place: StorePlace, effects: string): Promise<Checks> {
  const store = await openStore(setup);
  const hp = holdpoint({ ...keysOf(setup), store, agent: "supervisor", notify: () => undefined });
  await hp.budgets.limit(BUDGET, { currency: "USD", micros: 50_000_000n });
  await admin(hp).seals.create();
  const journal = watchJournal();
  return {
    setup,
    place,
    hp,
    store,
    journal,
    received: [],
    readEffects: tail<Received>(effects),
    wrong: [],
    lost: [],
    found: NOTHING,
    isUnsettled: () =>
      [...journal.actions.values()].some(
        (state) =>
          state.phase === "running" || (state.phase === "in_doubt" && state.effectClass === "probed"),
      ),
    close: () => hp.close(),
  };
}

/** The store's own trouble passes; while the server is down nothing can be said. */
async function patiently<Value>(ask: () => Promise<Value>): Promise<Value> {
  for (let tries = 0; ; tries++) {
    try {
      return await ask();
    } catch (error) {
      if (!(isHoldpointError(error) && error.retryable) || tries > 200) throw error;
      await sleep(100);
    }
  }
}

/** One acknowledgement held against what the library itself says now. */
async function isLost({ hp }: Checks, told: Told): Promise<boolean> {
  const none = { actions: new Map(), approvals: new Map(), budgets: new Map() };
  const absent = (error: unknown) => {
    if (isHoldpointError(error, "unknown_id")) return new Map();
    throw error;
  };
  const states: Partial<States> = await patiently(async () => {
    if (told.kind === "call")
      return { actions: await hp.actions.get(told.action).then((one) => new Map([[one.id, one]]), absent) };
    if (told.kind === "decision")
      return {
        approvals: await hp.approvals.get(told.approval).then((one) => new Map([[one.id, one]]), absent),
      };
    if (told.kind === "budget")
      return { budgets: new Map([[told.budget, await hp.budgets.get(told.budget)]]) };
    return {};
  });
  return lostOf([told], { ...none, ...states }).length > 0;
}

/** A log in commit order may lag behind: what is not in it yet is asked for by name. */
async function checkTold(checks: Checks, told: readonly Told[]): Promise<void> {
  for (const one of told) {
    const [why] = lostOf([one], checks.journal);
    if (why !== undefined && (await isLost(checks, one))) checks.lost.push(why);
  }
}

/** After every restart: what was added is sound, nothing has gone, and everything newly acknowledged is there. */
export async function checkRestart(checks: Checks, crew: Crew): Promise<void> {
  // Answers before the journal: what is told after the look may not be in it yet.
  const told = collect(crew);
  checks.received.push(...checks.readEffects());
  checks.wrong.push(...(await patiently(() => checks.journal.look(checks.store))));
  await checkTold(checks, told);
}

const QUIET_MS = 200;
const LOOKS = 50;

/** Until the log has all that was acknowledged and stands still: the dead may have left transactions that end by themselves. */
async function comeToRest(checks: Checks, crew: Crew): Promise<void> {
  const { journal, wrong, lost } = checks;
  for (let looks = 0, still = false; looks < LOOKS; looks++) {
    const before = journal.entries();
    await checkRestart(checks, crew);
    const isStill = journal.entries() === before;
    if (isStill && still && lostOf(crew.told, journal).length === 0) return;
    still = isStill;
    if (checks.place.kind === "postgres") await sleep(QUIET_MS);
  }
  lost.push(...lostOf(crew.told, journal));
  wrong.push("the journal does not come to rest");
}

function reconcileNow(checks: Checks): void {
  const { place, received, journal } = checks;
  const file = place.kind === "sqlite" ? readFile(folderOf(checks.setup)) : { wrong: [], rows: [] };
  checks.wrong.push(...file.wrong);
  checks.found = reconcile(knownEffects(journal.actions), [...received, ...file.rows], SPECS);
}

/** A process is called dead only if it was killed: on SQLite the lock tells, on a lease it may be late. */
function checkEpochs({ journal, place }: Checks, crew: Crew): readonly string[] {
  if (place.kind === "postgres") return [];
  return [...journal.epochs].flatMap(([id, { died, process }]) =>
    died && !crew.killed.has(process) ? [`${id} was called dead and its process ${process} was not`] : [],
  );
}

/** A journal that grows meanwhile verifies too. */
export async function checkUnderLoad({ hp, wrong }: Checks): Promise<void> {
  const { findings } = await patiently(() => hp.journal.verify());
  wrong.push(...findings.slice(0, 20).map(({ kind, what }) => `verify under load: ${kind} ${what}`));
}

/** With nobody at work: everything that was ever acknowledged, both verifiers, the views, the money, the effects. */
export async function checkRest(checks: Checks, crew: Crew): Promise<void> {
  await comeToRest(checks, crew);
  const { hp, store, journal, setup, wrong } = checks;
  const seal = crew.told.findLast((told) => told.kind === "seal");
  wrong.push(...(await checkJournal(hp, setup.root, seal?.seal)));
  wrong.push(...(await checkViews(store, journal)));
  wrong.push(...checkBudget(journal), ...checkEpochs(checks, crew));
  reconcileNow(checks);
}

/** Ends every doubt with what the receiver's log says; then nothing may be left to explain. */
export async function endOfDoubt(checks: Checks, crew: Crew): Promise<readonly Doubt[]> {
  const { doubts } = checks.found;
  const reason = "the receiver's log says so";
  for (const { effect, applied } of doubts)
    await checks.hp.actions.resolve(effect, {
      by: "person:ann",
      status: applied ? "applied" : "not_applied",
      reason,
    });
  await checkRest(checks, crew);
  const left = checks.found.doubts.map(({ effect }) => `${effect} is in doubt after it was resolved`);
  checks.wrong.push(...left, ...(await checkReceipts(checks.hp, checks.journal)));
  return doubts;
}

/** Whether it died in the state that the place is about: after a start, it was the dead process that used the approval. */
export function wasThere({ journal }: Checks, { point, decided }: Place, { pid, requestId }: Died): boolean {
  if (!decided) return true;
  const state = [...journal.actions.values()].find(
    (action) => action.phase !== "none" && action.requestId === requestId,
  );
  if (state === undefined || state.phase === "none") return false;
  if (point === "before_start") return true;
  if (!("effect" in state) || state.effect?.grant.kind !== "approval") return false;
  return journal.epochs.get(state.effect.epoch)?.process === pid;
}
