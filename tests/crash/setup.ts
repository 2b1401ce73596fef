/** What every process of a run is told by its command line: where the store, the keys, the receiver and the logs are. */
import { join } from "node:path";
import type { HoldpointOptions } from "../../src/index.ts";
import { wallClock } from "../../src/kernel/clock.ts";
import { pooledRandom } from "../../src/runtime/runtime.ts";
import { openSqliteStore } from "../../src/stores/sqlite/open.ts";
import type { Store } from "../../src/stores/store.ts";
import { FOLDS, PROJECTIONS } from "../../src/streams.ts";

export type Setup = {
  readonly root: string;
  readonly port: number;
  /** A PostgreSQL address; without one the store is SQLite, in the run's own folder. */
  readonly database: string | null;
};

/** Short, so that what the dead left is taken over within the run. */
const LEASE_MS = 3_000;

const projections = PROJECTIONS;
const random = pooledRandom();

export const storeOf = ({ database }: Setup): "sqlite" | "postgres" =>
  database === null ? "sqlite" : "postgres";
export const folderOf = ({ root }: Pick<Setup, "root">): string => join(root, "data");
export const logOf = ({ root }: Setup, name: string): string => join(root, `${name}.log`);
export const readSetup = (): Setup => JSON.parse(process.argv[2] ?? "{}") as Setup;

/** What SQLite does not need it does not load: every process of a run starts as fast as it can. */
export async function openStore(setup: Setup): Promise<Store> {
  const { database } = setup;
  if (database !== null) {
    const { openPostgresStore } = await import("../../src/stores/postgres/open.ts");
    return openPostgresStore({ database, leaseMs: LEASE_MS, folds: FOLDS, projections, random });
  }
  const parts = { folds: FOLDS, projections, clock: wallClock, random };
  return openSqliteStore({ ...parts, folder: folderOf(setup), mode: "read-write" });
}

export const keysOf = ({ root }: Setup) => ({ keyFile: join(root, "key.json") });

export async function optionsOf(setup: Setup): Promise<HoldpointOptions> {
  const keys = keysOf(setup);
  return setup.database === null
    ? { ...keys, folder: folderOf(setup) }
    : { ...keys, store: await openStore(setup) };
}
