/**
 * A remote agent reaches a checkpoint: what it submits is captured as the three layers of a snapshot, and people are
 * asked if the checkpoint says so.
 */

import { plainJson } from "../effects/arguments.ts";
import { checkGateOptions } from "../effects/gate.ts";
import { digestOf } from "../kernel/canonical-json.ts";
import { HoldpointError } from "../kernel/errors.ts";
import { rejectInput } from "../kernel/fields.ts";
import { isJsonObject, type Json, type JsonObject } from "../kernel/json.ts";
import { refusalData } from "../kernel/refusals.ts";
import { workflowStream } from "../kernel/stream.ts";
import { freshId, type Runtime } from "../runtime/runtime.ts";
import { runCommand } from "../runtime/store-access.ts";
import { readOperationTable } from "../workflows/entries.ts";
import type { Declared } from "../workflows/events.ts";
import { workflowState } from "../workflows/read.ts";
import { checkCheckpoints } from "../workflows/rules/check-checkpoints.ts";
import type { CheckpointDefinition } from "../workflows/rules/checkpoints.ts";
import { callsAfter, irreversibleCalls } from "../workflows/rules/operations.ts";
import { type RemoteReach, type RemoteReached, reachRemoteCheckpoint } from "../workflows/rules/remote.ts";
import { type Captured, checkCaptured, restoreCaptured } from "../workflows/rules/snapshot.ts";
import {
  type AskingWorkflow,
  type CheckpointCapture,
  captureCheckpoint,
  judgeCheckpoint,
  notifyCheckpoint,
  questionAt,
} from "../workflows/run/checkpoint.ts";
import { checkName } from "../workflows/run/operation.ts";
import type { LiveWorkflow } from "../workflows/state.ts";
import type { RemoteCheckpointRequest, RemoteCheckpointResult } from "./contract.ts";
import { requireDriver } from "./remote-checks.ts";
import { hasNoUndo } from "./remote-rollback.ts";
import { DEFAULT_CHECKPOINT_SECONDS } from "./remote-workflow.ts";

const NAMED = [
  ...["agent_memory", "api_calls", "intermediate_outputs", "decision_trace", "resource_consumption"],
] as const;

const CALL = [
  "timestamp",
  "endpoint",
  "method",
  "status",
  "payload",
  "response",
  "response_summary",
  "summary",
];
const RESOURCES = ["api_calls", "tokens_used", "execution_time_seconds", "estimated_cost_usd"];

type Split = { readonly named: Json; readonly own: Json };

/** Separates the predefined fields from the agent's own. */
function split(given: Json, names: readonly string[]): Split {
  if (!isJsonObject(given)) return { named: given, own: {} };
  const isNamed = ([name]: readonly [string, Json]) => names.includes(name);
  const all = Object.entries(given);
  return {
    named: Object.fromEntries(all.filter(isNamed)),
    own: Object.fromEntries(all.filter((entry) => !isNamed(entry))),
  };
}

const isEmpty = (value: Json): boolean => isJsonObject(value) && Object.keys(value).length === 0;

/** Moves its own notes on calls and resources to its memory; the rest stays as in a snapshot. */
function setAside(state: JsonObject): { readonly rest: JsonObject; readonly own: JsonObject } {
  const { api_calls: calls, resource_consumption: used } = state;
  const called = Array.isArray(calls) ? calls.map((call: Json) => split(call, CALL)) : undefined;
  const spent = used === undefined ? undefined : split(used, RESOURCES);
  const hasNotes = called?.some(({ own }) => !isEmpty(own)) === true;
  return {
    rest: {
      ...state,
      ...(called === undefined ? {} : { api_calls: called.map(({ named }) => named) }),
      ...(spent === undefined ? {} : { resource_consumption: spent.named }),
    },
    own: {
      ...(hasNotes ? { api_calls: called.map(({ own }) => own) } : {}),
      ...(spent === undefined || isEmpty(spent.own) ? {} : { resource_consumption: spent.own }),
    },
  };
}

