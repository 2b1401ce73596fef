/** Work in one round trip and one transaction: under the worker role, for one tenant, or over the ids of all. */
import type { Connections } from "./connect.ts";
import type { Client } from "./driver.ts";
import { type Patience, patiently } from "./patience.ts";
import { type Row, type Statement, type Step, send } from "./pipeline.ts";

export type Reach = number | "ids";
export type Results = readonly (readonly Row[])[];

export type Ask = {
  /** What may be done twice: it is tried again when the server was away. Answers the rows of each step. */
  ask(reach: Reach, ...steps: readonly Step[]): Promise<Results>;
  /** The step that has to be the first of every transaction. */
  enter(reach: Reach): Step;
  readonly connections: Connections;
  readonly patience: Patience;
};

const ENTER_TENANT: Statement = {
  name: "hp_enter_tenant",
  text: "SELECT set_config('role', $1, true), set_config('holdpoint.tenant', $2, true)",
};
const ENTER_IDS: Statement = {
  name: "hp_enter_ids",
  text: "SELECT set_config('role', $1, true), set_config('holdpoint.reach', 'ids', true)",
};

export function createAsk(connections: Connections, patience: Patience, role: string): Ask {
  const enter = (reach: Reach): Step =>
    reach === "ids"
      ? { statement: ENTER_IDS, values: [role] }
      : { statement: ENTER_TENANT, values: [role, String(reach)] };
  return {
    connections,
    patience,
    enter,
    ask: (reach, ...steps) =>
      patiently(patience, () =>
        connections.use(async (client: Client) => {
          const [, ...results] = await send(client, [enter(reach), ...steps]);
          return results;
        }),
      ),
  };
}

export const numberAt = (row: Row | undefined, at: number): number => Number(row?.[at] ?? 0);
export const textAt = (row: Row | undefined, at: number): string => row?.[at] ?? "";
/** PostgreSQL writes bytes as `\x` and hexadecimal digits. */
export const hexAt = (row: Row | undefined, at: number): string => (row?.[at] ?? "").slice(2);
export const bytesAt = (row: Row | undefined, at: number): Uint8Array =>
  new Uint8Array(Buffer.from(hexAt(row, at), "hex"));
