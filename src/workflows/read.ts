/**
 * Reading workflows: one in full, as of a moment, lists, entries as they are written, jobs, snapshots, and a preview of
 * a rollback to each checkpoint. The preview informs people before they act: only a process that has the tools knows
 * what can really be undone.
 */

import { isStep, type LiveAction } from "../effects/state.ts";
import { HoldpointError, WORKFLOW_ID_HINT } from "../kernel/errors.ts";
import { checkFields, rejectInput } from "../kernel/fields.ts";
import { isId } from "../kernel/ids.ts";
import type { Json } from "../kernel/json.ts";
import { actionStream, workflowStream } from "../kernel/stream.ts";
import { displayValue } from "../kernel/text.ts";
import { type RowFilter, rowPage, rowSummary } from "../runtime/lists.ts";
import type { Runtime } from "../runtime/runtime.ts";
import { loadValue, readState } from "../runtime/store-access.ts";
import type { TenantStore, ViewRow } from "../stores/store.ts";
import { entriesOf, readChildRecords } from "./entries.ts";
import type { CallUndo, Irreversible, ReachedBody, Snapshot } from "./events.ts";
import {
  applyEntry,
  emptyTable,
  type OperationTable,
  type RecordedOp,
  type WorkflowEntry,
} from "./rules/operations.ts";
import { openSnapshot } from "./snapshots.ts";
import { type LiveWorkflow, mayMove, WORKFLOW_STATUSES, type WorkflowStatus } from "./state.ts";
import { type WorkflowEvent, workflow } from "./stream.ts";
import type { Job, RollbackOutlook, WorkflowDetails } from "./views.ts";

export async function workflowState(place: TenantStore, id: string): Promise<LiveWorkflow> {
  const state = isId("wf", id) ? await readState(place, workflowStream(id)) : { status: "none" as const };
  if (state.status === "none")
    throw new HoldpointError("unknown_id", `There is no workflow ${displayValue(id)}.`, {
      next: WORKFLOW_ID_HINT,
    });
  return state;
}

export async function getWorkflow(place: TenantStore, id: string): Promise<WorkflowDetails> {
  return workflowDetails(place, id, await workflowState(place, id));
}

async function workflowDetails(
  place: TenantStore,
  id: string,
  state: LiveWorkflow,
): Promise<WorkflowDetails> {
  const { generation: attempt, asked: _kept, ...standing } = state;
  const { end } = state;
  const done =
    end?.status === "completed" ? { end: { ...end, result: await loadValue(place, end.result) } } : {};
  const last = state.lastDecision;
  const lastDecision = last === null ? null : { ...last, outputs: await loadValue(place, last.outputs) };
  const input = await loadValue(place, state.input);
  return structuredClone({ ...standing, id, attempt, input, lastDecision, ...done });
}

/** After an entry, or at a time in milliseconds. Without either: now. */
export type ReadUntil = { readonly seq?: number | undefined; readonly time?: number | undefined };
export const isAfter = ({ seq, at }: WorkflowEntry, until: ReadUntil): boolean =>
  seq > (until.seq ?? seq) || at > (until.time ?? at);

export async function workflowAt(place: TenantStore, id: string, until: ReadUntil): Promise<WorkflowDetails> {
  if (until.seq === undefined && until.time === undefined) return getWorkflow(place, id);
  await workflowState(place, id);
  let state = workflow.fold.initial;
  for await (const entry of entriesOf(place, id)) {
    if (isAfter(entry, until)) break;
    state = workflow.fold.evolve(state, { ...entry, tv: 1 });
  }
  if (state.status === "none")
    throw new HoldpointError("unknown_id", `The workflow ${id} did not exist at that time.`);
  return workflowDetails(place, id, state);
}

export type WorkflowPage = {
  readonly status?: WorkflowStatus | "any";
  readonly limit?: number;
  readonly after?: string;
  readonly order?: "oldest" | "newest";
  /** Only workflows of this agent. */
  readonly agent?: string;
  /** Only workflows whose id, name, agent, checkpoint or reason contains this text, ignoring case. */
  readonly text?: string;
};
export type WorkflowSummary = { readonly id: string; readonly [field: string]: Json };
export type WorkflowList = { readonly items: readonly WorkflowSummary[]; readonly next: string | null };

/** Filters on fields that are not in the view's bucket; undefined if none is set. */
function pageFilter({ agent, text }: WorkflowPage): RowFilter | undefined {
  if (agent === undefined && text === undefined) return undefined;
  const wanted = text?.toLowerCase();
  const holds = ({ stream, data }: ViewRow, sought: string) =>
    [stream.id, data["name"], data["agent"], data["checkpoint"], data["reason"]].some(
      (field) => typeof field === "string" && field.toLowerCase().includes(sought),
    );
  return async (row) =>
    (agent === undefined || row.data["agent"] === agent) && (wanted === undefined || holds(row, wanted));
}

