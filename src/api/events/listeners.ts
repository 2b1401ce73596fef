/**
 * Connections that listen to the journal: missed frames first, then live ones; limits, heartbeats and shutdown.
 * - Each frame that a listener wants is sent once, in commit order, also across reconnects: it resumes by position.
 * - A listener that does not read is disconnected and can resume; nothing is buffered for it.
 */

import type { ServerResponse } from "node:http";
import type { FastifyReply } from "fastify";
import type { Clock } from "../../kernel/clock.ts";
import { HoldpointError } from "../../kernel/errors.ts";
import { logPages } from "../../runtime/subscribe.ts";
import type { TenantStore } from "../../stores/store.ts";
import { createTally, overQuota } from "../guards/quotas.ts";
import type { TenantHost } from "../tenant-hosts.ts";
import { createHub, type Frame, type Hub, readFrames } from "./hub.ts";
import { createLongPolls, type LongPollLimits, type LongPolls } from "./long-polls.ts";

type FrameFilter = (frame: Frame) => boolean;

export type JournalListener = {
  /** Heartbeat that advances the client's position. */
  beat(): void;
  /** Ends the stream, with the delay before the client reconnects. */
  end(): void;
  /** Closes the connection at once. */
  cut(): void;
  readonly gone: Promise<void>;
};

const MOST_WAITING = 1_048_576;
const PAGE = 500;
export const RETRY_MS = 2_000;
const DRAIN_MS = 30_000;

/** Listeners with the same filter share one text, made once. */
const made = new WeakMap<readonly Frame[], Map<string, string>>();

function textFor(frames: readonly Frame[], { name, wants }: ListenRequest): string {
  const texts = made.get(frames) ?? new Map<string, string>();
  made.set(frames, texts);
  const known = texts.get(name);
  if (known !== undefined) return known;
  const text = frames
    .filter(wants)
    .map((frame) => frame.text())
    .join("");
  texts.set(name, text);
  return text;
}

export type ListenRequest = { readonly name: string; readonly wants: FrameFilter };
type Listening = {
  readonly hub: Hub;
  readonly place: TenantStore;
  readonly wish: ListenRequest;
  readonly response: ServerResponse;
  /** The last position that the client has. */
  readonly after: number;
};

/** A client that does not read for this long is disconnected. */
export function waitForDrain(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => response.destroy(), DRAIN_MS);
    timer.unref();
    const done = () => {
      clearTimeout(timer);
      resolve();
    };
    response.once("drain", done);
    response.once("close", done);
  });
}

export const whenClosed = (response: ServerResponse): Promise<void> =>
  new Promise((resolve) => {
    if (response.destroyed || response.closed) resolve();
    else response.once("close", resolve);
  });

/** Ends a stream, with the delay before the client reconnects. */
export function endStream(response: ServerResponse): void {
  if (!response.destroyed && !response.writableEnded)
    response.end(`retry: ${RETRY_MS}\nevent: closing\ndata: {}\n\n`);
}

export function listenToJournal({ hub, place, wish, response, after }: Listening): JournalListener {
  let last = after;
  let leave: () => void = () => undefined;
  const isOver = () => response.destroyed || response.writableEnded;
  const gone = whenClosed(response).then(() => leave());

  function put(text: string): void {
    if (text === "" || isOver()) return;
    response.write(text);
    if (response.writableLength > MOST_WAITING) response.destroy();
  }

  function hear(frames: readonly Frame[]): void {
    const [first] = frames;
    const isWhole = first === undefined || first.position > last;
    const fresh = isWhole ? frames : frames.filter(({ position }) => position > last);
    // Another node may have sent the client more than this one has read: the position never goes back.
    last = Math.max(last, frames.at(-1)?.position ?? last);
    put(textFor(fresh, wish));
  }

  /** In the same turn as `recent`, so without a gap. */
  function join(): boolean {
    const recent = hub.recent(last);
    if (recent === undefined) return false;
    hear(recent);
    leave = hub.join(hear);
    return true;
  }

  /** Reads from the store at the client's pace, until the hub can go on. */
  async function catchUp(): Promise<void> {
    const handedOut = hub.position();
    for await (const page of logPages(place, last, PAGE)) {
      hear(await readFrames(hub.frame, page));
      if (response.writableNeedDrain) await waitForDrain(response);
      if (isOver() || hub.recent(last) !== undefined) return;
    }
    // This tenant has no other entries up to there.
    last = Math.max(last, handedOut);
  }

  async function begin(): Promise<void> {
    while (!isOver() && !join()) await catchUp();
  }

  response.write(`retry: ${RETRY_MS}\nid: ${last}\nevent: ready\ndata: {"position":${last}}\n\n`);
  begin().catch(() => response.destroy());
  return {
    gone,
    beat: () => put(`:\nid: ${last}\n\n`),
    end() {
      leave();
      endStream(response);
    },
    cut: () => void response.destroy(),
  };
}

