import { HoldpointError } from "../../kernel/errors.ts";
import { streamName } from "../../kernel/stream.ts";

import type { Moved } from "../store.ts";
import type { MemoryDatabase } from "./database.ts";

/** Those of one handle who wait: `stop` refuses them when it closes, or forgets them when it crashes. */
export type Waiting = Set<{ stop(how: "closed" | "crashed"): void }>;

export function moved(database: MemoryDatabase, after: number): Moved {
  const { moves } = database.data;
  const streams = new Map(
    moves.slice(after).map((move) => [JSON.stringify([move.tenant, streamName(move.stream)]), move]),
  );
  return { position: Math.max(after, moves.length), streams: [...streams.values()] };
}

export function follow(
  database: MemoryDatabase,
  waiting: Waiting,
  position: number,
  signal: AbortSignal,
): Promise<Moved> {
  const already = moved(database, position);
  if (signal.aborted) return Promise.resolve({ position, streams: [] });
  if (already.streams.length > 0) return Promise.resolve(already);
  const { promise, resolve, reject } = Promise.withResolvers<Moved>();
  const leave = () => {
    database.watchers.delete(wake);
    waiting.delete(waiter);
    signal.removeEventListener("abort", abort);
  };
  const settle = (answer: Moved) => {
    leave();
    resolve(answer);
  };
  const wake = () => settle(moved(database, position));
  const abort = () => settle({ position, streams: [] });
  const waiter = {
    stop(how: "closed" | "crashed") {
      leave();
      if (how === "closed")
        reject(new HoldpointError("closed", "The store was closed while somebody followed it."));
    },
  };
  database.watchers.add(wake);
  waiting.add(waiter);
  signal.addEventListener("abort", abort, { once: true });
  return promise;
}
