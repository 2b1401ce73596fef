/** Hands out what is due, each row to one caller until its lease is over. Where nothing is due, nothing is written. */
import { checkQuery } from "../check-query.ts";
import type { Projections } from "../project.ts";
import type { ViewClaim, ViewRow } from "../store.ts";
import type { Ask } from "./ask.ts";
import { NOW } from "./ground.ts";
import { toText } from "./text-key.ts";
import { viewTable } from "./view-tables.ts";
import { shownColumns, viewRow } from "./views.ts";

export type Claims = (tid: number, claim: ViewClaim) => Promise<readonly ViewRow[]>;

type Place = {
  readonly schema: string;
  readonly projections: Projections;
  readonly clock?: { now(): number };
};

/** A row that another caller is just claiming is passed over; one that is claimed meanwhile is not there any more. */
export function prepareClaims({ ask }: Ask, { schema, projections, clock }: Place): Claims {
  const statementOf = (view: string) => {
    const table = `${schema}.${viewTable(view)}`;
    const now = `coalesce($6::int8, ${NOW})`;
    return {
      name: `hp_claim_${view}`,
      text: `WITH due AS MATERIALIZED (
          SELECT sid FROM ${table} WHERE tid = $1 AND due <= $2 AND ($3::text IS NULL OR bucket = $3)
            AND coalesce(leased, 0) <= ${now} ORDER BY at + 0, sid LIMIT $4 FOR UPDATE SKIP LOCKED
        ), claimed AS (
          UPDATE ${table} v SET leased = ${now} + $5::int8 WHERE v.sid = ANY (ARRAY(SELECT sid FROM due)) RETURNING v.*
        ) SELECT ${shownColumns(schema)} FROM claimed v ORDER BY v.at, v.sid`,
    };
  };
  return async (tid, { view, bucket, dueBy, limit, leaseMs }) => {
    projections.named(view);
    checkQuery({ view, limit }, () => true);
    const chosen = bucket === undefined ? null : toText(bucket);
    const values = [tid, dueBy, chosen, limit, leaseMs, clock?.now() ?? null];
    const [rows = []] = await ask(tid, { statement: statementOf(view), values });
    return rows.map(viewRow);
  };
}
