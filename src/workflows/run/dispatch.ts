/**
 * Finds workflows that have work to do and runs them here: those that were woken, are due, or whose process died.
 *
 * - A waiting workflow keeps no timer and no promise: the view of runs leads back to it.
 * - A workflow runs once in this process, and at most 256 run at a time.
 * - A workflow with its own definition runs only where it was started: another of that name may have another policy.
 * - A workflow that does not match this process is left to other nodes, and does not delay the next.
 */

import { outsideCallers, outsideFrames } from "../../effects/call-context.ts";
import type { Clock } from "../../kernel/clock.ts";
import { workflowStream } from "../../kernel/stream.ts";
import { errorText } from "../../kernel/text.ts";
import { endIfDead } from "../../runtime/epochs.ts";
import { isUnreadable } from "../../runtime/lists.ts";
import type { Runtime } from "../../runtime/runtime.ts";
import { readState } from "../../runtime/store-access.ts";
import { type Subscriber, subscribe } from "../../runtime/subscribe.ts";
import type { ViewRow } from "../../stores/store.ts";
import type { Definition } from "../definition.ts";
import { withdrawOpen } from "../operate.ts";
import { createListeners, type Dispatcher, type Listeners, repeatNotices, withListeners } from "../start.ts";
import type { LiveWorkflow } from "../state.ts";
import { performRun } from "./perform-run.ts";
import { readNews, type WorkflowRun, wakeHeld } from "./run.ts";
import {
  allRunRows,
  createDefinitionMismatches,
  type DefinitionMismatches,
  firstLook,
  firstRunRows,
  type HeldLook,
  isObstacle,
  isStuck,
  isTimeToLook,
  judgeHeld,
  notifyMismatchOnce,
  runRowsIn,
} from "./runnable.ts";

const MOST_AT_ONCE = 256;
const LOOK_AHEAD_MS = 1_000;
const RECOVER_MS = 5_000;
const BACK_OFF_MS = 1_000;
const MOST_DOUBLINGS = 6;

type DispatchState = {
  readonly runtime: Runtime;
  readonly idle: Clock;
  readonly definitions: ReadonlyMap<string, Definition>;
  /** Current runs. */
  readonly runs: Map<string, WorkflowRun | null>;
  readonly under: Map<string, Promise<void>>;
  readonly listeners: Listeners;
  /** Definitions of workflows that were started here with one of their own. */
  readonly chosen: Map<string, Definition>;
  /** Taken by this process and waiting for room: no other process would run them. */
  readonly queue: Map<string, QueuedOffer>;
  /** Runs here whose streams have changed: they may have been sent back, or cancelled. */
  readonly moved: Set<string>;
  readonly held: HeldLook;
  readonly unfit: DefinitionMismatches;
  /** Aborted once it takes no new work. */
  readonly rest: AbortController;
  /** There was more work than could run at once. */
  isBehind: boolean;
  /** Some work was left to other processes, and perhaps none takes it. */
  hasLeft: boolean;
  /** There was no room to try a stuck workflow, or this process has not looked yet. */
  mayBeStuck: boolean;
};

const isOver = ({ runtime, rest }: DispatchState): boolean => runtime.closing.aborted || rest.signal.aborted;

type Offer = {
  readonly definition: Definition;
  readonly id: string;
  readonly dead: string | null;
  /** This process has already taken it. */
  readonly isOurs?: boolean;
};
type QueuedOffer = { readonly offered: Offer; readonly failures: number };

