/** HTTP routes of remote agents: propose and report what they perform themselves, and drive workflows. */

import { z } from "zod";
import type { Who } from "../api/authenticate.ts";
import { ok, type RouteRequest, route } from "../api/route.ts";
import { idParams, json, reasonSchema } from "../api/wire.ts";
import { getAction } from "../effects/actions.ts";
import { isJsonObject, type Json } from "../kernel/json.ts";
import { actionStream } from "../kernel/stream.ts";
import type { Runtime } from "../runtime/runtime.ts";
import { readState } from "../runtime/store-access.ts";

import { workflowState } from "../workflows/read.ts";
import { actingAgent, agentSchema, mayActFor, onlyForItselfError } from "./identify-agent.ts";
import { reachRemoteCheckpointNow } from "./remote-checkpoint.ts";
import { type PermitRequest, readPermitCaller } from "./remote-checks.ts";
import { proposeRemoteAction, type RemoteProposal, takeUpPermit } from "./remote-proposal.ts";
import { reportRemoteOutcome } from "./remote-report.ts";
import { proposeUndo, readOutstanding } from "./remote-rollback.ts";
import {
  beginSchema,
  checkpointArrivalFrom,
  checkpointArrivalSchema,
  checkpointReachedOnWire,
  checkpointReachedSchema,
  compensationOnWire,
  compensationParams,
  compensationSchema,
  permitFields,
  permitRequestFrom,
  proposalSchema,
  receiptOnWire,
  receiptSchema,
  remoteAnswerOnWire,
  remoteAnswerSchema,
  reportSchema,
} from "./remote-wire.ts";
import {
  completeRemoteWorkflowNow,
  failRemoteWorkflowNow,
  startRemoteWorkflowNow,
} from "./remote-workflow.ts";
import { readWorkflowAnswer, workflowSchema } from "./seed-wire.ts";

/** Without authentication, a request that names no agent acts as the agent of that workflow or action. */
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

async function performerFromRequest(
  runtime: Runtime,
  who: Who,
  named: string | null | undefined,
  id: string,
): Promise<string> {
  if (who.principal !== null) return actingAgent(who, named);
  const state = await readState(runtime, actionStream(id));
  return actingAgent(who, named, state.phase === "none" ? "agent:unknown" : state.agent);
}

function proposalFromBody(who: Who, body: z.output<typeof proposalSchema>, agent: string): RemoteProposal {
  const { tool, args, request_id, rationale, on_behalf_of, undo } = body;
  if (!mayActFor(who, on_behalf_of))
    throw onlyForItselfError(
      "proposes actions",
      'Leave "on_behalf_of" out, or have a poster create a workflow that says it: that needs workflows:write.',
    );
  return {
    ...{ tool, agent, args },
    ...(request_id == null ? {} : { requestId: request_id }),
    ...(rationale == null ? {} : { rationale }),
    ...(on_behalf_of == null ? {} : { requester: on_behalf_of }),
    ...(undo == null ? {} : { undo }),
    ...permitRequestFrom(body),
  };
}

type TakeUpInput = { readonly action: string; readonly agent: string; readonly asksFor: PermitRequest };

async function takeUpAndAnswer(
  { runtime, isGone }: Pick<RouteRequest, "runtime" | "isGone">,
  { action, agent, asksFor }: TakeUpInput,
) {
  const caller = readPermitCaller(runtime, asksFor, { isGone });
  return ok(remoteAnswerOnWire(await takeUpPermit(runtime, action, { agent, caller })));
}

// `kind` with "waiting" and "held": replies that 0.1.0 stored.
const UNSETTLED = new Set<unknown>(["permitted", "pending", "waiting", "held"]);

/** The action of a stored response that may be outdated by people, time or the kill switch: not replayed as is. */
const unsettledIn = (kept: Json): string | undefined =>
  isJsonObject(kept) && UNSETTLED.has(kept["status"] ?? kept["kind"]) ? String(kept["action_id"]) : undefined;

/** undefined if there is no such action. */
async function phaseOf(runtime: Runtime, id: string): Promise<string | undefined> {
  return (await getAction(runtime, id).catch(() => undefined))?.phase;
}

/** A held action that has not asked people yet may do so when it goes on. */
const isOpen = async (runtime: Runtime, id: string): Promise<boolean> =>
  (await phaseOf(runtime, id)) === "open";

/** A question that was already asked is answered regardless of how many are pending. */
async function mayAsk(
  { runtime, body }: Pick<RouteRequest, "runtime"> & { readonly body: z.output<typeof proposalSchema> },
  kept?: Json,
): Promise<boolean> {
  const action = kept === undefined ? undefined : unsettledIn(kept);
  if (kept !== undefined) return action !== undefined && isOpen(runtime, action);
  if (body.request_id == null) return true;
  return ["open", undefined].includes(await phaseOf(runtime, body.request_id));
}

const driverBody = z.strictObject({ agent: agentSchema }).default({});
const takeUpBody = z.strictObject({ agent: agentSchema, ...permitFields }).default({});

