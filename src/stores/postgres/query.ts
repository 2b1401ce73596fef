/**
 * Queries: several prepared statements in one round trip. `pg` sends one at a time and waits, but the protocol does not
 * require that. The statements between two syncs succeed in order up to the first that fails; none after it runs.
 * - A statement is prepared once per connection, at its first use, under the role it always runs under.
 * - A query runs in one round trip and one transaction, under the worker role, for one tenant or over the ids of all.
 */

import type { Client, Connection, Connections, Submittable } from "./connect.ts";
import { type ConnectRetry, retryWhileUnavailable } from "./errors.ts";

export type Statement = { readonly name: string; readonly text: string };
export type ParameterValue = string | number | Buffer | null;
export type QueryStep = { readonly statement: Statement; readonly values?: readonly ParameterValue[] };
export type ResultRow = readonly (string | null)[];

/** Returns one list of rows per step. */
export function sendPipeline(
  client: Client,
  steps: readonly QueryStep[],
): Promise<readonly (readonly ResultRow[])[]> {
  return new Promise((resolve, reject) => {
    client.query(roundTrip(steps, resolve, reject));
  });
}

type PreparedStatements = { readonly known: Set<string>; readonly asked: string[] };
const prepared = new WeakMap<Connection, PreparedStatements>();

function preparedOn(connection: Connection): PreparedStatements {
  const found = prepared.get(connection);
  if (found !== undefined) return found;
  const fresh: PreparedStatements = { known: new Set(), asked: [] };
  connection.on("parseComplete", () => {
    const name = fresh.asked.shift();
    if (name !== undefined) fresh.known.add(name);
  });
  prepared.set(connection, fresh);
  return fresh;
}

type Handlers = Submittable & {
  handleRowDescription(): void;
  handleDataRow(message: { readonly fields: ResultRow }): void;
  handleCommandComplete(): void;
  handleEmptyQuery(): void;
  handlePortalSuspended(): void;
  handleReadyForQuery(): void;
  handleError(error: Error, connection: Connection): void;
};

function roundTrip(
  steps: readonly QueryStep[],
  resolve: (rows: readonly (readonly ResultRow[])[]) => void,
  reject: (error: unknown) => void,
): Handlers {
  const results: ResultRow[][] = [];
  let rows: ResultRow[] = [];
  const next = () => {
    results.push(rows);
    rows = [];
  };
  return {
    submit: (connection) => submit(connection, steps),
    handleRowDescription() {},
    handleDataRow: ({ fields }) => void rows.push(fields),
    handleCommandComplete: next,
    handleEmptyQuery: next,
    handlePortalSuspended() {},
    handleReadyForQuery: () => resolve(results),
    handleError(error, connection) {
      prepared.get(connection)?.asked.splice(0);
      reject(error);
    },
  };
}

const bound = (value: ParameterValue): string | Buffer | null =>
  typeof value === "number" ? String(value) : value;

function submit(connection: Connection, steps: readonly QueryStep[]): void {
  const { known, asked } = preparedOn(connection);
  connection.stream.cork();
  try {
    for (const { statement, values = [] } of steps) {
      const { name, text } = statement;
      if (!known.has(name) && !asked.includes(name)) {
        connection.parse({ name, text, types: [] }, true);
        asked.push(name);
      }
      connection.bind({ statement: name, values: values.map(bound) }, true);
      connection.execute(null, true);
    }
    connection.sync();
  } finally {
    connection.stream.uncork();
  }
}

type QueryScope = number | "ids";
type QueryResults = readonly (readonly ResultRow[])[];

export type QueryRunner = {
  /** For idempotent steps: they are retried if the server was unavailable. Returns the rows of each step. */
  ask(reach: QueryScope, ...steps: readonly QueryStep[]): Promise<QueryResults>;
  /** The required first step of every transaction. */
  enter(reach: QueryScope): QueryStep;
  readonly connections: Connections;
  readonly patience: ConnectRetry;
};

const ENTER_TENANT: Statement = {
  name: "hp_enter_tenant",
  text: "SELECT set_config('role', $1, true), set_config('holdpoint.tenant', $2, true)",
};
const ENTER_IDS: Statement = {
  name: "hp_enter_ids",
  text: "SELECT set_config('role', $1, true), set_config('holdpoint.reach', 'ids', true)",
};

export function createQueryRunner(
  connections: Connections,
  patience: ConnectRetry,
  role: string,
): QueryRunner {
  const enter = (reach: QueryScope): QueryStep =>
    reach === "ids"
      ? { statement: ENTER_IDS, values: [role] }
      : { statement: ENTER_TENANT, values: [role, String(reach)] };
  return {
    connections,
    patience,
    enter,
    ask: (reach, ...steps) =>
      retryWhileUnavailable(patience, () =>
        connections.use(async (client: Client) => {
          const [, ...results] = await sendPipeline(client, [enter(reach), ...steps]);
          return results;
        }),
      ),
  };
}

export const numberColumn = (row: ResultRow | undefined, at: number): number => Number(row?.[at] ?? 0);
export const textColumn = (row: ResultRow | undefined, at: number): string => row?.[at] ?? "";
/** PostgreSQL's text of bytes is `\x` and hexadecimal digits. */
export const hexColumn = (row: ResultRow | undefined, at: number): string => (row?.[at] ?? "").slice(2);
export const bytesColumn = (row: ResultRow | undefined, at: number): Uint8Array =>
  new Uint8Array(Buffer.from(hexColumn(row, at), "hex"));

export const BEGIN: Statement = { name: "hp_begin", text: "BEGIN" };
export const COMMIT: Statement = { name: "hp_commit", text: "COMMIT" };
export const ROLLBACK: Statement = { name: "hp_rollback", text: "ROLLBACK" };

/** Milliseconds of the database's clock now, not at the start of the transaction. */
export const DATABASE_NOW = "floor(extract(epoch FROM clock_timestamp()) * 1000)::int8";
