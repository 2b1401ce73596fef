/**
 * Reads the log from where it was left and hands every entry to the rules, once and in order; then waits for the next, or
 * for the time at which a rule has something to say.
 *
 * O1. One pass over new entries: nothing is asked of workflows that write nothing.
 * O2. Where a round fails, it begins again from the place that was kept last. What was said before is not said again.
 * O3. Whatever agents write, a round does not fail because of it: it would fail again for ever.
 */

import { keepPlace } from "../../core/monitor/place.ts";
import type { MonitorRule, Sighting, Signal } from "../../core/monitor/rules.ts";
import { saveAll, type WatchedRule, watchAll } from "../../core/monitor/watch.ts";
import { sleepFor } from "../../kernel/clock.ts";
import { HoldpointError, isHoldpointError } from "../../kernel/errors.ts";
import { monitorStream } from "../../kernel/stream.ts";
import { errorText } from "../../kernel/text.ts";
import type { Runtime } from "../../runtime/runtime.ts";

import { loadValue, readState, runCommand, storeTime } from "../../runtime/store-access.ts";
import type { JournalEntry } from "../../stores/store.ts";

import { announce } from "./announce.ts";
import { runningNow } from "./running-now.ts";
import { createSights, type Sights } from "./sights.ts";

const PAGE = 500;
const BACK_OFF_MS = 1_000;
const UNSETTLED_MS = 100;
/** The place is kept after so many entries; after more where the rules know much, so that keeping stays cheap. */
const KEEP_AFTER = 1_000;
const CHARACTERS_AN_ENTRY = 100;

export type Watched = {
  readonly name: string;
  readonly rules: readonly MonitorRule[];
  readonly isWatched: (sighting: Sighting) => boolean;
};

export type Reader = {
  /** Resolves when everything that was committed before was looked at. */
  caughtUp(): Promise<void>;
  /** Until the signal aborts. */
  readonly done: Promise<void>;
};

type Desk = {
  readonly runtime: Runtime;
  readonly monitor: Watched;
  readonly sights: Sights;
  watched: readonly WatchedRule[];
  /** The last entry that the rules have seen. */
  position: number;
  /** The last commit that the store was asked about, of any tenant. */
  followed: number;
  /** Entries since the place was kept. */
  unkept: number;
  keepAfter: number;
  /** By how much the store's clock is ahead of this one. */
  ahead: number;
};

async function say(desk: Desk, { rule }: WatchedRule, signals: readonly Signal[]): Promise<void> {
  const { runtime, monitor, position } = desk;
  for (const signal of signals) await announce(runtime, { monitor: monitor.name, rule, position }, signal);
}

async function keep(desk: Desk): Promise<void> {
  const { runtime, monitor, position } = desk;
  const rules = saveAll(desk.watched);
  try {
    await runCommand(runtime, {}, (draft) => keepPlace(draft, monitor.name, { position, rules }));
  } catch (error) {
    // It goes on all the same; only the next process begins further back.
    if (!isHoldpointError(error, "payload_too_large")) throw error;
    runtime.notify({ kind: "maintenance_failed", error });
  }
  desk.unkept = 0;
  desk.keepAfter = Math.max(KEEP_AFTER, JSON.stringify(rules).length / CHARACTERS_AN_ENTRY);
}

async function see(desk: Desk, entry: JournalEntry): Promise<void> {
  const sighting = await desk.sights.of(entry);
  desk.position = entry.position;
  if (sighting === undefined || !desk.monitor.isWatched(sighting)) return;
  desk.unkept++;
  for (const one of desk.watched) await say(desk, one, one.watcher.see(sighting));
}

async function readOn(desk: Desk, signal: AbortSignal): Promise<void> {
  const { store, tenant } = desk.runtime;
  for (;;) {
    const page = await store.log(tenant, desk.position, PAGE);
    for (const entry of page) {
      if (signal.aborted) return;
      await see(desk, entry);
    }
    if (desk.unkept >= desk.keepAfter) await keep(desk);
    if (page.length < PAGE) return;
  }
}

function dueOf({ watched }: Desk): number | null {
  const times = watched.flatMap(({ watcher }) => watcher.due() ?? []);
  return times.length === 0 ? null : Math.min(...times);
}

const timeOf = ({ runtime, ahead }: Desk): number => runtime.clock.now() + ahead;

