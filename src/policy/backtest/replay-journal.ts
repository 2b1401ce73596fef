/**
 * Reads a tenant's journal for a back-test: all of it, page by page, or the entries that one action's first review
 * could see. A forked workflow starts with the calls that its origin had settled by then, in their state at that time.
 */

import { findAction } from "../../effects/actions.ts";
import { isCall, pastCall, startSettledCalls } from "../../effects/rules/review.ts";
import type { ActionState } from "../../effects/state.ts";
import { action } from "../../effects/stream.ts";
import { HoldpointError, isHoldpointError } from "../../kernel/errors.ts";
import type { Json } from "../../kernel/json.ts";
import { actionStream, type StreamRef, workflowStream } from "../../kernel/stream.ts";
import { neverYield, type YieldCheck } from "../../runtime/concurrency.ts";
import { loadValue } from "../../runtime/store-access.ts";
import { logPages } from "../../runtime/subscribe.ts";
import type { JournalEntry, TenantStore } from "../../stores/store.ts";
import { entriesOf } from "../../workflows/entries.ts";
import type { Fork } from "../../workflows/events.ts";
import type { ReplayResult } from "../contract.ts";
import { noteOriginCalls } from "../past-calls.ts";
import type { PastCall } from "../rules/verdict.ts";
import {
  callKindOfAction,
  parseReplayEntry,
  type Replay,
  type ReplayEvent,
  recordedEvent,
  startReplay,
} from "./rules/replay.ts";

async function stateBefore(
  { store, tenant }: TenantStore,
  id: string,
  position: number,
): Promise<ActionState> {
  let state: ActionState = action.fold.initial;
  for (const entry of await store.read(tenant, actionStream(id))) {
    const replayed = entry.position < position ? parseReplayEntry(entry) : undefined;
    if (replayed !== undefined) state = action.fold.evolve(state, recordedEvent(replayed));
  }
  return state;
}

/** null if a required body was erased. */
async function pastCallsOfFork(
  place: TenantStore,
  fork: Fork,
  position: number,
): Promise<readonly PastCall[] | null> {
  const origin = startSettledCalls();
  try {
    await noteOriginCalls(place, origin, fork);
    const calls: PastCall[] = [];
    for (const id of origin.settled) {
      const state = await stateBefore(place, id, position);
      if (isCall(state)) calls.push(pastCall(id, state, origin.undone.has(id)));
    }
    return calls;
  } catch (error) {
    if (isHoldpointError(error, "body_erased")) return null;
    throw error;
  }
}

export type ReplayOptions = {
  readonly progress?: ((done: number, total: number) => void) | undefined;
  /** Yields to other work. Default: runs to the end without yielding. */
  readonly pace?: YieldCheck;
};

/** Called in journal order. Awaited only if it returns a promise. */
type ReplayListener = (event: ReplayEvent, replay: Replay) => void | Promise<void>;

type RunningReplay = {
  readonly place: TenantStore;
  readonly replay: Replay;
  readonly listen: ReplayListener;
};

/** Most entries are replayed without awaiting anything. */
function playEntry({ place, replay, listen }: RunningReplay, entry: JournalEntry): void | Promise<void> {
  const replayed = parseReplayEntry(entry);
  const event = replayed === undefined ? undefined : replay.take(replayed);
  if (event?.kind === "forked")
    return pastCallsOfFork(place, event.fork, entry.position).then((calls) =>
      replay.begin(event.workflow, calls),
    );
  return event === undefined ? undefined : listen(event, replay);
}

async function playPage(
  running: RunningReplay,
  page: readonly JournalEntry[],
  pace: YieldCheck,
): Promise<void> {
  for (const entry of page) {
    const turn = pace();
    if (turn !== undefined) await turn;
    const later = playEntry(running, entry);
    if (later !== undefined) await later;
  }
}

export async function replayJournal(
  place: TenantStore,
  listen: ReplayListener,
  { progress, pace = neverYield }: ReplayOptions = {},
): Promise<void> {
  const running = { place, replay: startReplay(), listen };
  const total = progress === undefined ? 0 : await place.store.position();
  for await (const page of logPages(place)) {
    await playPage(running, page, pace);
    const last = page.at(-1);
    if (last !== undefined) progress?.(last.position, total);
  }
}

async function streamsOf(place: TenantStore, action: string): Promise<readonly StreamRef[]> {
  const [first] = await place.store.read(place.tenant, actionStream(action), { limit: 1 });
  if (first === undefined) throw new HoldpointError("unknown_id", `There is no action ${action}.`);
  if (first.body === null) throw new HoldpointError("body_erased", `What ${action} proposed was erased.`);
  const { within } = JSON.parse(first.body) as { readonly within?: { readonly workflow: string } };
  if (within === undefined) return [actionStream(action)];
  const streams: StreamRef[] = [workflowStream(within.workflow)];
  for await (const { type, body } of entriesOf(place, within.workflow))
    if (type === "call.made" || type === "compensation.made")
      streams.push(actionStream(String(body["action"])));
  return streams;
}

async function replayToReview(place: TenantStore, action: string) {
  const streams = await streamsOf(place, action);
  const pages = await Promise.all(streams.map((stream) => place.store.read(place.tenant, stream)));
  const replay = startReplay();
  let found: Extract<ReplayEvent, { kind: "reviewed" }> | undefined;
  const listen = (event: ReplayEvent) => {
    if (event.kind === "reviewed" && event.action.id === action) found = event;
  };
  for (const entry of pages.flat().sort((a, b) => a.position - b.position)) {
    await playEntry({ place, replay, listen }, entry);
    if (found !== undefined) return { event: found, replay };
  }
  throw new HoldpointError(
    "unknown_id",
    `No policy was asked about ${action} yet, or what it said was erased.`,
  );
}

/** By the id of the action or its effect, or by the caller's request id. */
export async function readFirstReview(place: TenantStore, id: string): Promise<ReplayResult> {
  const action = await findAction(place, id);
  const { event, replay } = await replayToReview(place, action);
  const { schema, args: kept } = event.action;
  const args = await loadValue(place, kept);
  const { input, isWhole } = replay.input(event.action, { args, now: event.now });
  const whole = { ...input, history: input.history };
  const facts = { said: event.review, schema, asked: callKindOfAction(event.action) };
  return { action, input: whole, ...facts, isWhole: isWhole() };
}

/** The recorded arguments; undefined if they were stored as an artifact that is gone. */
export async function loadRecordedArgs(place: TenantStore, kept: Json): Promise<Json | undefined> {
  try {
    return await loadValue(place, kept);
  } catch (error) {
    if (isHoldpointError(error, "store_corrupt")) return undefined;
    throw error;
  }
}
