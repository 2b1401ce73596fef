/** What agents from outside do: propose and report what they perform themselves, and drive workflows. */
import { z } from "zod";
import { getAction } from "../../effects/actions.ts";
import { receiptOnWire, receiptSchema } from "../../effects/routes.ts";
import { callerOf, type PermitRequest } from "../../engine/outside/check-outside.ts";
import { standAt } from "../../engine/outside/checkpoint.ts";
import { type OutsideProposal, proposeOutside, takeUp } from "../../engine/outside/propose.ts";
import { reportOutcome } from "../../engine/outside/report.ts";
import { outstandingIn, proposeUndo } from "../../engine/outside/roll-back.ts";
import {
  completeOutsideWorkflow,
  failOutsideWorkflow,
  startOutsideWorkflow,
} from "../../engine/outside/workflows.ts";
import { isJsonObject, type Json } from "../../kernel/json.ts";
import { actionStream } from "../../kernel/stream.ts";
import type { Runtime } from "../../runtime/runtime.ts";
import { readState } from "../../runtime/store-access.ts";
import { workflowState } from "../../workflows/read.ts";
import { readWorkflowAnswer } from "../../workflows/routes.ts";
import { agentOf, agentSchema, mayActFor, onlyForItself } from "../agent.ts";
import type { Who } from "../authenticate.ts";
import {
  answerOnWire,
  answerSchema,
  beginSchema,
  compensationOnWire,
  compensationParams,
  compensationSchema,
  permitFields,
  permitRequestOf,
  proposalSchema,
  reportSchema,
  standOf,
  standSchema,
  stoodOnWire,
  stoodSchema,
} from "../outside-wire.ts";
import { type Asked, ok, route } from "../route.ts";
import { workflowSchema } from "../seed-surface.ts";
import { idParams, json, reasonSchema } from "../wire.ts";

/** Where nobody is authenticated, whoever leaves out who they are is the agent whose workflow or action it is. */
async function driverOf(
  runtime: Runtime,
  who: Who,
  named: string | null | undefined,
  id: string,
): Promise<string> {
  return agentOf(who, named, who.principal === null ? (await workflowState(runtime, id)).agent : undefined);
}

async function performerOf(
  runtime: Runtime,
  who: Who,
  named: string | null | undefined,
  id: string,
): Promise<string> {
  if (who.principal !== null) return agentOf(who, named);
  const state = await readState(runtime, actionStream(id));
  return agentOf(who, named, state.phase === "none" ? "agent:unknown" : state.agent);
}

function proposalOf(who: Who, body: z.output<typeof proposalSchema>, agent: string): OutsideProposal {
  const { tool, args, request_id, says, acts_for, undo } = body;
  if (!mayActFor(who, acts_for))
    throw onlyForItself(
      "proposes actions",
      'Leave "acts_for" out, or have a poster create a workflow that says it: that needs workflows:write.',
    );
  return {
    ...{ tool, agent, args },
    ...(request_id == null ? {} : { requestId: request_id }),
    ...(says == null ? {} : { says }),
    ...(acts_for == null ? {} : { requester: acts_for }),
    ...(undo == null ? {} : { undo }),
    ...permitRequestOf(body),
  };
}

type Taking = { readonly action: string; readonly agent: string; readonly asksFor: PermitRequest };

async function takenUp(
  { runtime, isGone }: Pick<Asked, "runtime" | "isGone">,
  { action, agent, asksFor }: Taking,
) {
  const caller = callerOf(runtime, asksFor, { isGone });
  return ok(answerOnWire(await takeUp(runtime, action, { agent, caller })));
}

const UNSETTLED = new Set<unknown>(["permitted", "pending", "waiting", "held"]);

/** What people, time or the kill switch may have changed since is not told again from what was kept. Answers which action that is. */
const unsettledIn = (kept: Json): string | undefined =>
  isJsonObject(kept) && UNSETTLED.has(kept["kind"]) ? String(kept["action_id"]) : undefined;

/** undefined where there is none. */
async function phaseOf(runtime: Runtime, id: string): Promise<string | undefined> {
  return (await getAction(runtime, id).catch(() => undefined))?.phase;
}

/** What is held for now, and was not put to people, may be when it goes on. */
const isOpen = async (runtime: Runtime, id: string): Promise<boolean> =>
  (await phaseOf(runtime, id)) === "open";