/** What is due by the clock here is judged by the store's. */
async function tickDue(desk: Desk): Promise<void> {
  const due = dueOf(desk);
  if (due === null || due > timeOf(desk)) return;
  const now = await storeTime(desk.runtime);
  desk.ahead = now - desk.runtime.clock.now();
  for (const one of desk.watched) {
    const at = one.watcher.due();
    if (at !== null && at <= now) await say(desk, one, one.watcher.tick(now));
  }
}

async function goOn(desk: Desk): Promise<void> {
  const { runtime, monitor } = desk;
  const { position, rules } = await readState(runtime, monitorStream(monitor.name));
  if (rules === null)
    throw new HoldpointError("broken_rule", `The monitor "${monitor.name}" has no place yet.`);
  desk.watched = watchAll(monitor.rules, await loadValue(runtime, rules));
  desk.position = position;
  desk.unkept = 0;
}

/** Begins where the log ends, the first time; what executes already is known from then on. */
async function begin(desk: Desk): Promise<void> {
  const { runtime, monitor } = desk;
  const { rules } = await readState(runtime, monitorStream(monitor.name));
  if (rules === null) {
    desk.position = await runtime.store.position();
    desk.watched = watchAll(monitor.rules, null);
    const isTimed = monitor.rules.some(({ kind }) => kind === "silence" || kind === "progress");
    const running = isTimed ? await runningNow(runtime, desk.position) : [];
    for (const sighting of running.filter(monitor.isWatched))
      for (const { watcher } of desk.watched) watcher.see(sighting);
    await keep(desk);
  }
  await goOn(desk);
}

/**
 * Until something is committed, a rule is due, or `over` aborts. What a store has seen and does not show in its log yet is
 * looked for again a little later.
 */
async function awaitNews(desk: Desk, signal: AbortSignal, over: AbortController): Promise<void> {
  const { clock, store } = desk.runtime;
  const stop = () => over.abort();
  signal.addEventListener("abort", stop, { once: true });
  const before = desk.followed;
  const due = dueOf(desk);
  try {
    const moved = store.follow(before, over.signal);
    const late = due === null ? moved : sleepFor(clock, Math.max(due - timeOf(desk), 1), over.signal);
    await Promise.race([moved, late]);
    stop();
    const { position, streams } = await moved;
    desk.followed = position;
    if (position === before && streams.length > 0) await clock.sleep(UNSETTLED_MS, signal);
  } finally {
    stop();
    signal.removeEventListener("abort", stop);
  }
}

async function round(desk: Desk, signal: AbortSignal): Promise<void> {
  await readOn(desk, signal);
  if (!signal.aborted) await tickDue(desk);
}

type Waiter = { readonly resolve: () => void };

export async function watchLog(runtime: Runtime, monitor: Watched, signal: AbortSignal): Promise<Reader> {
  const isLoaded = monitor.rules.some(({ kind }) => kind === "resources" || kind === "when");
  const sights = createSights(runtime, isLoaded);
  const followed = await runtime.store.position();
  const fresh = { watched: [], position: 0, unkept: 0, keepAfter: KEEP_AFTER, ahead: 0 };
  const desk: Desk = { runtime, monitor, sights, followed, ...fresh };
  await begin(desk);
  let waiters: Waiter[] = [];
  let over = new AbortController();
  let told = "";
  let isLost = false;

  async function turn(): Promise<void> {
    const heard = waiters;
    waiters = [];
    try {
      if (isLost) await goOn(desk);
      isLost = false;
      await round(desk, signal);
      told = "";
      for (const { resolve } of heard) resolve();
      over = new AbortController();
      if (waiters.length === 0 && !signal.aborted) await awaitNews(desk, signal, over);
    } catch (error) {
      waiters = [...heard, ...waiters];
      throw error;
    }
  }

  /** What fails is told once, and tried again from the place that was kept. */
  async function recover(error: unknown): Promise<void> {
    if (signal.aborted) return;
    if (told !== errorText(error)) runtime.notify({ kind: "maintenance_failed", error });
    told = errorText(error);
    isLost = true;
    await runtime.clock.sleep(BACK_OFF_MS, signal);
  }

  async function run(): Promise<void> {
    while (!signal.aborted) await turn().catch(recover);
    for (const { resolve } of waiters) resolve();
    if (desk.unkept > 0 && !isLost) await keep(desk);
  }

  return {
    done: run(),
    caughtUp: () =>
      new Promise((resolve) => {
        if (signal.aborted) return resolve();
        waiters.push({ resolve });
        over.abort();
      }),
  };
}
