/**
 * Reads the journal in transaction order, up to the settled position, and its seals. One process at a time signs a
 * seal, under a lock, over settled entries.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { Seal, SealDraft } from "../../journal/seal.ts";
import { checkSeal, draftSeal, type LastSeal } from "../../journal/seal.ts";
import { type EntryRow, unpackEntries } from "../entry-rows.ts";
import type { JournalEntry } from "../store.ts";
import type { Client } from "./connect.ts";
import { decodeText, encodeHalves, indexKey } from "./encode.ts";
import { retryWhileUnavailable } from "./errors.ts";
import { type LockSpace, lockOf } from "./locks.ts";
import {
  BEGIN,
  COMMIT,
  DATABASE_NOW,
  hexColumn,
  numberColumn,
  type QueryRunner,
  type ResultRow,
  ROLLBACK,
  sendPipeline,
  textColumn,
} from "./query.ts";

type TenantNumber = { readonly tid: number; readonly tenant: string };

export type PostgresReads = {
  stream(
    tenant: TenantNumber,
    name: string,
    options: { fromSeq: number; limit: number },
  ): Promise<readonly JournalEntry[]>;
  log(tenant: TenantNumber, after: number, limit: number): Promise<readonly JournalEntry[]>;
  position(): Promise<number>;
};

const PAGE = 256;
/** As `postgresEntryRow` reads them. */
export const POSTGRES_ENTRY_COLUMNS = "e.position, e.seq, e.header, e.hash, e.chain, e.salt, e.body";
/** Number of entries in a row. */
const COUNT = "coalesce(length(e.chain) / 64, 1)";

/** No transaction that still runs, or begins later, has a position before this. */
const settledHorizon = (schema: string): string =>
  `(SELECT value::int8 FROM ${schema}.hp_meta WHERE key = 'base') +
    pg_snapshot_xmin(pg_current_snapshot())::text::int8 * 16384`;

export function preparePostgresReads({ ask }: QueryRunner, schema: string): PostgresReads {
  const horizon = settledHorizon(schema);
  const stream = {
    name: "hp_stream",
    text: `SELECT ${POSTGRES_ENTRY_COLUMNS}, s.key FROM ${schema}.hp_streams s
      CROSS JOIN LATERAL (SELECT * FROM ${schema}.hp_entries i WHERE i.sid = s.sid AND i.seq > $3 ORDER BY i.seq LIMIT $4) e
      WHERE s.tid = $1 AND s.key = $2 ORDER BY e.seq`,
  };
  const log = {
    name: "hp_log",
    text: `SELECT ${POSTGRES_ENTRY_COLUMNS}, (SELECT coalesce(s.whole, s.key) FROM ${schema}.hp_streams s WHERE s.sid = e.sid)
      FROM ${schema}.hp_entries e
      WHERE e.tid = $1 AND e.position > $2 AND e.position < (SELECT ${horizon}) ORDER BY e.position LIMIT $3`,
  };
  const position = {
    name: "hp_position",
    text: `SELECT coalesce(max(position), 0) FROM ${schema}.hp_moves WHERE position < (SELECT ${horizon})`,
  };
  return {
    stream: ({ tid, tenant }, name, { fromSeq, limit }) =>
      paged({ place: "seq", after: fromSeq - 1, limit }, async (after, many) => {
        const [rows = []] = await ask(tid, { statement: stream, values: [tid, indexKey(name), after, many] });
        return rows.map((row) => ({ row, stream: name, tenant }));
      }),
    log: ({ tid, tenant }, after, limit) =>
      paged({ place: "position", after, limit }, async (place, many) => {
        const [rows = []] = await ask(tid, { statement: log, values: [tid, place, many] });
        return rows.map((row) => ({ row, stream: decodeText(textColumn(row, STREAM)), tenant }));
      }),
    async position() {
      const [rows] = await ask("ids", { statement: position });
      return numberColumn(rows?.[0], 0);
    },
  };
}

/** The column after those of the entry. */
const STREAM = 7;
type Paging = { readonly place: "seq" | "position"; readonly after: number; readonly limit: number };
type FoundRow = { readonly row: ResultRow; readonly stream: string; readonly tenant: string };

