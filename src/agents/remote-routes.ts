/** HTTP routes by which remote agents drive workflows. */

import { z } from "zod";
import type { Who } from "../api/authenticate.ts";
import { ok, route } from "../api/route.ts";
import { idParams, json, reasonSchema } from "../api/wire.ts";
import { parseInput } from "../kernel/contract.ts";
import type { Runtime } from "../runtime/runtime.ts";
import { workflowState } from "../workflows/read.ts";
import { actingAgent, agentSchema, checkMayRepresent } from "./identify-agent.ts";
import { proposal } from "./remote/contract.ts";
import { mayPropose, unsettledIn } from "./remote/verbs.ts";
import { reachRemoteCheckpointNow } from "./remote-checkpoint.ts";
import { readPermitCaller } from "./remote-checks.ts";
import { proposeRemoteAction, takeUpPermit } from "./remote-proposal.ts";
import { proposeUndo, readOutstanding } from "./remote-rollback.ts";
import {
  answerWire,
  checkpointArrivalFrom,
  checkpointArrivalSchema,
  checkpointReachedOnWire,
  checkpointReachedSchema,
  compensationOnWire,
  compensationParams,
  compensationSchema,
  permitRequestWire,
  proposalWire,
} from "./remote-wire.ts";
import {
  completeRemoteWorkflowNow,
  failRemoteWorkflowNow,
  startRemoteWorkflowNow,
} from "./remote-workflow.ts";
import { readWorkflowAnswer, workflowSchema } from "./seed-wire.ts";

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
