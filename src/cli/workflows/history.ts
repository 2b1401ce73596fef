/**
 * The history of a workflow, one line per operation in the order in which they began; and the snapshot of a checkpoint,
 * layer by layer: what the approver was shown, the task, and how it got there.
 */

import { HoldpointError, isHoldpointError } from "../../kernel/errors.ts";
import { isJsonObject, type JsonObject } from "../../kernel/json.ts";
import { quotedName, visible, visiblePreview } from "../../kernel/text.ts";
import { LAYERS } from "../../workflows/rules/snapshot.ts";
import type { TimelineRow, WorkflowDetails } from "../../workflows/views.ts";
import { type Context, EXIT } from "../shell/command.ts";
import { sectionsOn, valueTree } from "../shell/sections.ts";
import { cut, fold, formatMoment, missing, type Style, type Terminal, widthOf } from "../shell/terminal.ts";
import { heldWords, startWords, statusWords } from "./story.ts";

const MOST_ROWS = 60;
const MOST_TEXT = 300;
const GAP = "  ";
const KIND_WIDTH = "checkpoint".length;

type Sign = { readonly mark: string; readonly style: Style };
const GOOD: Sign = { mark: "✓", style: "green" };
const BAD: Sign = { mark: "✗", style: "red" };
const OPEN: Sign = { mark: "…", style: "yellow" };
const DOUBT: Sign = { mark: "?", style: "red" };
const BACK: Sign = { mark: "↶", style: "yellow" };
const PLAIN: Sign = { mark: " ", style: "dim" };

const SIGNS: { readonly [status: string]: Sign } = {
  applied: GOOD,
  completed: GOOD,
  approved: GOOD,
  modified: GOOD,
  passed: GOOD,
  answered: GOOD,
  undone: GOOD,
  open: OPEN,
  in_doubt: DOUBT,
  created: PLAIN,
  written: PLAIN,
  sent: PLAIN,
  timed_out_waiting: PLAIN,
  over: PLAIN,
  withdrawn: PLAIN,
};

function signOf({ kind, status, isBack }: TimelineRow, isOver: boolean): Sign {
  if ((isBack || isOver) && status === "open") return PLAIN;
  return kind === "rollback" ? BACK : (SIGNS[status] ?? BAD);
}

const byWords = (by: readonly string[]): string =>
  by.length === 0 ? "" : ` by ${by.map(visible).join(", ")}`;

function because(reason: string, full: boolean): string {
  if (reason === "") return "";
  const { text, left } = cut(reason, full ? Number.POSITIVE_INFINITY : MOST_TEXT);
  return `: ${visible(text)}${left === 0 ? "" : missing(left, "character")}`;
}

/** For an operation that has not ended: what it waits for. */
function openWords(row: TimelineRow, { waits, end }: WorkflowDetails): string {
  if (row.isBack) return "not ended when it went back";
  if (end !== null) return "not ended when the workflow did";
  const wait = waits.find(({ op }) => op === row.op);
  const until = row.until === null ? "" : ` until ${formatMoment(row.until)}`;
  if (row.kind === "checkpoint") return `waits for a decision, ${visible(row.ref ?? "")}`;
  if (row.kind === "question") return `waits for an answer, ${visible(row.ref ?? "")}`;
  if (wait?.kind === "approval") return `waits for a decision, ${visible(wait.on)}`;
  if (wait?.kind === "held") return `held: waits for ${heldWords(wait.on)}`;
  if (wait?.kind === "doubt") return `in doubt, ${visible(wait.on)}`;
  if (wait?.kind === "intent") return `waits for ${visible(wait.on)}${until}`;
  if (row.kind === "sleep") return `asleep${until}`;
  return row.kind === "step" ? `to be tried again at ${formatMoment(row.until ?? row.at)}` : "under way";
}

/** Id for further reading. Open checkpoints and questions already show it. */
function refOf({ ref, kind }: TimelineRow): string {
  return ref === null || kind === "question" || kind === "checkpoint" ? "" : visible(ref);
}

