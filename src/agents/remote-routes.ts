/** HTTP routes by which remote agents drive workflows, and the forms of what they submit and are answered. */

import { z } from "zod";
import type { Who } from "../api/authenticate.ts";
import { ok, route } from "../api/route.ts";
import { idParams, idSchema, json, reasonSchema, undoSchema } from "../api/wire.ts";
import { bodyCodec, viewCodec } from "../kernel/codec.ts";
import { parseInput } from "../kernel/contract.ts";
import type { Runtime } from "../runtime/runtime.ts";
import { workflowState } from "../workflows/read.ts";
import { workflowStatus } from "../workflows/views.ts";
import { permitRequest, proposal, proposalInWorkflow, remoteAnswer } from "./contract.ts";
import { approverFields, readApproverTerms } from "./creation-input.ts";
import { actingAgent, agentSchema, checkMayRepresent } from "./identify-agent.ts";
import {
  type RemoteCheckpointRequest,
  type RemoteCheckpointResult,
  reachRemoteCheckpointNow,
} from "./remote-checkpoint.ts";
import { readPermitCaller } from "./remote-checks.ts";
import { proposeRemoteAction, takeUpPermit } from "./remote-proposal.ts";
import { type Compensation, proposeUndo, readOutstanding } from "./remote-rollback.ts";
import {
  completeRemoteWorkflowNow,
  failRemoteWorkflowNow,
  startRemoteWorkflowNow,
} from "./remote-workflow.ts";
import { readWorkflowAnswer, workflowSchema } from "./seed-forms.ts";
import { mayPropose, unsettledIn } from "./verbs.ts";

/** Forms that routes of remote workflows share with the verbs of remote agents. */
const answerWire = viewCodec(remoteAnswer);
const proposalWire = bodyCodec(proposalInWorkflow);
const permitRequestWire = bodyCodec(permitRequest);

const text = z.string().max(10_000);
const object = z.record(z.string(), json);

