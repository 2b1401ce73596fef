/** The role that works: it owns nothing, cannot log in, and row-level security binds it. */
import { HoldpointError } from "../../core/errors.ts";
import type { Client } from "./driver.ts";
import { sqlState } from "./postgres-errors.ts";
import { quoted } from "./tables.ts";

/** Makes the role if it is not there, and lets the connected user take it on. */
export async function ensureRole(client: Client, role: string): Promise<void> {
  const find = `SELECT rolsuper OR rolbypassrls, pg_has_role(current_user, oid, 'MEMBER') FROM pg_roles WHERE rolname = $1`;
  const look = async () => (await client.query({ text: find, values: [role], rowMode: "array" })).rows[0];
  const found = await look();
  if (found?.[0] === true) throw tooMighty(role);
  if (found?.[1] === true) return;
  try {
    if (found === undefined) await client.query(creation(role));
    await client.query(`GRANT ${quoted(role)} TO CURRENT_USER`);
  } catch (error) {
    if (sqlState(error) === "42501") throw mayNot(role, error);
    throw error;
  }
}

/** Roles belong to the whole server: stores of two databases may make it at the same moment. */
function creation(role: string): string {
  const attributes = "NOLOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOBYPASSRLS";
  return `DO $make$ BEGIN CREATE ROLE ${quoted(role)} ${attributes};
    EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; END $make$`;
}

function mayNot(role: string, cause: unknown): HoldpointError {
  const sql = `CREATE ROLE ${quoted(role)} NOLOGIN; GRANT ${quoted(role)} TO <user>;`;
  return new HoldpointError("store_unsuitable", `The database's user may not make the role ${role}.`, {
    cause,
    data: "The database was left as it is.",
    next: `Have a superuser run: ${sql}`,
  });
}

function tooMighty(role: string): HoldpointError {
  return new HoldpointError("store_unsuitable", `Row-level security does not bind the role ${role}.`, {
    data: "The database was left as it is.",
    next: "Choose a role that is neither a superuser nor has BYPASSRLS.",
  });
}
