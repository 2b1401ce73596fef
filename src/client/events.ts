/**
 * Live events and intents: server-sent events over as many connections as it takes.
 * - Every entry once, in commit order: a new connection resumes after the last position.
 * - A connection that is silent for longer than the server's heartbeat is replaced.
 * - It ends when the signal aborts, and throws only errors that a retry would not change.
 * - An intent that nobody acknowledged is delivered again, after a reconnect and after a while.
 */

import type { AnswerOf } from "./calls.ts";
import { isClientError, noAnswer } from "./client-error.ts";
import { backOffMs, type Connection, credentialHeaders, mayRepeat, problemFrom } from "./connection.ts";

export type SentEvent = {
  /** The last id that was sent, with this event or before it. */
  readonly id: string;
  readonly type: string;
  /** Empty where only the id moved on. */
  readonly data: string;
};

type Block = { type: string; data: string[]; moved: boolean };
const emptyBlock = (): Block => ({ type: "", data: [], moved: false });

/** Lines end with \n, \r\n or \r; one that is not ended yet stays in `rest`. */
function linesOf(text: string): { readonly lines: readonly string[]; readonly rest: string } {
  // A \r at the end may be half of a \r\n.
  const isHalf = text.endsWith("\r");
  const parts = (isHalf ? text.slice(0, -1) : text).split(/\r\n|\n|\r/);
  const rest = parts.pop() ?? "";
  return { lines: parts, rest: isHalf ? `${rest}\r` : rest };
}

/** `took` is told how long the server wants whoever comes back to wait. */
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

/** Three signs of life are missing. */
const SILENCE_MS = 45_000;
const RETRY_MS = 2_000;

type StreamCourse = { retryMs: number; failures: number };
/** The path is asked for at every connection: it says where to go on. */
type Stream = { readonly path: () => string; readonly course: StreamCourse; readonly signal: AbortSignal };

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
  if (!response.ok) throw await problemFrom(connection, response, false);
  return response;
}

/** Until the connection ends, however it does. */
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

/** How long to stay away after a connection that ended, or that failed in a way that may pass. */
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
  /** Goes on after this position; begins now unless set. */
  readonly after?: number;
  /** Kinds of streams, such as `approval`; everything that the credential may read unless set. */
  readonly streams?: readonly string[];
  /** Only what is about this workflow. */
  readonly workflow?: string;
  /** Told once, when the first connection stands: everything after this position will come. */
  readonly onOpen?: (position: number) => void;
  /** Told whenever a connection stands, and whenever it is lost: what happened meanwhile comes with the next one. */
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

/** Moves the course on; undefined for what is not an entry, or was told before. */
function taken({ id, type, data }: SentEvent, course: EventsCourse): JournalEvent | undefined {
  const position = DIGITS.test(id) ? Number(id) : null;
  const before = course.last;
  if (position !== null && (before === null || position > before)) course.last = position;
  if (data === "" || CONTROL.has(type)) return undefined;
  const entry = JSON.parse(data) as JournalEvent;
  return before !== null && entry.position <= before ? undefined : entry;
}

/** Ends when the signal aborts; throws what asking again would not change. */
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
  /** How often it was handed over on this connection. */
  readonly times: number;
};

export type ListenQuery = {
  /** Only where the server authenticates nobody; otherwise it is whoever the credential is. */
  readonly agent?: string;
};

/** Ends when the signal aborts; throws what asking again would not change. */
export async function* followIntents(
  connection: Connection,
  { agent }: ListenQuery = {},
  signal: AbortSignal = new AbortController().signal,
): AsyncGenerator<HandedIntent, void, undefined> {
  const query = agent === undefined ? "" : `?${new URLSearchParams({ agent })}`;
  for await (const { type, data } of sentEvents(connection, () => `/api/intents/stream${query}`, signal))
    if (type === "intent" && data !== "") yield JSON.parse(data) as HandedIntent;
}
