/**
 * Wire forms of the seed's REST surface, which existing clients were written for: its names, its values, and how they
 * follow from ours. Later fields are added next to the original ones and replace none.
 * - Statuses are lower case, decisions upper case; `checkpoints` of a creation is a count; `message` is for people.
 * - `request_id` of an approval is its id. `checkpoint_name` of an approval for an action is the tool's name.
 * - A job exists from the beginning. Nothing is locked: `escrow_id` is null, and the amount is only recorded.
 */
import { z } from "zod";
import { json, moneySchema, time, timeOrNull, timeSchema, undoOnWire, undoSchema } from "../api/wire.ts";
import type { Approval } from "../approvals/contract.ts";
import { STAGE_STATES } from "../approvals/state.ts";
import type { Runtime } from "../runtime/runtime.ts";
import { getWorkflow, type WorkflowSummary } from "../workflows/read.ts";
import { WORKFLOW_STATUSES } from "../workflows/state.ts";
import { type WorkflowDetails, workflowStatus } from "../workflows/views.ts";
import { type CheckpointAccount, loadCheckpointAccount } from "./remote-workflow.ts";

const count = z.number().int().min(0);

const setup = z.object({
  job_id: z.string(),
  escrow_id: z.null().meta({ description: "nothing is locked" }),
});
/** The main job of a workflow, by its id. */
const setupOf = (id: string) => ({ job_id: `job_${id.slice(3)}`, escrow_id: null });

export const seedCreatedSchema = z.object({
  workflow_id: z.string(),
  status: workflowStatus,
  x402_setup: setup,
  checkpoints: count.meta({ description: "how many" }),
  message: z.string(),
});

export function seedCreatedOnWire({ id, status, checkpoints }: WorkflowDetails) {
  return {
    workflow_id: id,
    status,
    x402_setup: setupOf(id),
    checkpoints: checkpoints.length,
    message: "Workflow created and ready to execute",
  };
}

const brief = {
  workflow_id: z.string(),
  name: z.string(),
  status: workflowStatus,
  agent: z.string(),
  attempt: z.number(),
  current_checkpoint: count,
  total_checkpoints: count,
  started_at: timeSchema,
  completed_at: timeSchema.nullable(),
  error_message: z.string().nullable(),
};

const wait = z.object({ kind: z.string(), on: z.string(), op: z.string() });

export const seedWorkflowListSchema = z.object({
  ...brief,
  checkpoint: z.string().nullable(),
  approval_id: z.string().nullable(),
  held_by: z
    .array(z.string())
    .meta({ description: "switches and budgets that keep it from going on, by the names of their streams" }),
  stuck_on: z
    .string()
    .nullable()
    .meta({ description: "how the definitions that were tried differ from what is recorded" }),
  last_decision: z.string().nullable().meta({ description: "at its checkpoints" }),
  waits: z
    .array(wait)
    .nullable()
    .meta({ description: "what it waits for; null unless `waits=true` was asked for" }),
});

type ListedWorkflow = {
  readonly [Field in "name" | "status" | "agent"]: string;
} & { readonly [Field in "attempt" | "passed" | "checkpoints" | "createdAt"]: number } & {
  readonly [Field in "checkpoint" | "approval" | "reason" | "stuck" | "lastDecision"]: string | null;
} & { readonly endedAt: number | null; readonly held?: readonly string[] };

type Waits = WorkflowDetails["waits"];
const waitsOnWire = (waits: Waits) => waits.map(({ kind, on, op }) => ({ kind, on, op }));

/** `waits`: null unless requested. */
export function seedWorkflowOnWire({ id, ...fields }: WorkflowSummary, waits: Waits | null) {
  const listed = fields as unknown as ListedWorkflow;
  const { name, status, agent, attempt, checkpoint, approval, passed } = listed;
  return {
    workflow_id: id,
    ...{ name, status, agent, attempt },
    current_checkpoint: passed + (checkpoint === null ? 0 : 1),
    total_checkpoints: listed.checkpoints,
    started_at: time(listed.createdAt),
    completed_at: timeOrNull(listed.endedAt),
    error_message: listed.reason,
    checkpoint,
    approval_id: approval,
    held_by: listed.held ?? [],
    stuck_on: listed.stuck ?? null,
    last_decision: listed.lastDecision,
    waits: waits && waitsOnWire(waits),
  };
}

