/** What an agent does with a workflow that it drives from outside, and what it reads of it. */

import { canonicalJson } from "../../core/canonical-json.ts";
import { HoldpointError } from "../../core/errors.ts";
import { isJsonObject, type Json, type JsonObject } from "../../core/json.ts";
import { workflowStream } from "../../core/stream.ts";
import { completeOutside, failOutside, startOutside } from "../../core/workflow/outside.ts";
import type { WorkflowStatus } from "../../core/workflow/state.ts";
import { plainJson } from "../prepare-args.ts";
import { loadValue } from "../read-state.ts";
import { runCommand } from "../run-command.ts";
import type { Runtime } from "../runtime.ts";
import { entriesOf } from "../workflow/entries.ts";
import { getWorkflow, type WorkflowDetails } from "../workflow/operate-workflows.ts";
import { withdrawOpen } from "../workflow/withdraw.ts";
import { workflowState } from "../workflow/workflows.ts";
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
    startOutside(draft, { workflow, agent }),
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
    completeOutside(draft, { workflow, agent }, kept),
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
    failOutside(draft, { workflow, agent }, reason),
  );
  drivenOr(workflow, agent, "fail", answer);
  await withdrawOpen(runtime, workflow, { by: agent, reason });
  await settleRollback(runtime, workflow);
  return (await workflowState(runtime, workflow)).status;
}

/** What was captured there, before people decided. */
type Tally = { snapshots: number; questions: number; decisions: number; proposed: JsonObject };

async function tally(
  runtime: Pick<Runtime, "store" | "tenant">,
  workflow: string,
  op: string | undefined,
): Promise<Tally> {
  const found: Tally = { snapshots: 0, questions: 0, decisions: 0, proposed: {} };
  for await (const { type, body } of entriesOf(runtime, workflow)) {
    const isAsking = type === "checkpoint.reached" || type === "checkpoint.raised";
    if (isAsking || type === "checkpoint.passed") found.snapshots++;
    if (isAsking) found.questions++;
    if (type === "checkpoint.decided") found.decisions++;
    if (!isAsking || body["op"] !== op) continue;
    const outputs = await loadValue(runtime, body["outputs"] ?? null);
    if (isJsonObject(outputs)) found.proposed = outputs;
  }
  return found;
}

const isEqual = (one: Json | undefined, other: Json | undefined): boolean =>
  one !== undefined && other !== undefined && canonicalJson(one) === canonicalJson(other);

/** What people have changed of the outputs: the fields as they are from then on. */
function changes(before: JsonObject, after: Json): JsonObject {
  if (!isJsonObject(after)) return {};
  return Object.fromEntries(Object.entries(after).filter(([field, value]) => !isEqual(before[field], value)));
}

export type Account = {
  /** What people changed of the outputs at the last checkpoint that they modified; null otherwise. */
  readonly modifications: JsonObject | null;
  /** How many snapshots were captured, checkpoints asked, and decisions made. */
  readonly snapshots: number;
  readonly questions: number;
  readonly decisions: number;
};

/** Of any workflow, whoever runs it: what its entries say beside its state. */
export async function accountOf(
  runtime: Pick<Runtime, "store" | "tenant">,
  { id, lastDecision: last }: WorkflowDetails,
): Promise<Account> {
  const { proposed, ...counts } = await tally(runtime, id, last?.op);
  const modifications = last?.decision === "modified" ? changes(proposed, last.outputs) : null;
  return { modifications, ...counts };
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
