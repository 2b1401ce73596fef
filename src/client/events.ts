/**
 * Live events and intents: server-sent events, with reconnects as needed.
 * - Every entry once, in commit order: a new connection resumes after the last position.
 * - A connection that is silent for longer than the server's heartbeat is replaced.
 * - It ends when the signal aborts, and throws only errors that a retry would not change.
 * - An intent that the agent did not acknowledge is delivered again, after a reconnect and after a while.
 */

import type { AnswerOf } from "./calls.ts";
import {
  backOffMs,
  type Connection,
  credentialHeaders,
  isClientError,
  mayRepeat,
  noAnswer,
  problemFrom,
} from "./connection.ts";

export type SentEvent = {
  /** The last id that was sent, with this event or before it. */
  readonly id: string;
  readonly type: string;
  /** Empty if only the id advanced. */
  readonly data: string;
};

type Block = { type: string; data: string[]; moved: boolean };
const emptyBlock = (): Block => ({ type: "", data: [], moved: false });

/** Lines end with \n, \r\n or \r. An unfinished line stays in `rest`. */
function linesOf(text: string): { readonly lines: readonly string[]; readonly rest: string } {
  // A \r at the end may be half of a \r\n.
  const isHalf = text.endsWith("\r");
  const parts = (isHalf ? text.slice(0, -1) : text).split(/\r\n|\n|\r/);
  const rest = parts.pop() ?? "";
  return { lines: parts, rest: isHalf ? `${rest}\r` : rest };
}

/** `took` receives the delay that the server wants before a reconnect. */
export function createEventParser(took: (retryMs: number) => void) {
  let rest = "";
  let id = "";
  let block = emptyBlock();

  function field(name: string, value: string): void {
    if (name === "data") block.data.push(value);
    else if (name === "event") block.type = value;
    else if (name === "retry" && /^\d{1,9}$/.test(value)) took(Number(value));
    else if (name === "id" && !value.includes("\0")) {
      id = value;
      block.moved = true;
    }
  }

  function line(text: string): SentEvent | undefined {
    if (text !== "") {
      const [, name = "", value = ""] = /^([^:]*)(?:: ?(.*))?$/s.exec(text) ?? [];
      if (name !== "") field(name, value);
      return undefined;
    }
    const { type, data, moved } = block;
    block = emptyBlock();
    if (data.length === 0 && !moved) return undefined;
    return { id, type: type === "" ? "message" : type, data: data.join("\n") };
  }

  return (text: string): readonly SentEvent[] => {
    const read = linesOf(rest + text);
    rest = read.rest;
    return read.lines.flatMap((one) => line(one) ?? []);
  };
}

/** Three missed heartbeats. */
const SILENCE_MS = 45_000;
const RETRY_MS = 2_000;

type StreamCourse = { retryMs: number; failures: number };
/** The path is computed for each connection: it contains the position to resume from. */
type Stream = { readonly path: () => string; readonly course: StreamCourse; readonly signal: AbortSignal };

/** Aborts a connection that is silent. */
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
  if (!response.ok) throw await problemFrom(connection, response, false);
  return response;
}

