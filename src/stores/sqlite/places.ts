/** Numbers of streams and positions of entries, given out by counting on from the last ones in the file. */
import type { DatabaseSync } from "node:sqlite";

export type Places = {
  /** The last numbers given out. */
  last(): { readonly position: number; readonly sid: number };
  takeSid(): number;
  takePositions(count: number): number;
  /** Whether the last numbers in the file are those given out here; after others wrote, it counts on from theirs. */
  areCurrent(): boolean;
  /** Numbers that were given out are not in the file after all: look again. */
  forget(): void;
};

export function preparePlaces(db: DatabaseSync): Places {
  const select = db.prepare(
    `SELECT (SELECT coalesce(max(position), 0) FROM hp_entries) AS position,
            (SELECT coalesce(max(sid), 0) FROM hp_streams) AS sid`,
  );
  let known: { position: number; sid: number } | undefined;
  const inFile = () => {
    const row = select.get();
    return { position: Number(row?.["position"]), sid: Number(row?.["sid"]) };
  };
  const last = () => {
    known ??= inFile();
    return known;
  };
  return {
    last,
    areCurrent() {
      const before = known;
      known = inFile();
      return before?.position === known.position && before.sid === known.sid;
    },
    takeSid: () => ++last().sid,
    takePositions(count) {
      const places = last();
      places.position += count;
      return places.position - count + 1;
    },
    forget() {
      known = undefined;
    },
  };
}
