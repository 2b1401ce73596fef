/**
 * Several prepared statements in one round trip: `pg` sends one at a time and waits, the protocol does not have to. The
 * statements between two syncs succeed in order up to the first that fails; none after it runs.
 *
 * R1. A statement is prepared on a connection once, at its first use there, under the role it always runs under.
 */
import type { Client, Connection, Submittable } from "./driver.ts";

export type Statement = { readonly name: string; readonly text: string };
export type Value = string | number | Buffer | null;
export type Step = { readonly statement: Statement; readonly values?: readonly Value[] };
export type Row = readonly (string | null)[];

/** One list of rows a step. */
export function send(client: Client, steps: readonly Step[]): Promise<readonly (readonly Row[])[]> {
  return new Promise((resolve, reject) => {
    client.query(roundTrip(steps, resolve, reject));
  });
}

type Prepared = { readonly known: Set<string>; readonly asked: string[] };
const prepared = new WeakMap<Connection, Prepared>();

function preparedOn(connection: Connection): Prepared {
  const found = prepared.get(connection);
  if (found !== undefined) return found;
  const fresh: Prepared = { known: new Set(), asked: [] };
  connection.on("parseComplete", () => {
    const name = fresh.asked.shift();
    if (name !== undefined) fresh.known.add(name);
  });
  prepared.set(connection, fresh);
  return fresh;
}

type Handlers = Submittable & {
  handleRowDescription(): void;
  handleDataRow(message: { readonly fields: Row }): void;
  handleCommandComplete(): void;
  handleEmptyQuery(): void;
  handlePortalSuspended(): void;
  handleReadyForQuery(): void;
  handleError(error: Error, connection: Connection): void;
};

function roundTrip(
  steps: readonly Step[],
  resolve: (rows: readonly (readonly Row[])[]) => void,
  reject: (error: unknown) => void,
): Handlers {
  const results: Row[][] = [];
  let rows: Row[] = [];
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

const bound = (value: Value): string | Buffer | null => (typeof value === "number" ? String(value) : value);

function submit(connection: Connection, steps: readonly Step[]): void {
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