function executionOf(given: Json | undefined): JsonObject {
  if (given === undefined || given === null) return {};
  if (!isJsonObject(given)) return rejectInput("The execution state is an object.");
  const said = Object.entries(given).filter(([, value]) => value !== null);
  const named = said.filter(([name]) => NAMED.some((one) => one === name));
  const aside = setAside(Object.fromEntries(named));
  const unnamed = said.filter(([name]) => !NAMED.some((one) => one === name));
  const own = { ...Object.fromEntries(unnamed), ...aside.own };
  if (isEmpty(own)) return aside.rest;
  const { agent_memory: memory = {}, ...rest } = aside.rest;
  if (!isJsonObject(memory)) return rejectInput("agent_memory is an object.");
  return { ...rest, agent_memory: { ...own, ...memory } };
}

function captureFromAgent(agent: string, given: object): Captured {
  const { executionState, ...said } = plainJson(given) as JsonObject;
  const { outputs: intermediate, ...execution } = restoreCaptured({
    execution_state: executionOf(executionState),
  });
  const outputs = intermediate === undefined ? {} : { outputs: intermediate };
  return checkCaptured({ ...execution, ...outputs, ...said, agent });
}

/** Who decides, and how long they have. */
type ApprovalTermsInput = Pick<CheckpointDefinition, "timeoutSeconds" | "onTimeout" | "approvers" | "stages">;

type CheckpointArrival = {
  readonly name: string;
  readonly declared: Declared | undefined;
  /** Only for an undeclared checkpoint. */
  readonly asks: ApprovalTermsInput | undefined;
  readonly captured: Captured;
};

function checkApprovalTerms(
  name: string,
  declared: Declared | undefined,
  asks: ApprovalTermsInput | undefined,
): ApprovalTermsInput | undefined {
  if (asks === undefined) return undefined;
  if (declared !== undefined)
    rejectInput(
      `The checkpoint "${name}" was declared: who is asked there was said when the workflow was created.`,
    );
  checkCheckpoints([{ ...asks, name }]);
  return asks;
}

function nameAt(
  { checkpoints }: LiveWorkflow,
  given: string,
  asks: ApprovalTermsInput | undefined,
): Omit<CheckpointArrival, "captured"> {
  const declared = checkpoints.find(({ id, name }) => id === given || name === given);
  const name = declared?.name ?? checkName("checkpoint", given);
  if (name === "start") rejectInput('A checkpoint is not named "start": that is where a workflow begins.');
  return { name, declared, asks: checkApprovalTerms(name, declared, asks) };
}

/** In the form of a definition. */
function definitionOf(declared: Declared | undefined): CheckpointDefinition | undefined {
  if (declared === undefined) return undefined;
  const { asks = {}, ...facts } = declared;
  const { when, ...terms } = asks;
  if (when === undefined) return { ...facts, ...terms };
  const { costAbove, ...conditions } = when;
  const cost =
    costAbove === undefined ? {} : { costAbove: { ...costAbove, micros: BigInt(costAbove.micros) } };
  return { ...facts, ...terms, when: { ...conditions, ...cost } };
}

/** As declared; for an undeclared checkpoint, as the agent says. */
function termsAt({ declared, asks = {} }: CheckpointArrival): Partial<CheckpointDefinition> {
  const { timeoutSeconds = DEFAULT_CHECKPOINT_SECONDS } = asks;
  return definitionOf(declared) ?? { ...asks, timeoutSeconds };
}

type Captures = CheckpointCapture & Pick<RemoteReach, "handed">;

/** Excludes the fields that differ on every request. */
function contentDigest(
  { snapshot_id: _id, timestamp: _at, ...given }: JsonObject,
  asks: ApprovalTermsInput | undefined,
): string {
  return digestOf(asks === undefined ? given : { ...given, asks });
}

async function captureArrival(flow: AskingWorkflow, standing: CheckpointArrival): Promise<Captures> {
  const capture = await captureCheckpoint(flow, standing);
  return { ...capture, handed: contentDigest(capture.stored, standing.asks) };
}

type CheckpointIds = { readonly approval: string; readonly nonce: string };

