/** Looking at workflows, and what operators do to them. */

import { type Asked, type Command, cancelWorkflow } from "../../core/workflow/end.ts";
import type { ReachedBody, Snapshot } from "../../core/workflow/events.ts";
import { rollBack } from "../../core/workflow/rollback.ts";
import {
  type LiveWorkflow,
  WORKFLOW_STATUSES,
  type WorkflowStatus,
  workflowFold,
} from "../../core/workflow/state.ts";
import { HoldpointError, WORKFLOW_ID_HINT } from "../../kernel/errors.ts";
import { checkFields, rejectInput } from "../../kernel/fields.ts";
import type { Json } from "../../kernel/json.ts";
import { channelField, isPrincipal, type Via } from "../../kernel/principal.ts";
import { refusalData } from "../../kernel/refusals.ts";
import { workflowStream } from "../../kernel/stream.ts";
import { type RowFilter, rowPage, rowSummary } from "../../runtime/lists.ts";
import type { Runtime } from "../../runtime/runtime.ts";
import { loadValue, runCommand } from "../../runtime/store-access.ts";
import type { ViewRow } from "../../stores/store.ts";
import { openSnapshot } from "../capture.ts";
import { withdrawAsked } from "../outside/compensation-intents.ts";

import { brokenOff } from "./broken-off.ts";
import { entriesOf } from "./entries.ts";
import { withdrawOpen } from "./withdraw.ts";
import { workflowState } from "./workflows.ts";

type Place = Pick<Runtime, "store" | "tenant">;
type Said = Via & { readonly by: string; readonly reason: string };

/** A workflow in full, with its input and result as they were given. Its generation is its `attempt`, as `ctx` has it. */
export type WorkflowDetails = Omit<LiveWorkflow, "generation" | "asked"> & {
  readonly id: string;
  readonly attempt: number;
};

export async function getWorkflow(place: Place, id: string): Promise<WorkflowDetails> {
  return detailed(place, id, await workflowState(place, id));
}

async function detailed(place: Place, id: string, state: LiveWorkflow): Promise<WorkflowDetails> {
  const { generation: attempt, asked: _kept, ...standing } = state;
  const { end } = state;
  const done =
    end?.status === "completed" ? { end: { ...end, result: await loadValue(place, end.result) } } : {};
  const last = state.lastDecision;
  const lastDecision = last === null ? null : { ...last, outputs: await loadValue(place, last.outputs) };
  const input = await loadValue(place, state.input);
  return structuredClone({ ...standing, id, attempt, input, lastDecision, ...done });
}

/** As it stood after an entry, or at a time. */
export type Moment = { readonly seq: number } | { readonly time: number };

export function checkMoment(given: Moment): Moment {
  const moment = checkFields("A moment", given, ["seq", "time"]);
  const values = Object.values(moment);
  if (values.length !== 1 || !Number.isFinite(values[0]))
    rejectInput("A moment is { seq }, the number of an entry, or { time } in milliseconds.");
  return moment;
}

export async function workflowAt(place: Place, id: string, given: Moment): Promise<WorkflowDetails> {
  const moment = checkMoment(given);
  await workflowState(place, id);
  let state = workflowFold.initial;
  for await (const entry of entriesOf(place, id)) {
    if ("seq" in moment ? entry.seq > moment.seq : entry.at > moment.time) break;
    state = workflowFold.evolve(state, { ...entry, tv: 1 });
  }
  if (state.status === "none")
    throw new HoldpointError("unknown_id", `The workflow ${id} did not exist at that time.`);
  return detailed(place, id, state);
}

export type WorkflowPage = {
  readonly status?: WorkflowStatus | "any";
  readonly limit?: number;
  readonly after?: string;
  readonly order?: "oldest" | "newest";
  /** Only those of one agent. */
  readonly agent?: string;
  /** Only those with this text, in any case, in their id, name, agent, checkpoint or reason. */
  readonly text?: string;
};
export type WorkflowSummary = { readonly id: string; readonly [field: string]: Json };
export type WorkflowList = { readonly items: readonly WorkflowSummary[]; readonly next: string | null };

/** What the view's buckets don't tell apart; undefined where everything fits. */
function filterOf({ agent, text }: WorkflowPage): RowFilter | undefined {
  if (agent === undefined && text === undefined) return undefined;
  const wanted = text?.toLowerCase();
  const holds = ({ stream, data }: ViewRow, sought: string) =>
    [stream.id, data["name"], data["agent"], data["checkpoint"], data["reason"]].some(
      (field) => typeof field === "string" && field.toLowerCase().includes(sought),
    );
  return async (row) =>
    (agent === undefined || row.data["agent"] === agent) && (wanted === undefined || holds(row, wanted));
}

