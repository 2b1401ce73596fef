/**
 * A table for each view. `hp_views` says with which version of its projection it was built, and how far a rebuild that
 * is under way has come (`built` is the last stream done, null when complete).
 */
import { HoldpointError } from "../../core/errors.ts";
import type { Projections } from "../project.ts";
import type { Client } from "./driver.ts";
import { bumpLayout, underLock } from "./migrations.ts";
import { quoted, viewLayout } from "./tables.ts";

export const viewTable = (view: string): string => `hp_view_${view}`;

type Place = { readonly schema: string; readonly role: string; readonly projections: Projections };

/** Makes what is missing and marks what has to be built. */
export async function createViewTables(client: Client, place: Place): Promise<void> {
  await refuseNewerViews(client, place);
  if (!(await isOutdated(client, place))) return;
  await underLock(client, place.schema, async () => {
    const views = `${quoted(place.schema)}.hp_views`;
    const quotedPlace = { schema: quoted(place.schema), role: quoted(place.role) };
    const found = await versions(client, place);
    for (const { view, version } of place.projections.all) {
      if (found.get(view) === version) continue;
      await client.query(viewLayout(quotedPlace, viewTable(view)));
      const upsert = `INSERT INTO ${views} (view, version, built) VALUES ($1, $2, 0)
        ON CONFLICT (view) DO UPDATE SET version = excluded.version, built = 0`;
      await client.query(upsert, [view, version]);
    }
    for (const view of await unattended(client, place))
      await client.query(`UPDATE ${views} SET version = -1 WHERE view = $1`, [view]);
    await bumpLayout(client, place.schema);
  });
}

export async function refuseNewerViews(client: Client, place: Place): Promise<void> {
  const found = await versions(client, place);
  for (const { view, version } of place.projections.all) {
    if ((found.get(view) ?? 0) <= version) continue;
    throw new HoldpointError("store_newer", `The view "${view}" was built by a newer version of Holdpoint.`, {
      data: "The database was left as it is.",
    });
  }
}

async function isOutdated(client: Client, place: Place): Promise<boolean> {
  const found = await versions(client, place);
  const isOld = place.projections.all.some(({ view, version }) => found.get(view) !== version);
  return isOld || (await unattended(client, place)).length > 0;
}

/** Views that this process does not write: they go stale, and whoever knows them has to build them again. */
async function unattended(client: Client, place: Place): Promise<readonly string[]> {
  const ours = new Set(place.projections.all.map(({ view }) => view));
  return [...(await versions(client, place))]
    .filter(([view, version]) => version !== -1 && !ours.has(view))
    .map(([view]) => view);
}

async function versions(client: Client, { schema }: Place): Promise<ReadonlyMap<string, number>> {
  const { rows } = await client.query(`SELECT view, version FROM ${quoted(schema)}.hp_views`);
  return new Map(rows.map((row) => [String(row["view"]), Number(row["version"])]));
}
