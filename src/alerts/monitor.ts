/**
 * Starts a monitor for a program, and runs it until its handle or the instance closes. It reads the log from its stored position,
 * makes each entry a sighting (with its tool, agent and workflow), and passes it to the rules once and in order; then it waits for
 * the next entry, or until a rule is due.
 * - One pass over new entries: workflows that write nothing cost nothing.
 * - A failed round restarts from the stored position. Signals are not recorded twice.
 * - No text that an agent writes makes a round fail: it would fail again for ever.
 */

import { frozenJson } from "../kernel/canonical-json.ts";
import { HoldpointError, isHoldpointError } from "../kernel/errors.ts";
import { checkFields, rejectInput } from "../kernel/fields.ts";
import { isJsonObject, type Json, type JsonObject } from "../kernel/json.ts";
import {
  agentScope,
  findStreamRef,
  monitorStream,
  type StreamRef,
  workflowStream,
} from "../kernel/stream.ts";
import { eachRow, skipUnreadable } from "../runtime/lists.ts";
import type { Runtime } from "../runtime/runtime.ts";
import { loadValue, readState, runCommand, storeTime } from "../runtime/store-access.ts";
import { type Subscriber, type Subscription, subscribe } from "../runtime/subscribe.ts";
import type { JournalEntry, TenantStore } from "../stores/store.ts";
import { openSnapshot } from "../workflows/snapshots.ts";
import { recordSignal } from "./raise-alert.ts";
import { keepMonitorPosition } from "./rules/alert.ts";
import { checkMonitorName, checkRules, type MonitorOptions } from "./rules/check-rules.ts";
import { MOST_SUBJECTS, type MonitoredEntry, type MonitorRule, type Signal } from "./rules/monitor-rule.ts";
import { saveRuleStates, type WatchedRule, watchRules } from "./rules/watch.ts";

