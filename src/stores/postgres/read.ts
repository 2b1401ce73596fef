/** Reading the journal. Order is that of transactions; what is not settled yet is not in it. */
import type { JournalEntry } from "../store.ts";
import { type Ask, hexAt, numberAt, textAt } from "./ask.ts";
import type { Row } from "./pipeline.ts";
import { keyOf } from "./text-key.ts";

export type Reads = {
  stream(
    tid: number,
    name: string,
    options: { fromSeq: number; limit: number },
  ): Promise<readonly JournalEntry[]>;
  log(tid: number, after: number, limit: number): Promise<readonly JournalEntry[]>;
  position(): Promise<number>;
};

const PAGE = 256;
const COLUMNS = "e.position, e.header, e.hash, e.salt, e.body";

/** No transaction that still runs, or begins later, has a position before this. */
export const horizonOf = (schema: string): string =>
  `(SELECT value::int8 FROM ${schema}.hp_meta WHERE key = 'base') +
    pg_snapshot_xmin(pg_current_snapshot())::text::int8 * 16384`;

export function prepareReads({ ask }: Ask, schema: string): Reads {
  const horizon = horizonOf(schema);
  const stream = {
    name: "hp_stream",
    text: `SELECT ${COLUMNS}, e.seq FROM ${schema}.hp_entries e
      WHERE e.sid = (SELECT s.sid FROM ${schema}.hp_streams s WHERE s.tid = $1 AND s.key = $2) AND e.seq > $3
      ORDER BY e.seq LIMIT $4`,
  };
  const log = {
    name: "hp_log",
    text: `SELECT ${COLUMNS}, e.position FROM ${schema}.hp_entries e
      WHERE e.tid = $1 AND e.position > $2 AND e.position < (SELECT ${horizon}) ORDER BY e.position LIMIT $3`,
  };
  const position = {
    name: "hp_position",
    text: `SELECT coalesce(max(position), 0) FROM ${schema}.hp_moves WHERE position < (SELECT ${horizon})`,
  };
  return {
    stream: (tid, name, { fromSeq, limit }) =>
      paged(fromSeq - 1, limit, async (after, many) => {
        const [rows = []] = await ask(tid, { statement: stream, values: [tid, keyOf(name), after, many] });
        return rows;
      }),
    log: (tid, after, limit) =>
      paged(after, limit, async (place, many) => {
        const [rows = []] = await ask(tid, { statement: log, values: [tid, place, many] });
        return rows;
      }),
    async position() {
      const [rows] = await ask("ids", { statement: position });
      return numberAt(rows?.[0], 0);
    },
  };
}

/** In pages: none of them is large, and none holds a moment of the database open. */
async function paged(
  start: number,
  limit: number,
  page: (after: number, many: number) => Promise<readonly Row[]>,
): Promise<readonly JournalEntry[]> {
  const entries: JournalEntry[] = [];
  for (let after = start; ; ) {
    const wanted = Math.min(PAGE, limit - entries.length);
    const rows = wanted > 0 ? await page(after, wanted) : [];
    for (const row of rows) entries.push(journalEntry(row));
    if (rows.length < PAGE) return entries;
    after = numberAt(rows.at(-1), 5);
  }
}

function journalEntry(row: Row): JournalEntry {
  return {
    position: numberAt(row, 0),
    header: textAt(row, 1),
    hash: hexAt(row, 2),
    salt: row[3] === null ? null : hexAt(row, 3),
    body: row[4] ?? null,
  };
}