export async function listWorkflows(place: Place, page: WorkflowPage = {}): Promise<WorkflowList> {
  const fields = ["status", "limit", "after", "order", "agent", "text"];
  const asked = checkFields("A page", page, fields);
  const { status = "any", limit = 100, order = "newest", after } = asked;
  if (status !== "any" && !WORKFLOW_STATUSES.includes(status))
    rejectInput(`A workflow is ${WORKFLOW_STATUSES.join(", ")}; or ask for any.`);
  const list = { view: "workflows", kind: "workflow", prefix: "wf", bucket: status } as const;
  const { rows, next } = await rowPage(place, { ...list, order, limit, after }, filterOf(asked));
  return { items: rows.map(rowSummary), next };
}

function checkSaid({ by, reason }: Said): void {
  if (!isPrincipal(by)) rejectInput(`"${String(by)}" is not a principal: write person:<name>.`);
  if (typeof reason !== "string" || reason.trim() === "" || reason.length > 10_000 || !reason.isWellFormed())
    rejectInput("A reason of at most 10000 characters is needed.");
}

function checkAnswer(id: string, what: string, answer: Asked): WorkflowStatus {
  if (answer.kind === "done") return answer.status;
  if (answer.kind === "unknown")
    throw new HoldpointError("unknown_id", `There is no workflow ${id}.`, { next: WORKFLOW_ID_HINT });
  throw new HoldpointError("wrong_state", `The workflow ${id} cannot ${what}: ${answer.reason}.`, {
    details: { status: answer.status },
    data: refusalData("request", answer.isRecorded, "the workflow did not change"),
  });
}

/** One that rolls back says how far it had come. */
async function cancelNow(runtime: Runtime, command: Command): Promise<Asked> {
  for (;;) {
    const state = await workflowState(runtime, command.workflow);
    const back = state.status === "rolling_back" ? await brokenOff(runtime, command.workflow, state) : null;
    const answer = await runCommand(runtime, { write: [workflowStream(command.workflow)] }, (draft) =>
      cancelWorkflow(draft, back === null ? command : { ...command, back }),
    );
    if (answer.kind !== "moved") return answer;
  }
}

export async function cancelById(runtime: Runtime, id: string, said: Said): Promise<WorkflowStatus> {
  checkSaid(said);
  const { by, reason } = said;
  const answer = await cancelNow(runtime, { workflow: id, by, reason, ...channelField(said) });
  const status = checkAnswer(id, "be cancelled", answer);
  await withdrawOpen(runtime, id, { by, reason });
  await withdrawAsked(runtime, id, { by, reason });
  return status;
}

export type RollbackRequest = Omit<Said, "via"> & {
  /** A checkpoint's name, or `start`; the last approved one unless set. */
  readonly to?: string;
  /** What comes after: another attempt, or the end. `again` unless set. */
  readonly after?: "again" | "fail";
};

export async function rollBackById(
  runtime: Runtime,
  id: string,
  request: RollbackRequest & Via,
): Promise<WorkflowStatus> {
  checkSaid(request);
  await workflowState(runtime, id);
  const { by, reason, to = null, after = "again" } = request;
  if (after !== "again" && after !== "fail") rejectInput("After a rollback comes again or fail.");
  const command = { workflow: id, by, reason, to, after, ...channelField(request) };
  const answer = await runCommand(runtime, { write: [workflowStream(id)] }, (draft) =>
    rollBack(draft, command),
  );
  return checkAnswer(id, "be rolled back", answer);
}

const CAPTURES: readonly string[] = ["checkpoint.reached", "checkpoint.passed", "checkpoint.raised"];

/** Of a checkpoint that was turned down, only the entries know. */
async function capturedAt(place: Place, id: string, checkpoint: string): Promise<Snapshot | undefined> {
  let found: Snapshot | undefined;
  for await (const { type, body } of entriesOf(place, id)) {
    if (!CAPTURES.includes(type)) continue;
    const { name, op, snapshot } = body as unknown as ReachedBody;
    if ([name, op, snapshot.id].includes(checkpoint)) found = snapshot;
  }
  return found;
}

/** The captured state, as it was stored. */
export async function openedSnapshot(place: Place, { hash, uri, compressedBytes }: Snapshot): Promise<Json> {
  const stored = await openSnapshot(place, hash);
  return { ...stored, artifact_uri: uri, compressed_size_bytes: compressedBytes };
}

/** That of a checkpoint. */
export async function snapshotOf(place: Place, id: string, checkpoint: string): Promise<Json> {
  const state = await workflowState(place, id);
  const known = [...state.passed, ...(state.pending === null ? [] : [state.pending])];
  const standing = known.findLast(({ name, op, snapshot }) => [name, op, snapshot.id].includes(checkpoint));
  const found = standing?.snapshot ?? (await capturedAt(place, id, checkpoint));
  if (found === undefined)
    throw new HoldpointError("unknown_id", `The workflow ${id} has no checkpoint "${checkpoint}".`);
  return openedSnapshot(place, found);
}