async function buildReach(
  runtime: Runtime,
  workflow: string,
  standing: CheckpointArrival,
  { capture, ids }: { readonly capture: Captures; readonly ids: CheckpointIds },
): Promise<Omit<RemoteReach, "requestId">> {
  const state = await workflowState(runtime, workflow);
  const flow = { runtime, id: workflow, state };
  const { table, seq } = await readOperationTable(runtime, workflow);
  const calls = callsAfter(table, state.passed.at(-1)?.seq ?? 0);
  const tools = calls.map(({ body }) => String(body["tool"]));
  const { asks, why } = judgeCheckpoint(flow, standing, definitionOf(standing.declared), tools);
  const { artifact, handed } = capture;
  const reach = { seq, body: { ...capture.body, why }, artifact, handed };
  if (!asks) return { ...reach, ask: null };
  const irreversible = irreversibleCalls(calls, hasNoUndo);
  const terms = termsAt(standing);
  return { ...reach, ask: await questionAt(flow, capture, { ...ids, why, terms, irreversible }) };
}

type Conflict = { readonly name: string; readonly isRecorded: boolean };

function otherContentError(
  workflow: string,
  requestId: string | null,
  { name, isRecorded }: Conflict,
): HoldpointError {
  const what = `The request id "${requestId}" is that of the checkpoint "${name}" in ${workflow}, reached with other content or by another name.`;
  return new HoldpointError("request_conflict", what, {
    data: refusalData("request", isRecorded, "the workflow did not change, and no person was asked"),
    next: "Use a new request id for another checkpoint or other content.",
    details: { workflow, checkpoint: name },
  });
}

type CheckpointRequest = RemoteCheckpointRequest & { readonly agent: string };
type Submitted = Omit<CheckpointRequest, "checkpoint" | "agent" | "requestId">;

/** A field that is null counts as absent, except the time to decide: null is no limit. */
function splitSubmitted({ timeoutSeconds, onTimeout, approvers, stages, ...given }: Submitted) {
  const named = Object.entries({ timeoutSeconds, onTimeout, approvers, stages });
  const terms = Object.fromEntries(named.filter(([, term]) => term !== undefined)) as ApprovalTermsInput;
  const capture = Object.fromEntries(Object.entries(given).filter(([, value]) => value != null));
  return { asks: Object.keys(terms).length === 0 ? undefined : terms, capture };
}

/** Retries until nothing was written between its read and its commit. */
async function recordReach(
  runtime: Runtime,
  workflow: string,
  given: CheckpointRequest,
): Promise<RemoteReached> {
  const { checkpoint, agent, requestId: request, ...submitted } = given;
  const requestId = request ?? null;
  const { asks, capture } = splitSubmitted(submitted);
  const state = await workflowState(runtime, workflow);
  const flow = { runtime, id: workflow, state };
  const standing = { ...nameAt(state, checkpoint, asks), captured: captureFromAgent(agent, capture) };
  const taken = await captureArrival(flow, standing);
  const ids = { approval: freshId(runtime, "apr"), nonce: freshId(runtime, "non") };
  for (;;) {
    const found = await buildReach(runtime, workflow, standing, { capture: taken, ids });
    await runtime.reach("before_checkpoint");
    const answer = await runCommand(runtime, { write: [workflowStream(workflow)] }, (draft) =>
      reachRemoteCheckpoint(draft, { workflow, agent }, { ...found, requestId }),
    );
    await runtime.reach("after_checkpoint");
    if (answer.kind === "moved") continue;
    const reached = requireDriver(workflow, agent, "reach a checkpoint", answer);
    if (reached.kind === "conflict") throw otherContentError(workflow, requestId, reached);
    if (reached.approval === ids.approval && found.ask !== null)
      notifyCheckpoint(flow, found.ask, reached.state.changedAt);
    return reached;
  }
}

export async function reachRemoteCheckpointNow(
  runtime: Runtime,
  workflow: string,
  given: CheckpointRequest,
): Promise<RemoteCheckpointResult> {
  checkGateOptions(given.requestId == null ? {} : { requestId: given.requestId });
  await runtime.epoch();
  const { kind, name, approval, snapshot, state } = await recordReach(runtime, workflow, given);
  return { kind, checkpoint: name, approval, snapshot, status: state.status, attempt: state.generation };
}
