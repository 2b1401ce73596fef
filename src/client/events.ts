/**
 * What happens, as it happens, over as many connections as it takes.
 *
 * E1. Every entry that is asked for once, in commit order: a new connection goes on after the last position that was told.
 * E2. A connection on which nothing comes for longer than the server's signs of life is given up, and made anew.
 */
import { backOffMs, mayRepeat } from "./back-off.ts";
import { isClientError, noAnswer } from "./client-error.ts";
import { type Connection, credentialHeaders } from "./connection.ts";
import { createEventParser, type SentEvent } from "./event-stream.ts";
import { refusalOf } from "./send.ts";

export type EventsQuery = {
  /** Goes on after this position; begins now unless set. */
  readonly after?: number;
  /** Kinds of streams, such as `approval`; everything that the credential may read unless set. */
  readonly streams?: readonly string[];
  /** Only what is about this workflow. */
  readonly workflow?: string;
  /** Told once, when the first connection stands: everything after this position will come. */
  readonly onOpen?: (position: number) => void;
};

export type JournalEvent = {
  readonly position: number;
  /** `kind/id`. */
  readonly stream: string;
  readonly seq: number;
  readonly type: string;
  readonly at: string;
  readonly hash: string;
  readonly workflow_id: string | null;
  readonly body: unknown;
};

/** Three signs of life are missing. */
const SILENCE_MS = 45_000;
const RETRY_MS = 2_000;
const DIGITS = /^\d{1,16}$/;

type Course = { last: number | null; retryMs: number; failures: number; isOpen: boolean };

function opened({ onOpen }: EventsQuery, course: Course): void {
  course.failures = 0;
  if (!course.isOpen) onOpen?.(course.last ?? 0);
  course.isOpen = true;
}

function pathOf({ streams, workflow }: EventsQuery, { last }: Course): string {
  const query = new URLSearchParams();
  if (streams !== undefined) query.set("stream", streams.join(","));
  if (workflow !== undefined) query.set("workflow", workflow);
  if (last !== null) query.set("after", String(last));
  return `/api/events${query.size === 0 ? "" : `?${query}`}`;
}

/** Cuts a connection that says nothing. */
function watchdog(ms: number) {
  const silent = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const heard = () => {
    clearTimeout(timer);
    timer = setTimeout(() => silent.abort(), ms);
  };
  heard();
  return { signal: silent.signal, heard, stop: () => clearTimeout(timer) };
}

async function open(connection: Connection, path: string, signal: AbortSignal): Promise<Response> {
  const headers = { accept: "text/event-stream", ...credentialHeaders(connection) };
  const url = `${connection.server}${path}`;
  const response = await connection.fetch(url, { headers, signal, redirect: "error", cache: "no-store" });
  if (!response.ok) throw await refusalOf(connection, response, false);
  return response;
}

/** Until the connection ends, however it does. */
async function* eventsOf(
  connection: Connection,
  query: EventsQuery,
  course: Course,
  signal: AbortSignal,
): AsyncGenerator<SentEvent> {
  const dog = watchdog(SILENCE_MS);
  const over = new AbortController();
  const ends = AbortSignal.any([signal, dog.signal, over.signal]);
  const parse = createEventParser((ms) => {
    course.retryMs = ms;
  });
  try {
    const response = await open(connection, pathOf(query, course), ends);
    const decoder = new TextDecoder();
    for (const reader = response.body?.getReader(); reader !== undefined; ) {
      const { value, done } = await reader.read();
      if (done) return;
      dog.heard();
      yield* parse(decoder.decode(value, { stream: true }));
    }
  } catch (error) {
    if (signal.aborted) return;
    throw isClientError(error) ? error : noAnswer(connection.server, false, error);
  } finally {
    dog.stop();
    over.abort();
  }
}

const CONTROL = new Set(["ready", "closing"]);

function entryOf({ type, data }: SentEvent): JournalEvent | undefined {
  return data === "" || CONTROL.has(type) ? undefined : (JSON.parse(data) as JournalEvent);
}

/** Moves the course on; undefined for what is not an entry, or was told before. */
function taken(event: SentEvent, course: Course): JournalEvent | undefined {
  const position = DIGITS.test(event.id) ? Number(event.id) : null;
  const before = course.last;
  if (position !== null && (before === null || position > before)) course.last = position;
  const entry = entryOf(event);
  return entry === undefined || (before !== null && entry.position <= before) ? undefined : entry;
}

/** How long to stay away after a connection that ended, or that failed in a way that may pass. */
function pauseAfter(connection: Connection, course: Course, error: unknown): number {
  if (error === undefined) return Math.max(backOffMs(connection, course.failures++), course.retryMs / 2);
  if (!isClientError(error) || !mayRepeat(error, true)) throw error;
  return backOffMs(connection, course.failures++, error);
}

/** Ends when the signal aborts; throws what asking again would not change. */
export async function* followEvents(
  connection: Connection,
  query: EventsQuery = {},
  signal: AbortSignal = new AbortController().signal,
): AsyncGenerator<JournalEvent, void, undefined> {
  const course: Course = { last: query.after ?? null, retryMs: RETRY_MS, failures: 0, isOpen: false };
  while (!signal.aborted) {
    let failed: unknown;
    try {
      for await (const event of eventsOf(connection, query, course, signal)) {
        const entry = taken(event, course);
        if (event.type === "ready") opened(query, course);
        if (entry !== undefined) yield entry;
      }
    } catch (error) {
      failed = error;
    }
    if (signal.aborted) return;
    await connection.pause(pauseAfter(connection, course, failed), signal);
  }
}
