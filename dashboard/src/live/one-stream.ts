/**
 * One stream for all tabs of a browser: what the tab that holds it tells, and what every tab, that one too, makes of it.
 *
 * O1. A note that does not follow the last one that was heard makes everything stale: nothing is missed without being asked for.
 * O2. A holder that does not answer, or lost its connection where nobody looks and timers are slow, is relieved by whoever looks.
 */
import type { Subject } from "./touches.ts";

export type Connection = "connecting" | "live" | "lost" | "refused";

/** What a holder tells: how its stream stands, and what has become stale since its last note. */
export type Note = {
  readonly holder: string;
  /** How often something has become stale since it holds the stream. */
  readonly count: number;
  readonly connection: Connection;
  readonly isHidden: boolean;
  readonly touched: readonly Subject[];
};

/** What a tab knows. */
export type Heard = Pick<Note, "count" | "connection" | "isHidden"> & {
  readonly holder: string | null;
  /** It asked, and nobody has answered yet. */
  readonly isAsking: boolean;
};

export type Stale = readonly Subject[] | "everything";

/** Of a tab that has not heard anything, or for a while could not. */
export const NOTHING_HEARD: Heard = {
  ...{ holder: null, count: 0, connection: "connecting", isHidden: false, isAsking: false },
};

function follows(note: Note, { holder, count, connection }: Heard): boolean {
  const next = note.touched.length === 0 ? count : count + 1;
  return connection === "live" && note.holder === holder && note.count === next;
}

export function hear(before: Heard, note: Note): { readonly heard: Heard; readonly stale: Stale } {
  const { holder, count, connection, isHidden, touched } = note;
  const heard = { holder, count, connection, isHidden, isAsking: false };
  if (connection !== "live") return { heard, stale: [] };
  return { heard, stale: follows(note, before) ? touched : "everything" };
}

export const asking = (heard: Heard): Heard => ({ ...heard, isAsking: true });

/** Asked a while after the last question, by a tab that somebody looks at. */
export const isToBeRelieved = ({ isAsking, isHidden, connection }: Heard): boolean =>
  isAsking || (isHidden && connection !== "live");

/** The first note of a new holder. */
export const firstNote = (holder: string): Note => ({
  ...{ holder, count: 0, connection: "connecting", isHidden: false, touched: [] },
});

export const standing = (last: Note, connection: Connection): Note => ({ ...last, connection, touched: [] });

export const touching = (last: Note, touched: readonly Subject[]): Note => ({
  ...last,
  count: last.count + 1,
  touched,
});
