/**
 * What happens, as it happens.
 *
 * F1. Every entry that is asked for once, in commit order: a new connection goes on after the last position that was told.
 */
import type { Connection } from "./connection.ts";
import type { SentEvent } from "./event-stream.ts";
import { sentEvents } from "./stream.ts";

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

type Course = { last: number | null; isOpen: boolean };

function pathOf({ streams, workflow }: EventsQuery, { last }: Course): string {
  const query = new URLSearchParams();
  if (streams !== undefined) query.set("stream", streams.join(","));
  if (workflow !== undefined) query.set("workflow", workflow);
  if (last !== null) query.set("after", String(last));
  return `/api/events${query.size === 0 ? "" : `?${query}`}`;
}

function opened({ onOpen }: EventsQuery, course: Course): void {
  if (!course.isOpen) onOpen?.(course.last ?? 0);
  course.isOpen = true;
}

/** Moves the course on; undefined for what is not an entry, or was told before. */
function taken({ id, type, data }: SentEvent, course: Course): JournalEvent | undefined {
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
  const course: Course = { last: query.after ?? null, isOpen: false };
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