/** A failed run stays with this process, since no other would take it: retried with growing back-off. */
function startHere(desk: DispatchState, offered: Offer, failures = 0): void {
  const { id } = offered;
  if (desk.runs.has(id) || isOver(desk)) return;
  if (desk.runs.size >= MOST_AT_ONCE) {
    desk.isBehind = true;
    desk.mayBeStuck = true;
    if (offered.isOurs === true) desk.queue.set(id, { offered, failures });
    return;
  }
  desk.queue.delete(id);
  const name = `workflow ${id}`;
  desk.runs.set(id, null);
  desk.runtime.performing.add(name);
  const runtime = notifyMismatchOnce(withListeners(desk.runtime, desk.listeners, id), desk.unfit, id);
  const done = performRun(runtime, offered, (run) => void desk.runs.set(id, run))
    .then(async ({ kind }) => {
      if (kind === "over") desk.listeners.own.delete(id);
      if (kind === "over") desk.chosen.delete(id);
      if (kind === "over" || kind === "suspended") desk.unfit.forget(id);
      if (kind === "changed") desk.unfit.note(id);
      await repeatNotices(desk.runtime, desk.listeners, id).catch((error: unknown) =>
        desk.runtime.notify({ kind: "maintenance_failed", error }),
      );
      return false;
    })
    .catch(async (error: unknown) => {
      if (isUnreadable(error)) return leaveAlone(desk, id, error);
      if (!desk.runtime.closing.aborted) desk.runtime.notify({ kind: "maintenance_failed", error });
      await desk.idle.sleep(BACK_OFF_MS * 2 ** Math.min(failures, MOST_DOUBLINGS), desk.runtime.closing);
      return true;
    })
    .then((hasFailed) => {
      desk.runs.delete(id);
      desk.under.delete(id);
      desk.runtime.performing.delete(name);
      if (desk.runtime.closing.aborted) return;
      startQueued(desk);
      if (hasFailed) startHere(desk, { ...offered, isOurs: true }, failures + 1);
      // An event may have arrived between its release and this.
      else lookOnce(desk, id);
    });
  desk.under.set(id, done);
}

/** Left to a process that can read it. If this process had taken it, it is free when its epoch ends. */
function leaveAlone({ runtime, unfit }: DispatchState, id: string, error: unknown): false {
  if (!runtime.closing.aborted && unfit.isNews(id, errorText(error)))
    runtime.notify({ kind: "maintenance_failed", error });
  return false;
}

function startQueued(desk: DispatchState): void {
  for (const { offered, failures } of desk.queue.values()) {
    if (desk.runs.size >= MOST_AT_ONCE) return;
    startHere(desk, offered, failures);
  }
}

function lookOnce(desk: DispatchState, id: string): void {
  const isRoom = desk.isBehind && desk.runs.size < MOST_AT_ONCE / 2;
  const work = isRoom ? Promise.all([offer(desk, id), offerReady(desk)]) : offer(desk, id);
  work.catch((error: unknown) => {
    desk.isBehind = true;
    if (!desk.runtime.closing.aborted) desk.runtime.notify({ kind: "maintenance_failed", error });
  });
}

type NamedRun = Pick<LiveWorkflow, "name" | "isOfOneRun"> & { readonly version?: string | null };

function findDefinition(desk: DispatchState, id: string, run: NamedRun): Definition | undefined {
  return run.isOfOneRun === true ? desk.chosen.get(id) : desk.definitions.get(run.name);
}

const isMeantFor = ({ options }: Definition, { version }: NamedRun): boolean =>
  version == null || version === options.version;

/** Its definition did not match here, or it is made for another version and has done nothing yet. */
function isOthers(desk: DispatchState, { id, definition }: Offer, state?: LiveWorkflow): boolean {
  const isNew = state?.operations === 0 && !isMeantFor(definition, state);
  if (!isNew && !desk.unfit.has(id)) return false;
  const isLeft = desk.unfit.isOthers(id);
  desk.hasLeft ||= isLeft;
  return isLeft;
}

/** Checks one workflow, and runs it if there is work to do. */
async function offer(desk: DispatchState, id: string): Promise<void> {
  try {
    await offerOne(desk, id);
  } catch (error) {
    if (!isUnreadable(error)) throw error;
    leaveAlone(desk, id, error);
  }
}

