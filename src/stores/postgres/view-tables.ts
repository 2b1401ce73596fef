/**
 * A table for each view. `hp_views` says with which version of its projection it was built, and how far a rebuild that
 * is under way has come (`built` is the last stream done, null when complete).
 */
import { HoldpointError } from "../../kernel/errors.ts";
import type { Projections } from "../project.ts";
import { type FoundViews, neglected, newerView, oldestOf, unbuilt } from "../view-versions.ts";
import type { Client } from "./driver.ts";
import { bumpLayout, underLock } from "./migrations.ts";
import { quoted, viewLayout } from "./tables.ts";

export const viewTable = (view: string): string => `hp_view_${view}`;

type Place = { readonly schema: string; readonly role: string; readonly projections: Projections };

/** Makes what is missing and marks what has to be built. */
export async function createViewTables(client: Client, place: Place): Promise<void> {
  await checkViews(client, place);
  const { all } = place.projections;
  if (unbuilt(await foundIn(client, place), all).length === 0) return;
  await underLock(client, place.schema, async () => {
    const found = await foundIn(client, place);
    const quotedPlace = { schema: quoted(place.schema), role: quoted(place.role) };
    for (const projection of unbuilt(found, all)) {
      const { view, version } = projection;
      // Rights and indexes of a table that is there are not touched: whoever writes to it would have to wait.
      if (!found.has(view)) await client.query(viewLayout(quotedPlace, viewTable(view)));
      const upsert = `INSERT INTO ${quotedPlace.schema}.hp_views (view, version, oldest, built) VALUES ($1, $2, $3, 0)
        ON CONFLICT (view) DO UPDATE
        SET version = excluded.version, oldest = excluded.oldest, built = 0, stale = false`;
      await client.query(upsert, [view, version, oldestOf(projection)]);
    }
    await bumpLayout(client, place.schema);
  });
}

/** Refuses to go on where only newer programs may; says where this one leaves older rows, or none. */
export async function checkViews(client: Client, place: Place): Promise<void> {
  const found = await foundIn(client, place);
  const newer = newerView(found, place.projections.all);
  if (newer !== undefined)
    throw new HoldpointError(
      "store_newer",
      `The view "${newer}" was built by a newer version of Holdpoint.`,
      {
        data: "The database was left as it is.",
      },
    );
  const stale = neglected(found, place.projections.all);
  const mark = `UPDATE ${quoted(place.schema)}.hp_views SET stale = true WHERE view = ANY ($1::text[])`;
  if (stale.length > 0) await client.query(mark, [stale]);
}

async function foundIn(client: Client, { schema }: Place): Promise<FoundViews> {
  const { rows } = await client.query(`SELECT view, version, oldest, stale FROM ${quoted(schema)}.hp_views`);
  return new Map(
    rows.map((row) => {
      const oldest = row["oldest"] === null ? null : Number(row["oldest"]);
      return [
        String(row["view"]),
        { version: Number(row["version"]), oldest, isStale: row["stale"] === true },
      ];
    }),
  );
}
