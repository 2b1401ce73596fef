/** What an agent does with a workflow that it drives from outside, and what it reads of it. */

import { plainJson } from "../../effects/arguments.ts";
import { canonicalJson } from "../../kernel/canonical-json.ts";
import { HoldpointError } from "../../kernel/errors.ts";
import { isJsonObject, type Json, type JsonObject } from "../../kernel/json.ts";
import { workflowStream } from "../../kernel/stream.ts";
import type { Runtime } from "../../runtime/runtime.ts";
import { loadValue, runCommand } from "../../runtime/store-access.ts";
import { getWorkflow, type WorkflowDetails, workflowState } from "../../workflows/read.ts";
import {
  completeRemoteWorkflow,
  failRemoteWorkflow,
  startRemoteWorkflow,
} from "../../workflows/rules/remote.ts";
import type { CheckpointTally, WorkflowStatus } from "../../workflows/state.ts";
import { withdrawOpen } from "../../workflows/withdraw.ts";

import { checkPrincipal, checkText } from "./check-outside.ts";
import { drivenOr } from "./driven.ts";
import { type Compensation, compensationsOf, settleRollback } from "./roll-back.ts";

export type Drive = { readonly agent: string };

export async function startOutsideWorkflow(
  runtime: Runtime,
  workflow: string,
  { agent }: Drive,
): Promise<WorkflowStatus> {
  checkPrincipal("The agent", agent);
  await workflowState(runtime, workflow);
  const answer = await runCommand(runtime, { write: [workflowStream(workflow)] }, (draft) =>
    startRemoteWorkflow(draft, { workflow, agent }),
  );
  return drivenOr(workflow, agent, "start", answer).state.status;
}

export async function completeOutsideWorkflow(
  runtime: Runtime,
  workflow: string,
  { agent, result }: Drive & { readonly result?: unknown },
): Promise<WorkflowStatus> {
  checkPrincipal("The agent", agent);
  const kept = result === undefined ? null : plainJson(result);
  await workflowState(runtime, workflow);
  const answer = await runCommand(runtime, { write: [workflowStream(workflow)] }, (draft) =>
    completeRemoteWorkflow(draft, { workflow, agent }, kept),
  );
  return drivenOr(workflow, agent, "be completed", answer).state.status;
}

/** Withdraws what it had begun, or begins to undo what it did, where it was created so. */
export async function failOutsideWorkflow(
  runtime: Runtime,
  workflow: string,
  { agent, reason }: Drive & { readonly reason: string },
): Promise<WorkflowStatus> {
  checkPrincipal("The agent", agent);
  checkText("The reason", reason, 10_000);
  await workflowState(runtime, workflow);
  const answer = await runCommand(runtime, { write: [workflowStream(workflow)] }, (draft) =>
    failRemoteWorkflow(draft, { workflow, agent }, reason),
  );
  drivenOr(workflow, agent, "fail", answer);
  await withdrawOpen(runtime, workflow, { by: agent, reason });
  await settleRollback(runtime, workflow);
  return (await workflowState(runtime, workflow)).status;
}

/** What was captured there, before people decided; undefined where that was erased. */
async function proposedAt(
  place: Pick<Runtime, "store" | "tenant">,
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

/** What people have changed of the outputs: the fields as they are from then on. */
function changes(before: JsonObject, after: Json): JsonObject {
  if (!isJsonObject(after)) return {};
  return Object.fromEntries(Object.entries(after).filter(([field, value]) => !isEqual(before[field], value)));
}

export type Account = CheckpointTally & {
  /** What people changed of the outputs at the last checkpoint that they modified; null otherwise. */
  readonly modifications: JsonObject | null;
};

/** Of any workflow, whoever runs it. */
export async function accountOf(
  place: Pick<Runtime, "store" | "tenant">,
  { id, lastDecision: last, tally }: WorkflowDetails,
): Promise<Account> {
  if (last?.decision !== "modified") return { modifications: null, ...tally };
  const proposed = await proposedAt(place, id, last.reachedSeq);
  return { modifications: proposed === undefined ? null : changes(proposed, last.outputs), ...tally };
}

export type OutsideWorkflow = WorkflowDetails &
  Account & {
    /** What the agent has to take back now; at most one at a time. */
    readonly compensations: readonly Compensation[];
  };

export async function getOutsideWorkflow(runtime: Runtime, workflow: string): Promise<OutsideWorkflow> {
  const details = await getWorkflow(runtime, workflow);
  if (details.isOutside !== true)
    throw new HoldpointError(
      "wrong_state",
      `The workflow ${workflow} is run by its definition, not by an agent.`,
      {
        data: "Nothing was written.",
        next: "Read it with hp.workflows.get().",
      },
    );
  const account = await accountOf(runtime, details);
  return { ...details, ...account, compensations: await compensationsOf(runtime, workflow) };
}
