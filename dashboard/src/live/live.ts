/**
 * The journal as it is written: one stream for the whole desk.
 *
 * L1. Whatever an entry touches is asked anew, at most four times a second however many entries come.
 * L2. After a break everything is asked anew: nobody looks at what was true before it without being told.
 */
import type { QueryClient } from "@tanstack/react-query";
import { isClientError } from "holdpoint/client";
import { client } from "../api/client.ts";
import { type Subject, touchedBy } from "./touches.ts";

export type Connection = "connecting" | "live" | "lost" | "refused";

const GATHER_MS = 250;

type Listener = () => void;
let connection: Connection = "connecting";
const listeners = new Set<Listener>();

function tell(next: Connection): void {
  if (next === connection) return;
  connection = next;
  for (const listener of listeners) listener();
}

export const connectionNow = (): Connection => connection;
export function onConnection(listener: Listener): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

/** Gathers what was touched, and asks for all of it at once. The first is asked for without waiting. */
function gatherer(queries: QueryClient) {
  const stale = new Set<Subject>();
  let isAsking = false;
  const pause = () => new Promise((resolve) => window.setTimeout(resolve, GATHER_MS));
  const ask = async () => {
    isAsking = true;
    while (stale.size > 0) {
      const touched = [...stale];
      stale.clear();
      const asked = touched.map((subject) => queries.invalidateQueries({ queryKey: [subject] }));
      // Never again before the last answers are there: an asking that is broken off by the next one would never end.
      await Promise.all([pause(), ...asked]);
    }
    isAsking = false;
  };
  return (subjects: readonly Subject[]) => {
    for (const subject of subjects) stale.add(subject);
    if (!isAsking) void ask();
  };
}

/** Told by the browser sooner than a connection is missed. */
function untilOffline(signal: AbortSignal): AbortSignal {
  const cut = new AbortController();
  window.addEventListener("offline", () => cut.abort(), { signal: AbortSignal.any([signal, cut.signal]) });
  return AbortSignal.any([signal, cut.signal]);
}

function online(): Promise<void> {
  if (navigator.onLine) return Promise.resolve();
  return new Promise((resolve) => window.addEventListener("online", () => resolve(), { once: true }));
}

/** Nobody knows what was missed since the last connection was lost. */
let wasLost = false;

async function follow(queries: QueryClient, signal: AbortSignal): Promise<void> {
  const touch = gatherer(queries);
  const onConnection = (isOpen: boolean) => {
    tell(isOpen ? "live" : "lost");
    if (isOpen && wasLost) void queries.invalidateQueries();
    wasLost = !isOpen;
  };
  const events = client.events({ onConnection }, untilOffline(signal));
  for await (const { stream } of events) touch(touchedBy(stream));
  onConnection(false);
}

const AGAIN_MS = 5_000;
const pause = () => new Promise((resolve) => window.setTimeout(resolve, AGAIN_MS));

/** Until the signal aborts. What a stream cannot be had for is said, and tried again: the store may have been restored. */
export async function keepLive(queries: QueryClient, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    try {
      await follow(queries, signal);
    } catch (error) {
      tell("refused");
      wasLost = true;
      if (isClientError(error) && error.status === 401)
        void queries.invalidateQueries({ queryKey: ["session"] });
      await pause();
    }
    await online();
  }
}
