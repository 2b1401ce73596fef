import { after, before, describe, type TestContext } from "node:test";
import { wallClock } from "../../src/kernel/clock.ts";
import { openPostgres } from "../../src/postgres.ts";
import { pooledRandom } from "../../src/runtime/runtime.ts";
import { openSqliteStore } from "../../src/stores/sqlite/open.ts";
import { FOLDS, PROJECTIONS } from "../../src/streams.ts";

import { temporaryFolder } from "../fixtures/folder.ts";
import { type PostgresServer, startPostgres } from "../fixtures/postgres-server.ts";
import { newerEntries } from "./newer-entries.ts";
import { openNewer } from "./newer-program.ts";

describe("on a file", () => {
  newerEntries(async (t: TestContext) => {
    const { path: folder, keyFile } = temporaryFolder(t);
    const common = { folds: FOLDS, projections: PROJECTIONS, random: pooledRandom(), clock: wallClock };
    return {
      keyFile,
      older: () => openSqliteStore({ folder, ...common }),
      newer: () => openNewer({ folder }),
    };
  });
});

describe("on PostgreSQL", { concurrency: false }, () => {
  let server: PostgresServer | undefined;
  let schemas = 0;
  before(async () => {
    server = await startPostgres();
  });
  after(() => server?.stop());
  newerEntries(async (t: TestContext) => {
    const { keyFile } = temporaryFolder(t);
    const where = { database: server?.url ?? "", schema: `upgrade_${++schemas}` };
    return { keyFile, older: () => openPostgres(where), newer: () => openNewer(where) };
  });
});
