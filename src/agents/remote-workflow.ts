/** Workflows that a remote agent drives: created and read. */

import { plainJson } from "../effects/arguments.ts";
import { checkGateOptions } from "../effects/gate.ts";
import { canonicalJson } from "../kernel/canonical-json.ts";
import { HoldpointError } from "../kernel/errors.ts";
import { checkFields, rejectInput } from "../kernel/fields.ts";
import { isJsonObject, type Json, type JsonObject } from "../kernel/json.ts";
import { checkAmount, type Money, moneyToJson } from "../kernel/money.ts";
import { workflowStream } from "../kernel/stream.ts";
import { freshId, type Runtime } from "../runtime/runtime.ts";
import { loadValue, runCommand } from "../runtime/store-access.ts";
import type { TenantStore } from "../stores/store.ts";
import { DEFAULT_MAX_ATTEMPTS, declareCheckpoint } from "../workflows/define.ts";
import type { CreatedBody, Declared, DeclaredAsking } from "../workflows/events.ts";
import { getWorkflow } from "../workflows/read.ts";
import { checkCheckpoints } from "../workflows/rules/check-checkpoints.ts";
import type { CheckpointConditions, CheckpointDefinition } from "../workflows/rules/checkpoints.ts";
import { createRemoteWorkflow } from "../workflows/rules/remote.ts";
import type { CheckpointTally } from "../workflows/state.ts";
import type { WorkflowDetails } from "../workflows/views.ts";
import type { Compensation } from "./contract.ts";
import { checkPrincipal, checkTextLength, requesterWithAgent } from "./remote-checks.ts";
import { listCompensations } from "./remote-rollback.ts";

/** Default time for people to decide at a checkpoint of such a workflow. */
export const DEFAULT_CHECKPOINT_SECONDS = 300;

/** As in a definition, but without functions. */
export type RemoteCheckpoint = Omit<CheckpointDefinition, "when" | "undo"> & {
  readonly when?: CheckpointConditions;
};

export type NewRemoteWorkflow = {
  readonly name: string;
  readonly description?: string;
  /** What it is about, for people and policies. */
  readonly input?: unknown;
  /** Names, or full declarations. `timeoutSeconds`: 300 by default; null means no limit. */
  readonly checkpoints?: readonly (string | RemoteCheckpoint)[];
  /** Recorded only; no money is locked. */
  readonly escrow?: Money;
  readonly poster?: string;
  /** The agent that drives it. Default: its creator. */
  readonly executor?: string;
  readonly supervisor?: string;
  /** Principals on whose behalf it runs: none of them may decide about it. */
  readonly onBehalfOf?: readonly string[];
  /** Its identity: a repeated creation returns the same workflow. */
  readonly requestId?: string;
  /** Attempts in total before a rejection is final. Default: 5. */
  readonly attempts?: number;
  /** Undo its effects when its agent fails it. */
  readonly rollbackEnabled?: boolean;
  readonly onIrreversible?: "fail" | "continue";
  /** Its creator: from the credential, if there is one. */
  readonly by: string;
};

const FIELDS = [
  ...["name", "description", "input", "checkpoints", "escrow", "poster", "executor", "supervisor"],
  "onBehalfOf",
  ...["requestId", "attempts", "rollbackEnabled", "onIrreversible", "by"],
];

function whenOf(when: CheckpointConditions): NonNullable<DeclaredAsking["when"]> {
  const { confidenceBelow, costAbove, tools } = when;
  return {
    ...(confidenceBelow === undefined ? {} : { confidenceBelow }),
    ...(costAbove === undefined ? {} : { costAbove: moneyToJson(costAbove) }),
    ...(tools === undefined ? {} : { tools }),
  };
}

function askingOf({ approvers, stages, onTimeout, when }: RemoteCheckpoint): DeclaredAsking {
  return {
    ...(approvers === undefined ? {} : { approvers }),
    ...(stages === undefined ? {} : { stages }),
    ...(onTimeout === undefined ? {} : { onTimeout }),
    ...(when === undefined ? {} : { when: whenOf(when) }),
  };
}

function declareRemotely(one: RemoteCheckpoint): Declared {
  const asks = askingOf(one);
  const declared = declareCheckpoint({ timeoutSeconds: DEFAULT_CHECKPOINT_SECONDS, ...one });
  return Object.keys(asks).length === 0 ? declared : { ...declared, asks };
}

function checkpointsOf(
  given: NewRemoteWorkflow["checkpoints"],
  requester: readonly string[],
): readonly Declared[] {
  if (given === undefined) return [];
  if (!Array.isArray(given)) return rejectInput("Checkpoints are a list of names or declarations.");
  const list: readonly unknown[] = given.map((one: unknown) =>
    typeof one === "string" ? { name: one } : one,
  );
  const isMade = (one: unknown) => isJsonObject(one) && (typeof one["when"] === "function" || "undo" in one);
  if (list.some(isMade))
    rejectInput(
      "A checkpoint of a workflow from outside has no functions: no undo, and conditions as an object.",
    );
  return (checkCheckpoints(list, requester) as readonly RemoteCheckpoint[]).map(declareRemotely);
}

