/**
 * Server-sent events over as many connections as it takes.
 *
 * E1. A connection on which nothing comes for longer than the server's signs of life is given up, and made anew.
 * E2. It ends when the signal aborts, and throws only what asking again would not change.
 */
import { backOffMs, mayRepeat } from "./back-off.ts";
import { isClientError, noAnswer } from "./client-error.ts";
import { type Connection, credentialHeaders } from "./connection.ts";
import { createEventParser, type SentEvent } from "./event-stream.ts";
import { refusalOf } from "./send.ts";

/** Three signs of life are missing. */
const SILENCE_MS = 45_000;
const RETRY_MS = 2_000;

type Course = { retryMs: number; failures: number };
/** The path is asked for at every connection: it says where to go on. */
type Stream = { readonly path: () => string; readonly course: Course; readonly signal: AbortSignal };

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
function pauseAfter(connection: Connection, course: Course, error: unknown): number {
  if (error === undefined) return Math.max(backOffMs(connection, course.failures++), course.retryMs / 2);
  if (!isClientError(error) || !mayRepeat(error, true)) throw error;
  return backOffMs(connection, course.failures++, error);
}

export async function* sentEvents(
  connection: Connection,
  path: () => string,
  signal: AbortSignal,
  onLost?: () => void,
): AsyncGenerator<SentEvent, void, undefined> {
  const course: Course = { retryMs: RETRY_MS, failures: 0 };
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
