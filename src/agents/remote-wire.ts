/** Wire forms of the answers to remote agents, and of what they submit at a checkpoint. */
import { z } from "zod";
import { idSchema, json, undoSchema } from "../api/wire.ts";
import { bodyCodec, viewCodec } from "../kernel/codec.ts";
import { workflowStatus } from "../workflows/views.ts";
import { approverFields, readApproverTerms } from "./creation-input.ts";
import { agentSchema } from "./identify-agent.ts";
import { permitRequest, proposalInWorkflow, remoteAnswer } from "./remote/contract.ts";
import type { RemoteCheckpointRequest, RemoteCheckpointResult } from "./remote-checkpoint.ts";
import type { Compensation } from "./remote-rollback.ts";

/** Forms that routes of remote workflows share with the verbs of remote agents. */
export const answerWire = viewCodec(remoteAnswer);
export const proposalWire = bodyCodec(proposalInWorkflow);
export const permitRequestWire = bodyCodec(permitRequest);

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

export const compensationParams = z.object({ id: idSchema, action: idSchema });