export async function listWorkflows(place: TenantStore, page: WorkflowPage = {}): Promise<WorkflowList> {
  const fields = ["status", "limit", "after", "order", "agent", "text"];
  const asked = checkFields("A page", page, fields);
  const { status = "any", limit = 100, order = "newest", after } = asked;
  if (status !== "any" && !WORKFLOW_STATUSES.includes(status))
    rejectInput(`A workflow is ${WORKFLOW_STATUSES.join(", ")}; or ask for any.`);
  const list = { view: "workflows", kind: "workflow", prefix: "wf", bucket: status } as const;
  const { rows, next } = await rowPage(place, { ...list, order, limit, after }, pageFilter(asked));
  return { items: rows.map(rowSummary), next };
}

const CAPTURES: readonly string[] = ["checkpoint.reached", "checkpoint.passed", "checkpoint.raised"];

/** Searches the entries: only they know a checkpoint that was rejected. */
async function capturedAt(place: TenantStore, id: string, checkpoint: string): Promise<Snapshot | undefined> {
  let found: Snapshot | undefined;
  for await (const { type, body } of entriesOf(place, id)) {
    if (!CAPTURES.includes(type)) continue;
    const { name, op, snapshot } = body as unknown as ReachedBody;
    if ([name, op, snapshot.id].includes(checkpoint)) found = snapshot;
  }
  return found;
}

/** The captured state, as stored. */
export async function openSnapshotArtifact(
  place: TenantStore,
  { hash, uri, compressedBytes }: Snapshot,
): Promise<Json> {
  const stored = await openSnapshot(place, hash);
  return { ...stored, artifact_uri: uri, compressed_size_bytes: compressedBytes };
}

/** The captured state of a checkpoint, by its name, operation or snapshot id. */
export async function readSnapshot(place: TenantStore, id: string, checkpoint: string): Promise<Json> {
  const state = await workflowState(place, id);
  const known = [...state.passed, ...(state.pending === null ? [] : [state.pending])];
  const standing = known.findLast(({ name, op, snapshot }) => [name, op, snapshot.id].includes(checkpoint));
  const found = standing?.snapshot ?? (await capturedAt(place, id, checkpoint));
  if (found === undefined)
    throw new HoldpointError("unknown_id", `The workflow ${id} has no checkpoint "${checkpoint}".`);
  return openSnapshotArtifact(place, found);
}

