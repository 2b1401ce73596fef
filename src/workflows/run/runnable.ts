/**
 * Which workflows this process may run now: rows of the view of runs, of the definitions known here only.
 * Held by the kill switch or a budget: nothing is in memory, and none is taken up while the obstacle stands, so that
 * waiting for days adds nothing to the journal.
 * Definition mismatch (other code, other version, or written by a newer Holdpoint): other processes come first; this
 * one takes it up if nobody has for a while, so that a workflow that nobody can run says what it waits for. A workflow
 * stuck on its definition is tried once by each process, and each difference is reported once.
 */

import { type Clock, stopwatch } from "../../kernel/clock.ts";
import { type StreamRef, streamName, switchStream } from "../../kernel/stream.ts";
import { beginSwitchCheck, wereOffRecently } from "../../kill-switch/methods.ts";
import { checkKillSwitches } from "../../kill-switch/rules.ts";
import { skipUnreadable } from "../../runtime/lists.ts";
import type { Notice } from "../../runtime/notices.ts";
import type { Runtime } from "../../runtime/runtime.ts";
import { readState, runCommand } from "../../runtime/store-access.ts";
import type { TenantStore, ViewRow } from "../../stores/store.ts";
import type { Definition } from "../definition.ts";
import { type LiveWorkflow, parseObstacle, remainingBudget } from "../state.ts";
import { runsBucket } from "../stream.ts";

const RUNS = "runs";
const RUNS_PER_PAGE = 200;

type RunSource = {
  readonly runtime: TenantStore;
  readonly definitions: ReadonlyMap<string, Definition>;
  /** Of workflows that were asked for here with a definition of their own. */
  readonly chosen: ReadonlyMap<string, Definition>;
};
type RunBucket = "ready" | "asleep" | "held" | "stuck";
type Due = { readonly dueBy?: number };

/** One page of each definition. */
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

/** All pages of them: those that nobody here has asked for may be any number, and stay where they are. */
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

/** All pages of all of them. */
export async function* allRunRows(desk: RunSource, where: RunBucket): AsyncGenerator<ViewRow> {
  for (const name of desk.definitions.keys()) yield* runRowsIn(desk, runsBucket(where, { name }));
  yield* chosenRows(desk, where);
}

/** Long enough for a process that fits to come by, also one that has no room at the moment. */
const OTHERS_FIRST_MS = 10_000;

export type DefinitionMismatches = {
  /** The definition here did not fit it. */
  note(id: string): void;
  /** It went on here, or is over, or was asked for here. */
  forget(id: string): void;
  has(id: string): boolean;
  /** Whether it is still the others' turn. Asked again and again; after a while it is not. */
  isOthers(id: string): boolean;
  /** Somebody has taken it: the next time, it is the others' turn anew. */
  taken(id: string): void;
  /** Whether this was not said of it before. */
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

/** The runtime as a run has it, in which a difference is told once. */
export function notifyMismatchOnce(runtime: Runtime, unfit: DefinitionMismatches, id: string): Runtime {
  const notify = (notice: Notice) => {
    if (notice.kind !== "definition_changed" || unfit.isNews(id, notice.difference)) runtime.notify(notice);
  };
  return { ...runtime, notify };
}

/** So often one looks again at what is held, although nobody has told of anything. */
export const HELD_RECHECK_MS = 30_000;

export const isObstacle = ({ kind }: StreamRef): boolean => kind === "switch" || kind === "budget";

/** The switch that keeps this process, or the agent that it acts for, from beginning anything in a workflow, as a wait names it. */
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

/** When a workflow was last offered for the sake of a budget, and the room that this one had then. */
type Trial = { readonly at: number; readonly room: bigint };

export type HeldLook = {
  /** Of those that were found held at the last look, by workflow and what holds it. */
  tried: ReadonlyMap<string, Trial>;
  /** A switch or a budget has moved since the last look. */
  isDue: boolean;
  waitedMs: number;
};

/** At once: what was freed while nobody was there, nobody tells of. */
export const firstLook = (): HeldLook => ({ tried: new Map(), isDue: true, waitedMs: 0 });

/** Answers whether to look now; the slow look comes by itself. */
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
  // What cannot be read here is in the way here.
  if (ref.kind === "budget") {
    const budget = await skipUnreadable(readState(runtime, ref));
    return budget === undefined ? 0n : remainingBudget(budget);
  }
  const found = await skipUnreadable(readState(runtime, ref));
  return found === undefined || found.stopped ? 0n : "free";
}

/** A budget has room, but perhaps not enough: what was tried in vain is tried again when it has more, or after a while. */
function isWorthIt(room: Room, now: number, before: Trial | undefined): boolean {
  if (room === "free" || before === undefined) return room !== 0n;
  if (room === 0n) return false;
  return now - before.at >= HELD_RECHECK_MS || (room !== "unknown" && room > before.room);
}

const micros = (room: Room): bigint => (typeof room === "bigint" ? room : 0n);

type HeldRow = { readonly id: string; readonly on: readonly string[] };

/** One round over everything that is held: each state is read once. */
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

/** Nobody runs it, and what it waits for is a definition. While a checkpoint waits there is nothing to try. */
export const isStuck = ({ runner, status, waits }: LiveWorkflow): boolean =>
  runner === null &&
  (status === "executing" || status === "rolling_back") &&
  waits.some(({ kind }) => kind === "definition");
