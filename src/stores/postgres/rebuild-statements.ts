import type { Projections } from "../project.ts";
import { texts } from "./encode.ts";
import type { Step, Value } from "./pipeline.ts";
import { viewTable } from "./view-tables.ts";

export function rebuildStatements(schema: string, projections: Projections) {
  const ours = texts(projections.all.map(({ view }) => view));
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
    mark: () => step("mark", `UPDATE ${schema}.hp_views SET built = 0 WHERE view = ANY ($1::text[])`, ours),
    place: () =>
      step("place", `SELECT min(built) FROM ${schema}.hp_views WHERE view = ANY ($1::text[])`, ours),
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
      step("advance", `UPDATE ${schema}.hp_views SET built = $2 WHERE built = $1`, before, after),
  };
}
