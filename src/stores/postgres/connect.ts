/**
 * The pool of connections, each with the settings that durability and order rest on, read back after they were set.
 *
 * C1. A connection is used only if the server syncs its log, writes whole pages, and may be written.
 * C2. Work waits at most for the time-outs set here and on the server: for a connection, a statement, a lock, a
 *     transaction left open, and for a server that says nothing at all.
 * C3. A connection on which anything failed is not used again: what it was in the middle of is rolled back by the server.
 */
import type { ClientConfig } from "pg";
import { type Address, readAddress } from "./address.ts";
import type { Client, Pg, PoolClient } from "./driver.ts";
import type { Resolved } from "./options.ts";
import { refused } from "./refused.ts";
import { applySettings, silentMs } from "./server-settings.ts";
import { limitSilence } from "./silence.ts";

export type Connections = {
  readonly address: Address;
  use<Answer>(work: (client: Client) => Promise<Answer>): Promise<Answer>;
  /** A connection beside the pool, for listening. `free` ends the watch over its silence. */
  alone(): Promise<{ readonly client: Client; free(): void }>;
  end(): Promise<void>;
};

const CONNECT_MS = 5_000;
const IDLE_MS = 30_000;
const PROBE_MS = 10_000;

export function connections(pg: Pg, options: Resolved): Connections {
  const quietMs = silentMs(options);
  const config: ClientConfig = {
    connectionString: options.database,
    application_name: options.applicationName ?? "holdpoint",
    connectionTimeoutMillis: Math.min(CONNECT_MS, quietMs),
    keepAlive: true,
    keepAliveInitialDelayMillis: PROBE_MS,
  };
  const address = readAddress(pg, config);
  const Client = tidyClient(pg);
  const pool = new pg.Pool({
    ...config,
    Client,
    max: options.connections,
    idleTimeoutMillis: IDLE_MS,
    allowExitOnIdle: true,
  });
  // What an idle connection says when its server goes away; the pool drops it by itself.
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
      const client = (await pool.connect().catch(refused(address))) as PoolClient & Client;
      const free = limitSilence(client, quietMs);
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
      await client.connect().catch(refused(address));
      return { client, free: limitSilence(client, quietMs) };
    },
    end: () => pool.end(),
  };
}

/** `pg` leaves the socket of a connection that was refused open, and that would keep the process alive. */
function tidyClient(pg: Pg) {
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
