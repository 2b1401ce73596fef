/**
 * The pool of connections, each with the settings that durability and order rest on, read back after they were set.
 *
 * C1. A connection is used only if the server syncs its log, writes whole pages, and may be written.
 * C2. Work waits at most for the time-outs set here: for a connection, a statement, a lock, a transaction left open.
 * C3. A connection on which anything failed is not used again: what it was in the middle of is rolled back by the server.
 */
import { HoldpointError } from "../../core/errors.ts";
import type { Client, Pg, PoolClient } from "./driver.ts";
import type { Resolved } from "./options.ts";

export type Connections = {
  use<Answer>(work: (client: Client) => Promise<Answer>): Promise<Answer>;
  /** A connection beside the pool, for listening. */
  alone(): Promise<Client>;
  end(): Promise<void>;
};

const CONNECT_MS = 5_000;
const STATEMENT_MS = 60_000;
const LOCK_MS = 5_000;
const LEFT_OPEN_MS = 10_000;
const IDLE_MS = 30_000;
const OLDEST_SERVER = 140_000;

export function connections(pg: Pg, options: Resolved): Connections {
  const { database, applicationName = "holdpoint" } = options;
  const config = {
    ...parsed(database),
    application_name: applicationName,
    connectionTimeoutMillis: CONNECT_MS,
    keepAlive: true,
  };
  const pool = new pg.Pool({
    ...config,
    max: options.connections,
    idleTimeoutMillis: IDLE_MS,
    allowExitOnIdle: true,
  });
  // What an idle connection says when its server goes away; the pool drops it by itself.
  pool.on("error", () => {});
  const ready = new WeakSet<PoolClient>();
  const prepare = async (client: PoolClient) => {
    if (ready.has(client)) return;
    client.on("error", () => {});
    await applySettings(client, options);
    ready.add(client);
  };
  return {
    async use(work) {
      const client = await pool.connect();
      let failed = true;
      try {
        await prepare(client);
        const answer = await work(client);
        failed = false;
        return answer;
      } finally {
        client.release(failed);
      }
    },
    async alone() {
      const client = new pg.Client(config);
      client.on("error", () => {});
      await client.connect();
      return client;
    },
    end: () => pool.end(),
  };
}

/** An address that cannot be read is not repeated: it may hold a password. */
function parsed(database: string): { readonly connectionString: string } {
  if (isDatabaseUrl(database)) return { connectionString: database };
  throw new HoldpointError("invalid_input", "The database's address cannot be read.", {
    next: "Write it as postgres://user:password@host:5432/database; signs such as @ in a password as %40.",
  });
}

export function isDatabaseUrl(text: string): boolean {
  try {
    return ["postgres:", "postgresql:"].includes(new URL(text).protocol);
  } catch {
    return false;
  }
}

/**
 * Plans are made once and for any values: without these, one made while a table was empty would read all of it later.
 */
const PLANS = ["seqscan", "bitmapscan", "hashjoin", "mergejoin", "material", "memoize"].map(
  (name) => `SET enable_${name} = off`,
);

async function applySettings(client: Client, { hooks, busyMs }: Resolved): Promise<void> {
  const lockMs = hooks?.lockMs ?? Math.max(1, Math.min(LOCK_MS, busyMs));
  const settings = [
    `SET statement_timeout = ${STATEMENT_MS}`,
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
