/** HTTP routes of intents (requests of agents to each other and to people): send, deliver, answer and wait. */
import { z } from "zod";
import type { Who } from "../../api/authenticate.ts";
import { created, ok, route } from "../../api/route.ts";
import {
  idParams,
  idSchema,
  json,
  nextCursor,
  pageOf,
  pageQuery,
  reasonSchema,
  sealCursor,
  time,
  timeOrNull,
  timeSchema,
} from "../../api/wire.ts";
import { HoldpointError } from "../../kernel/errors.ts";

import { callerPrincipal } from "../identify-agent.ts";
import { checkOutgoingIntent } from "./input.ts";
import {
  acknowledgeIntent,
  answerIntentNow,
  cancelIntentNow,
  getIntent,
  type Intent,
  type IntentSummary,
  listIntents,
  recordIntentWaiting,
  sendIntentNow,
} from "./send-and-answer.ts";
import { INTENT_STATUSES } from "./stream.ts";

const LIST = "intents";
const LIFE = [
  "CREATED",
  "DELIVERED",
  "ACKNOWLEDGED",
  "WAITING",
  "COMPLETED",
  "FAILED",
  "TIMED_OUT",
  "CANCELED",
];

const brief = {
  intent_id: z.string(),
  lifecycle_status: z.enum(LIFE),
  intent_type: z.string(),
  to_agent: z.string(),
  to: z.string(),
  from: z.string(),
  request_id: z.string().nullable(),
  approval_id: z.string().nullable(),
  waits_on: z.string().nullable(),
  deadline: timeSchema.nullable(),
  created_at: timeSchema,
  ended_at: timeSchema.nullable(),
};
const summary = z.object({ ...brief, payload: z.string().meta({ description: "the beginning of it" }) });
export const intentSchema = z.object({
  ...brief,
  payload: json,
  parent_intent_id: z.string().nullable(),
  workflow_id: z.string().nullable(),
  correlation: z.string().nullable(),
  delivered_at: timeSchema.nullable(),
  acknowledged_by: z.string().nullable(),
  ended_by: z.string().nullable(),
  data: json,
  reason: z.string().nullable(),
});

type Brief = Pick<Intent, "id" | "lifecycleStatus" | "intentType" | "toAgent" | "to" | "from"> &
  Pick<Intent, "requestId" | "approval" | "waitsOn" | "deadline" | "sentAt">;

function briefOnWire(intent: Brief, endedAt: number | null) {
  const { to, from } = intent;
  return {
    intent_id: intent.id,
    lifecycle_status: intent.lifecycleStatus,
    intent_type: intent.intentType,
    to_agent: intent.toAgent,
    ...{ to, from },
    request_id: intent.requestId,
    approval_id: intent.approval,
    waits_on: intent.waitsOn,
    deadline: timeOrNull(intent.deadline),
    created_at: time(intent.sentAt),
    ended_at: timeOrNull(endedAt),
  };
}

function inList(row: IntentSummary) {
  const endedAt = typeof row["endedAt"] === "number" ? row["endedAt"] : null;
  return { ...briefOnWire(row as unknown as Brief, endedAt), payload: row["payload"] };
}

export function intentOnWire(intent: Intent) {
  const { payload, correlation, end } = intent;
  return {
    ...briefOnWire(intent, end?.at ?? null),
    ...{ payload, correlation },
    parent_intent_id: intent.parent,
    workflow_id: intent.within?.workflow ?? null,
    delivered_at: timeOrNull(intent.deliveredAt),
    acknowledged_by: intent.acknowledged?.by ?? null,
    ended_by: end?.by ?? null,
    data: end?.status === "completed" ? end.data : null,
    reason: end === null || end.status === "completed" ? null : end.reason,
  };
}

/** The credential's principal. The name in a body counts only without authentication; a bare name is an agent's. */
export function speakerFromRequest(who: Who, named: string | undefined, field: string): string {
  const by = callerPrincipal(who, { named, kind: "agent", field });
  if (by !== undefined) return by;
  throw new HoldpointError("invalid_input", `Without authentication, "${field}" has to say who it is.`, {
    next: "Write agent:<name> or the name alone, service:<name> or person:<name>.",
  });
}

export const speakerFields = z
  .string()
  .max(210)
  .optional()
  .meta({ description: "who; taken from the credential, and refused if it is somebody else" });

const sendBody = z.strictObject({
  intent_type: z.string().max(100),
  to_agent: z.string().max(250),
  payload: json.optional(),
  request_id: z.string().min(1).max(200).optional(),
  timeout_seconds: z
    .number()
    .int()
    .min(1)
    .max(1e9)
    .optional()
    .meta({ description: "the intent's own deadline" }),
  parent_intent_id: z.string().min(1).max(200).optional(),
  correlation: z.string().min(1).max(200).optional(),
  from: speakerFields,
});