async function offerOne(desk: DispatchState, id: string): Promise<void> {
  if (desk.runs.has(id)) {
    const run = desk.runs.get(id);
    if (run != null && run.waits.size > 0) await readNews(run);
    else desk.moved.add(id);
    return;
  }
  const state = await readState(desk.runtime, workflowStream(id));
  if (state.status === "none") return;
  if (state.end !== null) desk.unfit.forget(id);
  if (!state.isReady) desk.unfit.taken(id);
  if (state.end?.status === "failed") {
    const { by, reason } = state.end;
    await withdrawOpen(desk.runtime, id, { by, reason });
  }
  const definition = findDefinition(desk, id, state);
  if (definition === undefined) return;
  const offered = { definition, id, dead: null };
  const isToTry = state.isReady ? !isOthers(desk, offered, state) : isStuck(state) && !desk.unfit.has(id);
  if (isToTry) startHere(desk, offered);
}

function offerRow(desk: DispatchState, row: ViewRow, dead: string | null): void {
  const { id } = row.stream;
  const named = row.data as unknown as NamedRun;
  const definition = findDefinition(desk, id, named);
  if (definition === undefined || desk.runs.has(id)) return;
  const offered = { definition, id, dead };
  const look = async () => {
    const state = await readState(desk.runtime, workflowStream(id));
    if (state.status !== "none" && !isOthers(desk, offered, state)) startHere(desk, offered);
  };
  if (!isMeantFor(definition, named)) look().catch((error: unknown) => leaveAlone(desk, id, error));
  else if (!isOthers(desk, offered)) startHere(desk, offered);
}

/** Workflows stuck on a definition that were not tried here. */
async function offerStuck(desk: DispatchState): Promise<void> {
  desk.mayBeStuck = false;
  try {
    for await (const row of allRunRows(desk, "stuck"))
      if (!desk.unfit.has(row.stream.id)) offerRow(desk, row, null);
  } catch (error) {
    desk.mayBeStuck = true;
    throw error;
  }
}

/** A changed run may have been sent back or cancelled while its definition is busy. */
async function lookAtMoved(desk: DispatchState): Promise<void> {
  const ids = [...desk.moved];
  desk.moved.clear();
  for (const id of ids) {
    const run = desk.runs.get(id);
    if (run == null) continue;
    await readNews(run).catch((error: unknown) => {
      if (!isUnreadable(error)) throw error;
      leaveAlone(desk, id, error);
    });
  }
}

/** Everything that is ready, a page at a time as there is room for it. */
async function offerReady(desk: DispatchState): Promise<void> {
  desk.isBehind = false;
  desk.hasLeft = false;
  for (const row of await firstRunRows(desk, "ready")) offerRow(desk, row, null);
}

/** What is due within the next second is run at its time. */
async function offerDue(desk: DispatchState): Promise<void> {
  const { clock, closing } = desk.runtime;
  const now = clock.now();
  const dueBy = now + LOOK_AHEAD_MS;
  for (const row of [
    ...(await firstRunRows(desk, "asleep", dueBy)),
    ...(await firstRunRows(desk, "held", dueBy)),
  ]) {
    const wait = (row.due ?? now) - now;
    if (wait <= 0) offerRow(desk, row, null);
    else void desk.idle.sleep(wait, closing).then(() => offerRow(desk, row, null));
  }
}

/** A switch or a budget has changed, or might have. */
async function lookAtHeld(desk: DispatchState): Promise<void> {
  for (const run of desk.runs.values()) if (run !== null) wakeHeld(run);
  const judging = judgeHeld(desk.runtime, desk.held);
  for await (const row of allRunRows(desk, "held")) {
    const on = row.data["held"] as readonly string[];
    if (await judging.mayGo({ id: row.stream.id, on })) offerRow(desk, row, null);
  }
  desk.held.tried = judging.tried;
  // There was no room for some of them here.
  desk.held.isDue ||= desk.isBehind;
}

/** An epoch that this process cannot read is left to processes that can. */
async function isDead(desk: DispatchState, epoch: string, own: string): Promise<boolean> {
  try {
    return await endIfDead(desk.runtime, epoch, own);
  } catch (error) {
    if (!isUnreadable(error)) throw error;
    return leaveAlone(desk, epoch, error);
  }
}