export type EventAudience = {
  hubOf(office: TenantHost): Hub;
  /** Stops following the tenant; its listeners end at their next heartbeat. */
  leave(office: TenantHost): void;
  /** Number of current listeners. */
  size(): number;
  /** Takes a slot for a credential, or refuses. Call the result with the connection. */
  admit(listening: Admission): (reply: FastifyReply) => void;
  /** Ends all streams; clients reconnect later. */
  end(): void;
  /** Long polls. */
  readonly holds: LongPolls;
};

type Admission = {
  readonly office: TenantHost;
  readonly credential: string;
  /** Starts sending on the connection. */
  readonly listen: (response: ServerResponse, hub: Hub) => JournalListener;
  /** Whether the credential is still valid, with the rights that the stream was opened with. */
  readonly stillKnown: () => Promise<boolean>;
};

type AudienceParts = {
  readonly clock: Clock;
  /** Most listeners of one credential. */
  readonly most: number;
  readonly holds: LongPollLimits;
  readonly failed: (error: unknown) => void;
  readonly beatMs?: number;
};

const BEAT_MS = 15_000;

function openStream(reply: FastifyReply): void {
  const { raw } = reply;
  raw.writeHead(200, {
    ...reply.getHeaders(),
    "content-type": "text/event-stream; charset=utf-8",
    // A buffering proxy would delay events.
    "x-accel-buffering": "no",
    connection: "keep-alive",
  } as Record<string, string>);
  raw.socket?.setNoDelay(true);
}

/** Runs until the connection closes. Each heartbeat also checks whether the credential is still valid. */
async function keepAlive(
  listener: JournalListener,
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
  const hubs = new Map<TenantHost, Hub>();
  return {
    of(office: TenantHost): Hub {
      const known = hubs.get(office) ?? createHub(office.runtime, clock, failed);
      hubs.set(office, known);
      return known;
    },
    leave(office: TenantHost): void {
      hubs.get(office)?.close();
      hubs.delete(office);
    },
    end(): void {
      for (const hub of hubs.values()) hub.close();
    },
  };
}

export function createAudience(parts: AudienceParts): EventAudience {
  const { clock, most, failed, beatMs = BEAT_MS } = parts;
  const hubs = createHubs(parts);
  const listeners = new Set<JournalListener>();
  const places = createTally();
  const pause = (signal: AbortSignal) => clock.sleep(beatMs, signal);
  const over = new AbortController();

  function take(credential: string): void {
    const taken = places.of(credential);
    if (taken >= most)
      throw overQuota("rate_limited", `There are ${taken} streams of this credential already.`, 5);
    places.add(credential, 1);
  }

  function open(admission: Admission, reply: FastifyReply): void {
    const { office, listen, credential } = admission;
    openStream(reply);
    const listener = listen(reply.raw, hubs.of(office));
    listeners.add(listener);
    listener.gone
      .then(() => {
        listeners.delete(listener);
        places.add(credential, -1);
      })
      .catch(failed);
    keepAlive(listener, admission, pause).catch(failed);
    if (over.signal.aborted) listener.end();
  }

  return {
    hubOf: hubs.of,
    leave: hubs.leave,
    holds: createLongPolls(parts.holds, over.signal, pause),
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
