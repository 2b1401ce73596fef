/**
 * OpenWorkflow, on SQLite and on PostgreSQL.
 *
 * Its worker asks the store for work at intervals of up to a second. Here every workflow has a worker of its own that
 * is told to look as soon as the workflow is there: no time is lost between workflows.
 */
import { join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { OpenWorkflow } from "openworkflow";
import { BackendPostgres } from "openworkflow/postgres";
import { BackendSqlite } from "openworkflow/sqlite";
import postgres from "postgres";
import { makeFull } from "../sqlite-durability.ts";
import {
  inSequences,
  type Load,
  type OpenSystem,
  PAYLOAD,
  type Place,
  POOL,
  STEPS,
  timed,
} from "../system.ts";

type Opened = { readonly backend: BackendSqlite | BackendPostgres; readonly durability: string };

/** It sets WAL and leaves `synchronous` to what SQLite was built with. */
function openSqlite(place: Place): Opened {
  const backend = BackendSqlite.connect(join(place.folder, "openworkflow.db"));
  const { db } = backend as unknown as { readonly db: DatabaseSync };
  return { backend, durability: makeFull(db) };
}

/** Its own `connect` has no way to say how many connections the pool has (10). */
async function openPostgres(url: string): Promise<Opened> {
  const migrated = await BackendPostgres.connect(url);
  await migrated.stop();
  const pool = postgres(url, { max: POOL, transform: { column: { from: postgres.toCamel } } });
  const [row] = await pool`SHOW synchronous_commit`;
  return {
    backend: BackendPostgres.fromPool(pool),
    durability: `synchronous_commit=${row?.["synchronousCommit"]}, pool ${POOL}`,
  };
}

export const open: OpenSystem = async (place) => {
  const { database } = place;
  const { backend, durability } = database === null ? openSqlite(place) : await openPostgres(database.url);
  const client = new OpenWorkflow({ backend });
  let load: Load | undefined;
  const ended = new Map<string, () => void>();
  const workflow = client.defineWorkflow<{ id: string }, null>({ name: "steps" }, async ({ input, step }) => {
    for (let n = 0; n < STEPS && load?.isOver() === false; n++)
      await timed(load, () => step.run({ name: `step-${n}` }, () => PAYLOAD));
    ended.get(input.id)?.();
    return null;
  });
  let started = 0;
  const sequence = async (number: number) => {
    const id = `${number}-${started++}`;
    const end = new Promise<void>((resolve) => ended.set(id, resolve));
    await workflow.run({ id });
    while ((await client.newWorker({ concurrency: 1 }).tick()) === 0) await new Promise(setImmediate);
    await end;
    ended.delete(id);
  };
  return {
    servers: database === null ? [] : [database.pid],
    durability,
    run: async (given) => {
      load = given;
      await inSequences(given, sequence);
    },
    close: () => backend.stop(),
  };
};