/** Workflows of processes that died. */
async function offerAbandoned(desk: DispatchState): Promise<void> {
  const own = await desk.runtime.epoch();
  const left = new Set<string>([own.id]);
  for await (const row of runRowsIn(desk, "running")) {
    const epoch = String(row.data["epoch"]);
    if (left.has(epoch)) continue;
    if (await isDead(desk, epoch, own.id)) offerRow(desk, row, epoch);
    else left.add(epoch);
  }
}

/** Repeats until closing; failures are reported and retried. */
async function keepOn(desk: DispatchState, round: () => Promise<unknown>): Promise<void> {
  while (!desk.runtime.closing.aborted) {
    try {
      await round();
    } catch (error) {
      if (desk.runtime.closing.aborted) return;
      desk.runtime.notify({ kind: "maintenance_failed", error });
      await desk.idle.sleep(BACK_OFF_MS, desk.runtime.closing);
    }
  }
}

/** After a failure the same changes are offered again. */
function followChanges(desk: DispatchState): void {
  const { store, tenant, closing, notify } = desk.runtime;
  const subscriber: Subscriber = {
    begun: () => offerReady(desk),
    async changed(streams) {
      if (streams.some(isObstacle)) desk.held.isDue = true;
      for (const { kind, id } of streams) if (kind === "workflow") await offer(desk, id);
    },
    failed: (error, isNew) => isNew && notify({ kind: "maintenance_failed", error }),
  };
  subscribe({ store, tenant, clock: desk.idle }, subscriber, closing);
}

async function watchTime(desk: DispatchState): Promise<void> {
  let isFirst = true;
  let waited = RECOVER_MS;
  await keepOn(desk, async () => {
    await lookAtMoved(desk);
    await offerDue(desk);
    if (isTimeToLook(desk.held, LOOK_AHEAD_MS)) await lookAtHeld(desk);
    if (desk.isBehind || desk.hasLeft || isFirst) await offerReady(desk);
    isFirst = false;
    if (waited >= RECOVER_MS) {
      await offerAbandoned(desk);
      if (desk.mayBeStuck) await offerStuck(desk);
      waited = 0;
    }
    await desk.idle.sleep(LOOK_AHEAD_MS, desk.runtime.closing);
    waited += LOOK_AHEAD_MS;
  });
}

export function createDispatcher(
  runtime: Runtime,
  idle: Clock,
  definitions: ReadonlyMap<string, Definition>,
): Dispatcher {
  const desk: DispatchState = {
    runtime,
    idle,
    definitions,
    runs: new Map(),
    under: new Map(),
    listeners: createListeners(),
    chosen: new Map(),
    queue: new Map(),
    moved: new Set(),
    held: firstLook(),
    unfit: createDefinitionMismatches(idle),
    rest: new AbortController(),
    isBehind: false,
    hasLeft: false,
    mayBeStuck: true,
  };
  let isWorking = false;
  runtime.closing.addEventListener("abort", () => {
    for (const run of desk.runs.values()) run?.bell.ring();
  });
  const fail = (error: unknown) => {
    if (!runtime.closing.aborted) runtime.notify({ kind: "maintenance_failed", error });
  };
  return {
    run(id, definition, { listener, isFoundAgain }) {
      desk.unfit.forget(id);
      if (listener !== undefined) desk.listeners.own.set(id, listener);
      if (isFoundAgain && !desk.runs.has(id)) desk.listeners.again.set(id, new Set());
      if (definition.isOfOneRun === true) desk.chosen.set(id, definition);
      outsideFrames(() => startHere(desk, { definition, id, dead: null, isOurs: true }));
    },
    running: (id) => desk.under.get(id),
    offer: (id) => void offer(desk, id).catch(fail),
    work() {
      if (isWorking) return;
      isWorking = true;
      outsideCallers(() => {
        followChanges(desk);
        watchTime(desk).catch(fail);
      });
    },
    rest: () => desk.rest.abort(),
  };
}
