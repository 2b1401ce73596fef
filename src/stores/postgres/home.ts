/**
 * The location of the schema: the server's system identifier, its timeline, the database, and the table itself. A
 * copied database has another number, a server made from a backup and rolled forward another timeline, and an imported
 * dump other tables. A data folder that is put back as it was has the same values. Any role may query these; a part
 * that the server does not answer is left out.
 * Positions are made of transaction numbers. A database that was dumped and restored into another server has positions
 * from numbers that the new server has not reached yet: all new positions are then moved behind them.
 */
import type { Home, StoreLocation } from "../store.ts";
import { sqlState } from "./errors.ts";
import { numberColumn, type QueryRunner, textColumn } from "./query.ts";

const UNANSWERED: readonly unknown[] = ["42501", "42883", "0A000", "55000"];

function partStatements(schema: string) {
  return {
    system: "SELECT system_identifier::text FROM pg_control_system()",
    timeline: "SELECT substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8)",
    database: "SELECT oid::text FROM pg_database WHERE datname = current_database()",
    table: `SELECT '${schema.replaceAll("'", "''")}.hp_meta'::regclass::oid::text`,
  };
}

export function preparePostgresHome({ ask }: QueryRunner, schema: string): Home {
  const parts = Object.entries(partStatements(schema));
  const meta = {
    name: "hp_home",
    text: `SELECT key, value FROM ${schema}.hp_meta WHERE key IN ('home', 'incarnation')`,
  };
  /** Locks and the channel of processes that have the store open keep using its first name, `born`. */
  const note = {
    name: "hp_note_home",
    text: `UPDATE ${schema}.hp_meta m SET value = CASE m.key WHEN 'home' THEN $1 WHEN 'incarnation' THEN coalesce($2, m.value)
      ELSE coalesce(nullif(m.value, ''), (SELECT i.value FROM ${schema}.hp_meta i WHERE i.key = 'incarnation')) END
      WHERE m.key IN ('home', 'incarnation', 'born')`,
  };
  async function partOf(name: string, text: string): Promise<StoreLocation> {
    try {
      const [rows] = await ask("ids", { statement: { name: `hp_place_${name}`, text }, values: [] });
      return { [name]: textColumn(rows?.[0], 0) };
    } catch (error) {
      const answered = error instanceof Error ? sqlState(error.cause) : undefined;
      if (UNANSWERED.includes(answered)) return {};
      throw error;
    }
  }
  return {
    async look() {
      const [rows = []] = await ask("ids", { statement: meta, values: [] });
      const known = new Map(rows.map((row) => [textColumn(row, 0), textColumn(row, 1)]));
      const noted = known.get("home") ?? "";
      const found: StoreLocation = {};
      for (const [name, text] of parts) Object.assign(found, await partOf(name, text));
      return {
        incarnation: known.get("incarnation") ?? "",
        noted: noted === "" ? null : (JSON.parse(noted) as StoreLocation),
        found,
      };
    },
    async note(place, incarnation) {
      const values = [JSON.stringify(place), incarnation ?? null];
      await ask("ids", { statement: note, values });
    },
  };
}

const POSITIONS_PER_TRANSACTION = 16_384;

export async function raisePositionBase({ ask }: QueryRunner, schema: string): Promise<void> {
  const find = {
    name: "hp_base",
    text: `SELECT coalesce((SELECT value FROM ${schema}.hp_meta WHERE key = 'base'), '0'),
      (SELECT coalesce(max(position), 0) FROM ${schema}.hp_moves), pg_snapshot_xmax(pg_current_snapshot())::text`,
  };
  const raise = {
    name: "hp_raise_base",
    text: `UPDATE ${schema}.hp_meta SET value = greatest(value::int8, $1::int8)::text WHERE key = 'base'`,
  };
  const [rows] = await ask("ids", { statement: find });
  const [base, last, next] = [0, 1, 2].map((at) => numberColumn(rows?.[0], at));
  const least =
    Math.ceil(((last ?? 0) + 1) / POSITIONS_PER_TRANSACTION) * POSITIONS_PER_TRANSACTION -
    (next ?? 0) * POSITIONS_PER_TRANSACTION;
  if (least > (base ?? 0)) await ask("ids", { statement: raise, values: [least] });
}