/** From the first entry to the one that ends it, unless the signal or the instance's close comes first. */
export async function* followWorkflow(
  runtime: Runtime,
  id: string,
  signal: AbortSignal,
): AsyncGenerator<WorkflowEntry> {
  const watch = await runtime.waker.watch([workflowStream(id)]);
  const aborted = new Promise<void>((resolve) => {
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
  try {
    for (let seen = 0; ; ) {
      const { end } = await workflowState(runtime, id);
      for await (const entry of entriesOf(runtime, id, seen + 1)) {
        if (signal.aborted) return;
        yield entry;
        seen = entry.seq;
      }
      if (end !== null || signal.aborted || runtime.closing.aborted) return;
      await Promise.race([watch.moved(null), aborted]);
    }
  } finally {
    watch.close();
  }
}

type JobEntry = WorkflowEvent & Pick<WorkflowEntry, "seq" | "at">;

/** The main job's id has no number. */
function openJob(workflow: string, { seq, at }: JobEntry, facts: Pick<Job, "kind" | "name">): Job {
  const id = `job_${workflow.slice(3)}${facts.kind === "main" ? "" : `_${seq}`}`;
  const none = {
    status: "open",
    closedAt: null,
    artifactUri: null,
    approval: null,
    by: [],
    reason: "",
  } as const;
  return { id, ...none, ...facts, openedAt: at };
}

function foldJob(workflow: string, jobs: Job[], entry: JobEntry): void {
  const { type, body, at: closedAt } = entry;
  const change = (index: number, facts: Partial<Job>) => {
    const job = jobs[index];
    if (job !== undefined) jobs[index] = { ...job, ...facts, closedAt };
  };
  switch (type) {
    case "workflow.created":
      jobs.push(openJob(workflow, entry, { kind: "main", name: body.name }));
      break;
    case "checkpoint.reached":
    case "checkpoint.raised":
    case "checkpoint.passed": {
      const job = openJob(workflow, entry, { kind: "approval", name: body.name });
      const { uri: artifactUri } = body.snapshot;
      if (type === "checkpoint.passed")
        jobs.push({ ...job, artifactUri, status: "completed", closedAt, reason: body.why });
      else jobs.push({ ...job, artifactUri, approval: body.approval });
      break;
    }
    case "checkpoint.decided": {
      const { approval, by, reason, decision } = body;
      const status = decision === "approved" || decision === "modified" ? "completed" : "rejected";
      change(
        jobs.findLastIndex((job) => job.approval === approval),
        { status, by, reason },
      );
      break;
    }
    case "workflow.settling":
      jobs.push(openJob(workflow, entry, { kind: "settlement", name: "settlement" }));
      break;
    case "workflow.completed":
      change(0, { status: "completed", reason: "" });
      if (jobs.at(-1)?.kind === "settlement") change(jobs.length - 1, { status: "completed" });
      break;
    case "workflow.failed":
      change(0, { status: "failed", reason: body.reason });
  }
}

export async function readJobs(place: TenantStore, id: string): Promise<readonly Job[]> {
  await workflowState(place, id);
  const jobs: Job[] = [];
  for await (const entry of entriesOf(place, id)) foldJob(id, jobs, entry as unknown as JobEntry);
  return jobs;
}

type ReachedCall = RollbackOutlook["targets"][number]["calls"][number];
type Undoable = ReachedCall["undo"];

type RecordedPast = { readonly table: OperationTable; readonly lost: ReadonlySet<string> };

/** `lost`: the effects that a checkpoint reported as irreversible. */
async function readPast(runtime: Runtime, id: string): Promise<RecordedPast> {
  const table = emptyTable();
  const lost = new Set<string>();
  for await (const entry of entriesOf(runtime, id)) {
    applyEntry(table, entry);
    if (entry.type !== "checkpoint.reached" && entry.type !== "checkpoint.raised") continue;
    const { irreversible = [] } = entry.body as unknown as { irreversible?: readonly Irreversible[] };
    for (const { action } of irreversible) lost.add(action);
  }
  return { table, lost };
}

const REMOTE_UNDOABLE: { readonly [undo in CallUndo]: Undoable } = {
  agent: "yes",
  here: "yes",
  none: "no",
  nothing: "nothing",
};

const NONE_LOST: ReadonlySet<string> = new Set();

/** Whether a call can be undone, as far as this process knows. */
export function isUndoable({ tools }: Runtime, { op, body }: RecordedOp, lost = NONE_LOST): Undoable {
  if (lost.has(String(body["action"]))) return "no";
  const outside = body["undo"] as CallUndo | undefined;
  if (outside !== undefined) return REMOTE_UNDOABLE[outside];
  const tool = String(body["tool"]);
  const undo = isStep(op, tool) ? undefined : tools.get(tool)?.undo;
  if (undo === undefined) return body["rollback"] === true ? "yes" : "unknown";
  if (undo === null) return "no";
  return undo === "nothing" ? "nothing" : "yes";
}

async function readReachedCall(
  runtime: Runtime,
  record: RecordedOp,
  { lost }: RecordedPast,
): Promise<ReachedCall> {
  const [action, tool] = [String(record.body["action"]), String(record.body["tool"])];
  const state = (await readState(runtime, actionStream(action))) as LiveAction;
  const at = "effect" in state ? state.effect.startedAt : state.proposedAt;
  const undo = state.effectClass === "read" ? "nothing" : isUndoable(runtime, record, lost);
  return { action, tool, phase: state.phase, at, undo };
}

type PlacedCall = ReachedCall & { readonly seq: number };

/** Calls of its children are placed where the child was spawned. */
async function readCalls(runtime: Runtime, known: RecordedPast): Promise<readonly PlacedCall[]> {
  const calls: PlacedCall[] = [];
  const undone = new Set(
    known.table.undos.filter(({ status }) => status === "undone").map((one) => one.undoes),
  );
  for (const record of known.table.ops.values()) {
    const below =
      record.kind === "child" ? await readChildRecords(runtime, String(record.body["child"])) : null;
    const made = below === null ? [record] : below.records;
    for (const one of made) {
      if (one.kind !== "call" || one.settled?.kind === "refused") continue;
      calls.push({ ...(await readReachedCall(runtime, one, known)), seq: record.seq });
    }
  }
  return calls.filter(({ action }) => !undone.has(action)).toSorted((a, b) => b.at - a.at || b.seq - a.seq);
}

function rollbackPlaces({ passed, createdAt }: LiveWorkflow) {
  const newest = new Map(passed.map(({ name, op }) => [name, op]));
  const checkpoints = passed.map(({ name, op, seq, at }) => {
    const to = newest.get(name) === op ? name : op;
    return { to, checkpoint: name, at, seq };
  });
  return [{ to: "start", checkpoint: null, at: createdAt, seq: 0 }, ...checkpoints].reverse();
}

export async function rollbackOutlook(runtime: Runtime, id: string): Promise<RollbackOutlook> {
  const state = await workflowState(runtime, id);
  if (!mayMove(state.status, "rolling_back")) return { whyNot: `it is ${state.status}`, targets: [] };
  const calls = await readCalls(runtime, await readPast(runtime, id));
  const targets = rollbackPlaces(state).map(({ seq: from, ...place }) => ({
    ...place,
    calls: calls.filter(({ seq }) => seq > from).map(({ seq: _place, ...call }) => call),
  }));
  return { whyNot: null, targets };
}
