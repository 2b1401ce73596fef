/** One row of what happened to a workflow, and the table that its entries fill. */

import type { Irreversible, RollbackReport, Snapshot } from "../../core/workflow/events.ts";
import type { Json } from "../../kernel/json.ts";
import { type Entry, keyOf } from "./recorded.ts";

export type TimelineKind =
  | "call"
  | "step"
  | "sleep"
  | "child"
  | "question"
  | "intent"
  | "wait"
  | "checkpoint"
  | "log"
  | "rollback"
  | "undo"
  | "workflow";

export type CheckpointFacts = {
  readonly snapshot: Snapshot;
  readonly canRollback: boolean;
  /** Effects that a rejection could not have taken back. */
  readonly irreversible: readonly Irreversible[];
};

export type TimelineRow = {
  readonly seq: number;
  readonly at: number;
  readonly kind: TimelineKind;
  readonly name: string;
  /** 1, and one more each time the workflow was sent back. */
  readonly attempt: number;
  /** Numbers of the parallel branches that it is in, outermost first. */
  readonly branch: readonly number[];
  readonly op: string | null;
  /** The action, approval or child workflow that has a stream of its own. */
  readonly ref: string | null;
  /** The action that a compensation takes back. */
  readonly undoes: string | null;
  /** `open` until it has ended; then what came of it: `applied`, `completed`, `rejected`, `undone` and so on. */
  readonly status: string;
  readonly endedSeq: number | null;
  readonly endedAt: number | null;
  readonly by: readonly string[];
  readonly reason: string;
  /** A rollback has gone back over it. */
  readonly isBack: boolean;
  /** An effect that was taken back. */
  readonly isUndone: boolean;
  /** When a sleep ends, or a step is tried again. */
  readonly until: number | null;
  readonly checkpoint: CheckpointFacts | null;
  /** Of a rollback that has ended. */
  readonly report: RollbackReport | null;
};

/** `places`: where the newest row of an operation, action, approval or child stands. */
export type Tale = { rows: TimelineRow[]; readonly places: Map<string, number>; attempt: number };

export const emptyTale = (): Tale => ({ rows: [], places: new Map(), attempt: 1 });

export const text = (value: Json | undefined): string => (typeof value === "string" ? value : "");

export const texts = (value: Json | undefined): readonly string[] =>
  Array.isArray(value) ? value.filter((one: Json): one is string => typeof one === "string") : [];

/** `parallel-1.2.parallel-1.1` is the first branch of the second one. */
function branchOf(op: string): readonly number[] {
  const path = keyOf(op).split("/")[0] ?? "";
  return [...path.matchAll(/parallel-\d+\.(\d+)/g)].map(([, number]) => Number(number));
}

export function nameOf(op: string): string {
  const key = keyOf(op);
  return key.slice(key.indexOf("/") + 1, key.lastIndexOf("#"));
}

const FRESH = {
  ref: null,
  undoes: null,
  status: "open",
  endedSeq: null,
  endedAt: null,
  by: [],
  reason: "",
  isBack: false,
  isUndone: false,
  until: null,
  checkpoint: null,
  report: null,
} as const;

export function add(tale: Tale, entry: Entry, row: Partial<TimelineRow> & Pick<TimelineRow, "kind">): void {
  const { seq, at, body } = entry;
  const op = typeof body["op"] === "string" ? body["op"] : null;
  const place = op === null ? { name: "", branch: [] } : { name: nameOf(op), branch: branchOf(op) };
  const made = { ...FRESH, ...place, seq, at, op, attempt: tale.attempt, ...row };
  if (made.op !== null) tale.places.set(made.op, tale.rows.length);
  if (made.ref !== null) tale.places.set(made.ref, tale.rows.length);
  tale.rows.push(made);
}

/** The newest row under the id of an operation, action, approval or child. */
export function rowAt(tale: Tale, id: string): TimelineRow | undefined {
  const at = tale.places.get(id);
  return at === undefined ? undefined : tale.rows[at];
}

export function change(tale: Tale, id: string, patch: Partial<TimelineRow>): void {
  const at = tale.places.get(id);
  const row = at === undefined ? undefined : tale.rows[at];
  if (at !== undefined && row !== undefined) tale.rows[at] = { ...row, ...patch };
}

export type Ending = Pick<TimelineRow, "status" | "reason" | "by" | "endedSeq" | "endedAt">;

export function ending(entry: Entry, status: string, reason = "", by: readonly string[] = []): Ending {
  return { status, reason, by, endedSeq: entry.seq, endedAt: entry.at };
}

/** It ends once; what is said again changes nothing. */
export function end(tale: Tale, id: string, how: Partial<TimelineRow>): void {
  if (rowAt(tale, id)?.endedSeq === null) change(tale, id, how);
}
