/** PostgreSQL through `pg` and nothing else, one round trip a commit: the limit on this machine. */
import { Client } from "pg";
import { inSequences, type Load, now, type OpenSystem, PAYLOAD, timed } from "../system.ts";
import { ENDING, type Entry, requestName, STARTING, streamName, VIEW_APPLIED } from "./same-rows.ts";

const SINGLE = "CREATE TABLE row (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, payload text NOT NULL)";
const INSERT = { name: "row", text: "INSERT INTO row (payload) VALUES ($1)", values: [PAYLOAD] };

const SAME = `
CREATE TABLE streams (
  sid int8 PRIMARY KEY, tid int4 NOT NULL, key text COLLATE "C" NOT NULL, whole text,
  seq int4 NOT NULL, hash bytea NOT NULL, at int8 NOT NULL, UNIQUE (tid, key)
) WITH (fillfactor = 60);
CREATE TABLE moves (
  position int8 GENERATED ALWAYS AS IDENTITY PRIMARY KEY, tid int4 NOT NULL, sids int8[] NOT NULL
);
CREATE TABLE entries (
  position int8 GENERATED ALWAYS AS IDENTITY, sid int8 NOT NULL, tid int4 NOT NULL, seq int4 NOT NULL,
  hash bytea NOT NULL, salt bytea, header text COLLATE "C" NOT NULL, body text COLLATE "C", PRIMARY KEY (sid, seq)
);
CREATE UNIQUE INDEX entries_position ON entries (tid, position);
CREATE TABLE names (
  tid int4 NOT NULL, key text COLLATE "C" NOT NULL, stream text COLLATE "C" NOT NULL, PRIMARY KEY (tid, key)
);
CREATE TABLE view (
  sid int8 PRIMARY KEY, tid int4 NOT NULL, bucket text COLLATE "C" NOT NULL, at int8 NOT NULL, due int8, leased int8,
  data text NOT NULL
) WITH (fillfactor = 80);
CREATE INDEX view_bucket ON view (tid, bucket, at, sid);
CREATE INDEX view_at ON view (tid, at, sid);
CREATE INDEX view_due ON view (tid, due) WHERE due IS NOT NULL;
`;

const ENTRIES = `
INSERT INTO entries (tid, sid, seq, header, hash, salt, body)
SELECT 1, * FROM unnest($4::int8[], $5::int4[], $6::text[], $7::bytea[], $8::bytea[], $9::text[])`;

const CALL = `
WITH m AS (INSERT INTO moves (tid, sids) VALUES (1, $1)),
  s AS (
    INSERT INTO streams SELECT sid, 1, name, NULL, 4, $10, $2
    FROM unnest($1::int8[], $11::text[]) AS t (sid, name)
  ),
  n AS (INSERT INTO names SELECT 1, request, name FROM unnest($12::text[], $11::text[]) AS t (request, name)),
  v AS (INSERT INTO view SELECT sid, 1, 'applied', $2, NULL, NULL, $3 FROM unnest($1::int8[]) AS t (sid))
${ENTRIES}`;

const HASH = Buffer.alloc(32, 7);

/** Columns of the entries of all these streams. */
function columns(sids: readonly number[], entries: readonly Entry[]): unknown[] {
  const rows = sids.flatMap((sid) => entries.map((entry) => ({ sid, ...entry })));
  return [
    rows.map(({ sid }) => sid),
    rows.map(({ seq }) => seq),
    rows.map(({ header }) => header),
    rows.map(({ hash }) => Buffer.from(hash)),
    rows.map(({ salt }) => Buffer.from(salt)),
    rows.map(({ body }) => body),
  ];
}

async function call(client: Client, sids: readonly number[]): Promise<void> {
  const rows = [sids, Date.now(), VIEW_APPLIED, ...columns(sids, [...STARTING, ...ENDING]), HASH];
  const names = [sids.map(streamName), sids.map(requestName)];
  await client.query({ name: "call", text: CALL, values: [...rows, ...names] });
}

function sameRows(clients: readonly Client[]): (load: Load) => Promise<void> {
  let last = 0;
  const on = (number: number): Client => clients[number] as Client;
  return async (load) => {
    if (load.variant !== "batched")
      return inSequences(load, (number) => timed(load, () => call(on(number), [++last])));
    while (!load.isOver()) {
      const began = now();
      const sids = Array.from({ length: load.inFlight }, () => ++last);
      await call(on(0), sids);
      for (const _ of sids) load.done(began);
    }
  };
}

const singleRow = (clients: readonly Client[]) => (load: Load) =>
  inSequences(load, (number) => timed(load, () => (clients[number] as Client).query(INSERT)));

export const open: OpenSystem = async ({ database, bench }) => {
  if (database === null) throw new Error("the raw PostgreSQL needs a database");
  const clients = Array.from({ length: 64 }, () => new Client({ connectionString: database.url }));
  for (const client of clients) await client.connect();
  await clients[0]?.query(bench === "raw-commit" ? SINGLE : SAME);
  const run = bench === "raw-commit" ? singleRow(clients) : sameRows(clients);
  return {
    servers: [database.pid],
    durability: "the server's settings, 64 connections",
    run,
    close: async () => void (await Promise.all(clients.map((client) => client.end()))),
  };
};
