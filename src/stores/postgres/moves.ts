/** What moved between two moments of the database, over all tenants: ids only. */
import { type Ask, numberAt, textAt } from "./ask.ts";
import { longs } from "./encode.ts";
import type { Row } from "./pipeline.ts";
import { fromText } from "./text-key.ts";

export type Move = {
  readonly position: number;
  readonly tenant: string;
  readonly streams: readonly string[];
};

/**
 * What a follower has seen: everything before `upto`, except what transactions write that ran at that moment; each has
 * its positions from a number of `running` on. `upto` lies right after something that was committed: numbers of
 * transactions that wrote nothing are given out again by a server that crashed.
 */
export type Seen = { readonly upto: number; readonly running: readonly number[] };

/** All transactions before the horizon have ended. */
export type Moves = (
  seen: Seen,
) => Promise<{ readonly moves: readonly Move[]; readonly horizon: number; readonly seen: Seen }>;

/** A follower that slept for long gets what moved in portions. */
const MOST = 500;
const PLACES = 16_384;

export function prepareMoves({ ask }: Ask, schema: string): Moves {
  const statement = {
    name: "hp_moves",
    text: `SELECT pg_current_snapshot()::text, (SELECT value FROM ${schema}.hp_meta WHERE key = 'base'),
        m.position, (SELECT t.tenant FROM ${schema}.hp_tenants t WHERE t.tid = m.tid), n.streams
      FROM (SELECT 1) one LEFT JOIN (
        SELECT * FROM (
          SELECT position, tid, sids FROM ${schema}.hp_moves WHERE position >= $1::int8
          UNION ALL
          SELECT late.* FROM unnest($2::int8[]) r (first) CROSS JOIN LATERAL (
            SELECT m.position, m.tid, m.sids FROM ${schema}.hp_moves m
            WHERE m.position >= r.first AND m.position < least(r.first + ${PLACES}, $1::int8) OFFSET 0
          ) late
        ) newer ORDER BY position LIMIT ${MOST}
      ) m ON true
      LEFT JOIN LATERAL (
        SELECT json_agg((SELECT coalesce(s.whole, s.key) FROM ${schema}.hp_streams s WHERE s.sid = i.sid))
        FROM unnest(m.sids) i (sid)
      ) n (streams) ON true ORDER BY m.position`,
  };
  return async (before) => {
    const [rows = []] = await ask("ids", { statement, values: [before.upto, longs(before.running)] });
    const moves = rows.filter((row) => row[2] !== null).map(moveOf);
    const last = moves.at(-1);
    const upto = last === undefined ? before.upto : Math.max(before.upto, last.position + 1);
    return { moves, ...momentOf(rows[0], upto) };
  };
}

function moveOf(row: Row): Move {
  const streams: readonly string[] = JSON.parse(row[4] ?? "[]");
  return { position: numberAt(row, 2), tenant: fromText(textAt(row, 3)), streams: streams.map(fromText) };
}

/** PostgreSQL writes a moment as `xmin:xmax:xip,xip`: the first running, the first not yet begun, those running. */
function momentOf(row: Row | undefined, upto: number): { readonly horizon: number; readonly seen: Seen } {
  const [xmin = "0", , list = ""] = textAt(row, 0).split(":");
  const firstOf = (xid: string): number => numberAt(row, 1) + Number(xid) * PLACES;
  const running = list === "" ? [] : list.split(",").map(firstOf);
  return { horizon: firstOf(xmin), seen: { upto, running: running.filter((first) => first < upto) } };
}