const decision = z.object({
  checkpoint: z.string(),
  approval_id: z.string(),
  decision: z.enum(["APPROVED", "MODIFIED", "REJECTED", "EXPIRED", "CANCELLED"]),
  by: z.array(z.string()),
  reason: z.string(),
  at: timeSchema,
  outputs: json.meta({ description: "as they are from then on" }),
  modifications: json.meta({ description: "the fields that people changed; null unless it was modified" }),
});

export const workflowSchema = z.object({
  ...brief,
  description: z.string(),
  snapshots: count,
  approval_requests: count.meta({ description: "checkpoints at which people were asked" }),
  approval_responses: count.meta({ description: "checkpoints that were decided" }),
  x402_setup: setup,
  escrow: moneySchema.nullable().meta({ description: "recorded; nothing is locked" }),
  is_outside: z.boolean().meta({ description: "an agent drives it" }),
  version: z.string().nullable(),
  input: json,
  result: json,
  failure: z.object({ code: z.string(), by: z.string(), report: json }).nullable(),
  pending: z
    .object({ checkpoint: z.string(), approval_id: z.string(), can_rollback: z.boolean() })
    .nullable(),
  waits: z.array(wait),
  wake_at: timeSchema.nullable(),
  last_decision: decision.nullable(),
  parties: json,
  budget: z.string().nullable(),
  parent: json,
});

function decisionOnWire({ lastDecision: last }: WorkflowDetails, { modifications }: CheckpointAccount) {
  if (last === null) return null;
  const { checkpoint, approval, by, reason, outputs } = last;
  const said = { checkpoint, approval_id: approval, decision: last.decision.toUpperCase(), by, reason };
  return { ...said, at: time(last.at), outputs, modifications };
}

function endOnWire({ end }: WorkflowDetails) {
  const failed = end?.status === "failed" ? end : null;
  return {
    completed_at: timeOrNull(end?.at),
    error_message: failed?.reason ?? null,
    result: end?.status === "completed" ? end.result : null,
    failure: failed && { code: failed.code, by: failed.by, report: failed.report },
  };
}

const pendingOf = ({ pending }: WorkflowDetails) =>
  pending && {
    checkpoint: pending.name,
    approval_id: pending.approval,
    can_rollback: pending.canRollback,
  };

export function workflowOnWire(workflow: WorkflowDetails, account: CheckpointAccount) {
  const { name, description, version, agent, attempt, input, parties, parent, escrow } = workflow;
  return {
    workflow_id: workflow.id,
    ...{ name, description, version, agent, attempt },
    status: workflow.status,
    current_checkpoint: workflow.passed.length + (workflow.pending === null ? 0 : 1),
    total_checkpoints: workflow.checkpoints.length,
    snapshots: account.snapshots,
    approval_requests: account.questions,
    approval_responses: account.decisions,
    started_at: time(workflow.createdAt),
    ...endOnWire(workflow),
    x402_setup: setupOf(workflow.id),
    escrow,
    is_outside: workflow.isOutside === true,
    input,
    pending: pendingOf(workflow),
    waits: waitsOnWire(workflow.waits),
    wake_at: timeOrNull(workflow.wakeAt),
    last_decision: decisionOnWire(workflow, account),
    parties,
    budget: workflow.budget ?? null,
    parent,
  };
}

/** The workflow as it is now. */
export async function readSeedWorkflow(runtime: Runtime, id: string) {
  const workflow = await getWorkflow(runtime, id);
  return workflowOnWire(workflow, await loadCheckpointAccount(runtime, workflow));
}

const about = z.enum(["action", "checkpoint", "question", "intent"]);

const approvers = z.object({
  quorum: z.number(),
  from: z.array(z.string()).nullable(),
  veto: z.boolean(),
  separate: z.boolean(),
  escalate_at_half: z.array(z.string()),
  remind_every_seconds: z.number().nullable(),
});
const stages = {
  all_stages: z
    .array(
      z.object({
        stage: z.number().meta({ description: "from 1 on" }),
        state: z.enum(STAGE_STATES),
        approvers,
      }),
    )
    .meta({ description: "every stage in its order; one where none were asked for" }),
  delegations: z
    .array(
      z.object({
        from: z.string(),
        to: z.string(),
        stage: z.number(),
        reason: z.string(),
        at: timeSchema,
      }),
    )
    .meta({ description: "seats that are handed over now" }),
};

