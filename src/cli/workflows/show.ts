/**
 * Commands that show workflows: the list, and one in full: its status, what it waits for, its history, and the possible
 * next steps.
 */

import type { Json } from "../../kernel/json.ts";
import { quotedName, visible } from "../../kernel/text.ts";
import { TENANT_SCOPE } from "../../kill-switch/stream.ts";
import type { Wait } from "../../workflows/events.ts";
import type { WorkflowSummary } from "../../workflows/read.ts";
import { parseObstacle, WORKFLOW_STATUSES } from "../../workflows/state.ts";
import type { TimelineRow, WorkflowDetails } from "../../workflows/views.ts";
import { type FlagValues, listing, type Resource } from "../resource.ts";
import { CommandError, type Context, EXIT, flag, usage, whereFlags } from "../shell/command.ts";
import { DEFAULT_LIMIT } from "../shell/lists.ts";
import { parseMoment } from "../shell/parse.ts";
import { type Sections, sectionsOn } from "../shell/sections.ts";
import { formatAgo, formatSpan } from "../shell/terminal.ts";
import { printSnapshot, printTimeline, toolOfAction } from "./history.ts";
import { heldWords, passedWords, STATUS_STYLES, statusWords, typedCheckpoint } from "./story.ts";

type ShownWorkflow = {
  readonly state: WorkflowDetails;
  readonly rows: readonly TimelineRow[];
  /** The requested time, in words; undefined: now. */
  readonly past: string | undefined;
  readonly now: number;
};

function printOrigin(sections: Sections, { state, now }: ShownWorkflow): void {
  sections.heading("What it is");
  sections.field("name", `${state.name}${state.version === null ? "" : `, version ${state.version}`}`);
  if (state.description !== "") sections.field("description", state.description);
  sections.field("agent", state.agent);
  sections.field("created", formatAgo(state.createdAt, now));
  for (const [party, who] of Object.entries(state.parties)) if (who !== null) sections.field(party, who);
  if (state.approvalRequired === true) sections.field("approvals", "people are asked about every call");
  if (state.budget !== undefined) sections.field("budget", state.budget);
  if (state.parent !== null) sections.field("parent", `${state.parent.workflow}, at ${state.parent.op}`);
  if (state.fork !== null)
    sections.field("fork", `of ${state.fork.workflow}, from its "${state.fork.checkpoint}" on`);
}

const WAITS: { readonly [kind in Wait["kind"]]: string } = {
  checkpoint: "a decision",
  approval: "a decision",
  question: "an answer",
  sleep: "time to pass",
  retry: "the time to try again",
  child: "another workflow",
  intent: "an intent to be answered",
  doubt: "a person to resolve the doubt",
  held: "the hold to be lifted",
  definition: "a definition that fits what is recorded",
  node: "a process to go on with it",
};

function waitWords(wait: Wait, row: TimelineRow | undefined, now: number): string {
  const since = row === undefined ? "" : `, since ${formatAgo(row.at, now)}`;
  const until = row?.until == null ? "" : `, until ${formatAgo(row.until, now)}`;
  if (wait.kind === "definition") return `${WAITS.definition}: ${wait.on}`;
  if (wait.kind === "node") return `${WAITS.node}, since ${wait.on} has let go of it`;
  if (wait.kind === "sleep") return `${WAITS.sleep}${until}`;
  if (wait.kind === "held") return `${heldWords(wait.on)}, to go on with ${wait.op}${since}`;
  const what = row === undefined ? "" : ` (${row.kind} "${row.name}")`;
  return `${WAITS[wait.kind]}: ${wait.on}${what}${until}${since}`;
}

/** A checkpoint reached just now may be missing from the waits, and an ended operation may still be in them. */
function waitsOf({ state, rows }: ShownWorkflow): readonly Wait[] {
  const ended = new Set(rows.flatMap(({ op, endedSeq }) => (endedSeq === null ? [] : (op ?? []))));
  const waits = state.waits.filter(({ op }) => !ended.has(op));
  const { pending } = state;
  if (pending === null || waits.some(({ on }) => on === pending.approval)) return waits;
  return [{ op: pending.op, kind: "checkpoint", on: pending.approval }, ...waits];
}

function runWords({ end, runner, isReady, name }: WorkflowDetails): string | undefined {
  if (end !== null) return undefined;
  if (runner !== null) return `process ${runner}`;
  return isReady
    ? `no process yet; a process with the definition "${name}" takes it up`
    : "no process; it continues when what it waits for arrives";
}

/** Since when it has its status; unknown while it executes, which comes and goes. */
function since({ state, rows }: ShownWorkflow): number | undefined {
  if (state.end !== null) return state.end.at;
  const of = (kind: TimelineRow["kind"]) =>
    rows.findLast((row) => row.kind === kind && row.status === "open");
  if (state.status === "awaiting_approval") return of("checkpoint")?.at;
  return state.status === "rolling_back" ? of("rollback")?.at : undefined;
}

