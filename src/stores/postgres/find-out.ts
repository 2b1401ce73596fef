/**
 * A connection that is lost while a commit is on its way leaves it open whether it was done.
 *
 * F1. The transaction's number tells whether it still runs; then one waits.
 * F2. After it has ended, its last entry is there or is not. The number alone would not do: a server that crashed gives
 *     the number of a transaction that it has forgotten to another one.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { HoldpointError } from "../../kernel/errors.ts";
import { type Ask, hexAt, textAt } from "./ask.ts";
import type { Statement } from "./pipeline.ts";

export type CommitMark = {
  readonly tid: number;
  readonly xid: number;
  /** Of a batch that writes names or artifacts only there is none. */
  readonly last?: { readonly sid: number; readonly seq: number; readonly hash: string };
};

type Place = Pick<Ask, "ask" | "patience"> & { readonly schema: string };

/** Returns when it was committed; throws what the connection said when it certainly was not, else `commit_unknown`. */
export async function findOut(place: Place, mark: CommitMark, error: unknown): Promise<void> {
  const fate = await fateOf(place, mark).catch((cause: unknown) => unknown(cause));
  if (fate === "committed") return;
  throw fate === "undone" ? error : unknown(error);
}

type Fate = "committed" | "undone" | "unknown" | HoldpointError;

async function fateOf(place: Place, mark: CommitMark): Promise<Fate> {
  const until = performance.now() + place.patience.busyMs;
  for (let pause = 2; ; pause = Math.min(200, pause * 2)) {
    const fate = await look(place, mark);
    if (fate !== "running") return fate;
    if (performance.now() > until) return "unknown";
    await sleep(pause);
  }
}

const STATUS: Statement = {
  name: "hp_fate",
  text: `SELECT CASE WHEN $1::text::xid8 < pg_snapshot_xmax(pg_current_snapshot())
    THEN pg_xact_status($1::text::xid8) ELSE 'forgotten' END`,
};

async function look({ ask, schema }: Place, { tid, xid, last }: CommitMark): Promise<Fate | "running"> {
  const text = `SELECT hash FROM ${schema}.hp_entries WHERE tid = $1 AND sid = $2 AND seq = $3`;
  const values = [tid, last?.sid ?? 0, last?.seq ?? 0];
  // Two statements, the status first: the entry is looked for at a later moment.
  const found = { statement: { name: "hp_fate_entry", text }, values };
  const [status, rows] = await ask(tid, { statement: STATUS, values: [String(xid)] }, found);
  const said = textAt(status?.[0], 0);
  if (said === "in progress") return "running";
  if (last !== undefined) return hexAt(rows?.[0], 0) === last.hash ? "committed" : "undone";
  return said === "aborted" || said === "forgotten" ? "undone" : "unknown";
}

function unknown(cause: unknown): HoldpointError {
  const what = "The connection was lost while the database committed, and it could not be found out.";
  return new HoldpointError("commit_unknown", what, { cause });
}
