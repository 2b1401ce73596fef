/** Wire forms of the answers to remote agents, and of what they submit at a checkpoint. */
import { z } from "zod";
import { idSchema, json, time, timeOrNull, timeSchema, undoSchema } from "../api/wire.ts";
import { receipt as receiptContent } from "../effects/contract.ts";
import { viewCodec } from "../kernel/codec.ts";
import { workflowStatus } from "../workflows/views.ts";
import { approverFields, readApproverTerms } from "./creation-input.ts";
import { agentSchema } from "./identify-agent.ts";
import type { Permit, RemoteAnswer } from "./remote-answer.ts";
import type { RemoteCheckpointRequest, RemoteCheckpointResult } from "./remote-checkpoint.ts";
import type { PermitRequest } from "./remote-checks.ts";
import type { Compensation } from "./remote-rollback.ts";

export const { wire: receiptSchema, encode: receiptOnWire } = viewCodec(receiptContent);

const refusal = {
  by: z.string(),
  code: z.string(),
  reason: z.string(),
  retry: z.boolean(),
  next: z.string(),
};

const pendingSchema = z.discriminatedUnion("waiting_for", [
  z.object({
    status: z.literal("pending"),
    waiting_for: z.literal("approval").meta({ description: "people are asked" }),
    action_id: z.string(),
    approval_id: z.string(),
    decide_by: timeSchema.nullable(),
  }),
  z.object({
    status: z.literal("pending"),
    waiting_for: z.literal("holder").meta({ description: "another holder has the permit" }),
    action_id: z.string(),
    report_by: timeSchema.meta({ description: "by then it has an outcome, or is in doubt" }),
  }),
  z.object({
    status: z.literal("pending"),
    waiting_for: z.enum(["kill_switch", "budget"]),
    action_id: z.string(),
    ...refusal,
  }),
]);

export const remoteAnswerSchema = z.discriminatedUnion("status", [
  z.object({
    status: z
      .literal("permitted")
      .meta({ description: "with `begun`: perform it now, once, with these arguments; else begin it first" }),
    action_id: z.string(),
    effect_id: z.string(),
    tool: z.string(),
    key: z.string().meta({ description: "for the receiver: the same whenever one asks again" }),
    args: json.meta({ description: "as approved; people or the policy may have changed them" }),
    approved_by: z.array(z.string()),
    notes: z.array(z.string()),
    report_by: timeSchema,
    execute_by: timeSchema.nullable(),
    begun: z.boolean().meta({ description: "it may be performed; without it, begin the permit first" }),
    handed_out: z.number().meta({
      description: "how often: more than once only where the effect class allows a second performance",
    }),
  }),
  pendingSchema,
  z.object({
    status: z.literal("refused").meta({ description: "nothing ran, and nothing will under this request id" }),
    action_id: z.string(),
    approval_id: z.string().nullable(),
    ...refusal,
  }),
  z.object({
    status: z.enum(["done", "failed", "in_doubt"]).meta({ description: "the outcome of the started effect" }),
    action_id: z.string(),
    receipt: receiptSchema,
    result: json,
  }),
]);

function permitOnWire(permit: Permit) {
  const { status, action, effect, tool, key, args, approvedBy, notes, begun } = permit;
  return {
    status,
    action_id: action,
    effect_id: effect,
    tool,
    key,
    args,
    approved_by: approvedBy,
    notes,
    report_by: time(permit.reportBy),
    execute_by: timeOrNull(permit.executeBy),
    begun,
    handed_out: permit.handedOut,
  };
}

function pendingOnWire(answer: Extract<RemoteAnswer, { status: "pending" }>) {
  const { status, waitingFor, action, ...rest } = answer;
  const about = { status, waiting_for: waitingFor, action_id: action };
  if ("approval" in rest)
    return { ...about, approval_id: rest.approval, decide_by: timeOrNull(rest.decideBy) };
  return "reportBy" in rest ? { ...about, report_by: time(rest.reportBy) } : { ...about, ...rest };
}

export function remoteAnswerOnWire(answer: RemoteAnswer) {
  switch (answer.status) {
    case "permitted":
      return permitOnWire(answer);
    case "pending":
      return pendingOnWire(answer);
    case "refused": {
      const { status, action, approval, ...why } = answer;
      return { status, action_id: action, approval_id: approval, ...why };
    }
    default: {
      const { status, action, receipt, result } = answer;
      return { status, action_id: action, receipt: receiptOnWire(receipt), result };
    }
  }
}

const text = z.string().max(10_000);
const object = z.record(z.string(), json);

export const checkpointArrivalSchema = z.strictObject({
  checkpoint_id: z.string().min(1).max(100).meta({
    description:
      "its id or name; one that nobody declared asks too, and only such a one may say who is asked and how long",
  }),
  execution_state: object.nullish().meta({
    description:
      "agent_memory, api_calls, intermediate_outputs, decision_trace, resource_consumption; anything else is kept with the memory",
  }),
  summary: text.nullish(),
  decision_needed: text.nullish(),
  context: object.nullish(),
  recommendation: z.enum(["approve", "modify", "reject"]).nullish(),
  confidence: z.number().min(0).max(1).nullish(),
  confidence_scores: z.record(z.string(), z.number()).nullish(),
  inputs: object.nullish(),
  outputs: object.nullish().meta({ description: "what people may modify" }),
  artifacts: z.array(json).max(1_000).nullish(),
  next_steps: z.array(text).max(1_000).nullish(),
  risk: json.nullish(),
  ...approverFields,
  request_id: z.string().min(1).max(200).nullish(),
  agent: agentSchema,
});
type CheckpointArrivalBody = z.output<typeof checkpointArrivalSchema>;