function printStanding(sections: Sections, shown: ShownWorkflow): void {
  const { state, rows, now } = shown;
  const { status, attempt, attempts, passed, checkpoints } = state;
  const from = since(shown);
  sections.heading("Current state");
  sections.field(
    "status",
    `${statusWords(status)}${from === undefined ? "" : `, since ${formatAgo(from, now)}`}`,
  );
  for (const wait of waitsOf(shown))
    sections.field(
      "waits for",
      waitWords(
        wait,
        rows.findLast(({ op }) => op === wait.op),
        now,
      ),
    );
  const names = passed.map(({ name }) => quotedName(name)).join(", ");
  sections.field("attempt", `${attempt} of ${attempts}`);
  sections.field("passed", `${passedWords(passed.length, checkpoints.length)}${names && `: ${names}`}`);
  const by = runWords(state);
  if (by !== undefined) sections.field("run by", by);
  sections.field("last entry", `#${state.seq}, ${formatAgo(state.changedAt, now)}`);
}

function printDecision(sections: Sections, { state, now }: ShownWorkflow): void {
  const { lastDecision: last } = state;
  if (last === null) return;
  sections.heading("Last decision");
  const by = last.by.length === 0 ? "nobody" : last.by.join(", ");
  sections.field(last.decision, `checkpoint "${last.checkpoint}", by ${by}, ${formatAgo(last.at, now)}`);
  if (last.reason !== "") sections.field("reason", last.reason);
}

function printEnd(sections: Sections, { state, rows, now }: ShownWorkflow): void {
  const { end } = state;
  if (end === null) return;
  sections.heading("How it ended", STATUS_STYLES[end.status] ?? "bold");
  sections.field(end.status, formatAgo(end.at, now));
  if (end.status === "completed") sections.json("result", end.result);
  else printFailure(sections, end, rows);
}

type FailedEnd = Extract<WorkflowDetails["end"], { status: "failed" }>;

function printFailure(sections: Sections, end: FailedEnd, rows: readonly TimelineRow[]): void {
  sections.field("why", end.code.replaceAll("_", " "));
  sections.field("by", end.by);
  sections.field("reason", end.reason);
  const { report } = end;
  if (report === null) return;
  const named = (action: string) => `${toolOfAction(rows, action)} (${action})`;
  for (const action of report.undone) sections.field("undone", named(action));
  for (const { action, reason } of report.notUndone)
    sections.field("NOT undone", `${named(action)}: ${reason}`);
  for (const { action, tool } of report.irreversible)
    sections.field("irreversible", `${tool} (${action}) cannot be undone; it stays done`);
}

function heldCommands(on: string): readonly string[] {
  const ref = parseObstacle(on);
  if (ref?.kind !== "switch") return [];
  if (ref.id === TENANT_SCOPE) return ['resume --reason "…"'];
  const flow = /^workflow:(.+)$/.exec(ref.id)?.[1];
  const whose = flow === undefined ? ` --agent '${ref.id.replace(/^agent:/, "")}'` : ` --workflow ${flow}`;
  return [`resume${whose} --reason "…"`];
}

function waitCommands({ kind, on }: Wait): readonly string[] {
  if (kind === "checkpoint" || kind === "approval") return [`show ${on}`];
  if (kind === "question") return [`show ${on}`, `answer ${on} '<json>'`];
  if (kind === "doubt") return [`resolve ${on} applied|not_applied --reason "…"`];
  if (kind === "held") return heldCommands(on);
  return kind === "child" ? [`show ${on}`] : [];
}

/** All commands that can be typed now. */
function nextCommands(shown: ShownWorkflow): readonly string[] {
  const { state } = shown;
  const { id, status, end } = state;
  const last = state.pending ?? state.passed.at(-1);
  const named = last === undefined ? "" : typedCheckpoint(last.name, last.snapshot.id);
  const passed = state.passed.at(-1);
  const at = passed === undefined ? "" : typedCheckpoint(passed.name, passed.op);
  return [
    ...waitsOf(shown).flatMap(waitCommands),
    ...(last === undefined ? [] : [`show ${id} --checkpoint ${named}`]),
    ...(status === "executing" || status === "awaiting_approval" ? [`rollback ${id} --reason "…"`] : []),
    ...(end === null ? [`cancel ${id} --reason "…"`] : []),
    ...(passed === undefined ? [] : [`fork ${id} --at ${at}`]),
    `journal ${id}`,
  ];
}