/** What people were asked before is answered, however many questions there are. */
async function mayAsk(
  { runtime, body }: Pick<Asked, "runtime"> & { readonly body: z.output<typeof proposalSchema> },
  kept?: Json,
): Promise<boolean> {
  const action = kept === undefined ? undefined : unsettledIn(kept);
  if (kept !== undefined) return action !== undefined && isOpen(runtime, action);
  if (body.request_id == null) return true;
  return ["open", undefined].includes(await phaseOf(runtime, body.request_id));
}

const driven = z.strictObject({ agent: agentSchema }).default({});
const taking = z.strictObject({ agent: agentSchema, ...permitFields }).default({});

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
    answers: { 200: answerSchema },
    mayAsk,
    async handle(asked) {
      const { runtime, who, body } = asked;
      const proposal = proposalOf(who, body, agentOf(who, body.agent));
      return ok(answerOnWire(await proposeOutside(runtime, proposal, { isGone: asked.isGone })));
    },
    again(asked, kept) {
      const { who, body } = asked;
      const action = unsettledIn(kept);
      if (action === undefined) return undefined;
      return takenUp(asked, { action, agent: agentOf(who, body.agent), asksFor: permitRequestOf(body) });
    },
  }),
  route({
    method: "POST",
    path: "/api/actions/{id}/start",
    summary: "Come back to what one proposed: the permit, once people have approved it",
    tag: "actions",
    scope: "actions:propose",
    params: idParams,
    body: taking,
    answers: { 200: answerSchema },
    // The same when it is asked again, except where a permit has ended since.
    whenLost: "none",
    mayAsk: ({ runtime, params }) => isOpen(runtime, params.id),
    async handle(asked) {
      const { runtime, who, params, body } = asked;
      const agent = await performerOf(runtime, who, body.agent, params.id);
      return takenUp(asked, { action: params.id, agent, asksFor: permitRequestOf(body) });
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
    answers: { 200: answerSchema },
    whenLost: "none",
    mayAsk: ({ runtime, params }) => isOpen(runtime, params.id),
    async handle(asked) {
      const { runtime, who, params, body } = asked;
      const agent = await performerOf(runtime, who, body.agent, params.id);
      const asksFor = { holder: body.holder, begin: true };
      return takenUp(asked, { action: params.id, agent, asksFor });
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
      const agent = await performerOf(runtime, who, body.agent, params.id);
      const micros = Object.entries(spent ?? {}).map(([budget, text]) => [budget, BigInt(text)] as const);
      const { kind, action, receipt } = await reportOutcome(runtime, {
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
    body: driven,
    answers: { 200: workflowSchema },
    whenLost: "repeat",
    async handle({ runtime, who, params: { id }, body }) {
      const agent = await driverOf(runtime, who, body.agent, id);
      await startOutsideWorkflow(runtime, id, { agent });
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
    body: standSchema,
    answers: { 200: stoodSchema },
    mayAsk: async () => true,
    async handle({ runtime, who, params: { id }, body }) {
      const agent = await driverOf(runtime, who, body.agent, id);
      return ok(stoodOnWire(id, await standAt(runtime, id, standOf(body, agent))));
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
    answers: { 200: answerSchema },
    mayAsk,
    async handle(asked) {
      const { runtime, who, params, body } = asked;
      const agent = await driverOf(runtime, who, body.agent, params.id);
      const proposal = { ...proposalOf(who, body, agent), workflow: params.id };
      return ok(answerOnWire(await proposeOutside(runtime, proposal, { isGone: asked.isGone })));
    },
    again(asked, kept) {
      const { runtime, who, params, body } = asked;
      const action = unsettledIn(kept);
      if (action === undefined) return undefined;
      return driverOf(runtime, who, body.agent, params.id).then((agent) =>
        takenUp(asked, { action, agent, asksFor: permitRequestOf(body) }),
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
      const agent = await driverOf(runtime, who, body.agent, id);
      await completeOutsideWorkflow(runtime, id, { agent, result: body.result });
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
      const agent = await driverOf(runtime, who, body.agent, id);
      await failOutsideWorkflow(runtime, id, { agent, reason: body.reason });
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
      const { compensations, isSettling } = await outstandingIn(runtime, params.id);
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
    body: taking,
    answers: { 200: answerSchema },
    whenLost: "none",
    async handle(asked) {
      const { runtime, who, params, body } = asked;
      const agent = await driverOf(runtime, who, body.agent, params.id);
      const caller = callerOf(runtime, permitRequestOf(body), { isGone: asked.isGone });
      const { id, action: undoes } = params;
      return ok(answerOnWire(await proposeUndo(runtime, id, { undoes, agent, caller })));
    },
  }),
];

export const outsideRoutes = [...workflows, ...actions];
