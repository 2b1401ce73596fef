/**
 * Positions are made of transaction numbers. A database that was dumped and restored into another server has positions
 * from numbers that the new server has not come to yet: then all new ones are moved behind them.
 */
import type { Ask } from "./ask.ts";
import { numberAt } from "./ask.ts";

const PLACES = 16_384;

export async function raiseBase({ ask }: Ask, schema: string): Promise<void> {
  const find = {
    name: "hp_base",
    text: `SELECT coalesce((SELECT value FROM ${schema}.hp_meta WHERE key = 'base'), '0'),
      (SELECT coalesce(max(position), 0) FROM ${schema}.hp_moves), pg_snapshot_xmax(pg_current_snapshot())::text`,
  };
  const raise = {
    name: "hp_raise_base",
    text: `UPDATE ${schema}.hp_meta SET value = greatest(value::int8, $1::int8)::text WHERE key = 'base'`,
  };
  const [rows] = await ask("ids", { statement: find });
  const [base, last, next] = [0, 1, 2].map((at) => numberAt(rows?.[0], at));
  const least = Math.ceil(((last ?? 0) + 1) / PLACES) * PLACES - (next ?? 0) * PLACES;
  if (least > (base ?? 0)) await ask("ids", { statement: raise, values: [least] });
}