/** Yields until the connection ends for any reason. */
async function* eventsOf(
  connection: Connection,
  { path, course, signal }: Stream,
): AsyncGenerator<SentEvent> {
  const dog = watchdog(SILENCE_MS);
  const over = new AbortController();
  const ends = AbortSignal.any([signal, dog.signal, over.signal]);
  const parse = createEventParser((ms) => {
    course.retryMs = ms;
  });
  try {
    const response = await open(connection, path(), ends);
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

/** Delay before reconnecting, after a connection ended or failed temporarily. */
function pauseAfter(connection: Connection, course: StreamCourse, error: unknown): number {
  if (error === undefined) return Math.max(backOffMs(connection, course.failures++), course.retryMs / 2);
  if (!isClientError(error) || !mayRepeat(error, true)) throw error;
  return backOffMs(connection, course.failures++, error);
}

async function* sentEvents(
  connection: Connection,
  path: () => string,
  signal: AbortSignal,
  onLost?: () => void,
): AsyncGenerator<SentEvent, void, undefined> {
  const course: StreamCourse = { retryMs: RETRY_MS, failures: 0 };
  while (!signal.aborted) {
    let failed: unknown;
    try {
      for await (const event of eventsOf(connection, { path, course, signal })) {
        if (event.type === "ready") course.failures = 0;
        yield event;
      }
    } catch (error) {
      failed = error;
    }
    if (signal.aborted) return;
    onLost?.();
    await connection.pause(pauseAfter(connection, course, failed), signal);
  }
}

export type EventsQuery = {
  /** Resumes after this position. Default: starts now. */
  readonly after?: number;
  /** Kinds of streams, such as `approval`. Default: all that the credential may read. */
  readonly streams?: readonly string[];
  /** Only events about this workflow. */
  readonly workflow?: string;
  /** Called once, when the first connection is open: every event after this position will follow. */
  readonly onOpen?: (position: number) => void;
  /** Called whenever a connection opens or is lost. Events missed in between follow with the next connection. */
  readonly onConnection?: (isOpen: boolean) => void;
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

const DIGITS = /^\d{1,16}$/;
const CONTROL = new Set(["ready", "closing"]);

type EventsCourse = { last: number | null; isOpen: boolean };

function pathOf({ streams, workflow }: EventsQuery, { last }: EventsCourse): string {
  const query = new URLSearchParams();
  if (streams !== undefined) query.set("stream", streams.join(","));
  if (workflow !== undefined) query.set("workflow", workflow);
  if (last !== null) query.set("after", String(last));
  return `/api/events${query.size === 0 ? "" : `?${query}`}`;
}

function opened({ onOpen }: EventsQuery, course: EventsCourse): void {
  if (!course.isOpen) onOpen?.(course.last ?? 0);
  course.isOpen = true;
}

/** Advances the position; undefined for an event that is not an entry, or that was already yielded. */
function taken({ id, type, data }: SentEvent, course: EventsCourse): JournalEvent | undefined {
  const position = DIGITS.test(id) ? Number(id) : null;
  const before = course.last;
  if (position !== null && (before === null || position > before)) course.last = position;
  if (data === "" || CONTROL.has(type)) return undefined;
  const entry = JSON.parse(data) as JournalEvent;
  return before !== null && entry.position <= before ? undefined : entry;
}

/** Ends when the signal aborts. Throws errors that a retry would not change. */
export async function* followEvents(
  connection: Connection,
  query: EventsQuery = {},
  signal: AbortSignal = new AbortController().signal,
): AsyncGenerator<JournalEvent, void, undefined> {
  const course: EventsCourse = { last: query.after ?? null, isOpen: false };
  const lost = () => query.onConnection?.(false);
  for await (const event of sentEvents(connection, () => pathOf(query, course), signal, lost)) {
    const entry = taken(event, course);
    if (event.type === "ready") {
      opened(query, course);
      query.onConnection?.(true);
    }
    if (entry !== undefined) yield entry;
  }
}

export type HandedIntent = AnswerOf<"GET /api/intents/{id}"> & {
  /** How often it was delivered on this connection. */
  readonly times: number;
};

export type ListenQuery = {
  /** Only for a server without authentication; otherwise the credential determines the agent. */
  readonly agent?: string;
};

/** Ends when the signal aborts. Throws errors that a retry would not change. */
export async function* followIntents(
  connection: Connection,
  { agent }: ListenQuery = {},
  signal: AbortSignal = new AbortController().signal,
): AsyncGenerator<HandedIntent, void, undefined> {
  const query = agent === undefined ? "" : `?${new URLSearchParams({ agent })}`;
  for await (const { type, data } of sentEvents(connection, () => `/api/intents/stream${query}`, signal))
    if (type === "intent" && data !== "") yield JSON.parse(data) as HandedIntent;
}
