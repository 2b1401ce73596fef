/**
 * Which workflows this process may run now: rows of the view of runs, of the definitions known here only.
 * Held by the kill switch or a budget: nothing is in memory, and none is taken up while the obstacle remains, so that
 * waiting for days adds nothing to the journal.
 * Definition mismatch (other code, other version, or written by a newer Holdpoint): other processes come first. After
 * 10 s without a taker this one tries it, so that a workflow that no node can run reports what it waits for. Each
 * process tries a stuck workflow once, and reports each difference once.
 */

import { type Clock, stopwatch } from "../../kernel/clock.ts";
import { type StreamRef, streamName, switchStream } from "../../kernel/stream.ts";
import { checkKillSwitches } from "../../kill-switch/rules.ts";
import { beginSwitchCheck, wereOffRecently } from "../../kill-switch/switches.ts";
import { skipUnreadable } from "../../runtime/lists.ts";
import type { Notice } from "../../runtime/notices.ts";
import type { Runtime } from "../../runtime/runtime.ts";
import { readState, runCommand } from "../../runtime/store-access.ts";
import type { TenantStore, ViewRow } from "../../stores/store.ts";
import type { Definition } from "../definition.ts";
import { type LiveWorkflow, parseObstacle, remainingBudget, runsBucket } from "../state.ts";

const RUNS = "runs";
const RUNS_PER_PAGE = 200;

type RunSource = {
  readonly runtime: TenantStore;
  readonly definitions: ReadonlyMap<string, Definition>;
  /** Definitions of runs that were started here with one of their own. */
  readonly chosen: ReadonlyMap<string, Definition>;
};
type RunBucket = "ready" | "asleep" | "held" | "stuck";
type Due = { readonly dueBy?: number };

/** One page per definition. */
export async function firstRunRows(
  desk: RunSource,
  where: RunBucket,
  dueBy?: number,
): Promise<readonly ViewRow[]> {
  const { store, tenant } = desk.runtime;
  const due = dueBy === undefined ? {} : { dueBy };
  const rows: ViewRow[] = [];
  for (const name of desk.definitions.keys()) {
    const query = {
      view: RUNS,
      bucket: runsBucket(where, { name }),
      order: "oldest",
      limit: RUNS_PER_PAGE,
    } as const;
    rows.push(...(await store.query(tenant, { ...query, ...due })));
  }
  for await (const row of chosenRows(desk, where, due)) rows.push(row);
  return rows;
}

/** All pages: rows of runs that were not started here stay in the bucket, and may be many. */
async function* chosenRows(desk: RunSource, where: RunBucket, due: Due = {}): AsyncGenerator<ViewRow> {
  const names = new Set([...desk.chosen.values()].map(({ name }) => name));
  for (const name of names)
    for await (const row of runRowsIn(desk, runsBucket(where, { name, isOfOneRun: true }), due))
      if (desk.chosen.has(row.stream.id)) yield row;
}

export async function* runRowsIn(desk: RunSource, bucket: string, due: Due = {}): AsyncGenerator<ViewRow> {
  const { store, tenant } = desk.runtime;
  let after: { at: number; stream: string } | undefined;
  do {
    const query = { view: RUNS, bucket, order: "oldest", limit: RUNS_PER_PAGE, ...due } as const;
    const page = await store.query(tenant, after === undefined ? query : { ...query, after });
    yield* page;
    const last = page.length < RUNS_PER_PAGE ? undefined : page.at(-1);
    after = last === undefined ? undefined : { at: last.at, stream: streamName(last.stream) };
  } while (after !== undefined);
}

/** All pages of all definitions. */
export async function* allRunRows(desk: RunSource, where: RunBucket): AsyncGenerator<ViewRow> {
  for (const name of desk.definitions.keys()) yield* runRowsIn(desk, runsBucket(where, { name }));
  yield* chosenRows(desk, where);
}

/** Long enough for a matching process to take it, even one that has no room at the moment. */
const OTHERS_FIRST_MS = 10_000;

export type DefinitionMismatches = {
  /** The definition here did not match. */
  note(id: string): void;
  /** It went on here, has ended, or was started here. */
  forget(id: string): void;
  has(id: string): boolean;
  /** Whether other processes still come first. Queried repeatedly; false after a while. */
  isOthers(id: string): boolean;
  /** A process has taken it: the next time, the others come first again. */
  taken(id: string): void;
  /** Whether this was not reported before. */
  isNews(id: string, said: string): boolean;
};

export function createDefinitionMismatches(clock: Clock): DefinitionMismatches {
  const noted = new Set<string>();
  const left = new Map<string, () => number>();
  const told = new Map<string, string>();
  return {
    note: (id) => void noted.add(id),
    forget(id) {
      noted.delete(id);
      left.delete(id);
      told.delete(id);
    },
    has: (id) => noted.has(id),
    isOthers(id) {
      const age = left.get(id) ?? stopwatch(clock);
      left.set(id, age);
      if (age() < OTHERS_FIRST_MS) return true;
      left.delete(id);
      return false;
    },
    taken: (id) => void left.delete(id),
    isNews(id, said) {
      if (told.get(id) === said) return false;
      told.set(id, said);
      return true;
    },
  };
}

