/**
 * The driver, an optional package that is loaded only if PostgreSQL is used, and the pool of connections, each with the settings that durability and order depend on, read back after they were set.
 * - The address is parsed once, before any connection, so that a mistake in it is reported as such.
 * - A connection is used only if the server syncs its log, writes whole pages, and is writable.
 * - Every wait has a timeout, here and on the server: for a connection, a statement, a lock, a transaction left open,
 *   and a silent server. A connection without traffic for too long while a reply is due is cut, and counts as lost.
 * - A connection on which anything failed is not used again: the server rolls back its open transaction.
 */
import type { Socket } from "node:net";
import type * as Driver from "pg";
import type { Client, ClientConfig, PoolClient } from "pg";
import { HoldpointError } from "../../kernel/errors.ts";
import { isConnectionLost, isTransient, networkCode, sqlState, translatePostgresError } from "./errors.ts";
import { isDatabaseUrl, type ResolvedOptions } from "./options.ts";

export type { Client, Connection, PoolClient, Submittable } from "pg";

type Pg = typeof Driver;

export async function loadDriver(): Promise<Pg> {
  try {
    const { default: driver } = (await import("pg")) as unknown as { readonly default: Pg };
    return driver;
  } catch (error) {
    throw driverMissing(error);
  }
}

function driverMissing(cause: unknown): HoldpointError {
  return new HoldpointError("store_unsuitable", 'The package "pg" is not installed.', {
    cause,
    data: "Nothing was opened.",
    next: "Run `npm install pg` beside holdpoint.",
  });
}

type DatabaseAddress = {
  /** Host and port, or the socket's folder. */
  readonly where: string;
  /** Removes the password from a text. */
  scrubbed(text: string): string;
};

/** An address that cannot be parsed is not quoted: it may hold a password. */
function readAddress(pg: Pg, config: ClientConfig): DatabaseAddress {
  if (!isDatabaseUrl(config.connectionString ?? "")) throw unreadable("cannot be read");
  try {
    const { host, port, password } = new pg.Client(config);
    const scrubbed = (text: string) => (password ? text.replaceAll(password, "…") : text);
    return { where: host.startsWith("/") ? host : `${host}:${port}`, scrubbed };
  } catch (error) {
    if (isMissingFile(error)) throw unreadable(`names a file that cannot be read (${error.message})`);
    throw unreadable("cannot be read");
  }
}

/** A certificate or key file named in the address. */
function isMissingFile(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && "syscall" in error && "path" in error;
}

function unreadable(what: string): HoldpointError {
  return new HoldpointError("invalid_input", `The database's address ${what}.`, {
    next: "Write it as postgres://user:password@host:5432/database; signs such as @ in a password as %40.",
  });
}

/** `pg` errors about passwords and TLS have no code. Errors with a code are translated later. */
function rethrowRefused({ scrubbed }: DatabaseAddress): (error: unknown) => never {
  return (error) => {
    const isKnown = sqlState(error) !== undefined || isConnectionLost(error) || isEndedPool(error);
    if (isKnown || !(error instanceof Error)) throw error;
    // No cause: its texts are not ours, and may hold secrets.
    throw new HoldpointError(
      "store_unavailable",
      `The database refused the connection: ${scrubbed(error.message)}.`,
      {
        next: "Check the user, the password and the TLS settings in the address.",
      },
    );
  };
}

/** The pool's error for a call after its end, for example between two pages of a read. */
export function isEndedPool(error: unknown): boolean {
  return error instanceof Error && /after calling end on the pool/.test(error.message);
}

/** Rules for opening a store: no connection existed that could be lost, and an unknown host name stays unknown. */
export function openingRetryRules({ where }: DatabaseAddress): {
  isPassing(error: unknown, tries: number): boolean;
  translated(error: unknown): unknown;
} {
  return {
    isPassing: (error, tries) => isTransient(error) && (networkCode(error) !== "ENOTFOUND" || tries < 2),
    translated(error) {
      if (sqlState(error) !== undefined || !isConnectionLost(error)) return translatePostgresError(error);
      const why = networkCode(error) ?? "it does not answer";
      return new HoldpointError("store_unavailable", `The database at ${where} cannot be reached: ${why}.`, {
        cause: error,
        next: "Check that the server runs there, and the host and the port in the address.",
      });
    },
  };
}

