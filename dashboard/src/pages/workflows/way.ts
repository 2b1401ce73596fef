/** The way that a workflow went through its states, read off its timeline. */
import type { TimelineRow, WorkflowStatus } from "../../api/workflows.ts";

export type Stop = { readonly status: WorkflowStatus; readonly at: string; readonly why: string };

const GOES_ON: readonly string[] = ["approved", "modified"];

type Turn = Stop & { readonly seq: number };

function turnsOf(row: TimelineRow, isLast: boolean): readonly Turn[] {
  const { kind, seq, at, name, status, ended_at: ended, reason } = row;
  if (kind === "workflow" && status === "created") return [{ status: "initialized", at, seq, why: "" }];
  if (kind === "workflow" && status === "completed")
    return [
      { status: "settling", at, seq, why: "" },
      { status: "completed", at, seq, why: "" },
    ];
  if (kind === "workflow" && status === "failed") return [{ status: "failed", at, seq, why: reason }];
  if (kind === "checkpoint" && row.ref !== null) {
    const asks: Turn = { status: "awaiting_approval", at, seq, why: name };
    return ended !== null && GOES_ON.includes(status)
      ? [asks, { status: "executing", at: ended, seq: seq + 0.5, why: status }]
      : [asks];
  }
  if (kind !== "rollback") return [];
  const back: Turn = { status: "rolling_back", at, seq, why: reason };
  return ended !== null && !isLast ? [back, { status: "executing", at: ended, seq, why: "again" }] : [back];
}

/** Whatever an operation does, it does while executing. */
function withBeginning(turns: readonly Turn[], rows: readonly TimelineRow[]): readonly Turn[] {
  const [created, ...rest] = turns;
  const second = rows[1];
  const hasBegun = created?.status === "initialized" && second !== undefined && second.status !== "failed";
  return hasBegun
    ? [created, { status: "executing", at: second.at, seq: second.seq, why: "" }, ...rest]
    : turns;
}

/** `now` is where it stands: the timeline may be a moment behind. */
export function wayOf(rows: readonly TimelineRow[], now: WorkflowStatus): readonly Stop[] {
  const own = rows.filter(({ status }) => status !== "refused");
  const ending = own.at(-1);
  const turns = own.flatMap((row) => {
    const isFollowedByEnd =
      row.kind === "rollback" && ending?.kind === "workflow" && ending.status === "failed";
    const isFinal = isFollowedByEnd && own.findLast(({ kind }) => kind === "rollback") === row;
    return turnsOf(row, isFinal);
  });
  const way = withBeginning(turns, own).toSorted(
    (a, b) => Date.parse(a.at) - Date.parse(b.at) || a.seq - b.seq,
  );
  const stops = way.filter((turn, index) => turn.status !== way[index - 1]?.status);
  const last = stops.at(-1);
  const plain = stops.map(({ status, at, why }) => ({ status, at, why }));
  if (last === undefined || last.status === now) return plain;
  return [...plain, { status: now, at: last.at, why: "" }];
}

/** How often each move was made, by `from>to`. */
export function movesOf(way: readonly Stop[]): ReadonlyMap<string, number> {
  const moves = new Map<string, number>();
  for (const [index, { status }] of way.entries()) {
    const before = way[index - 1];
    if (before === undefined) continue;
    const move = `${before.status}>${status}`;
    moves.set(move, (moves.get(move) ?? 0) + 1);
  }
  return moves;
}
