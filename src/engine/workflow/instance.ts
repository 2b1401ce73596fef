/** The verbs about workflows that an embedding program holds in its hands. */

import type { WorkflowStatus } from "../../core/workflow/state.ts";
import { checkFields, checkId, checkSignal } from "../../kernel/fields.ts";
import type { Json } from "../../kernel/json.ts";
import type { Said } from "../../people/input.ts";
import { findWorkflows } from "../../runtime/lists.ts";
import type { WorkflowResult } from "./definition.ts";
import { followWorkflow } from "./follow.ts";
import { forkById } from "./fork.ts";
import { type Job, jobsOf } from "./jobs.ts";
import {
  cancelById,
  getWorkflow,
  listWorkflows,
  type Moment,
  type RollbackRequest,
  rollBackById,
  snapshotOf,
  type WorkflowDetails,
  type WorkflowList,
  type WorkflowPage,
  workflowAt,
} from "./operate-workflows.ts";
import type { Entry as WorkflowEntry } from "./recorded.ts";
import { type Requested, requestByName, type WorkflowRequest } from "./request.ts";
import { timelineOf } from "./timeline.ts";
import type { TimelineRow } from "./timeline-row.ts";
import { awaitEnd, type Definitions } from "./workflows.ts";

export type Workflows = {
  /**
   * Starts one by its definition's name, whichever node has that: this program need not. Answers as soon as that is durable.
   * An input that does not fit ends it as failed, with the reason.
   */
  start(name: string, input?: unknown, request?: WorkflowRequest): Promise<Requested>;
  get(id: string): Promise<WorkflowDetails>;
  /** Newest first; `next` is the cursor of the following page. */
  list(page?: WorkflowPage): Promise<WorkflowList>;
  /** As it stood after an entry, or at a time (milliseconds). */
  at(id: string, moment: Moment): Promise<WorkflowDetails>;
  /** What happened, in order: operations, decisions, rollbacks with what they undid. Until a moment, or until now. */
  timeline(id: string, moment?: Moment): Promise<readonly TimelineRow[]>;
  /** Ids that begin with a text, at most ten; of any other text, the workflow whose request id it is. */
  find(text: string): Promise<readonly string[]>;
  /** Waits for its end, however long that takes, whoever runs it. */
  result(id: string): Promise<WorkflowResult<unknown>>;
  /** Its entries from the first on, as they are written, by any process; ends with the workflow or the signal. */
  follow(id: string, signal: AbortSignal): AsyncGenerator<WorkflowEntry>;
  /** The captured state of a checkpoint, by its name. */
  snapshot(id: string, checkpoint: string): Promise<Json>;
  /** Its main job, an approval job for each checkpoint, and the settlement. */
  jobs(id: string): Promise<readonly Job[]>;
  /** Ends it. What was done stays done: roll back first to undo it. */
  cancel(id: string, said: Said): Promise<WorkflowStatus>;
  /** Undoes what was done since a checkpoint, newest first; then it is tried again from there, or fails. */
  rollback(id: string, request: RollbackRequest): Promise<WorkflowStatus>;
  /** A new workflow that begins where this one passed a checkpoint. Answers its id. */
  fork(id: string, from: { readonly at: string }): Promise<string>;
};

const WORKFLOW = "A workflow";
const SAID = "What is said";

export function workflowsOf(definitions: Definitions): Workflows {
  const runtime = async () => (await definitions.open()).runtime;
  return {
    async start(name, input = {}, request = {}) {
      const { runtime: place, dispatcher } = await definitions.open();
      const made = await requestByName(place, name, input, request);
      if (definitions.known.size > 0) dispatcher.work();
      return made;
    },
    get: async (id) => getWorkflow(await runtime(), checkId(WORKFLOW, id)),
    list: async (page = {}) => listWorkflows(await runtime(), page),
    at: async (id, moment) => workflowAt(await runtime(), checkId(WORKFLOW, id), moment),
    timeline: async (id, moment) => timelineOf(await runtime(), checkId(WORKFLOW, id), moment),
    find: async (text) => findWorkflows(await runtime(), checkId(WORKFLOW, text)),
    result: async (id) => awaitEnd(await definitions.open(), checkId(WORKFLOW, id)),
    async *follow(id, signal) {
      checkSignal(signal);
      yield* followWorkflow(await runtime(), checkId(WORKFLOW, id), signal);
    },
    snapshot: async (id, checkpoint) => snapshotOf(await runtime(), checkId(WORKFLOW, id), checkpoint),
    jobs: async (id) => jobsOf(await runtime(), checkId(WORKFLOW, id)),
    cancel: async (id, said) =>
      cancelById(await runtime(), checkId(WORKFLOW, id), checkFields(SAID, said, ["by", "reason"])),
    async rollback(id, request) {
      const { runtime: place, dispatcher } = await definitions.open();
      const asked = checkFields(SAID, request, ["by", "reason", "to", "after"]);
      const status = await rollBackById(place, checkId(WORKFLOW, id), asked);
      if (definitions.known.size > 0) dispatcher.work();
      return status;
    },
    async fork(id, from) {
      const { runtime: place, dispatcher } = await definitions.open();
      const { at } = checkFields("Where a workflow is forked", from, ["at"]);
      const fork = await forkById(place, checkId(WORKFLOW, id), { at: checkId("A checkpoint", at) });
      if (definitions.known.size > 0) dispatcher.work();
      return fork;
    },
  };
}