function outgoingFromBody(body: z.output<typeof sendBody>, who: Who) {
  const { request_id, timeout_seconds, parent_intent_id, correlation, payload } = body;
  return checkOutgoingIntent({
    intentType: body.intent_type,
    toAgent: body.to_agent,
    from: speakerFromRequest(who, body.from, "from"),
    ...(payload === undefined ? {} : { payload }),
    ...(request_id === undefined ? {} : { requestId: request_id }),
    ...(timeout_seconds === undefined ? {} : { withinMs: timeout_seconds * 1_000 }),
    ...(parent_intent_id === undefined ? {} : { parent: parent_intent_id }),
    ...(correlation === undefined ? {} : { correlation }),
  });
}

const reading = [
  route({
    method: "GET",
    path: "/api/intents",
    summary: "Intents, newest first",
    tag: "intents",
    scope: "intents:read",
    query: z.strictObject({
      status: z.enum(INTENT_STATUSES).optional(),
      to: idSchema.optional(),
      from: idSchema.optional(),
      order: z.enum(["oldest", "newest"]).default("newest"),
      ...pageQuery,
    }),
    answers: { 200: z.object({ intents: z.array(summary), next_cursor: nextCursor }) },
    async handle({ runtime, query }) {
      const { status, to, from, order } = query;
      const { items, next } = await listIntents(runtime, {
        order,
        ...pageOf(LIST, query),
        ...(status === undefined ? {} : { status }),
        ...(to === undefined ? {} : { to }),
        ...(from === undefined ? {} : { from }),
      });
      return ok({ intents: items.map(inList), next_cursor: sealCursor(LIST, next) });
    },
  }),
  route({
    method: "GET",
    path: "/api/intents/{id}",
    summary: "An intent",
    tag: "intents",
    scope: "intents:read",
    params: idParams,
    answers: { 200: intentSchema },
    handle: async ({ runtime, params }) => ok(intentOnWire(await getIntent(runtime, params.id))),
  }),
];

const writing = [
  route({
    method: "POST",
    path: "/api/intents",
    summary: "Send an intent; `human_approval` asks people",
    tag: "intents",
    scope: "intents:send",
    body: sendBody,
    answers: { 201: intentSchema },
    mayAsk: async ({ body }) => body.intent_type === "human_approval",
    whenLost: "say",
    async handle({ runtime, body, who }) {
      const { id } = await sendIntentNow(runtime, { ...outgoingFromBody(body, who), via: who.via });
      return created(intentOnWire(await getIntent(runtime, id)));
    },
  }),
  route({
    method: "POST",
    path: "/api/intents/{id}/acknowledge",
    summary: "The recipient has it: it is not handed over again",
    tag: "intents",
    scope: "intents:answer",
    params: idParams,
    body: z.strictObject({ by: speakerFields }),
    answers: { 200: intentSchema },
    whenLost: "repeat",
    async handle({ runtime, params, body, who }) {
      const by = speakerFromRequest(who, body.by, "by");
      return ok(intentOnWire(await acknowledgeIntent(runtime, params.id, { by, via: who.via })));
    },
  }),
  route({
    method: "POST",
    path: "/api/intents/{id}/waiting",
    summary: "The recipient waits for something, such as another intent",
    tag: "intents",
    scope: "intents:answer",
    params: idParams,
    body: z.strictObject({ on: idSchema, by: speakerFields }),
    answers: { 200: intentSchema },
    whenLost: "repeat",
    async handle({ runtime, params, body, who }) {
      const by = speakerFromRequest(who, body.by, "by");
      return ok(
        intentOnWire(await recordIntentWaiting(runtime, params.id, { by, on: body.on, via: who.via })),
      );
    },
  }),
  route({
    method: "POST",
    path: "/api/intents/{id}/answer",
    summary: "The recipient completes it with data, or says why it failed; the first answer stands",
    tag: "intents",
    scope: "intents:answer",
    params: idParams,
    body: z.union([
      z.strictObject({ data: json, by: speakerFields }),
      z.strictObject({ failed: reasonSchema, by: speakerFields }),
    ]),
    answers: { 200: intentSchema },
    whenLost: "repeat",
    async handle({ runtime, params, body, who }) {
      const by = speakerFromRequest(who, body.by, "by");
      const said = "failed" in body ? { failed: body.failed } : { data: body.data };
      return ok(intentOnWire(await answerIntentNow(runtime, params.id, { by, ...said, via: who.via })));
    },
  }),
  route({
    method: "POST",
    path: "/api/intents/{id}/cancel",
    summary: "The sender takes it back, or a person",
    tag: "intents",
    scope: "intents:send",
    params: idParams,
    body: z.strictObject({ reason: reasonSchema, by: speakerFields }),
    answers: { 200: intentSchema },
    whenLost: "repeat",
    async handle({ runtime, params, body, who }) {
      const by = speakerFromRequest(who, body.by, "by");
      return ok(
        intentOnWire(await cancelIntentNow(runtime, params.id, { by, reason: body.reason, via: who.via })),
      );
    },
  }),
];

export const intentRoutes = [...reading, ...writing];
