/**
 * What a person reads before deciding at a checkpoint: what they decide on, what the agent says of it, what it has done
 * since the last checkpoint, and what a rejection would do and could not undo.
 */
import { isJsonObject, type Json, type JsonObject } from "../core/json.ts";
import { visible, visiblePreview } from "../core/visible.ts";
import { raisedName } from "../core/workflow/raise.ts";
import type { TimelineRow } from "../engine/workflow/timeline-row.ts";
import {
  printArgs,
  printDeadline,
  printIdentityOf,
  printStatus,
  printVotes,
  type SubjectCard,
} from "./card.ts";
import { fold } from "./measure.ts";
import { printComments } from "./print-comments.ts";
import { type Sections, sectionsOn } from "./sections.ts";
import type { Terminal } from "./terminal.ts";
import { ago } from "./times.ts";
import { placeWords, quotedName, rejectionWords, statusWords, typedCheckpoint } from "./workflow-words.ts";

export type CheckpointCard = SubjectCard & {
  readonly snapshot: JsonObject | undefined;
  readonly rows: readonly TimelineRow[];
};

const part = (from: JsonObject | undefined, name: string): JsonObject => {
  const value = from?.[name];
  return isJsonObject(value) ? value : {};
};

const isEmpty = (value: Json | undefined): boolean =>
  value === undefined || (typeof value === "object" && value !== null && Object.keys(value).length === 0);

const RESOURCES = [
  ["api_calls", "calls"],
  ["tokens_used", "tokens"],
  ["execution_time_seconds", "seconds"],
  ["estimated_cost_usd", "USD (estimated)"],
] as const;

function resourceWords(used: JsonObject): string {
  return RESOURCES.flatMap(([name, unit]) =>
    used[name] === undefined ? [] : [`${used[name]} ${unit}`],
  ).join(", ");
}

function confidenceWords(confidence: Json): string {
  return typeof confidence === "number" ? `${Math.round(confidence * 1_000) / 10} %` : String(confidence);
}

/** Everything the agent says, apart from what it did. */
function printWords(sections: Sections, { approval, snapshot }: CheckpointCard): void {
  const shown = part(snapshot, "approval_interface");
  const task = part(snapshot, "task_state");
  sections.heading(
    isRaised(approval) ? "What the monitor knows" : "The agent says (its own words, checked by nobody)",
  );
  if (approval.says !== null) sections.quote(approval.says);
  const needed = shown["decision_needed"];
  if (typeof needed === "string" && needed !== approval.says) sections.field("asks", needed);
  if (shown["recommendation"] !== undefined) sections.field("recommends", String(shown["recommendation"]));
  if (shown["confidence"] !== undefined) sections.field("confidence", confidenceWords(shown["confidence"]));
  const used = resourceWords(part(part(snapshot, "execution_state"), "resource_consumption"));
  if (used !== "") sections.field("used", used);
  for (const [label, value] of [
    ["risk", task["risk"]],
    ["next steps", task["planned_next_steps"]],
    ["scores", task["confidence_scores"]],
    ["context", shown["context"]],
    ["artifacts", shown["artifacts"]],
  ] as const)
    if (value !== undefined && !isEmpty(value)) sections.tree(label, value);
}

/** By a monitor: nothing is decided on but whether it goes on. */
const isRaised = ({ subject }: CheckpointCard["approval"]): boolean =>
  raisedName(subject?.op ?? "") !== undefined;

const GOOD: readonly string[] = ["approved", "modified", "passed"];

type Range = {
  readonly row: TimelineRow | undefined;
  readonly since: readonly TimelineRow[];
  readonly from: string;
};

/** Operations between the last checkpoint that stood and this one. */
function rangeOf({ approval, rows, workflow }: CheckpointCard): Range {
  const row = rows.findLast(({ ref }) => ref === approval.id);
  const until = row?.seq ?? Number.POSITIVE_INFINITY;
  const stood = (one: TimelineRow) =>
    one.kind === "checkpoint" &&
    raisedName(one.op ?? "") === undefined &&
    GOOD.includes(one.status) &&
    (one.endedSeq ?? one.seq) < until;
  // What an earlier attempt did was undone, or is told by its own rollback.
  const own = rows.filter((one) => one.attempt === row?.attempt || !one.isBack);
  const last = own.findLast((one) => one.seq < until && stood(one));
  const after = last?.endedSeq ?? 0;
  const isMeant = ({ kind, seq }: TimelineRow) =>
    (kind === "call" || kind === "child") && seq > after && seq < until;
  return {
    row,
    since: own.filter(isMeant),
    from: last === undefined ? placeWords(workflow, null) : quotedName(last.name),
  };
}

