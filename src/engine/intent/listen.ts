/**
 * Handing intents to the agent that they are for.
 *
 * D1. Whatever nobody has acknowledged is handed over, oldest first, and again until somebody does.
 * D2. The first time is written down; later ones are counted by whoever hands over, and not journaled.
 */
import { deliver } from "../../core/intent/move.ts";
import { intentStream } from "../../kernel/stream.ts";
import { eachRow } from "../../runtime/lists.ts";
import type { Runtime } from "../../runtime/runtime.ts";
import { runCommand } from "../../runtime/store-access.ts";
import type { WaitLimit } from "../../runtime/waker.ts";
import type { ViewRow } from "../../stores/store.ts";

import { getIntent, type Intent } from "./intents.ts";

export type IntentDelivery = {
  readonly intent: Intent;
  /** How often this listener has handed it over. */
  readonly times: number;
};

type Place = Pick<Runtime, "store" | "tenant" | "clock">;
type Cursor = { readonly at: number; readonly stream: string };

const PAGE = 100;
/** Of payloads, that are handed over at once: the one that reaches it is the last. */
const MOST_BYTES = 4 * 1024 * 1024;
const AGAIN_MS = 30_000;

function inbox(
  { store, tenant }: Place,
  agent: string,
  after: Cursor | undefined,
): Promise<readonly ViewRow[]> {
  const query = { view: "intent_inbox", bucket: agent, order: "oldest", limit: PAGE } as const;
  return store.query(tenant, { ...query, ...(after === undefined ? {} : { after }) });
}

const cursorAt = ({ at, stream }: ViewRow): Cursor => ({ at, stream: `intent/${stream.id}` });

/** undefined: somebody has it by now, or it is over. */
async function handOver(place: Place, id: string): Promise<Intent | undefined> {
  const { status } = await runCommand(place, { write: [intentStream(id)] }, (draft) => deliver(draft, id));
  return status === "delivered" ? getIntent(place, id) : undefined;
}

/** What is not acknowledged yet, after a place in the list. */
export async function deliverable(
  place: Place,
  agent: string,
  after?: Cursor,
): Promise<{ readonly items: readonly Intent[]; readonly next: Cursor | null }> {
  const rows = await inbox(place, agent, after);
  const items: Intent[] = [];
  let bytes = 0;
  for (const row of rows) {
    const intent = await handOver(place, row.stream.id);
    if (intent === undefined) continue;
    items.push(intent);
    bytes += Buffer.byteLength(JSON.stringify(intent.payload));
    if (bytes >= MOST_BYTES) return { items, next: cursorAt(row) };
  }
  const last = rows.at(-1);
  return { items, next: rows.length === PAGE && last !== undefined ? cursorAt(last) : null };
}

type Handed = { times: number; at: number };

async function* inboxOf(place: Place, agent: string): AsyncGenerator<string> {
  for await (const { stream } of eachRow(place, { view: "intent_inbox", bucket: agent })) yield stream.id;
}

/** Everything that is to be handed over now. */
async function* due(
  place: Place,
  agent: string,
  handed: Map<string, Handed>,
): AsyncGenerator<IntentDelivery> {
  const open = new Set<string>();
  for await (const id of inboxOf(place, agent)) {
    open.add(id);
    const { times, at } = handed.get(id) ?? { times: 0, at: Number.NEGATIVE_INFINITY };
    const intent = place.clock.now() < at + AGAIN_MS ? undefined : await handOver(place, id);
    if (intent === undefined) continue;
    handed.set(id, { times: times + 1, at: place.clock.now() });
    yield { intent, times: times + 1 };
  }
  for (const id of handed.keys()) if (!open.has(id)) handed.delete(id);
}

/** Until an intent moves, by any process, or something is to be handed over again. Answers where the log stands then. */
async function news(
  place: Place,
  from: number,
  { handed, over }: { readonly handed: ReadonlyMap<string, Handed>; readonly over: AbortSignal },
): Promise<number> {
  const timer = new AbortController();
  const first = Math.min(...[...handed.values()].map(({ at }) => at + AGAIN_MS));
  const wait = AbortSignal.any([over, timer.signal]);
  const late = handed.size > 0 ? place.clock.sleep(first - place.clock.now(), wait) : undefined;
  void late?.then(() => timer.abort());
  let position = from;
  try {
    while (!wait.aborted) {
      const moved = await place.store.follow(position, wait);
      position = moved.position;
      if (moved.streams.some(({ tenant, stream }) => tenant === place.tenant && stream.kind === "intent"))
        break;
    }
  } finally {
    timer.abort();
  }
  return position;
}

/** What is there; where that is nothing, the next that comes within the time. */
export async function nextFor(
  runtime: Runtime,
  agent: string,
  { holdMs, signal }: WaitLimit,
): Promise<readonly Intent[]> {
  const { items } = await deliverable(runtime, agent);
  if (items.length > 0 || holdMs <= 0) return items;
  const over = new AbortController();
  void runtime.clock.sleep(holdMs, over.signal).then(() => over.abort());
  try {
    const until = AbortSignal.any([signal, over.signal]);
    for await (const { intent } of listenFor(runtime, agent, until)) return [intent];
    return [];
  } finally {
    over.abort();
  }
}

/** Ends when the signal aborts, or the instance closes. */
export async function* listenFor(
  runtime: Runtime,
  agent: string,
  signal: AbortSignal,
): AsyncGenerator<IntentDelivery> {
  const over = AbortSignal.any([signal, runtime.closing]);
  const handed = new Map<string, Handed>();
  let position = await runtime.store.position();
  while (!over.aborted) {
    for await (const delivery of due(runtime, agent, handed)) {
      if (over.aborted) return;
      yield delivery;
    }
    position = await news(runtime, position, { handed, over });
  }
}
