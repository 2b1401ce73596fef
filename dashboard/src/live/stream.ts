/** The journal as it is written, over as many connections as it takes. */
import { isClientError } from "holdpoint/client";
import { client } from "../api/client.ts";
import type { Connection } from "./one-stream.ts";
import { type Subject, touchedBy } from "./touches.ts";

export type Told = {
  readonly connection: (now: Connection) => void;
  readonly touched: (subjects: readonly Subject[]) => void;
  /** Whoever had the stream is no longer logged in. */
  readonly nobody: () => void;
};

/** Told by the browser sooner than a connection is missed. */
function untilOffline(signal: AbortSignal): AbortSignal {
  const cut = new AbortController();
  window.addEventListener("offline", () => cut.abort(), { signal: AbortSignal.any([signal, cut.signal]) });
  return AbortSignal.any([signal, cut.signal]);
}

function online(signal: AbortSignal): Promise<void> {
  if (navigator.onLine || signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    window.addEventListener("online", () => resolve(), { once: true, signal });
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
}

async function follow({ connection, touched }: Told, signal: AbortSignal): Promise<void> {
  const onConnection = (isOpen: boolean) => {
    if (!signal.aborted) connection(isOpen ? "live" : "lost");
  };
  for await (const { stream } of client.events({ onConnection }, untilOffline(signal))) {
    if (signal.aborted) return;
    touched(touchedBy(stream));
  }
  onConnection(false);
}

const AGAIN_MS = 5_000;
const pause = (signal: AbortSignal) =>
  new Promise<void>((resolve) => {
    window.setTimeout(resolve, AGAIN_MS);
    signal.addEventListener("abort", () => resolve(), { once: true });
  });

/** Until the signal aborts. What a stream cannot be had for is said, and tried again: the store may have been restored. */
export async function holdStream(told: Told, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    try {
      await follow(told, signal);
    } catch (error) {
      if (signal.aborted) return;
      told.connection("refused");
      if (isClientError(error) && error.status === 401) told.nobody();
      await pause(signal);
    }
    await online(signal);
  }
}
