/**
 * Fastify and a table, and nothing else: a request is validated, its row is committed together with those of all requests
 * that came meanwhile, and only then is it answered.
 */
import { randomUUID } from "node:crypto";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import Fastify from "fastify";
import { Client } from "pg";
import { makeFull } from "../sqlite-durability.ts";
import type { Place } from "../system.ts";
import type { Listening } from "./server-process.ts";

type Row = { readonly id: string; readonly request: string; readonly text: string };
type Table = { readonly durability: string; commit(rows: readonly Row[]): Promise<void> };

const TABLE = "CREATE TABLE proposals (id text PRIMARY KEY, request text UNIQUE, body text NOT NULL)";

function sqliteTable(folder: string): Table {
  const db = new DatabaseSync(join(folder, "bare.db"));
  const durability = makeFull(db);
  // As Holdpoint has it; SQLite's own default is 1000.
  db.exec(`PRAGMA wal_autocheckpoint=2000; PRAGMA cache_size=-16000; ${TABLE}`);
  const insert = db.prepare("INSERT INTO proposals (id, request, body) VALUES (?, ?, ?)");
  return {
    durability,
    async commit(rows) {
      db.exec("BEGIN IMMEDIATE");
      for (const { id, request, text } of rows) insert.run(id, request, text);
      db.exec("COMMIT");
    },
  };
}

async function postgresTable(url: string): Promise<Table> {
  const client = new Client({ connectionString: url });
  await client.connect();
  await client.query(TABLE);
  const text = "INSERT INTO proposals SELECT * FROM unnest($1::text[], $2::text[], $3::text[])";
  const columns = (rows: readonly Row[]) => [
    rows.map(({ id }) => id),
    rows.map(({ request }) => request),
    rows.map((row) => row.text),
  ];
  return {
    durability: "the server's settings, one connection, one statement a batch",
    commit: async (rows) => void (await client.query({ name: "insert", text, values: columns(rows) })),
  };
}

/** One batch at a time; what comes while it is committed is the next. */
function batched({ commit }: Table): (row: Row) => Promise<void> {
  let waiting: { readonly row: Row; readonly done: PromiseWithResolvers<void> }[] = [];
  let isWorking = false;
  const work = async () => {
    while (waiting.length > 0) {
      const batch = waiting;
      waiting = [];
      try {
        await commit(batch.map(({ row }) => row));
        for (const { done } of batch) done.resolve();
      } catch (error) {
        for (const { done } of batch) done.reject(error);
      }
      await new Promise((resolve) => setImmediate(resolve));
    }
    isWorking = false;
  };
  return (row) => {
    const done = Promise.withResolvers<void>();
    waiting.push({ row, done });
    if (!isWorking) {
      isWorking = true;
      setImmediate(() => void work());
    }
    return done.promise;
  };
}

const body = {
  type: "object",
  additionalProperties: false,
  required: ["tool", "request_id", "args"],
  properties: {
    tool: { type: "string", maxLength: 200 },
    request_id: { type: "string", maxLength: 200 },
    args: {
      type: "object",
      additionalProperties: false,
      required: ["amount", "note"],
      properties: { amount: { type: "number", minimum: 0 }, note: { type: "string", maxLength: 1_000 } },
    },
  },
};
const answer = { type: "object", properties: { id: { type: "string" }, kind: { type: "string" } } };

async function serve({ folder, database }: Place): Promise<Listening> {
  const table = database === null ? sqliteTable(folder) : await postgresTable(database.url);
  const add = batched(table);
  const app = Fastify({ logger: false });
  app.post<{ Body: { request_id: string } }>(
    "/propose",
    { schema: { body, response: { 201: answer } } },
    async (request, reply) => {
      const id = randomUUID();
      await add({ id, request: request.body.request_id, text: JSON.stringify(request.body) });
      return reply.code(201).send({ id, kind: "permitted" });
    },
  );
  // biome-ignore lint/nursery/useAwaitThenable: it is a promise; the checker does not see so through its overloads.
  await app.listen({ host: "127.0.0.1", port: 0 });
  const { port } = app.server.address() as AddressInfo;
  return { port, durability: table.durability, headers: "" };
}

process.on("disconnect", () => process.exit(0));
process.send?.(await serve(JSON.parse(process.argv[2] ?? "") as Place));
