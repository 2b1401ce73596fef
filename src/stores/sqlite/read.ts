import type { DatabaseSync, StatementSync } from "node:sqlite";
import { setImmediate as nextTurn } from "node:timers/promises";
import { findStreamRef } from "../../kernel/stream.ts";
import type { JournalEntry, Moved } from "../store.ts";
import { hex } from "./hex.ts";
import { type Patience, patiently } from "./patience.ts";

export type Reads = {
  stream(
    tid: number,
    name: string,
    options: { fromSeq: number; limit: number },
  ): Promise<readonly JournalEntry[]>;
  log(tid: number, after: number, limit: number): Promise<readonly JournalEntry[]>;
  position(): number;
  moved(after: number): Moved;
};

const PAGE = 256;
/** A follower that slept for long gets what moved in portions. */
const MOST_MOVES = 20_000;
const COLUMNS = "position, header, hash, salt, body";

export function prepareReads(db: DatabaseSync, patience: Patience): Reads {
  const stream = db.prepare(
    `SELECT ${COLUMNS}, seq AS place FROM hp_entries
     WHERE sid = (SELECT sid FROM hp_streams WHERE tid = ? AND name = ?) AND seq > ? ORDER BY seq LIMIT ?`,
  );
  const log = db.prepare(
    `SELECT ${COLUMNS}, position AS place FROM hp_entries WHERE tid = ? AND position > ? ORDER BY position LIMIT ?`,
  );
  const position = db.prepare("SELECT coalesce(max(position), 0) AS position FROM hp_entries");
  return {
    stream: (tid, name, { fromSeq, limit }) =>
      paged(patience, stream, { key: [tid, name], after: fromSeq - 1, limit }),
    log: (tid, after, limit) => paged(patience, log, { key: [tid], after, limit }),
    position: () => Number(position.get()?.["position"]),
    moved: prepareMoved(db),
  };
}

/** Between two pages others get their turn, and no page holds a snapshot of the file open. */
async function paged(
  patience: Patience,
  statement: StatementSync,
  { key, after, limit }: { key: readonly (number | string)[]; after: number; limit: number },
): Promise<readonly JournalEntry[]> {
  const entries: JournalEntry[] = [];
  for (let place = after; ; await nextTurn()) {
    const wanted = Math.min(PAGE, limit - entries.length);
    const rows = wanted > 0 ? await patiently(patience, () => statement.all(...key, place, wanted)) : [];
    for (const row of rows) entries.push(journalEntry(row));
    if (rows.length < PAGE) return entries;
    place = Number(rows.at(-1)?.["place"]);
  }
}

function journalEntry(row: Record<string, unknown>): JournalEntry {
  return {
    position: Number(row["position"]),
    header: String(row["header"]),
    hash: hex(row["hash"]),
    salt: row["salt"] === null ? null : hex(row["salt"]),
    body: row["body"] === null ? null : String(row["body"]),
  };
}

function prepareMoved(db: DatabaseSync): (after: number) => Moved {
  const last = db.prepare(
    "SELECT max(position) AS position FROM (SELECT position FROM hp_entries WHERE position > ? ORDER BY position LIMIT ?)",
  );
  const moves = db.prepare(
    `SELECT t.tenant, s.name FROM (SELECT DISTINCT sid FROM hp_entries WHERE position > ? AND position <= ?) e
     JOIN hp_streams s ON s.sid = e.sid JOIN hp_tenants t ON t.tid = s.tid`,
  );
  return (after) => {
    const position = last.get(after, MOST_MOVES)?.["position"];
    if (typeof position !== "number") return { position: after, streams: [] };
    const rows = moves.all(after, position);
    const streams = rows.flatMap((row) => {
      const stream = findStreamRef(String(row["name"]));
      return stream === undefined ? [] : [{ tenant: String(row["tenant"]), stream }];
    });
    return { position, streams };
  };
}