const party = (what: string, given: string | undefined): string | null =>
  given === undefined ? null : checkPrincipal(what, given);

function termsOf({
  attempts = DEFAULT_MAX_ATTEMPTS,
  rollbackEnabled = false,
  onIrreversible = "fail",
}: NewRemoteWorkflow) {
  if (!(Number.isSafeInteger(attempts) && attempts >= 1))
    rejectInput("attempts is a whole number of at least 1.");
  if (typeof rollbackEnabled !== "boolean") rejectInput("rollbackEnabled is true or false.");
  if (onIrreversible !== "fail" && onIrreversible !== "continue")
    rejectInput("onIrreversible is fail or continue.");
  return { attempts, rollbackEnabled, onIrreversible };
}

function bodyOf(given: NewRemoteWorkflow): CreatedBody {
  const { name, description = "", input = null, escrow, by } = given;
  const agent = checkPrincipal("The executor", given.executor ?? by);
  const requester = requesterWithAgent(agent, given.onBehalfOf);
  if (escrow !== undefined) checkAmount("An escrow", escrow);
  if (typeof description !== "string" || description.length > 10_000 || !description.isWellFormed())
    rejectInput("A description is a text of at most 10000 characters.");
  const parties = {
    poster: party("The poster", given.poster),
    executor: agent,
    supervisor: party("The supervisor", given.supervisor),
  };
  return {
    name: checkTextLength("A workflow's name", name, 200),
    description,
    version: null,
    input: input === null ? null : plainJson(input),
    agent,
    requester,
    parties,
    escrow: escrow === undefined ? null : moneyToJson(escrow),
    complexity: null,
    checkpoints: checkpointsOf(given.checkpoints, requester),
    ...termsOf(given),
    isOutside: true,
    parent: null,
    fork: null,
  };
}

/** Returns its id. */
export async function createRemoteWorkflowNow(runtime: Runtime, given: NewRemoteWorkflow): Promise<string> {
  const { requestId, by } = checkFields("A workflow", given, FIELDS);
  checkGateOptions(requestId === undefined ? {} : { requestId });
  checkPrincipal("The creator", by);
  const workflow = freshId(runtime, "wf");
  const creation = { workflow, requestId: requestId ?? null, epoch: null, body: bodyOf(given) };
  // In a restored store, a person has to confirm first what may be done.
  await runtime.epoch();
  await runtime.reach("before_propose");
  const made = await runCommand(runtime, { write: [workflowStream(workflow)] }, (draft) =>
    createRemoteWorkflow(draft, creation),
  );
  await runtime.reach("after_propose");
  if (made.kind !== "conflict") return made.workflow;
  const what = `The request id "${requestId}" names another workflow, ${made.workflow}.`;
  throw new HoldpointError("request_conflict", what, {
    data: "Nothing was written.",
    details: { workflow: made.workflow },
  });
}

/** The outputs captured there, before people decided; undefined if they were erased. */
async function loadProposedOutputs(
  place: TenantStore,
  workflow: string,
  seq: number,
): Promise<JsonObject | undefined> {
  const [entry] = await place.store.read(place.tenant, workflowStream(workflow), { fromSeq: seq, limit: 1 });
  if (entry?.body == null) return undefined;
  const { outputs = null } = JSON.parse(entry.body) as { readonly outputs?: Json };
  const proposed = await loadValue(place, outputs);
  return isJsonObject(proposed) ? proposed : {};
}

const isEqual = (one: Json | undefined, other: Json | undefined): boolean =>
  one !== undefined && other !== undefined && canonicalJson(one) === canonicalJson(other);

/** The fields of the outputs that people changed, with their new values. */
function changedOutputs(before: JsonObject, after: Json): JsonObject {
  if (!isJsonObject(after)) return {};
  return Object.fromEntries(Object.entries(after).filter(([field, value]) => !isEqual(before[field], value)));
}

export type CheckpointAccount = CheckpointTally & {
  /** The output fields that people changed, if the last decision modified them; null otherwise. */
  readonly modifications: JsonObject | null;
};

/** For any workflow, local or driven by an agent. */
export async function loadCheckpointAccount(
  place: TenantStore,
  { id, lastDecision: last, tally }: WorkflowDetails,
): Promise<CheckpointAccount> {
  if (last?.decision !== "modified") return { modifications: null, ...tally };
  const proposed = await loadProposedOutputs(place, id, last.reachedSeq);
  return { modifications: proposed === undefined ? null : changedOutputs(proposed, last.outputs), ...tally };
}

export type RemoteWorkflow = WorkflowDetails &
  CheckpointAccount & {
    /** What the agent has to undo now; at most one at a time. */
    readonly compensations: readonly Compensation[];
  };

export async function getRemoteWorkflow(runtime: Runtime, workflow: string): Promise<RemoteWorkflow> {
  const details = await getWorkflow(runtime, workflow);
  if (details.isOutside !== true)
    throw new HoldpointError(
      "wrong_state",
      `The workflow ${workflow} is run by its definition, not by an agent.`,
      { next: "Read it with hp.workflows.get()." },
    );
  const account = await loadCheckpointAccount(runtime, details);
  return { ...details, ...account, compensations: await listCompensations(runtime, workflow) };
}
