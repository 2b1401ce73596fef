import { after, before } from "node:test";
import { type PostgresServer, startPostgres } from "../../../tests/fixtures/postgres-server.ts";
import { storeContract } from "../../testing/store-contract.ts";
import { openPostgresStore } from "./open.ts";

let server: PostgresServer;
before(async () => {
  server = await startPostgres();
});
after(() => server.stop());

let schemas = 0;

storeContract("PostgreSQL", async (options) => {
  const schema = `contract_${++schemas}`;
  return {
    open: () => openPostgresStore({ database: server.url, schema, connections: 6, ...options }),
    remove: async () => {},
  };
});