/** In pages: none is large, and none keeps a snapshot of the database open. A page may begin inside a row. */
async function paged(
  { place, after: start, limit }: Paging,
  page: (after: number, many: number) => Promise<readonly FoundRow[]>,
): Promise<readonly JournalEntry[]> {
  const entries: JournalEntry[] = [];
  for (let after = start; entries.length < limit; ) {
    const wanted = Math.min(PAGE, limit - entries.length);
    const rows = await page(after, wanted);
    for (const { row, ...named } of rows)
      for (const entry of unpackEntries(postgresEntryRow(row), named))
        if (entry[place] > start) entries.push(entry);
    if (rows.length < wanted) break;
    after = numberColumn(rows.at(-1)?.row, place === "position" ? 0 : 1);
  }
  return entries.length > limit ? entries.slice(0, limit) : entries;
}

const bufferColumn = (row: ResultRow, at: number): Buffer | null =>
  row[at] === null ? null : Buffer.from(hexColumn(row, at), "hex");

/** Of the columns from `first` on, in the order of `POSTGRES_ENTRY_COLUMNS`. */
export function postgresEntryRow(row: ResultRow, first = 0): EntryRow {
  return {
    position: numberColumn(row, first),
    seq: numberColumn(row, first + 1),
    header: textColumn(row, first + 2),
    hash: hexColumn(row, first + 3),
    chain: bufferColumn(row, first + 4),
    salt: bufferColumn(row, first + 5),
    body: row[first + 6] ?? null,
  };
}

type Sign = (draft: SealDraft) => Seal;
type PostgresSealing = { readonly tid: number; readonly tenant: string };

/** With the seal signed by an earlier attempt. */
type SealAttempt = PostgresSealing & { signed: Seal | undefined };

export type PostgresSeals = {
  seal(sealing: PostgresSealing, sign: Sign): Promise<Seal | undefined>;
  list(tid: number, after: number): Promise<readonly Seal[]>;
  over(tid: number, position: number | "last"): Promise<Seal | undefined>;
};

type SealParts = {
  readonly schema: string;
  readonly space: LockSpace;
  readonly clock?: { now(): number };
};

/** Entries committed before the call are sealed, unless another transaction stays open for longer than this. */
const SETTLE_MS = 1_000;

export function preparePostgresSeals(asking: QueryRunner, place: SealParts): PostgresSeals {
  const { ask } = asking;
  const { schema } = place;
  const columns = "SELECT n, jws, leaves FROM";
  const list = {
    name: "hp_seals",
    text: `${columns} ${schema}.hp_seals WHERE tid = $1 AND n > $2 ORDER BY n`,
  };
  const over = {
    name: "hp_seal_over",
    text: `${columns} ${schema}.hp_seals WHERE tid = $1 AND position >= $2 ORDER BY position LIMIT 1`,
  };
  const newest = {
    name: "hp_last_seal",
    text: `${columns} ${schema}.hp_seals WHERE tid = $1 ORDER BY n DESC LIMIT 1`,
  };
  const statements = sealStatements(schema);
  return {
    async seal(sealing, sign) {
      const [behind] = await ask(sealing.tid, { statement: statements.behind, values: [sealing.tid] });
      if (behind?.length === 0) return undefined;
      await waitUntilSettled(asking, sealing.tid, statements.unsettled);
      const attempt: SealAttempt = { ...sealing, signed: undefined };
      return retryWhileUnavailable(asking.patience, () =>
        asking.connections.use((client) => sealOnce({ asking, place, statements, client }, attempt, sign)),
      );
    },
    async list(tid, after) {
      const [rows = []] = await ask(tid, { statement: list, values: [tid, after] });
      return rows.map(sealFromRow);
    },
    async over(tid, position) {
      const last = { statement: newest, values: [tid] };
      const [rows] = await ask(
        tid,
        position === "last" ? last : { statement: over, values: [tid, position] },
      );
      return rows?.[0] && sealFromRow(rows[0]);
    },
  };
}