/** Does not split an id: it gets its own line if there is no room. */
function linesOf(words: string, ref: string, room: number): readonly string[] {
  const lines = fold(words, room);
  const last = lines.at(-1) ?? "";
  if (ref === "") return lines;
  return widthOf(last) + GAP.length + ref.length <= room
    ? [...lines.slice(0, -1), `${last}${GAP}${ref}`]
    : [...lines, ref];
}

function lifeWords(row: TimelineRow, full: boolean): string {
  const said = `${byWords(row.by)}${because(row.reason, full)}`;
  if (row.status === "refused") return `${visible(row.name)} refused; it was asked for${said}`;
  if (row.status === "failed") return `failed (${statusWords(visible(row.name))})${said}`;
  return row.status;
}

function rollbackWords(row: TimelineRow, state: WorkflowDetails, full: boolean): string {
  const to = row.name === "" ? startWords(state) : quotedName(row.name);
  const end = row.status === "given_up" ? ", given up" : "";
  return `back to ${to}${end}${byWords(row.by)}${because(row.reason, full)}`;
}

/** A title is visible text already. An older server sends none. */
const nameWords = ({ title, name }: TimelineRow): string =>
  typeof title === "string" ? visiblePreview(title) : visible(name);

/** The text of a question is its reason until a person has answered. */
function operationWords(row: TimelineRow, state: WorkflowDetails, full: boolean): string {
  const name = row.kind === "sleep" ? "" : nameWords(row);
  if (row.kind === "log") return `“${name}”`;
  if (row.status === "open") {
    const text = row.kind === "question" ? because(row.reason, full) : "";
    return `${[`${name}${text}`, openWords(row, state)].filter(Boolean).join("; ")}`;
  }
  if (row.kind === "sleep") return `until ${formatMoment(row.until ?? row.at)}`;
  const status = row.isUndone ? `${row.status}, then undone` : row.status;
  return `${name}: ${statusWords(status)}${byWords(row.by)}${because(row.reason, full)}`;
}

function wordsOf(row: TimelineRow, state: WorkflowDetails, full: boolean): string {
  if (row.kind === "workflow") return lifeWords(row, full);
  if (row.kind === "rollback") return rollbackWords(row, state, full);
  return operationWords(row, state, full);
}

/** The tool of an action. A child's action is found by the one that undid it. */
export function toolOfAction(rows: readonly TimelineRow[], action: string): string {
  return rows.find(({ ref, undoes }) => ref === action || undoes === action)?.name ?? "an effect";
}

/** Under a rollback: what it left behind, and why. */
function leftBehind({ report }: TimelineRow, rows: readonly TimelineRow[], full: boolean): readonly string[] {
  if (report === null) return [];
  return [
    ...report.notUndone.map(
      ({ action, reason }) =>
        `NOT undone: ${visible(toolOfAction(rows, action))} (${visible(action)})${because(reason, full)}`,
    ),
    ...report.irreversible.map(
      ({ action, tool }) => `cannot be undone: ${visible(tool)} (${visible(action)}); it stays done`,
    ),
  ];
}

type PrintedTimeline = {
  readonly state: WorkflowDetails;
  readonly rows: readonly TimelineRow[];
  readonly full: boolean;
};

/** The branch and its depth: branches run concurrently, so their lines are mixed. */
const branchWords = ({ branch }: TimelineRow): string =>
  branch.length === 0 ? "" : `${"  ".repeat(branch.length)}[${branch.join(".")}] `;

