/** What an operation is to people: its kind in a word, and the sign that stands beside it. */
import type { TimelineRow } from "../../api/workflows.ts";
import type { IconName } from "../../ui/icon.tsx";
import { type Tone, toneOf } from "../../ui/tone.ts";

type Kind = { readonly word: string; readonly icon: IconName };

const KINDS: { readonly [kind: string]: Kind } = {
  call: { word: "call", icon: "play" },
  step: { word: "step", icon: "edit" },
  sleep: { word: "sleep", icon: "clock" },
  child: { word: "child workflow", icon: "flow" },
  question: { word: "question", icon: "comment" },
  intent: { word: "sent", icon: "link" },
  wait: { word: "wait", icon: "clock" },
  checkpoint: { word: "checkpoint", icon: "lock" },
  log: { word: "note", icon: "policy" },
  rollback: { word: "back to", icon: "undo" },
  undo: { word: "undo", icon: "undo" },
  workflow: { word: "workflow", icon: "flow" },
};

export const kindOf = (kind: string): Kind => KINDS[kind] ?? { word: kind, icon: "more" };

/** What the row's dot says; what was gone back over says nothing any more. */
export function toneOfRow({ kind, status, is_back: isBack }: TimelineRow): Tone {
  if (isBack) return "plain";
  if (status === "open") return kind === "checkpoint" || kind === "question" ? "hold" : "note";
  if (kind === "rollback" || kind === "undo") return "doubt";
  return status === "passed" || status === "undone" ? "go" : toneOf(status);
}

/** How long it took, where that is more than an instant. */
export function tookMs({ at, ended_at: ended }: TimelineRow): number | null {
  if (ended === null) return null;
  const ms = Date.parse(ended) - Date.parse(at);
  return ms >= 1_000 ? ms : null;
}

export type Attempt = { readonly attempt: number; readonly rows: readonly TimelineRow[] };

/** By attempt, in order. A rollback and what it undoes are told with the attempt that they end. */
export function attemptsOf(rows: readonly TimelineRow[]): readonly Attempt[] {
  const attempts = new Map<number, TimelineRow[]>();
  for (const row of rows) attempts.set(row.attempt, [...(attempts.get(row.attempt) ?? []), row]);
  return [...attempts].map(([attempt, own]) => ({ attempt, rows: own }));
}