const NAMES: { readonly [field in keyof CheckpointArrivalBody]?: string } = {
  checkpoint_id: "checkpoint",
  execution_state: "executionState",
  decision_needed: "decisionNeeded",
  confidence_scores: "confidenceScores",
  next_steps: "nextSteps",
  request_id: "requestId",
};

export function checkpointArrivalFrom(body: CheckpointArrivalBody, agent: string): RemoteCheckpointRequest {
  const { timeout_seconds, on_timeout, approvers, stages, ...capture } = body;
  const fields = Object.entries({ ...capture, agent }).filter(([, value]) => value != null);
  const named = fields.map(([field, value]) => [NAMES[field as keyof CheckpointArrivalBody] ?? field, value]);
  const asks = readApproverTerms({ timeout_seconds, on_timeout, approvers, stages });
  return {
    ...(Object.fromEntries(named) as RemoteCheckpointRequest),
    ...(Object.keys(asks).length === 0 ? {} : { asks }),
  };
}

export const checkpointReachedSchema = z.object({
  workflow_id: z.string(),
  checkpoint_name: z.string(),
  result: z.enum(["waiting", "passed", "decided"]).meta({
    description: "people are asked; one may go on; or they have not agreed, see the workflow's last_decision",
  }),
  approval_id: z.string().nullable(),
  snapshot_id: z.string().nullable(),
  artifact_uri: z.string().nullable(),
  status: workflowStatus,
  attempt: z.number(),
  message: z.string(),
});

const SAYS: { readonly [kind in RemoteCheckpointResult["kind"]]: string } = {
  waiting: "Checkpoint reached - people are asked",
  passed: "Checkpoint passed - go on",
  decided: "Checkpoint decided - people have not agreed",
};

export function checkpointReachedOnWire(workflow: string, stood: RemoteCheckpointResult) {
  const { kind, checkpoint, approval, snapshot, status, attempt } = stood;
  return {
    workflow_id: workflow,
    checkpoint_name: checkpoint,
    result: kind,
    approval_id: approval,
    snapshot_id: snapshot?.id ?? null,
    artifact_uri: snapshot?.uri ?? null,
    ...{ status, attempt },
    message: SAYS[kind],
  };
}

export const compensationSchema = z.object({
  workflow_id: z.string(),
  agent: z.string(),
  undoes: z.string().meta({ description: "the action that it takes back" }),
  tool: z.string(),
  args: json,
  result: json,
  undo: undoSchema.meta({ description: "how its agent had said that it would take it back" }),
  attempt: z.number(),
  action_id: z.string().nullable().meta({ description: "its own action, once it was begun" }),
  reason: z.string(),
  by: z.string(),
});

export function compensationOnWire({ workflow, action, ...rest }: Compensation) {
  return { workflow_id: workflow, action_id: action, ...rest };
}

const budgetMicros = z.string().regex(/^\d{1,30}$/);

export const reportSchema = z.strictObject({
  status: z.enum(["applied", "not_applied", "unknown"]),
  result: json.optional().meta({ description: "of what was applied" }),
  reason: text.nullish().meta({ description: "why not, or why nobody knows" }),
  spent: z
    .record(z.string(), budgetMicros)
    .nullish()
    .meta({ description: "what it really cost: micros, as text, by budget" }),
  agent: agentSchema,
});

const holderSchema = z
  .string()
  .regex(/^[A-Za-z0-9_-]{22,200}$/, { error: "a random text of 22 to 200 letters, digits, - and _" })
  .meta({
    description:
      "a secret text that the agent made at random, of at least 128 bits, and stored before it asked; only its digest is kept",
  });

/** How a permit is requested. */
export const permitFields = {
  holder: holderSchema.nullish(),
  begin: z
    .boolean()
    .nullish()
    .meta({ description: "begin the permit in the commit that issues it; without a holder it always is" }),
};
type PermitBody = {
  readonly holder?: string | null | undefined;
  readonly begin?: boolean | null | undefined;
};

export function permitRequestFrom({ holder, begin }: PermitBody): PermitRequest {
  return { ...(holder == null ? {} : { holder }), ...(begin == null ? {} : { begin }) };
}

export const beginSchema = z.strictObject({ holder: holderSchema, agent: agentSchema });

export const proposalSchema = z.strictObject({
  tool: z.string().min(1).max(128),
  args: json.optional(),
  request_id: z
    .string()
    .min(1)
    .max(200)
    .nullish()
    .meta({ description: "the identity of the action, for ever" }),
  rationale: text.nullish().meta({ description: "for the approvers, as the agent's own words" }),
  on_behalf_of: z.array(z.string().min(1).max(210)).max(100).nullish().meta({
    description:
      "principals for whom it is done; none of them decides about it, so without workflows:write it names nobody but the caller",
  }),
  undo: z
    .strictObject({ tool: z.string().min(1).max(128), args: json.optional() })
    .nullish()
    .meta({
      description:
        "of an action in a workflow: the call by which the agent takes it back when that workflow goes back; people see it and approve it with the rest",
    }),
  ...permitFields,
  agent: agentSchema,
});

export const compensationParams = z.object({ id: idSchema, action: idSchema });