function printRow(terminal: Terminal, tale: PrintedTimeline, row: TimelineRow, width: number): void {
  const { mark, style } = signOf(row, tale.state.end !== null);
  const time = formatMoment(row.at).slice(11, 19);
  const plain = `  ${`#${row.seq}`.padStart(width)}  ${time}  ${mark} ${row.kind.padEnd(KIND_WIDTH)}  `;
  const room = Math.max(20, terminal.columns - plain.length);
  const words = branchWords(row) + wordsOf(row, tale.state, tale.full);
  const lines = [
    ...linesOf(words, refOf(row), room),
    ...leftBehind(row, tale.rows, tale.full).flatMap((line) => fold(line, room)),
  ];
  const shade = (text: string) => (row.isBack ? terminal.paint("dim", text) : text);
  lines.forEach((line, at) => {
    const start = at === 0 ? plain.replace(mark, terminal.paint(style, mark)) : " ".repeat(plain.length);
    terminal.line(`${start}${shade(terminal.strange(line))}`.trimEnd());
  });
}

export function printTimeline(terminal: Terminal, tale: PrintedTimeline): void {
  const { rows, full } = tale;
  const shown = full ? rows : rows.slice(-MOST_ROWS);
  const width = String(rows.at(-1)?.seq ?? 1).length + 1;
  if (shown.length < rows.length)
    terminal.line(`  … ${rows.length - shown.length} earlier lines (use --full)`);
  let day = "";
  let attempt = 1;
  for (const row of shown) {
    const date = formatMoment(row.at).slice(0, 10);
    if (date !== day) terminal.line(`  ${terminal.paint("dim", `${date} UTC`)}`);
    if (row.attempt !== attempt) terminal.line(`  ${terminal.paint("bold", `attempt ${row.attempt}`)}`);
    day = date;
    attempt = row.attempt;
    printRow(terminal, tale, row, width);
  }
}

const HEADINGS: { readonly [layer in (typeof LAYERS)[number]]: string } = {
  approval_interface: "What the approver is shown",
  task_state: "State of the task",
  execution_state: "How it came there",
};

const FIELDS = [
  ["snapshot_id", "snapshot"],
  ["workflow_id", "workflow"],
  ["timestamp", "captured"],
  ["agent", "agent"],
  ["artifact_uri", "kept as"],
] as const;

async function unknownCheckpoint(
  { hp }: Context,
  id: string,
  name: string,
  cause: unknown,
): Promise<HoldpointError> {
  const state = await hp.workflows.get(id);
  const known = [...state.passed, ...(state.pending === null ? [] : [state.pending])];
  const names = [...new Set(known.map((one) => quotedName(one.name)))].join(", ");
  return new HoldpointError(
    "unknown_id",
    `The workflow ${id} has no captured state of a checkpoint "${name}".`,
    {
      cause,
      next: names === "" ? "It has reached no checkpoint yet." : `There are: ${names}.`,
    },
  );
}

async function loadSnapshot(context: Context, id: string, name: string): Promise<JsonObject> {
  try {
    return (await context.hp.workflows.snapshot(id, name)) as JsonObject;
  } catch (error) {
    throw isHoldpointError(error, "unknown_id") ? await unknownCheckpoint(context, id, name, error) : error;
  }
}

export async function printSnapshot(context: Context, id: string, name: string): Promise<number> {
  const { terminal, full } = context;
  const snapshot = await loadSnapshot(context, id, name);
  if (context.json) {
    terminal.json(snapshot);
    return EXIT.ok;
  }
  const sections = sectionsOn(terminal, full);
  terminal.line(terminal.paint("bold", `Checkpoint ${quotedName(String(snapshot["checkpoint_name"]))}`));
  for (const [field, label] of FIELDS) {
    const value = snapshot[field];
    if (value !== undefined) sections.field(label, String(value));
  }
  terminal.line(terminal.paint("dim", "  Everything below is what the program captured; it is not checked."));
  for (const layer of LAYERS) {
    sections.heading(`${HEADINGS[layer]} (${layer})`);
    const part = snapshot[layer];
    if (isJsonObject(part)) sections.block(valueTree(part, full));
    else terminal.line(`  ${visible("nothing was captured")}`);
  }
  return EXIT.ok;
}
