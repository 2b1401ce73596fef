/** A store that the program of a commit leaves, on a file and on PostgreSQL, carried on by the present sources. */
import { join } from "node:path";
import type { TestContext } from "node:test";
import { startPostgres } from "../fixtures/postgres-server.ts";
import { installCommit } from "./archive.ts";
import { withClient } from "./postgres-dump.ts";
import { carryOn, site, type Where, writeAndDie } from "./upgrade.ts";

type Context = Pick<TestContext, "after">;

type Layout = {
  readonly version: number;
  readonly oldestReader: number;
  readonly views: ReadonlyMap<string, { readonly version: number; readonly oldest: number }>;
};

const readLayout = (database: string): Promise<Layout> =>
  withClient(database, async (client) => {
    const meta = await client.query("SELECT key, value FROM holdpoint.hp_meta");
    const noted = new Map<unknown, unknown>(meta.rows.map(({ key, value }) => [key, value]));
    const views = await client.query(
      "SELECT view, version, coalesce(oldest, version) oldest FROM holdpoint.hp_views",
    );
    return {
      version: Number(noted.get("version")),
      oldestReader: Number(noted.get("oldest_reader")),
      views: new Map(views.rows.map(({ view, version, oldest }) => [view, { version, oldest }])),
    };
  });

/** Why programs of the layout before may not go on beside those that changed it; undefined if they may. */
function whyNotBeside(before: Layout, after: Layout): string | undefined {
  if (after.oldestReader > before.version)
    return `layout ${after.version} is used from layout ${after.oldestReader} on, and the commit has ${before.version}`;
  const changed = [...before.views].filter(([view, { version }]) => {
    const now = after.views.get(view);
    return now !== undefined && now.version > version && now.oldest > version;
  });
  return changed.length === 0 ? undefined : `rows of ${changed.map(([view]) => view).join(", ")} changed`;
}

async function upgrade(
  context: Context,
  commit: string,
  where: (root: string) => Where,
): Promise<Layout | null> {
  const place = await site(context);
  const store = where(place.root);
  const writer = installCommit(commit, join(place.root, "program"));
  const left = await writeAndDie(place, store, [writer]);
  const before = "database" in store ? await readLayout(store.database) : null;
  await carryOn(place, store, left);
  return before;
}

/** Answers why nodes of both cannot work side by side; undefined if they can. Throws where anything was lost. */
export async function upgradeFrom(
  context: Context,
  commit: string,
  say: (line: string) => void,
): Promise<string | undefined> {
  await upgrade(context, commit, (root) => ({ folder: join(root, "data") }));
  say("everything that waited in a file was carried on");
  const server = await startPostgres();
  context.after(() => server.stop());
  const before = await upgrade(context, commit, () => ({ database: server.url }));
  say("everything that waited in PostgreSQL was carried on");
  return before === null ? undefined : whyNotBeside(before, await readLayout(server.url));
}