export type Monitor = {
  readonly name: string;
  /** Resolves when the rules have seen everything that was committed before the call. */
  caughtUp(): Promise<void>;
  /** Stores its position and ends. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
};

const FIELDS = ["name", "rules", "agents", "workflows", "tools"];

type SightingFilter = (name: string | null | undefined) => boolean;

function filterOf(
  field: string,
  names: unknown,
  spell: (name: string) => string = String,
): SightingFilter | undefined {
  if (names === undefined) return undefined;
  const isList = Array.isArray(names) && names.length > 0;
  if (!isList || !names.every((one) => typeof one === "string" && one !== ""))
    return rejectInput(`"${field}" is a list of names.`);
  const list = names.map((one) => spell(String(one)));
  return (name) =>
    name != null &&
    list.some((one) => (one.endsWith("*") ? name.startsWith(one.slice(0, -1)) : name === one));
}

function filtersOf({ agents, workflows, tools }: MonitorOptions): (sighting: MonitoredEntry) => boolean {
  const isAgent = filterOf("agents", agents, agentScope);
  const isWorkflow = filterOf("workflows", workflows);
  const isTool = filterOf("tools", tools);
  return ({ agent, workflow, tool }) =>
    isAgent?.(agent) !== false &&
    isWorkflow?.(workflow?.name) !== false &&
    (tool === null || isTool?.(tool) !== false);
}

function checkMonitor(given: MonitorOptions): WatchedMonitor {
  const options = checkFields("A monitor", given, FIELDS);
  const name = checkMonitorName(options.name);
  return { name, rules: checkRules(options.rules), isWatched: filtersOf(options) };
}

type StreamSubject = Pick<MonitoredEntry, "tool" | "agent" | "workflow">;
type EntryHeader = Pick<JournalEntry, "stream" | "type" | "at">;

/** A stream's subject never changes: an evicted one is read again from its first entry. */
const MOST_KNOWN = 10_000;
const NOTHING: StreamSubject = { tool: null, agent: null, workflow: null };
/** Entries of monitors themselves, and of deliveries to the outside. */
const OWN_KINDS: readonly string[] = ["alert", "message", "monitor", "notifier"];

type SightingReader = { of(entry: JournalEntry): Promise<MonitoredEntry | undefined> };

const textOf = (value: Json | undefined): string | null => (typeof value === "string" ? value : null);

/** The verifier reports missing or damaged values; here they are ignored. */
async function unlessCorrupt<Value>(value: Promise<Value>): Promise<Value | null> {
  try {
    return await value;
  } catch (error) {
    if (isHoldpointError(error, "store_corrupt")) return null;
    throw error;
  }
}

function resultIn({ type }: EntryHeader, body: JsonObject): Json {
  if (type === "step.completed") return body["result"] ?? null;
  const answer = type === "call.settled" ? body["answer"] : null;
  return isJsonObject(answer) && answer["executed"] === true ? (answer["result"] ?? null) : null;
}

function snapshotHash({ type }: EntryHeader, body: JsonObject): string | null {
  const snapshot = type.startsWith("checkpoint.") ? body["snapshot"] : undefined;
  return isJsonObject(snapshot) ? textOf(snapshot["hash"]) : null;
}

/** Makes it the most recent. */
function keepIn(known: Map<string, StreamSubject>, name: string, about: StreamSubject): StreamSubject {
  known.delete(name);
  known.set(name, about);
  const [oldest] = known.size > MOST_KNOWN ? known.keys() : [];
  if (oldest !== undefined) known.delete(oldest);
  return about;
}

/** `values`: also load results and snapshots, which only some rules need. */
function createSightingReader(place: TenantStore, values: boolean): SightingReader {
  const known = new Map<string, StreamSubject>();
  const keep = (name: string, about: StreamSubject) => keepIn(known, name, about);

  async function aboutWorkflow(id: string): Promise<StreamSubject> {
    return aboutStream({ kind: "workflow", id }, `workflow/${id}`);
  }

  async function aboutAction(body: JsonObject): Promise<StreamSubject> {
    const { within } = body;
    const id = isJsonObject(within) ? textOf(within["workflow"]) : null;
    const { workflow } = id === null ? NOTHING : await aboutWorkflow(id);
    return { tool: textOf(body["tool"]), agent: textOf(body["agent"]), workflow };
  }

  /** Subject of a stream, from its first entry. */
  async function firstSays(ref: StreamRef, { at }: EntryHeader, body: JsonObject): Promise<StreamSubject> {
    if (ref.kind === "action") return aboutAction(body);
    const workflow = { id: ref.id, name: textOf(body["name"]) ?? "", createdAt: at };
    return { tool: null, agent: textOf(body["agent"]), workflow };
  }

  async function aboutStream(ref: StreamRef, name: string): Promise<StreamSubject> {
    const found = known.get(name);
    if (found !== undefined) return keep(name, found);
    const [first] = await place.store.read(place.tenant, ref, { limit: 1 });
    if (first?.body == null) return NOTHING;
    return keep(name, await firstSays(ref, first, JSON.parse(first.body) as JsonObject));
  }

  async function aboutEntry(ref: StreamRef, entry: EntryHeader, body: JsonObject): Promise<StreamSubject> {
    if (ref.kind !== "action" && ref.kind !== "workflow") return NOTHING;
    const isFirst = entry.type === "action.proposed" || entry.type === "workflow.created";
    if (isFirst) return keep(entry.stream, await firstSays(ref, entry, body));
    const about = await aboutStream(ref, entry.stream);
    return entry.type === "call.made" ? { ...about, tool: textOf(body["tool"]) } : about;
  }

  return {
    async of(entry) {
      const { stream, type, at, position, body: kept } = entry;
      const ref = findStreamRef(stream);
      if (kept === null || ref === undefined || OWN_KINDS.includes(ref.kind)) return undefined;
      const body = frozenJson(JSON.parse(kept)) as JsonObject;
      const about = await aboutEntry(ref, entry, body);
      const result = values ? await unlessCorrupt(loadValue(place, resultIn(entry, body))) : null;
      const hash = values ? snapshotHash(entry, body) : null;
      const snapshot = hash === null ? null : await unlessCorrupt(openSnapshot(place, hash));
      return { position, at, stream, type, body, ...about, result, snapshot };
    },
  };
}

async function sightingOfRun(
  place: TenantStore,
  id: string,
  position: number,
): Promise<readonly MonitoredEntry[]> {
  const state = await skipUnreadable(readState(place, workflowStream(id)));
  if (state?.status !== "executing" || state.runner === null) return [];
  const { name, agent, createdAt, changedAt: at } = state;
  const workflow = { id, name, createdAt };
  const entry = { type: "workflow.resumed", stream: `workflow/${id}`, body: { epoch: state.runner } };
  return [{ position, at, ...entry, tool: null, agent, workflow, result: null, snapshot: null }];
}

async function sightRunningWorkflows(
  place: TenantStore,
  position: number,
): Promise<readonly MonitoredEntry[]> {
  const found: MonitoredEntry[] = [];
  for await (const { stream } of eachRow(place, { view: "runs", bucket: "running", order: "oldest" })) {
    found.push(...(await sightingOfRun(place, stream.id, position)));
    if (found.length >= MOST_SUBJECTS) break;
  }
  return found.sort((one, other) => one.at - other.at);
}

/** The position is stored after this many entries, or more if the rules' state is large, to keep that cheap. */
const KEEP_AFTER = 1_000;
const CHARACTERS_AN_ENTRY = 100;

type WatchedMonitor = {
  readonly name: string;
  readonly rules: readonly MonitorRule[];
  readonly isWatched: (sighting: MonitoredEntry) => boolean;
};

type WatchState = {
  readonly runtime: Runtime;
  readonly monitor: WatchedMonitor;
  readonly sights: SightingReader;
  watched: readonly WatchedRule[];
  /** The last entry that the rules have seen. */
  position: number;
  keepAfter: number;
  /** How far the store's clock is ahead of this one. */
  ahead: number;
};

async function recordSignals(
  desk: WatchState,
  { rule }: WatchedRule,
  signals: readonly Signal[],
): Promise<void> {
  const { runtime, monitor, position } = desk;
  for (const signal of signals)
    await recordSignal(runtime, { monitor: monitor.name, rule, position }, signal);
}

async function keepPosition(desk: WatchState): Promise<void> {
  const { runtime, monitor, position } = desk;
  const rules = saveRuleStates(desk.watched);
  try {
    await runCommand(runtime, {}, (draft) => keepMonitorPosition(draft, monitor.name, { position, rules }));
  } catch (error) {
    // The monitor continues; only the next process starts further back.
    if (!isHoldpointError(error, "payload_too_large")) throw error;
    runtime.notify({ kind: "maintenance_failed", error });
  }
  desk.keepAfter = Math.max(KEEP_AFTER, JSON.stringify(rules).length / CHARACTERS_AN_ENTRY);
}

/** Returns whether the rules saw it. */
async function seeEntry(desk: WatchState, entry: JournalEntry): Promise<boolean> {
  const sighting = await desk.sights.of(entry);
  desk.position = entry.position;
  if (sighting === undefined || !desk.monitor.isWatched(sighting)) return false;
  for (const one of desk.watched) await recordSignals(desk, one, one.watcher.see(sighting));
  return true;
}

function dueOf({ watched }: WatchState): number | null {
  const times = watched.flatMap(({ watcher }) => watcher.due() ?? []);
  return times.length === 0 ? null : Math.min(...times);
}

const timeOf = ({ runtime, ahead }: WatchState): number => runtime.clock.now() + ahead;

/** The local clock triggers the check; the store's clock decides. */
async function tickDue(desk: WatchState): Promise<void> {
  const due = dueOf(desk);
  if (due === null || due > timeOf(desk)) return;
  const now = await storeTime(desk.runtime);
  desk.ahead = now - desk.runtime.clock.now();
  for (const one of desk.watched) {
    const at = one.watcher.due();
    if (at !== null && at <= now) await recordSignals(desk, one, one.watcher.tick(now));
  }
}

async function resumeWatching(desk: WatchState): Promise<void> {
  const { runtime, monitor } = desk;
  const { position, rules } = await readState(runtime, monitorStream(monitor.name));
  if (rules === null)
    throw new HoldpointError("broken_rule", `The monitor "${monitor.name}" has no place yet.`);
  desk.watched = watchRules(monitor.rules, await loadValue(runtime, rules));
  desk.position = position;
}

/** The first time, starts at the end of the log; workflows that already execute are included from then on. */
async function beginWatching(desk: WatchState): Promise<void> {
  const { runtime, monitor } = desk;
  const { rules } = await readState(runtime, monitorStream(monitor.name));
  if (rules === null) {
    desk.position = await runtime.store.position();
    desk.watched = watchRules(monitor.rules, null);
    const isTimed = monitor.rules.some(({ kind }) => kind === "silence" || kind === "progress");
    const running = isTimed ? await sightRunningWorkflows(runtime, desk.position) : [];
    for (const sighting of running.filter(monitor.isWatched))
      for (const { watcher } of desk.watched) watcher.see(sighting);
    await keepPosition(desk);
  }
  await resumeWatching(desk);
}

/** Returns when a rule is due next, by the local clock. */
async function tickAndWait(desk: WatchState): Promise<number | null> {
  await tickDue(desk);
  const due = dueOf(desk);
  return due === null ? null : due - desk.ahead;
}

async function runMonitor(
  runtime: Runtime,
  monitor: WatchedMonitor,
  signal: AbortSignal,
): Promise<Subscription> {
  const isLoaded = monitor.rules.some(({ kind }) => kind === "resources" || kind === "when");
  const sights = createSightingReader(runtime, isLoaded);
  const desk: WatchState = {
    runtime,
    monitor,
    sights,
    watched: [],
    position: 0,
    keepAfter: KEEP_AFTER,
    ahead: 0,
  };
  await beginWatching(desk);
  const kept = {
    async read() {
      await resumeWatching(desk);
      return desk.position;
    },
    keep: () => keepPosition(desk),
    every: () => desk.keepAfter,
  };
  const subscriber: Subscriber = {
    kept,
    entry: (entry) => seeEntry(desk, entry),
    caughtUp: () => tickAndWait(desk),
    failed: (error, isNew) => isNew && runtime.notify({ kind: "maintenance_failed", error }),
  };
  return subscribe(runtime, subscriber, signal);
}

/** `names`: monitors that run in this process. */
export async function startMonitor(
  opening: () => Promise<Runtime>,
  names: Set<string>,
  options: MonitorOptions,
): Promise<Monitor> {
  const monitor = checkMonitor(options);
  const { name } = monitor;
  if (names.has(name)) rejectInput(`A monitor named "${name}" runs here already.`);
  names.add(name);
  const closing = new AbortController();
  try {
    const runtime = await opening();
    const signal = AbortSignal.any([closing.signal, runtime.closing]);
    const reader = await runMonitor(runtime, monitor, signal);
    // The instance waits for it before it closes the store.
    runtime.performing.add(`monitor ${name}`);
    const done = reader.done.finally(() => {
      names.delete(name);
      runtime.performing.delete(`monitor ${name}`);
    });
    done.catch((error: unknown) => runtime.notify({ kind: "maintenance_failed", error }));
    const close = async () => {
      closing.abort();
      await done.catch(() => undefined);
    };
    return { name, caughtUp: () => reader.caughtUp(), close, [Symbol.asyncDispose]: close };
  } catch (error) {
    names.delete(name);
    throw error;
  }
}

export type Monitors = {
  /** Watches the journal with rules that raise alerts or checkpoints. Resolves once it is watching. */
  monitor(options: MonitorOptions): Promise<Monitor>;
};

export function monitorMethods(open: () => Promise<Runtime>): Monitors {
  const names = new Set<string>();
  return { monitor: (options) => startMonitor(open, names, options) };
}