/** The runtime for a run, which reports a difference once. */
export function notifyMismatchOnce(runtime: Runtime, unfit: DefinitionMismatches, id: string): Runtime {
  const notify = (notice: Notice) => {
    if (notice.kind !== "definition_changed" || unfit.isNews(id, notice.difference)) runtime.notify(notice);
  };
  return { ...runtime, notify };
}

/** Interval for re-checking held workflows without any change notice. */
export const HELD_RECHECK_MS = 30_000;

export const isObstacle = ({ kind }: StreamRef): boolean => kind === "switch" || kind === "budget";

/** The switch that stops this process, or the agent it acts for, in a workflow; by its name in a wait. */
export async function stoppedBy(
  runtime: Runtime,
  agent: string | undefined,
  workflow: string,
): Promise<string | undefined> {
  const own = await stoppingSwitch(runtime, runtime.agent, workflow);
  return own !== undefined || agent === undefined || agent === runtime.agent
    ? own
    : stoppingSwitch(runtime, agent, workflow);
}

async function stoppingSwitch(
  runtime: Runtime,
  agent: string,
  workflow: string,
): Promise<string | undefined> {
  const { store, clock } = runtime;
  const place = { store, clock, whose: `${workflow} ${agent}` };
  if (wereOffRecently(place)) return undefined;
  const free = beginSwitchCheck(place);
  const { on } = await runCommand(runtime, {}, (draft) =>
    checkKillSwitches(draft, { agent, within: { workflow } }),
  );
  if (on === undefined) free();
  return on === undefined ? undefined : streamName(switchStream(on.scope));
}

/** When a workflow was last tried because of a budget, and the room that the budget had then. */
type Trial = { readonly at: number; readonly room: bigint };

export type HeldLook = {
  /** Trials of the workflows found held at the last look, by workflow and obstacle. */
  tried: ReadonlyMap<string, Trial>;
  /** A switch or a budget has changed since the last look. */
  isDue: boolean;
  waitedMs: number;
};

/** Due at once: no notice arrives for an obstacle that went away while no process was there. */
export const firstLook = (): HeldLook => ({ tried: new Map(), isDue: true, waitedMs: 0 });

/** Whether to look now; the slow re-check happens even without a change. */
export function isTimeToLook(look: HeldLook, passedMs: number): boolean {
  look.waitedMs += passedMs;
  if (!look.isDue && look.waitedMs < HELD_RECHECK_MS) return false;
  look.isDue = false;
  look.waitedMs = 0;
  return true;
}

type Room = bigint | "free" | "unknown";

async function roomAt(runtime: Runtime, on: string): Promise<Room> {
  const ref = parseObstacle(on);
  if (ref === undefined) return "unknown";
  // A state that cannot be read here counts as an obstacle.
  if (ref.kind === "budget") {
    const budget = await skipUnreadable(readState(runtime, ref));
    return budget === undefined ? 0n : remainingBudget(budget);
  }
  const found = await skipUnreadable(readState(runtime, ref));
  return found === undefined || found.stopped ? 0n : "free";
}

/** A budget may not have enough room: after a failed trial, retry when it has more, or after a while. */
function isWorthIt(room: Room, now: number, before: Trial | undefined): boolean {
  if (room === "free" || before === undefined) return room !== 0n;
  if (room === 0n) return false;
  return now - before.at >= HELD_RECHECK_MS || (room !== "unknown" && room > before.room);
}

const micros = (room: Room): bigint => (typeof room === "bigint" ? room : 0n);

type HeldRow = { readonly id: string; readonly on: readonly string[] };

/** One round over all held workflows: each state is read once. */
export function judgeHeld(runtime: Runtime, look: HeldLook) {
  const rooms = new Map<string, Promise<Room>>();
  const tried = new Map<string, Trial>();
  const roomOf = (on: string): Promise<Room> => {
    const known = rooms.get(on) ?? roomAt(runtime, on);
    rooms.set(on, known);
    return known;
  };
  return {
    tried,
    async mayGo({ id, on }: HeldRow): Promise<boolean> {
      let some = false;
      for (const one of on) {
        const name = `${id} ${one}`;
        const [before, room, now] = [look.tried.get(name), await roomOf(one), runtime.clock.now()];
        const goes = isWorthIt(room, now, before);
        tried.set(name, goes || before === undefined ? { at: now, room: micros(room) } : before);
        some ||= goes;
      }
      return some;
    },
  };
}

/** No process runs it, and it waits for a definition. With a pending checkpoint there is nothing to try. */
export const isStuck = ({ runner, status, waits }: LiveWorkflow): boolean =>
  runner === null &&
  (status === "executing" || status === "rolling_back") &&
  waits.some(({ kind }) => kind === "definition");
