/** Two instances on one store: one that calls and one that decides. */
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { type Holdpoint, type HoldpointOptions, holdpoint, type Notice } from "../../src/index.ts";
import { wallClock } from "../../src/kernel/clock.ts";
import { pooledRandom } from "../../src/runtime/runtime.ts";
import { openPostgresStore } from "../../src/stores/postgres/open.ts";
import { openSqliteStore } from "../../src/stores/sqlite/open.ts";
import { FOLDS, PROJECTIONS } from "../../src/streams.ts";

import { startPostgres } from "../fixtures/postgres-server.ts";

export const STORES = ["sqlite", "postgres"] as const;
export type StoreName = (typeof STORES)[number];

export type Place = {
  readonly caller: Holdpoint;
  readonly decider: Holdpoint;
  readonly failures: Notice[];
  /** How large the store has become; null where that is not looked at. */
  sizeMb(): number | null;
  close(): Promise<void>;
};

/** Small, so that they are full long before the warm-up is over: while a cache fills, memory grows and nothing leaks. */
const HEADS = { count: 500, size: 2 * 1024 * 1024 };
const SMALL_PAGE_CACHE = "PRAGMA cache_size=-1000";

export async function openPlace(name: StoreName): Promise<Place> {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "holdpoint-soak-"));
  const backing = name === "sqlite" ? sqliteIn(path.join(folder, "data")) : await postgres();
  const failures: Notice[] = [];
  const notify = (notice: Notice) => {
    if (notice.kind === "maintenance_failed" || notice.kind === "outcome_unrecorded") failures.push(notice);
  };
  const keyFile = path.join(folder, "key.json");
  const open = async (agent: string) => holdpoint({ ...(await backing.options()), keyFile, agent, notify });
  const caller = await open("caller");
  const decider = await open("decider");
  return {
    caller,
    decider,
    failures,
    sizeMb: backing.sizeMb,
    async close() {
      await decider.close();
      await caller.close();
      await backing.stop();
      fs.rmSync(folder, { recursive: true, force: true });
    },
  };
}

type Backing = {
  options(): Promise<HoldpointOptions>;
  sizeMb(): number | null;
  stop(): Promise<void>;
};

function sqliteIn(folder: string): Backing {
  const projections = PROJECTIONS;
  const random = pooledRandom();
  const sizeOf = (file: string) => fs.statSync(path.join(folder, file)).size;
  return {
    async options() {
      const store = await openSqliteStore({
        folder,
        folds: FOLDS,
        projections,
        clock: wallClock,
        random,
        mostHeads: HEADS,
        hooks: { connected: (db) => db.exec(SMALL_PAGE_CACHE) },
      });
      return { store };
    },
    sizeMb: () => Math.round(sizeOf("journal.db") / 1024 / 1024),
    stop: async () => undefined,
  };
}

async function postgres(): Promise<Backing> {
  const server = await startPostgres();
  const projections = PROJECTIONS;
  const random = pooledRandom();
  return {
    async options() {
      const database = server.url;
      const store = await openPostgresStore({
        database,
        folds: FOLDS,
        projections,
        random,
        mostHeads: HEADS,
      });
      return { store };
    },
    sizeMb: () => null,
    stop: () => server.stop(),
  };
}
