/** Everybody who listens to this process: how many each credential may be, signs of life, and the end. */
import type { ServerResponse } from "node:http";
import type { FastifyReply } from "fastify";
import type { Clock } from "../../kernel/clock.ts";
import { HoldpointError } from "../../kernel/errors.ts";

import type { Office } from "../tenants.ts";
import { createHolds, type HoldLimits, type Holds } from "./holds.ts";
import { createHub, type Hub } from "./hub.ts";
import type { Listener } from "./listener.ts";

export type Audience = {
  hubOf(office: Office): Hub;
  /** Nothing of it is followed any more; its listeners are told at their next beat. */
  leave(office: Office): void;
  /** How many listen now. */
  size(): number;
  /** Takes a place for a credential, or refuses; what comes back is called with the connection. */
  admit(listening: Admission): (reply: FastifyReply) => void;
  /** Everybody is told to come back later. */
  end(): void;
  /** Requests that wait. */
  readonly holds: Holds;
};

export type Admission = {
  readonly office: Office;
  readonly credential: string;
  /** Begins to speak on the connection. */
  readonly listen: (response: ServerResponse, hub: Hub) => Listener;
  /** Whether the credential holds, with the rights that the stream was opened with. */
  readonly stillKnown: () => Promise<boolean>;
};

export type AudienceParts = {
  readonly clock: Clock;
  /** Of one credential. */
  readonly most: number;
  readonly holds: HoldLimits;
  readonly failed: (error: unknown) => void;
  readonly beatMs?: number;
};

const BEAT_MS = 15_000;

function openStream(reply: FastifyReply): void {
  const { raw } = reply;
  raw.writeHead(200, {
    ...reply.getHeaders(),
    "content-type": "text/event-stream; charset=utf-8",
    // A proxy that collects answers would keep events back.
    "x-accel-buffering": "no",
    connection: "keep-alive",
  } as Record<string, string>);
  raw.socket?.setNoDelay(true);
}

/** Until the connection is gone: each beat also asks whether the credential still holds. */
async function keepAlive(
  listener: Listener,
  { stillKnown }: Admission,
  pause: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const over = new AbortController();
  listener.gone.then(() => over.abort()).catch(() => undefined);
  for (;;) {
    await pause(over.signal);
    if (over.signal.aborted) return;
    if (await stillKnown().catch(() => true)) listener.beat();
    else return listener.end();
  }
}

function createHubs({ clock, failed }: AudienceParts) {
  const hubs = new Map<Office, Hub>();
  return {
    of(office: Office): Hub {
      const known = hubs.get(office) ?? createHub(office.runtime, clock, failed);
      hubs.set(office, known);
      return known;
    },
    leave(office: Office): void {
      hubs.get(office)?.close();
      hubs.delete(office);
    },
    end(): void {
      for (const hub of hubs.values()) hub.close();
    },
  };
}

export function createAudience(parts: AudienceParts): Audience {
  const { clock, most, failed, beatMs = BEAT_MS } = parts;
  const hubs = createHubs(parts);
  const listeners = new Set<Listener>();
  const places = new Map<string, number>();
  const pause = (signal: AbortSignal) => clock.sleep(beatMs, signal);
  const over = new AbortController();

  function release(credential: string): void {
    const left = (places.get(credential) ?? 1) - 1;
    if (left <= 0) places.delete(credential);
    else places.set(credential, left);
  }

  function take(credential: string): void {
    const taken = places.get(credential) ?? 0;
    if (taken >= most)
      throw new HoldpointError("rate_limited", `There are ${taken} streams of this credential already.`, {
        details: { retry_after: 5 },
      });
    places.set(credential, taken + 1);
  }

  function open(admission: Admission, reply: FastifyReply): void {
    const { office, listen, credential } = admission;
    openStream(reply);
    const listener = listen(reply.raw, hubs.of(office));
    listeners.add(listener);
    listener.gone
      .then(() => {
        listeners.delete(listener);
        release(credential);
      })
      .catch(failed);
    keepAlive(listener, admission, pause).catch(failed);
    if (over.signal.aborted) listener.end();
  }

  return {
    hubOf: hubs.of,
    leave: hubs.leave,
    holds: createHolds(parts.holds, over.signal, pause),
    size: () => listeners.size,
    admit(admission) {
      if (over.signal.aborted) throw new HoldpointError("closed", "The server is closing.");
      take(admission.credential);
      return (reply) => open(admission, reply);
    },
    end() {
      over.abort();
      for (const listener of [...listeners]) listener.end();
      hubs.end();
    },
  };
}
