/**
 * Where the schema is: the server's system identifier, its timeline, the database, and the table itself. A copied
 * database has another number, a server made from a backup that was rolled forward another timeline, and a dump that was
 * read in other tables. A data folder that is put back as it was has the same of all.
 *
 * Everybody may ask for these; where a server does not answer, that part is left out.
 */
import type { Home, Place } from "../store.ts";
import { type Ask, textAt } from "./ask.ts";
import { sqlState } from "./postgres-errors.ts";

const REFUSED: readonly unknown[] = ["42501", "42883", "0A000", "55000"];

function partStatements(schema: string) {
  return {
    system: "SELECT system_identifier::text FROM pg_control_system()",
    timeline: "SELECT substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8)",
    database: "SELECT oid::text FROM pg_database WHERE datname = current_database()",
    table: `SELECT '${schema.replaceAll("'", "''")}.hp_meta'::regclass::oid::text`,
  };
}

export function prepareHome({ ask }: Ask, schema: string): Home {
  const parts = Object.entries(partStatements(schema));
  const meta = {
    name: "hp_home",
    text: `SELECT key, value FROM ${schema}.hp_meta WHERE key IN ('home', 'incarnation')`,
  };
  /** The locks and the channel of processes that have the store open go on by its first name, `born`. */
  const note = {
    name: "hp_note_home",
    text: `UPDATE ${schema}.hp_meta m SET value = CASE m.key WHEN 'home' THEN $1 WHEN 'incarnation' THEN coalesce($2, m.value)
      ELSE coalesce(nullif(m.value, ''), (SELECT i.value FROM ${schema}.hp_meta i WHERE i.key = 'incarnation')) END
      WHERE m.key IN ('home', 'incarnation', 'born')`,
  };
  async function partOf(name: string, text: string): Promise<Place> {
    try {
      const [rows] = await ask("ids", { statement: { name: `hp_place_${name}`, text }, values: [] });
      return { [name]: textAt(rows?.[0], 0) };
    } catch (error) {
      const answered = error instanceof Error ? sqlState(error.cause) : undefined;
      if (REFUSED.includes(answered)) return {};
      throw error;
    }
  }
  return {
    async look() {
      const [rows = []] = await ask("ids", { statement: meta, values: [] });
      const known = new Map(rows.map((row) => [textAt(row, 0), textAt(row, 1)]));
      const noted = known.get("home") ?? "";
      const found: Place = {};
      for (const [name, text] of parts) Object.assign(found, await partOf(name, text));
      return {
        incarnation: known.get("incarnation") ?? "",
        noted: noted === "" ? null : (JSON.parse(noted) as Place),
        found,
      };
    },
    async note(place, incarnation) {
      const values = [JSON.stringify(place), incarnation ?? null];
      await ask("ids", { statement: note, values });
    },
  };
}