function sealStatements(schema: string) {
  const horizon = `(SELECT ${settledHorizon(schema)})`;
  const span = `FROM ${schema}.hp_entries e WHERE e.tid = $1 AND e.position > $2 AND e.position < $3`;
  return {
    behind: {
      name: "hp_unsealed",
      text: `SELECT 1 FROM ${schema}.hp_entries e WHERE e.tid = $1 AND e.position >
        (SELECT coalesce(max(position), 0) FROM ${schema}.hp_seals WHERE tid = $1) LIMIT 1`,
    },
    unsettled: {
      name: "hp_unsettled",
      text: `SELECT 1 FROM ${schema}.hp_entries e WHERE e.tid = $1 AND e.position >= ${horizon} LIMIT 1`,
    },
    lock: { name: "hp_seal_lock", text: "SELECT pg_advisory_xact_lock(k) FROM unnest($1::int8[]) k" },
    last: {
      name: "hp_sealed",
      text: `SELECT n, at, position, entries, jws FROM ${schema}.hp_seals WHERE tid = $1 ORDER BY n DESC LIMIT 1`,
    },
    now: {
      name: "hp_seal_now",
      text: `SELECT ${DATABASE_NOW}, ${horizon}, (SELECT value FROM ${schema}.hp_meta WHERE key = 'incarnation')`,
    },
    span: { name: "hp_seal_span", text: `SELECT coalesce(sum(${COUNT}), 0), max(e.position) ${span}` },
    leaves: {
      name: "hp_seal_leaves",
      text: `SELECT (SELECT coalesce(s.whole, s.key) FROM ${schema}.hp_streams s WHERE s.sid = m.sid), m.seq, m.hash
        FROM (SELECT DISTINCT ON (e.sid) e.sid, e.seq, e.hash ${span} ORDER BY e.sid, e.seq DESC) m`,
    },
    insert: {
      name: "hp_seal",
      text: `INSERT INTO ${schema}.hp_seals (tid, n, at, position, entries, jws, leaves) VALUES ($1, $2, $3, $4, $5, $6, $7)`,
    },
  };
}

async function waitUntilSettled(
  { ask }: QueryRunner,
  tid: number,
  statement: { name: string; text: string },
): Promise<void> {
  const until = performance.now() + SETTLE_MS;
  for (let pause = 1; performance.now() < until; pause = Math.min(50, pause * 2)) {
    const [rows] = await ask(tid, { statement, values: [tid] });
    if (rows?.length === 0) return;
    await sleep(pause);
  }
}

type SealWork = {
  readonly asking: QueryRunner;
  readonly place: SealParts;
  readonly statements: ReturnType<typeof sealStatements>;
  readonly client: Client;
};

/** Retried after a lost connection: if the last seal is the one signed then, it was stored after all. */
async function sealOnce(work: SealWork, sealing: SealAttempt, sign: Sign): Promise<Seal | undefined> {
  const { asking, statements, client, place } = work;
  const { tid } = sealing;
  const lock = lockOf(place.space, "work", tid, "seal");
  const [, , , last = [], now = []] = await sendPipeline(client, [
    { statement: BEGIN },
    asking.enter(tid),
    { statement: statements.lock, values: [encodeHalves([lock])] },
    { statement: statements.last, values: [tid] },
    { statement: statements.now },
  ]);
  const before = lastSealFromRow(last[0]);
  if (sealing.signed !== undefined && before?.jws === sealing.signed.jws) {
    await sendPipeline(client, [{ statement: ROLLBACK }]);
    return sealing.signed;
  }
  const values = [tid, before?.position ?? 0, numberColumn(now[0], 1)];
  const [span = [], leaves = []] = await sendPipeline(client, [
    { statement: statements.span, values },
    { statement: statements.leaves, values },
  ]);
  if (numberColumn(span[0], 0) === 0) {
    await sendPipeline(client, [{ statement: ROLLBACK }]);
    return undefined;
  }
  const draft = draftSeal({
    tenant: sealing.tenant,
    incarnation: textColumn(now[0], 2),
    now: place.clock?.now() ?? numberColumn(now[0], 0),
    last: before,
    position: numberColumn(span[0], 1),
    entries: numberColumn(span[0], 0),
    leaves: leaves.map(leafFromRow),
  });
  const seal = checkSeal(draft, sign(draft));
  sealing.signed = seal;
  const { n, at, position, entries } = draft;
  await sendPipeline(client, [
    {
      statement: statements.insert,
      values: [tid, n, at, position, entries, seal.jws, JSON.stringify(seal.leaves)],
    },
    { statement: COMMIT },
  ]);
  return seal;
}

function lastSealFromRow(row: ResultRow | undefined): LastSeal | undefined {
  if (row === undefined) return undefined;
  return {
    n: numberColumn(row, 0),
    at: numberColumn(row, 1),
    position: numberColumn(row, 2),
    entries: numberColumn(row, 3),
    jws: textColumn(row, 4),
  };
}

const leafFromRow = (row: ResultRow) => ({
  stream: decodeText(textColumn(row, 0)),
  seq: numberColumn(row, 1),
  hash: hexColumn(row, 2),
});

const sealFromRow = (row: ResultRow): Seal => ({
  n: numberColumn(row, 0),
  jws: textColumn(row, 1),
  leaves: JSON.parse(textColumn(row, 2)),
});