function effectWords(row: TimelineRow, irreversible: ReadonlySet<string | null>): string {
  const ref = row.ref ?? "";
  if (row.kind === "child") return `${row.name} (${ref}), a workflow of its own: ${statusWords(row.status)}`;
  const undo = irreversible.has(ref) ? "; it CANNOT be undone" : "";
  const status = row.status === "open" ? "under way or waiting" : statusWords(row.status);
  return `${row.name} (${ref}): ${status}${row.isUndone ? ", then undone" : undo}`;
}

function printEffects(sections: Sections, range: Range, irreversible: ReadonlySet<string | null>): void {
  sections.heading(`What it has done since ${range.from}`);
  if (range.since.length === 0) sections.field("effects", "none");
  for (const row of range.since)
    sections.field(row.kind === "child" ? "workflow" : "effect", effectWords(row, irreversible));
}

function printStake(
  terminal: Terminal,
  sections: Sections,
  card: CheckpointCard,
  row: TimelineRow | undefined,
): void {
  const { workflow, approval } = card;
  const stake = workflow.pending?.approval === approval.id ? workflow.pending : row?.checkpoint;
  if (approval.status !== "pending" || stake == null) return;
  sections.heading("If you reject");
  for (const text of rejectionWords(workflow, stake))
    for (const line of fold(text, terminal.columns - 2)) terminal.line(`  ${line}`);
  if (!stake.canRollback || stake.irreversible.length === 0) return;
  sections.heading("What cannot be undone if you reject", "red");
  for (const { tool, action } of stake.irreversible)
    terminal.line(`  ${terminal.paint("red", "!")} ${visible(tool)} (${visible(action)}) stays done`);
}

/** The first of the outputs, to be typed over. */
function exampleEdit(outputs: Json): string {
  const [first] = isJsonObject(outputs) ? Object.entries(outputs) : [];
  const example = first === undefined ? "" : visiblePreview(JSON.stringify(Object.fromEntries([first])));
  return example === "" || example.length > 60 || /['\\]/.test(example) ? '{"field": "value"}' : example;
}

function printNext(
  terminal: Terminal,
  sections: Sections,
  { approval, workflow, rows, where }: CheckpointCard,
): void {
  if (where === null) return;
  const snapshot = rows.findLast(({ ref }) => ref === approval.id)?.checkpoint?.snapshot.id;
  const captured =
    snapshot === undefined
      ? []
      : [`show ${workflow.id} --checkpoint ${typedCheckpoint(approval.tool, snapshot)}`];
  const decide =
    approval.status === "pending"
      ? [
          `approve ${approval.id} --binding ${approval.binding.slice(0, 12)}`,
          ...(isRaised(approval) ? [] : [`approve ${approval.id} --edit '${exampleEdit(approval.args)}'`]),
          `reject ${approval.id} --reason "…"`,
        ]
      : [];
  sections.heading("Next");
  for (const line of [...decide, ...captured, `show ${workflow.id}`])
    terminal.line(`  npx holdpoint ${line}${where}`);
}

export function printCheckpoint(terminal: Terminal, card: CheckpointCard): void {
  const { approval, workflow, now, full } = card;
  const sections = sectionsOn(terminal, full);
  const range = rangeOf(card);
  const irreversible = new Set(range.row?.checkpoint?.irreversible.map(({ action }) => action) ?? []);
  printStatus(terminal, approval);
  sections.heading(`Checkpoint ${quotedName(approval.tool)} of the workflow ${quotedName(workflow.name)}`);
  sections.field("attempt", `${range.row?.attempt ?? workflow.attempt} of ${workflow.attempts}`);
  sections.field("asked for", approval.reason === "" ? "-" : approval.reason);
  if (!isRaised(approval)) {
    sections.heading("What you decide on: its outputs");
    printArgs(terminal, approval.args, full);
  }
  printWords(sections, card);
  printEffects(sections, range, irreversible);
  printStake(terminal, sections, card, range.row);
  printVotes(sections, { approval, now });
  printComments(sections, { approval, now });
  sections.heading("When");
  sections.field("asked", ago(approval.requestedAt, now));
  printDeadline(sections, approval, now);
  printIdentityOf(sections, card);
  printNext(terminal, sections, card);
}
