/** The role that works: it owns nothing, cannot log in, and row-level security binds it. */
import { HoldpointError } from "../../kernel/errors.ts";
import type { Client } from "./driver.ts";
import { sqlState } from "./postgres-errors.ts";
import { quoted } from "./tables.ts";

/** From PostgreSQL 16 on, a member of a role may still lack the right to take it on. */
const FIND = `SELECT r.oid IS NOT NULL AS exists, r.rolsuper OR r.rolbypassrls AS mighty,
    pg_has_role(current_user, r.oid, CASE WHEN v.is_16 THEN 'SET' ELSE 'MEMBER' END) AS ours,
    v.is_16, quote_ident(current_user) AS me
  FROM (SELECT current_setting('server_version_num')::int >= 160000 AS is_16) v
  LEFT JOIN pg_roles r ON r.rolname = $1`;

/** Makes the role if it is not there, and lets the connected user take it on. */
export async function ensureRole(client: Client, role: string): Promise<void> {
  const { rows } = await client.query(FIND, [role]);
  const { exists, mighty, ours, is_16, me } = rows[0] ?? {};
  if (mighty === true) throw tooMighty(role);
  if (ours === true) return;
  const making = `CREATE ROLE ${quoted(role)} NOLOGIN`;
  const granting = (to: string) => `GRANT ${quoted(role)} TO ${to}${is_16 === true ? " WITH SET TRUE" : ""}`;
  const lacking = exists === true ? [granting(me)] : [making, granting(me)];
  if (exists !== true) await client.query(creation(role)).catch(mayNot(`make the role ${role}`, lacking));
  await client.query(granting("CURRENT_USER")).catch(mayNot(`grant itself the role ${role}`, lacking));
}

/** Roles belong to the whole server: stores of two databases may make it at the same moment. */
function creation(role: string): string {
  const attributes = "NOLOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOBYPASSRLS";
  return `DO $make$ BEGIN CREATE ROLE ${quoted(role)} ${attributes};
    EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; END $make$`;
}

/** A right that is missing, with the SQL that gives it. */
export function mayNot(what: string, lacking: readonly string[]): (error: unknown) => never {
  return (error) => {
    if (sqlState(error) !== "42501") throw error;
    throw new HoldpointError("store_unsuitable", `The database's user may not ${what}.`, {
      cause: error,
      data: "The database was left as it is.",
      next: `Have a superuser run: ${lacking.join("; ")};`,
    });
  };
}

function tooMighty(role: string): HoldpointError {
  return new HoldpointError("store_unsuitable", `Row-level security does not bind the role ${role}.`, {
    data: "The database was left as it is.",
    next: "Choose a role that is neither a superuser nor has BYPASSRLS.",
  });
}
