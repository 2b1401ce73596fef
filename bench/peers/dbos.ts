/** DBOS Transact on PostgreSQL: workflows are started by a call and run in this process. */
import { DBOS } from "@dbos-inc/dbos-sdk";
import { Pool } from "pg";
import { inSequences, type Load, type OpenSystem, PAYLOAD, POOL, STEPS, timed } from "../system.ts";

const quiet = { info: () => {}, debug: () => {}, warn: () => {}, error: console.error };

export const open: OpenSystem = async ({ database }) => {
  if (database === null) throw new Error("DBOS needs PostgreSQL");
  // Its own pool would let its connections go between two windows, and each would begin by opening them again.
  const pool = new Pool({ connectionString: database.url, max: POOL, idleTimeoutMillis: 0 });
  pool.on("error", console.error);
  DBOS.setConfig({
    name: "bench",
    systemDatabaseUrl: database.url,
    systemDatabasePool: pool,
    enableOTLP: false,
    tracingEnabled: false,
    logger: quiet,
  });
  let load: Load | undefined;
  const steps = async (): Promise<null> => {
    for (let n = 0; n < STEPS && load?.isOver() === false; n++)
      await timed(load, () => DBOS.runStep(async () => PAYLOAD, { name: "step" }));
    return null;
  };
  const workflow = DBOS.registerWorkflow(steps, { name: "steps" });
  await DBOS.launch();
  return {
    servers: [database.pid],
    durability: `the server's settings, pool ${POOL}`,
    run: async (given) => {
      load = given;
      await inSequences(given, async () => void (await workflow()));
    },
    close: () => DBOS.shutdown(),
  };
};
