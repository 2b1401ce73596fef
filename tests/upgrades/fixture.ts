/**
 * Stores that `npm run upgrade -- --make-fixture` kept, as if their program had been killed a minute ago: the time of this
 * process and of its PostgreSQL is that of then.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { type PostgresServer, startPostgres } from "../fixtures/postgres-server.ts";
import { unpack } from "./archive.ts";
import type { Left } from "./left.ts";
import { type Dump, restorePostgres, shiftPostgres } from "./postgres-dump.ts";
import { type Site, site, type Where } from "./upgrade.ts";

export type Fixture = { readonly place: Site; readonly where: Where; readonly left: Left };
type Context = Pick<TestContext, "after">;

/** Long enough for every lease to have lapsed, and too short for a session, a permit or a link. */
const LATER_MS = 60_000;

export const FIXTURES = readdirSync(import.meta.dirname).filter((name) =>
  existsSync(join(import.meta.dirname, name, "schema.br")),
);

const read = <Value>(root: string, name: string): Value => JSON.parse(readFileSync(join(root, name), "utf8"));

function shiftClock(context: Context, { at = 0 }: Left): number {
  const { now } = Date;
  const byMs = at + LATER_MS - now();
  Date.now = () => now() + byMs;
  context.after(() => {
    Date.now = now;
  });
  return byMs;
}

export async function openFile(context: Context, name: string): Promise<Fixture> {
  const place = await site(context);
  unpack(join(import.meta.dirname, name, "store.br"), place.root);
  const left = read<Left>(place.root, "left.json");
  shiftClock(context, left);
  return { place, where: { folder: join(place.root, "data") }, left };
}

export async function openSchema(
  context: Context,
  name: string,
): Promise<Fixture & { server: PostgresServer }> {
  const place = await site(context);
  unpack(join(import.meta.dirname, name, "schema.br"), place.root);
  const left = read<Left>(place.root, "left.json");
  const server = await startPostgres(["allow_system_table_mods=on"]);
  context.after(() => server.stop());
  await shiftPostgres(server.url, shiftClock(context, left));
  await restorePostgres(server.url, read<Dump>(place.root, "schema.json"));
  return { place, where: { database: server.url }, left, server };
}
