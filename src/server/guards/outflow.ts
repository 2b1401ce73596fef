/**
 * Answers that are on their way out.
 *
 * O1. What nobody reads is kept in memory, so only so many bytes of it are: of one principal, and of all. Whoever is beyond it is
 *     refused before anything is done for them; a reading that was done is not answered either.
 * O2. A connection on which nothing moves while an answer is on its way is cut.
 */
import type { ServerResponse } from "node:http";
import { Socket } from "node:net";
import { HoldpointError } from "../../kernel/errors.ts";

export type OutflowLimits = {
  /** Bytes that may wait: of one principal, and of all. */
  readonly each: number;
  readonly all: number;
  /** How long a connection may stand still under an answer. */
  readonly stillMs: number;
};

export const OUTFLOW: OutflowLimits = {
  each: 64 * 1024 * 1024,
  all: 256 * 1024 * 1024,
  stillMs: 30_000,
};

export type Outflow = {
  /** Throws where too much waits already for it, and `bytes` more would be. */
  check(name: string, bytes: number): void;
  /** Counts an answer until it has left, or its connection is gone. */
  follow(name: string, bytes: number, response: ServerResponse): void;
};

const AGAIN_SECONDS = 5;

function refuse(code: "rate_limited" | "server_busy", what: string): never {
  throw new HoldpointError(code, what, {
    details: { retry_after: AGAIN_SECONDS },
    next: "Read the answers that are on their way, then call again; ask for shorter pages.",
  });
}

export function createOutflow({ each, all, stillMs }: OutflowLimits): Outflow {
  const waiting = new Map<string, number>();
  let total = 0;

  function add(name: string, bytes: number): void {
    const left = (waiting.get(name) ?? 0) + bytes;
    total += bytes;
    if (left > 0) waiting.set(name, left);
    else waiting.delete(name);
  }

  return {
    check(name, bytes) {
      const own = waiting.get(name) ?? 0;
      // One answer by itself always fits.
      if (own > 0 && own + bytes > each)
        refuse("rate_limited", "Answers of this principal wait to be read, as many as the server keeps.");
      if (total > 0 && total + bytes > all)
        refuse("server_busy", "As many answers wait to be read as the server keeps.");
    },
    follow(name, bytes, response) {
      if (bytes === 0 || response.destroyed) return;
      add(name, bytes);
      let left = bytes;
      const done = () => {
        add(name, -left);
        left = 0;
      };
      response.once("finish", done);
      response.once("close", done);
      // Whatever is written or read begins it anew; Node destroys the socket where nobody else listens for it.
      if (response.socket instanceof Socket) response.socket.setTimeout(stillMs);
    },
  };
}