const checkpointArrivalSchema = z.strictObject({
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

/** In the library: `execution_state` is `executionState`. */
const libraryName = (field: string): string =>
  field === "checkpoint_id"
    ? "checkpoint"
    : field.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());

function checkpointArrivalFrom(body: CheckpointArrivalBody, agent: string): RemoteCheckpointRequest {
  const { timeout_seconds, on_timeout, approvers, stages, ...capture } = body;
  const fields = Object.entries({ ...capture, agent }).filter(([, value]) => value != null);
  const named = fields.map(([field, value]) => [libraryName(field), value]);
  const asks = readApproverTerms({ timeout_seconds, on_timeout, approvers, stages });
  return {
    ...(Object.fromEntries(named) as RemoteCheckpointRequest),
    ...(Object.keys(asks).length === 0 ? {} : { asks }),
  };
}

const checkpointReachedSchema = z.object({
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

function checkpointReachedOnWire(workflow: string, stood: RemoteCheckpointResult) {
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

const compensationSchema = z.object({
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

function compensationOnWire({ workflow, action, ...rest }: Compensation) {
  return { workflow_id: workflow, action_id: action, ...rest };
}

const compensationParams = z.object({ id: idSchema, action: idSchema });

/** Without authentication, a request that names no agent acts as the agent of that workflow. */
async function driverFromRequest(
  runtime: Runtime,
  who: Who,
  named: string | null | undefined,
  id: string,
): Promise<string> {
  return actingAgent(
    who,
    named,
    who.principal === null ? (await workflowState(runtime, id)).agent : undefined,
  );
}

const driverBody = z.strictObject({ agent: agentSchema }).default({});

export const remoteRoutes = [
  route({
    method: "POST",
    path: "/api/workflows/{id}/start",
    summary: "Its agent begins",
    tag: "workflows",
    scope: "workflows:drive",
    params: idParams,
    body: driverBody,
    answers: { 200: workflowSchema },
    whenLost: "repeat",
    async handle({ runtime, who, params: { id }, body }) {
      const agent = await driverFromRequest(runtime, who, body.agent, id);
      await startRemoteWorkflowNow(runtime, id, { agent });
      return readWorkflowAnswer(runtime, id);
    },
  }),
  route({
    method: "POST",
    path: "/api/workflows/{id}/checkpoints",
    summary:
      "Its agent stands at a checkpoint: what it hands over is captured, and people are asked where it says so",
    description:
      "Under a request_id a checkpoint is reached once: asking again answers what became of it, and another checkpoint or other content is 409. The decision stands in the workflow's last_decision.",
    tag: "workflows",
    scope: "workflows:drive",
    params: idParams,
    body: checkpointArrivalSchema,
    answers: { 200: checkpointReachedSchema },
    mayAsk: async () => true,
    async handle({ runtime, who, params: { id }, body }) {
      const agent = await driverFromRequest(runtime, who, body.agent, id);
      return ok(
        checkpointReachedOnWire(
          id,
          await reachRemoteCheckpointNow(runtime, id, checkpointArrivalFrom(body, agent)),
        ),
      );
    },
  }),
  route({
    method: "POST",
    path: "/api/workflows/{id}/actions",
    summary: "Its agent proposes what it wants to perform in it",
    tag: "workflows",
    scope: "actions:propose",
    params: idParams,
    body: proposalWire.wire,
    answers: { 200: answerWire.wire },
    mayAsk: ({ runtime, body }, kept) => mayPropose(runtime, proposalWire.decode(body), kept),
    async handle({ runtime, who, params: { id }, body, isGone }) {
      const agent = await driverFromRequest(runtime, who, body.agent, id);
      const given = { ...proposalWire.decode(body), agent, workflow: id };
      const checked = parseInput("An action", proposal, given);
      checkMayRepresent(who, checked.onBehalfOf);
      return ok(answerWire.encode(await proposeRemoteAction(runtime, checked, { isGone })));
    },
    again(asked, kept) {
      const { runtime, who, params, body, isGone } = asked;
      const action = unsettledIn(kept);
      if (action === undefined) return undefined;
      return driverFromRequest(runtime, who, body.agent, params.id).then(async (agent) => {
        const caller = readPermitCaller(runtime, proposalWire.decode(body), { isGone });
        return ok(answerWire.encode(await takeUpPermit(runtime, action, { agent, caller })));
      });
    },
  }),
  route({
    method: "POST",
    path: "/api/workflows/{id}/complete",
    summary: "Its agent is done; refused while something that it has begun is open",
    tag: "workflows",
    scope: "workflows:drive",
    params: idParams,
    body: z.strictObject({ result: json.optional(), agent: agentSchema }).default({}),
    answers: { 200: workflowSchema },
    whenLost: "repeat",
    async handle({ runtime, who, params: { id }, body }) {
      const agent = await driverFromRequest(runtime, who, body.agent, id);
      await completeRemoteWorkflowNow(runtime, id, { agent, result: body.result });
      return readWorkflowAnswer(runtime, id);
    },
  }),
  route({
    method: "POST",
    path: "/api/workflows/{id}/fail",
    summary: "Its agent gives it up; with `rollback_enabled` what it did is undone first",
    tag: "workflows",
    scope: "workflows:drive",
    params: idParams,
    body: z.strictObject({ reason: reasonSchema, agent: agentSchema }),
    answers: { 200: workflowSchema },
    whenLost: "repeat",
    async handle({ runtime, who, params: { id }, body }) {
      const agent = await driverFromRequest(runtime, who, body.agent, id);
      await failRemoteWorkflowNow(runtime, id, { agent, reason: body.reason });
      return readWorkflowAnswer(runtime, id);
    },
  }),
  route({
    method: "GET",
    path: "/api/workflows/{id}/compensations",
    summary: "What its agent has to take back now, while it is sent back; at most one at a time",
    tag: "workflows",
    scope: "workflows:read",
    params: idParams,
    description:
      "While `settling` is true it goes back, and what comes next cannot be said yet: something that it began is being withdrawn, is not reported, is in doubt or is undone here. Ask again.",
    answers: { 200: z.object({ compensations: z.array(compensationSchema), settling: z.boolean() }) },
    async handle({ runtime, params }) {
      const { compensations, isSettling } = await readOutstanding(runtime, params.id);
      return ok({ compensations: compensations.map(compensationOnWire), settling: isSettling });
    },
  }),
  route({
    method: "POST",
    path: "/api/workflows/{id}/compensations/{action}/start",
    summary: "Its agent takes that action back: an action of its own, permitted and reported like any other",
    tag: "workflows",
    scope: "actions:propose",
    params: compensationParams,
    body: permitRequestWire.wire.default({}),
    answers: { 200: answerWire.wire },
    whenLost: "none",
    async handle(asked) {
      const { runtime, who, params, body } = asked;
      const agent = await driverFromRequest(runtime, who, body.agent, params.id);
      const caller = readPermitCaller(runtime, permitRequestWire.decode(body), { isGone: asked.isGone });
      const { id, action: undoes } = params;
      return ok(answerWire.encode(await proposeUndo(runtime, id, { undoes, agent, caller })));
    },
  }),
];
