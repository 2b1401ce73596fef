/** Implementation of the verbs of workflows, and the methods of `hp.workflows` that only the library has. */

import { plainJson } from "../effects/arguments.ts";
import { refuseUnnamed } from "../effects/call-context.ts";
import type { Library } from "../kernel/contract.ts";
import { HoldpointError } from "../kernel/errors.ts";
import { checkFields, checkId, checkSignal } from "../kernel/fields.ts";
import { channelField, isPerson, type Via } from "../kernel/principal.ts";
import { workflowStream } from "../kernel/stream.ts";
import { countNodesWith } from "../runtime/epochs.ts";
import { findWorkflows } from "../runtime/lists.ts";
import { freshId, type Runtime } from "../runtime/runtime.ts";
import { bindLibrary, capability, decideVerb, preparedVerb, readVerb, runVerb } from "../runtime/verb.ts";
import { type Requested, type WorkflowRequest, workflows } from "./contract.ts";
import { DEFAULT_MAX_ATTEMPTS, pickRunTerms } from "./define.ts";
import type { WorkflowResult } from "./definition.ts";
import { cancelById, checkOperatorAnswer, forkById } from "./operate.ts";
import {
  followWorkflow,
  listWorkflows,
  readJobs,
  readSnapshot,
  rollbackOutlook,
  type WorkflowList,
  type WorkflowPage,
  workflowAt,
  workflowState,
} from "./read.ts";
import { type Creation, requestWorkflow } from "./rules/create.ts";
import type { WorkflowEntry } from "./rules/operations.ts";
import { rollBack } from "./rules/rollback.ts";
import { checkName } from "./run/operation.ts";
import { awaitEnd, type Definitions, SPAWN_HINT } from "./start.ts";
import { readTimeline } from "./timeline.ts";
import type { WorkflowDetails } from "./views.ts";

/** A person who requests it is the poster and may decide, unless duties are separated. A program is a requester. */
function requesterOf(runtime: Runtime, by: string, onBehalfOf: readonly string[]): readonly string[] {
  const asks = isPerson(by) ? [] : [by];
  const self = by === runtime.agent ? runtime.requester : asks;
  return [...new Set([...self, ...onBehalfOf])];
}

type StartInput = WorkflowRequest & { readonly name: string; readonly input?: unknown };
type StartCommand = Via & { readonly creation: Creation; readonly by: string };

/** Fields that only the definition knows keep neutral values until it adds them. */
function startCommand(runtime: Runtime, given: StartInput, how: Via): StartCommand {
  const { input = {}, requestId = null, by = runtime.agent, onBehalfOf = [] } = given;
  const name = checkName("workflow", given.name);
  refuseUnnamed(`The workflow "${name}" was started`, given.requestId, SPAWN_HINT);
  const body = {
    name,
    ...{ description: "", version: null, escrow: null, complexity: null, checkpoints: [] },
    input: plainJson(input),
    agent: runtime.agent,
    requester: requesterOf(runtime, by, onBehalfOf),
    parties: { poster: by, executor: null, supervisor: null },
    ...{ attempts: DEFAULT_MAX_ATTEMPTS, rollbackEnabled: false, onIrreversible: "fail" as const },
    ...pickRunTerms(given),
    ...{ parent: null, fork: null },
  } as const;
  return {
    creation: { workflow: freshId(runtime, "wf"), requestId, epoch: null, body },
    by,
    ...channelField(how),
  };
}

function requestConflict({ body: { name }, requestId }: Creation, workflow: string): HoldpointError {
  return new HoldpointError(
    "request_conflict",
    `The request id "${requestId}" names another workflow, ${workflow}.`,
    {
      details: { workflow },
      data: "Nothing was started.",
      next: `Use a new request id for a new "${name}", or ask for the same as before.`,
    },
  );
}

