import type { Projections } from "../project.ts";
import { integers, texts } from "./encode.ts";
import type { Step, Value } from "./pipeline.ts";
import { viewTable } from "./view-tables.ts";

/** What another version has built, or is building, is its own affair. */
const isOurs = (first: number): string =>
  `(view, version) IN (SELECT * FROM unnest($${first}::text[], $${first + 1}::int4[]))`;

export function rebuildStatements(schema: string, projections: Projections) {
  const ours = texts(projections.all.map(({ view }) => view));
  const versions = integers(projections.all.map(({ version }) => version));
  const step = (name: string, text: string, ...values: readonly Value[]): Step => ({
    statement: { name: `hp_rebuild_${name}`, text },
    values,
  });
  return {
    lock: {
      name: "hp_rebuild_lock",
      text: `SELECT count(*) FROM (SELECT CASE WHEN write THEN pg_advisory_xact_lock(key) END
        FROM unnest($1::int8[], $2::bool[]) l (key, write) OFFSET 0) taken`,
    },
    /** Whoever writes older rows looks at the views again, and says so. */
    mark: () => [
      step(
        "mark",
        `UPDATE ${schema}.hp_views SET built = 0, stale = false WHERE ${isOurs(1)}`,
        ours,
        versions,
      ),
      step("moved", `UPDATE ${schema}.hp_meta SET value = (value::int8 + 1)::text WHERE key = 'layout'`),
    ],
    place: () =>
      step("place", `SELECT min(built) FROM ${schema}.hp_views WHERE ${isOurs(1)}`, ours, versions),
    total: () => step("total", `SELECT count(*) FROM ${schema}.hp_streams`),
    tenants: () => step("tenants", `SELECT tid FROM ${schema}.hp_tenants`),
    removeStrangers: () =>
      projections.all.map(({ view, kind }) =>
        step(
          `strangers_${view}`,
          `DELETE FROM ${schema}.${viewTable(view)} v WHERE NOT EXISTS
            (SELECT 1 FROM ${schema}.hp_streams s WHERE s.sid = v.sid AND starts_with(coalesce(s.whole, s.key), $1))`,
          `${kind}/`,
        ),
      ),
    page: (after: number, many: number) =>
      step(
        "page",
        `SELECT sid, tid, coalesce(whole, key) FROM ${schema}.hp_streams WHERE sid > $1 ORDER BY sid LIMIT $2`,
        after,
        many,
      ),
    entries: (sids: Buffer) =>
      step(
        "entries",
        `SELECT e.sid, e.header, e.hash, e.body FROM unnest($1::int8[]) w (sid)
          CROSS JOIN LATERAL (SELECT * FROM ${schema}.hp_entries i WHERE i.sid = w.sid OFFSET 0) e
          ORDER BY e.sid, e.seq`,
        sids,
      ),
    advance: (before: number, after: number | null) =>
      step(
        "advance",
        `UPDATE ${schema}.hp_views SET built = $2 WHERE built = $1 AND ${isOurs(3)}`,
        ...[before, after, ours, versions],
      ),
  };
}