const LONGEST_STATEMENT_MS = 60_000;
const SHORTEST_STATEMENT_MS = 10_000;
/** Wait this much longer than the server's own timeout for its reply. */
const MARGIN_MS = 5_000;
const LOCK_MS = 5_000;
const LEFT_OPEN_MS = 10_000;
const OLDEST_SERVER = 140_000;

/** The server's statement timeout. */
export const statementMs = (busyMs: number): number =>
  Math.max(SHORTEST_STATEMENT_MS, Math.min(LONGEST_STATEMENT_MS, 2 * busyMs));

/** Most time without traffic while a reply is due: longer than any statement may take. */
export const idleTimeoutMs = ({ hooks, busyMs }: Pick<ResolvedOptions, "hooks" | "busyMs">): number =>
  hooks?.silentMs ?? statementMs(busyMs) + MARGIN_MS;

/**
 * Plans are made once and for any values: without these, one made while a table was empty would read all of it later.
 */
const PLANS = ["seqscan", "bitmapscan", "hashjoin", "mergejoin", "material", "memoize"].map(
  (name) => `SET enable_${name} = off`,
);

async function applySettings(client: Client, { hooks, busyMs }: ResolvedOptions): Promise<void> {
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

export function limitIdleTime({ connection }: Pick<Client, "connection">, mostMs: number): () => void {
  const stream = connection.stream as Socket;
  const cut = () => stream.destroy(new Error("Connection terminated: the server does not answer."));
  stream.setTimeout(mostMs, cut);
  return () => void stream.setTimeout(0, cut);
}

export type Connections = {
  readonly address: DatabaseAddress;
  use<Answer>(work: (client: Client) => Promise<Answer>): Promise<Answer>;
  /** A connection outside the pool, for listening. `free` removes its idle limit. */
  alone(): Promise<{ readonly client: Client; free(): void }>;
  end(): Promise<void>;
};

const CONNECT_MS = 5_000;
const IDLE_MS = 30_000;
const PROBE_MS = 10_000;

export function createConnections(pg: Pg, options: ResolvedOptions): Connections {
  const quietMs = idleTimeoutMs(options);
  const config: ClientConfig = {
    connectionString: options.database,
    application_name: options.applicationName ?? "holdpoint",
    connectionTimeoutMillis: Math.min(CONNECT_MS, quietMs),
    keepAlive: true,
    keepAliveInitialDelayMillis: PROBE_MS,
  };
  const address = readAddress(pg, config);
  const Client = closingClient(pg);
  const pool = new pg.Pool({
    ...config,
    Client,
    max: options.connections,
    idleTimeoutMillis: IDLE_MS,
    allowExitOnIdle: true,
  });
  // Emitted when the server of an idle connection goes away; the pool drops the connection by itself.
  pool.on("error", () => {});
  const ready = new WeakSet<PoolClient>();
  const prepare = async (client: PoolClient & Client) => {
    if (ready.has(client)) return;
    await applySettings(client, options);
    ready.add(client);
  };
  return {
    address,
    async use(work) {
      const client = (await pool.connect().catch(rethrowRefused(address))) as PoolClient & Client;
      const free = limitIdleTime(client, quietMs);
      let failed = true;
      try {
        await prepare(client);
        const answer = await work(client);
        failed = false;
        return answer;
      } finally {
        if (!failed) free();
        client.release(failed);
      }
    },
    async alone() {
      const client = new Client(config);
      await client.connect().catch(rethrowRefused(address));
      return { client, free: limitIdleTime(client, quietMs) };
    },
    end: () => pool.end(),
  };
}

/** `pg` leaves the socket of a refused connection open, which would keep the process alive. */
function closingClient(pg: Pg) {
  return class extends pg.Client {
    constructor(config?: ClientConfig) {
      super(config);
      const { connection } = this;
      const giveUp = () => setImmediate(() => connection.stream.destroy());
      this.on("error", () => {});
      connection.once("error", giveUp);
      connection.once("errorMessage", giveUp);
      connection.once("readyForQuery", () => connection.off("errorMessage", giveUp));
    }
  };
}