async function startAnswer(
  runtime: Runtime,
  made: Exclude<ReturnType<typeof requestWorkflow>, { readonly kind: "need" }>,
  { creation }: StartCommand,
): Promise<Requested> {
  await runtime.reach("after_propose");
  if (made.kind === "closed")
    throw new HoldpointError(
      "tenant_closed",
      `The tenant ${runtime.tenant} was closed: nothing starts in it.`,
    );
  if (made.kind === "conflict") throw requestConflict(creation, made.workflow);
  const { workflow: id } = made;
  const { name } = creation.body;
  const { status } = await workflowState(runtime, id);
  return { id, name, status, isNew: made.kind === "created", nodes: await countNodesWith(runtime, name) };
}

export const workflowVerbs = capability(workflows, {
  at: readVerb((runtime, { id, ...moment }) => workflowAt(runtime, id, moment)),
  timeline: readVerb((runtime, { id, ...moment }) => readTimeline(runtime, id, moment)),
  find: readVerb((runtime, { beginning }) => findWorkflows(runtime, beginning)),
  jobs: readVerb((runtime, { id }) => readJobs(runtime, id)),
  snapshot: readVerb((runtime, { id, checkpoint }) => readSnapshot(runtime, id, checkpoint)),
  rollbackOutlook: readVerb((runtime, { id }) => rollbackOutlook(runtime, id)),
  cancel: runVerb(({ runtime, how }, { id, by, reason }) => cancelById(runtime, id, { by, reason, ...how })),
  rollback: decideVerb(
    (draft, { id, to = null, ...request }, how) =>
      rollBack(draft, { workflow: id, to, ...request, ...channelField(how) }),
    (_runtime, answer, { id }) => checkOperatorAnswer(id, "be rolled back", answer),
    async (runtime, input) => {
      await workflowState(runtime, input.id);
      return { input, needs: { write: [workflowStream(input.id)] } };
    },
  ),
  start: preparedVerb(
    async (runtime, given, how) => {
      const input = startCommand(runtime, given, how);
      // In a restored store, a person has to confirm first what may start.
      await runtime.history.refuseRestored();
      await runtime.reach("before_propose");
      return { input, needs: { write: [workflowStream(input.creation.workflow)] } };
    },
    (draft, { creation, ...asking }) => requestWorkflow(draft, creation, asking),
    startAnswer,
  ),
});

export type Workflows = Library<typeof workflows> & {
  get(id: string): Promise<WorkflowDetails>;
  /** Newest first; `next` is the cursor of the following page. */
  list(page?: WorkflowPage): Promise<WorkflowList>;
  /** Waits for its end, however long that takes, in any process. */
  result(id: string): Promise<WorkflowResult<unknown>>;
  /** All its entries, then new ones from any process as they are written; ends with the workflow or the signal. */
  follow(id: string, signal: AbortSignal): AsyncGenerator<WorkflowEntry>;
  /** Creates a workflow that begins where this one passed a checkpoint. Returns its id. */
  fork(id: string, from: { readonly at: string }): Promise<string>;
};

const WORKFLOW = "A workflow";

export function workflowsOf(definitions: Definitions): Workflows {
  const runtime = async () => (await definitions.open()).runtime;
  const verbs = bindLibrary(runtime, workflowVerbs);
  /** A program that has definitions looks for work from then on. */
  const working = async <Answer>(answering: Promise<Answer>): Promise<Answer> => {
    const answer = await answering;
    if (definitions.known.size > 0) (await definitions.open()).dispatcher.work();
    return answer;
  };
  return {
    ...verbs,
    get: (id) => verbs.at(id),
    start: (...given) => working(verbs.start(...given)),
    rollback: (...given) => working(verbs.rollback(...given)),
    list: async (page = {}) => listWorkflows(await runtime(), page),
    result: async (id) => awaitEnd(await definitions.open(), checkId(WORKFLOW, id)),
    async *follow(id, signal) {
      checkSignal(signal);
      yield* followWorkflow(await runtime(), checkId(WORKFLOW, id), signal);
    },
    async fork(id, from) {
      const { at } = checkFields("Where a workflow is forked", from, ["at"]);
      const point = { at: checkId("A checkpoint", at) };
      return working(forkById(await runtime(), checkId(WORKFLOW, id), point));
    },
  };
}