function printWorkflow(context: Context, shown: ShownWorkflow): void {
  const { terminal, full } = context;
  const { state, rows, past } = shown;
  const sections = sectionsOn(terminal, full, 13);
  const status = terminal.paint(STATUS_STYLES[state.status] ?? "bold", statusWords(state.status));
  terminal.line(`${terminal.paint("bold", `Workflow ${state.id}`)}  ${status}`);
  if (past !== undefined) terminal.line(terminal.paint("yellow", `The state ${past}, not the current one.`));
  printOrigin(sections, shown);
  sections.tree("input", state.input);
  printStanding(sections, shown);
  printDecision(sections, shown);
  sections.heading("What happened");
  printTimeline(terminal, { state, rows, full });
  printEnd(sections, shown);
  if (past !== undefined) return;
  sections.heading("Next");
  const where = whereFlags(context);
  for (const command of nextCommands(shown)) terminal.line(`  npx holdpoint ${visible(command)}${where}`);
}

async function loadWorkflowShown(
  { hp, now }: Context,
  id: string,
  given: string | undefined,
): Promise<ShownWorkflow> {
  const current = await hp.workflows.get(id);
  if (given === undefined)
    return { state: current, rows: await hp.workflows.timeline(id), past: undefined, now };
  const moment = parseMoment(given, current, now);
  const state = await hp.workflows.at(id, moment);
  const rows = await hp.workflows.timeline(id, moment);
  const past = "seq" in moment ? `after its entry ${moment.seq}` : `at ${formatAgo(moment.time, now)}`;
  return { state, rows, past, now };
}

export async function showWorkflow(context: Context, id: string): Promise<number> {
  const [at, checkpoint] = [flag(context, "at"), flag(context, "checkpoint")];
  if (at !== undefined && checkpoint !== undefined)
    throw new CommandError("usage", "--at and --checkpoint exclude each other.", "Leave one out.");
  if (checkpoint !== undefined) return printSnapshot(context, id, checkpoint);
  const shown = await loadWorkflowShown(context, id, at);
  const { state, rows } = shown;
  if (context.json) context.terminal.json({ workflow: state, timeline: rows } as unknown as Json);
  else printWorkflow(context, shown);
  return EXIT.ok;
}

function readStatusFilter({ status }: FlagValues): FlagValues {
  if (status === undefined) return { status: "any" };
  const found = WORKFLOW_STATUSES.find((known) => known === String(status).replaceAll("-", "_"));
  if (found !== undefined) return { status: found };
  throw usage(`There is no status "${status}" of a workflow.`, `There are: ${WORKFLOW_STATUSES.join(", ")}.`);
}

/** The checkpoint it waits at, what holds it up, that no definition fits it, or why it failed. */
function whereCell(item: WorkflowSummary): string {
  const [held] = item["held"] as readonly string[];
  if (typeof item["stuck"] === "string") return `a definition that fits: ${item["stuck"]}`;
  if (item["checkpoint"] === null && held !== undefined) return heldWords(held);
  return String(item["checkpoint"] ?? item["reason"] ?? "");
}
const cell = (name: string) => (item: WorkflowSummary) => String(item[name]);

export const workflowList: Resource = {
  name: "workflows",
  summary: "List workflows with their status, newest first",
  details: [
    "In a pipe each line is tab-separated: id, status, passed checkpoints, attempt, created at, name, checkpoint it waits at, what holds it up, that it waits for a definition that fits, or why it failed.",
    "One in full: holdpoint show <id>",
  ],
  examples: ["holdpoint workflows --status awaiting_approval"],
  flags: {
    status: { value: "<status>", summary: `one of ${WORKFLOW_STATUSES.join(", ")}` },
    limit: { value: "<n>", summary: `how many to show; ${DEFAULT_LIMIT} unless set` },
  },
  parts: {
    list: listing<WorkflowSummary>({
      flags: ["status", "limit"],
      query: readStatusFilter,
      columns: [
        ["ID", cell("id")],
        ["AGE", (item, now) => formatSpan(now - Number(item["createdAt"]))],
        ["STATUS", (item) => statusWords(String(item["status"]))],
        ["PASSED", (item) => passedWords(Number(item["passed"]), Number(item["checkpoints"]))],
        ["ATTEMPT", cell("attempt")],
        ["NAME", cell("name")],
        ["WAITS AT", whereCell],
      ],
      piped: [
        ...["ID", cell("status"), "PASSED", "ATTEMPT"],
        (item) => ({ at: Number(item["createdAt"]) }),
        "NAME",
        (item) => whereCell(item) || "-",
      ],
      givesWay: ["ATTEMPT", "PASSED"],
      empty: ({ status }) =>
        status === "any"
          ? "There are no workflows yet: a program starts one with hp.workflow(name, …).start(input)."
          : `No workflow is ${statusWords(String(status))}.`,
    }),
  },
};
