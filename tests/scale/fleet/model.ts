/**
 * What a load leaves in a PostgreSQL database: rows, bytes and commits. The figures are of arguments of about 100 characters;
 * `docs/guide/scale.md` says how they were measured, and a run compares them with what a mixed load really leaves.
 */
import type { Stock } from "./database.ts";
import { KINDS, type Kind, type Load } from "./kinds.ts";

export type Predicted = Omit<Stock, "commits"> & {
  /** Where every decision is committed alone; under load several share one. */
  readonly decisions: number;
};

export const EACH: { readonly [K in Kind]: Predicted } = {
  performed: { entries: 4, streams: 1, names: 1, viewRows: 1, bytes: 3_850, decisions: 2 },
  approved: { entries: 8, streams: 2, names: 1, viewRows: 3, bytes: 11_850, decisions: 4 },
  rejected: { entries: 6, streams: 2, names: 1, viewRows: 3, bytes: 9_650, decisions: 2 },
  suspended: { entries: 6, streams: 2, names: 0, viewRows: 4, bytes: 9_700, decisions: 4 },
};

const NOTHING: Predicted = { entries: 0, streams: 0, names: 0, viewRows: 0, bytes: 0, decisions: 0 };

export function predict(load: Load): Predicted {
  return KINDS.reduce<Predicted>((sum, kind) => {
    const many = load[kind] ?? 0;
    const each = EACH[kind];
    const fields = Object.keys(NOTHING) as (keyof Predicted)[];
    return Object.fromEntries(fields.map((field) => [field, sum[field] + many * each[field]])) as Predicted;
  }, NOTHING);
}