const stagesOnWire = ({ stages: all, delegations }: Approval) => ({
  all_stages: all.map(({ stage, state, approvers: { quorum, from, veto, ...rule } }) => ({
    stage,
    state,
    approvers: {
      quorum,
      from,
      veto,
      separate: rule.separate === true,
      escalate_at_half: rule.escalateAtHalf ?? [],
      remind_every_seconds: rule.remindEveryMs === undefined ? null : rule.remindEveryMs / 1_000,
    },
  })),
  delegations: delegations.map(({ by, to, stage = 1, reason, at }) => ({
    from: by,
    to,
    stage,
    reason,
    at: time(at),
  })),
});

export const seedPendingSchema = z.object({
  request_id: z.string().meta({ description: "the approval's id" }),
  workflow_id: z.string().nullable(),
  checkpoint_name: z.string().meta({ description: "of an action: the tool's name" }),
  summary: z.string().meta({ description: "in the agent's own words, where it says any" }),
  context: z.record(z.string(), json),
  created_at: timeSchema,
  about,
  action_id: z.string().nullable(),
  agent: z.string(),
  reason: z.string(),
  decide_by: timeSchema.nullable(),
  binding: z.string(),
  undo: undoSchema.meta({ description: "how the agent says that it would undo it" }),
  ...stages,
});

/** `context`: what the agent provided for people to review. */
export function seedPendingOnWire(approval: Approval, context: { readonly [field: string]: unknown }) {
  const { id, tool, agent, reason, rationale, binding } = approval;
  return {
    request_id: id,
    workflow_id: approval.workflow,
    checkpoint_name: tool,
    summary: rationale ?? reason,
    context,
    created_at: time(approval.requestedAt),
    about: approval.about,
    action_id: approval.action,
    ...{ agent, reason, binding },
    decide_by: timeOrNull(approval.decideBy),
    undo: undoOnWire(approval),
    ...stagesOnWire(approval),
  };
}

export const SEED_DECISIONS = ["APPROVED", "MODIFIED", "REJECTED"] as const;
type SeedDecision = (typeof SEED_DECISIONS)[number];

export const seedSubmittedSchema = z.object({
  success: z.literal(true),
  decision: z.enum(SEED_DECISIONS),
  workflow_status: workflowStatus.nullable().meta({ description: "null where no workflow is concerned" }),
  message: z.string(),
  request_id: z.string(),
  workflow_id: z.string().nullable(),
  status: z.string().meta({ description: "of the approval: pending while more people have to decide" }),
});

type Submitted = {
  readonly approval: Approval;
  readonly workflow: { readonly id: string; readonly status: WorkflowDetails["status"] } | null;
};

function messageOf(said: SeedDecision, { approval, workflow }: Submitted): string {
  if (approval.status === "pending" && approval.edit !== null)
    return `Approval ${said} - the change is looked at by whoever runs it`;
  if (approval.status === "pending") return `Vote ${said} - more people have to decide`;
  if (workflow !== null) return `Approval ${said} - workflow now ${workflow.status}`;
  return `Approval ${said} - ${said === "REJECTED" ? "it is not done" : "it may be done"}`;
}

export function seedSubmittedOnWire(said: SeedDecision, submitted: Submitted) {
  const { approval, workflow } = submitted;
  return {
    success: true,
    decision: said,
    workflow_status: workflow?.status ?? null,
    message: messageOf(said, submitted),
    request_id: approval.id,
    workflow_id: workflow?.id ?? null,
    status: approval.status,
  };
}

export const statsSchema = z.object({
  total_workflows: count,
  workflow_states: z.object(
    Object.fromEntries(WORKFLOW_STATUSES.map((status) => [status, count])) as {
      [status in WorkflowDetails["status"]]: typeof count;
    },
  ),
  total_approvals_processed: count.meta({ description: "those that people have decided" }),
  pending_approvals: count,
  active_executors: count.meta({
    description: "agents of workflows that have not ended, as far as the last 1,000 of each status",
  }),
  active_supervisors: count.meta({ description: "people in good standing who are there to decide" }),
});

const MICROS = 1e6;

/** Converts a float amount in dollars to micros. */
export const microsOf = (amount: number): bigint => BigInt(Math.round(amount * MICROS));
