/** What every connection sets, and what a server has to be like, read back from it (C1, C2 of `connect.ts`). */
import { HoldpointError } from "../../kernel/errors.ts";
import type { Client } from "./driver.ts";
import type { Resolved } from "./options.ts";

const LONGEST_STATEMENT_MS = 60_000;
const SHORTEST_STATEMENT_MS = 10_000;
/** So much later than the server's own time-out one stops waiting for its word. */
const MARGIN_MS = 5_000;
const LOCK_MS = 5_000;
const LEFT_OPEN_MS = 10_000;
const OLDEST_SERVER = 140_000;

/** The server stops a statement after this time. */
export const statementMs = (busyMs: number): number =>
  Math.max(SHORTEST_STATEMENT_MS, Math.min(LONGEST_STATEMENT_MS, 2 * busyMs));

/** How long a server may say nothing while it is waited for: longer than any statement may take. */
export const silentMs = ({ hooks, busyMs }: Pick<Resolved, "hooks" | "busyMs">): number =>
  hooks?.silentMs ?? statementMs(busyMs) + MARGIN_MS;

/**
 * Plans are made once and for any values: without these, one made while a table was empty would read all of it later.
 */
const PLANS = ["seqscan", "bitmapscan", "hashjoin", "mergejoin", "material", "memoize"].map(
  (name) => `SET enable_${name} = off`,
);

export async function applySettings(client: Client, { hooks, busyMs }: Resolved): Promise<void> {
  const lockMs = hooks?.lockMs ?? Math.max(1, Math.min(LOCK_MS, busyMs));
  const settings = [
    `SET statement_timeout = ${statementMs(busyMs)}`,
    `SET lock_timeout = ${lockMs}`,
    `SET idle_in_transaction_session_timeout = ${LEFT_OPEN_MS}`,
    "SET default_transaction_isolation = 'read committed'",
    "SET bytea_output = hex",
    "SET search_path = pg_catalog",
    "SET jit = off",
    "SET plan_cache_mode = force_generic_plan",
    ...PLANS,
    "SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') IN ('off', 'local')",
  ];
  await client.query(settings.join(";"));
  const found = await client.query({ rowMode: "array", text: SETTINGS });
  refuseUnsuitable(found.rows[0]?.map(String) ?? []);
}

const SETTINGS = `SELECT current_setting('fsync'), current_setting('full_page_writes'), current_setting('synchronous_commit'),
  current_setting('standard_conforming_strings'), current_setting('server_encoding'), current_setting('server_version_num'),
  pg_is_in_recovery(), current_setting('default_transaction_read_only')`;

export function refuseUnsuitable(settings: readonly string[]): void {
  const [fsync, fullPages, commit, strings, encoding, version, recovering, readOnly] = settings;
  if (recovering === "true") throw readOnlyServer("The server is a standby.");
  if (readOnly === "on") throw readOnlyServer("The database is set to read-only transactions.");
  if (Number(version) < OLDEST_SERVER) throw unsuitable(`PostgreSQL ${version} is older than 14`);
  if (fsync !== "on") throw unsuitable("The server runs with fsync off");
  if (fullPages !== "on") throw unsuitable("The server runs with full_page_writes off");
  if (commit === "off" || commit === "local") throw unsuitable(`synchronous_commit is ${commit}`);
  if (strings !== "on") throw unsuitable("standard_conforming_strings is off");
  if (encoding !== "UTF8") throw unsuitable(`The database's encoding is ${encoding}, not UTF8`);
}

function unsuitable(what: string): HoldpointError {
  return new HoldpointError("store_unsuitable", `${what}.`, {
    data: "The database was left as it is.",
    next: "Use a server that keeps what it acknowledges: PostgreSQL 14 or newer with its own durable settings, in UTF8.",
  });
}

function readOnlyServer(what: string): HoldpointError {
  return new HoldpointError("store_read_only", what, { next: "Connect to the primary server." });
}
