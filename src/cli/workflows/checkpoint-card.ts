/**
 * The card that a person reads before deciding at a checkpoint: the decision, the agent's statements, its operations
 * since the last checkpoint, and what a rejection would do and could not undo.
 */

import { isJsonObject, type Json, type JsonObject } from "../../kernel/json.ts";
import type { CardDocument, CardFields, CardSections } from "../../kernel/terminal.ts";
import { visible, visiblePreview } from "../../kernel/text.ts";
import { raisedName } from "../../workflows/rules/ask.ts";
import type { TimelineRow } from "../../workflows/views.ts";
import {
  approvalHead,
  approveCommand,
  type CardOf,
  peopleSections,
  rejectCommand,
  workflowSections,
} from "../approvals/card-parts.ts";
import { placeWords, quotedName, rejectionWords, statusWords, typedCheckpoint } from "./words.ts";

type CheckpointCard = CardOf<"checkpoint">;

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

const treeField = (value: Json | undefined): CardFields[string] =>
  value === undefined || isEmpty(value) ? undefined : { tree: value };

/** All statements of the agent, separate from what it did. */
function agentFields({ approval, snapshot }: CheckpointCard): CardFields {
  const shown = part(snapshot, "approval_interface");
  const task = part(snapshot, "task_state");
  const { decision_needed: needed, recommendation, confidence } = shown;
  const used = resourceWords(part(part(snapshot, "execution_state"), "resource_consumption"));
  return {
    says: approval.rationale === null ? undefined : { quote: approval.rationale },
    asks: typeof needed === "string" && needed !== approval.rationale ? needed : undefined,
    recommends: recommendation === undefined ? undefined : String(recommendation),
    confidence: confidence === undefined ? undefined : confidenceWords(confidence),
    used: used === "" ? undefined : used,
    risk: treeField(task["risk"]),
    "next steps": treeField(task["planned_next_steps"]),
    scores: treeField(task["confidence_scores"]),
    context: treeField(shown["context"]),
    artifacts: treeField(shown["artifacts"]),
  };
}

/** Raised by a monitor: the only decision is whether the workflow continues. */
const isRaised = ({ op }: CheckpointCard["approval"]): boolean => raisedName(op ?? "") !== undefined;

const GOOD: readonly string[] = ["approved", "modified", "passed"];

type UndoRange = {
  readonly row: TimelineRow | undefined;
  readonly since: readonly TimelineRow[];
  readonly from: string;
};

/** Operations between the last passed checkpoint and this one. */
function undoRange({ approval, rows, workflow }: CheckpointCard): UndoRange {
  const row = rows.findLast(({ ref }) => ref === approval.id);
  const until = row?.seq ?? Number.POSITIVE_INFINITY;
  const stood = (one: TimelineRow) =>
    one.kind === "checkpoint" &&
    raisedName(one.op ?? "") === undefined &&
    GOOD.includes(one.status) &&
    (one.endedSeq ?? one.seq) < until;
  // Operations of an earlier attempt were undone, or its own rollback reports them.
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

function effectFields({ since }: UndoRange, irreversible: ReadonlySet<string | null>): readonly CardFields[] {
  if (since.length === 0) return [{ effects: "none" }];
  return since.map((row) => ({
    [row.kind === "child" ? "workflow" : "effect"]: effectWords(row, irreversible),
  }));
}

function stakeSections({ workflow, approval }: CheckpointCard, row: TimelineRow | undefined): CardSections {
  const stake = workflow.pending?.approval === approval.id ? workflow.pending : row?.checkpoint;
  if (approval.status !== "pending" || stake == null) return {};
  const lost = stake.canRollback ? stake.irreversible : [];
  const warnings = lost.map(({ tool, action }) => `${visible(tool)} (${visible(action)}) stays done`);
  return {
    "If you reject": { effect: { paragraphs: rejectionWords(workflow, stake) } },
    "What cannot be undone if you reject": lost.length === 0 ? undefined : { lost: { warnings } },
  };
}

/** The first of the outputs, to be typed over. */
function exampleEdit(outputs: Json): string {
  const [first] = isJsonObject(outputs) ? Object.entries(outputs) : [];
  const example = first === undefined ? "" : visiblePreview(JSON.stringify(Object.fromEntries([first])));
  return example === "" || example.length > 60 || /['\\]/.test(example) ? '{"field": "value"}' : example;
}

function nextCommands(
  { approval, workflow }: CheckpointCard,
  row: TimelineRow | undefined,
): readonly string[] {
  const snapshot = row?.checkpoint?.snapshot.id;
  const edit = isRaised(approval) ? [] : [`approve ${approval.id} --edit '${exampleEdit(approval.args)}'`];
  return [
    ...(approval.status === "pending" ? [approveCommand(approval), ...edit, rejectCommand(approval)] : []),
    ...(snapshot === undefined
      ? []
      : [`show ${workflow.id} --checkpoint ${typedCheckpoint(approval.tool, snapshot)}`]),
    `show ${workflow.id}`,
  ];
}

export function checkpointCard(card: CheckpointCard): CardDocument {
  const { approval, workflow } = card;
  const range = undoRange(card);
  const { row } = range;
  const irreversible = new Set(row?.checkpoint?.irreversible.map(({ action }) => action) ?? []);
  const isMonitor = isRaised(approval);
  return {
    ...approvalHead(approval),
    sections: {
      [`Checkpoint ${quotedName(approval.tool)} of the workflow ${quotedName(workflow.name)}`]: {
        attempt: `${row?.attempt ?? workflow.attempt} of ${workflow.attempts}`,
        "asked for": approval.reason === "" ? "-" : approval.reason,
      },
      "What you decide on: its outputs": isMonitor ? undefined : { args: { args: approval.args } },
      [isMonitor ? "What the monitor knows" : "The agent says (its own words, checked by nobody)"]:
        agentFields(card),
      [`What it has done since ${range.from}`]: effectFields(range, irreversible),
      ...stakeSections(card, row),
      ...peopleSections(approval),
      ...workflowSections(card),
    },
    tones: { "What cannot be undone if you reject": "red" },
    next: nextCommands(card, row),
  };
}