const actions = [
  route({
    method: "POST",
    path: "/api/actions",
    summary:
      "Propose what one wants to perform oneself: a permit, a question to people, a refusal, or the receipt",
    description:
      "The same request_id always leads to the same action; once people have approved it, the answer is the permit. A permit that is not begun is handed out to its holder alone; what happens when one that was begun is asked for again depends on the effect class: a `once` effect is then in doubt. A tool that this server has a function for is performed here.",
    tag: "actions",
    scope: "actions:propose",
    body: proposalSchema,
    answers: { 200: remoteAnswerSchema },
    mayAsk,
    async handle(asked) {
      const { runtime, who, body } = asked;
      const proposal = proposalFromBody(who, body, actingAgent(who, body.agent));
      return ok(remoteAnswerOnWire(await proposeRemoteAction(runtime, proposal, { isGone: asked.isGone })));
    },
    again(asked, kept) {
      const { who, body } = asked;
      const action = unsettledIn(kept);
      if (action === undefined) return undefined;
      return takeUpAndAnswer(asked, {
        action,
        agent: actingAgent(who, body.agent),
        asksFor: permitRequestFrom(body),
      });
    },
  }),
  route({
    method: "POST",
    path: "/api/actions/{id}/start",
    summary: "Come back to what one proposed: the permit, once people have approved it",
    tag: "actions",
    scope: "actions:propose",
    params: idParams,
    body: takeUpBody,
    answers: { 200: remoteAnswerSchema },
    // A repeated request returns the same, unless a permit has ended since.
    whenLost: "none",
    mayAsk: ({ runtime, params }) => isOpen(runtime, params.id),
    async handle(asked) {
      const { runtime, who, params, body } = asked;
      const agent = await performerFromRequest(runtime, who, body.agent, params.id);
      return takeUpAndAnswer(asked, { action: params.id, agent, asksFor: permitRequestFrom(body) });
    },
  }),
  route({
    method: "POST",
    path: "/api/actions/{id}/begin",
    summary: "Begin a permit that was issued to this holder; perform it only after this was answered",
    description:
      "Asked again it is a permit that was begun and asked for again, by its effect class: a `once` effect is then in doubt. An agent that lost the answer and still runs has performed nothing: it reports not_applied.",
    tag: "actions",
    scope: "actions:propose",
    params: idParams,
    body: beginSchema,
    answers: { 200: remoteAnswerSchema },
    whenLost: "none",
    mayAsk: ({ runtime, params }) => isOpen(runtime, params.id),
    async handle(asked) {
      const { runtime, who, params, body } = asked;
      const agent = await performerFromRequest(runtime, who, body.agent, params.id);
      const asksFor = { holder: body.holder, begin: true };
      return takeUpAndAnswer(asked, { action: params.id, agent, asksFor });
    },
  }),
  route({
    method: "POST",
    path: "/api/actions/{id}/outcome",
    summary: "Say what became of what one was permitted to perform; once, by the time in the permit",
    tag: "actions",
    scope: "actions:propose",
    params: idParams,
    body: reportSchema,
    answers: {
      200: z.object({
        kind: z
          .enum(["reported", "late"])
          .meta({ description: "late: it is in doubt, and this is testimony" }),
        action_id: z.string(),
        receipt: receiptSchema,
      }),
    },
    whenLost: "repeat",
    async handle({ runtime, who, params, body }) {
      const { status, result, reason, spent } = body;
      const agent = await performerFromRequest(runtime, who, body.agent, params.id);
      const micros = Object.entries(spent ?? {}).map(([budget, text]) => [budget, BigInt(text)] as const);
      const { kind, action, receipt } = await reportRemoteOutcome(runtime, {
        ...{ action: params.id, agent, status },
        ...(result === undefined ? {} : { result }),
        ...(reason == null ? {} : { reason }),
        ...(spent == null ? {} : { spent: Object.fromEntries(micros) }),
      });
      return ok({ kind, action_id: action, receipt: receiptOnWire(receipt) });
    },
  }),
];

const workflows = [
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
    body: proposalSchema,
    answers: { 200: remoteAnswerSchema },
    mayAsk,
    async handle(asked) {
      const { runtime, who, params, body } = asked;
      const agent = await driverFromRequest(runtime, who, body.agent, params.id);
      const proposal = { ...proposalFromBody(who, body, agent), workflow: params.id };
      return ok(remoteAnswerOnWire(await proposeRemoteAction(runtime, proposal, { isGone: asked.isGone })));
    },
    again(asked, kept) {
      const { runtime, who, params, body } = asked;
      const action = unsettledIn(kept);
      if (action === undefined) return undefined;
      return driverFromRequest(runtime, who, body.agent, params.id).then((agent) =>
        takeUpAndAnswer(asked, { action, agent, asksFor: permitRequestFrom(body) }),
      );
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
    body: takeUpBody,
    answers: { 200: remoteAnswerSchema },
    whenLost: "none",
    async handle(asked) {
      const { runtime, who, params, body } = asked;
      const agent = await driverFromRequest(runtime, who, body.agent, params.id);
      const caller = readPermitCaller(runtime, permitRequestFrom(body), { isGone: asked.isGone });
      const { id, action: undoes } = params;
      return ok(remoteAnswerOnWire(await proposeUndo(runtime, id, { undoes, agent, caller })));
    },
  }),
];

export const remoteRoutes = [...workflows, ...actions];
