import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { holdpoint } from "../../src/index.ts";
import { startPostgres } from "../fixtures/postgres-server.ts";
import { raceFor } from "./race.ts";

test("calls that race use a grant no more often than it says: PostgreSQL, three instances", async (t) => {
  const server = await startPostgres();
  const home = mkdtempSync(join(tmpdir(), "holdpoint-grants-"));
  t.after(async () => {
    await server.stop();
    rmSync(home, { recursive: true, force: true });
  });
  const options = { database: server.url, keyFile: join(home, "key.json"), notify: () => undefined };
  const instances = ["a", "b", "c"].map((agent) => holdpoint({ ...options, agent }));
  await raceFor(instances);
  for (const hp of instances) await hp.close();
});
