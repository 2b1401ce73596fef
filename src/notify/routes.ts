/** HTTP routes of endpoints and messages. A webhook's secret is returned once, when it is made. */
import { z } from "zod";
import { actingOperator } from "../api/authenticate.ts";
import { created, ok, route } from "../api/route.ts";
import {
  bySchema,
  idParams,
  nextCursor,
  pageOf,
  pageQuery,
  sealCursor,
  time,
  timeOrNull,
  timeSchema,
} from "../api/wire.ts";

import type { Endpoint, EndpointOffer, EndpointSummary } from "./endpoints.ts";
import type { Message, MessageSummary } from "./methods.ts";
import { type EndpointTarget, type LiveEndpoint, type LiveMessage, MESSAGE_STATUSES } from "./stream.ts";

const targetSchema = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("webhook"), url: z.string() }),
  z.object({ kind: z.literal("mail"), to: z.array(z.string()) }),
]);
const endpointSchema = z.object({
  endpoint_id: z.string(),
  status: z.enum(["on", "off", "removed"]),
  name: z.string(),
  target: targetSchema,
  events: z.array(z.string()),
  owner: z.string(),
  added_at: timeSchema,
  missed: z.number().meta({ description: "messages given up since one last arrived" }),
  off: z.object({ at: timeSchema, by: z.string(), reason: z.string() }).nullable(),
});
const withSecret = endpointSchema.extend({
  secret: z
    .string()
    .nullable()
    .meta({ description: "what a webhook's messages are signed with; shown this once" }),
});

type EndpointFields = Pick<
  LiveEndpoint,
  "status" | "name" | "target" | "events" | "owner" | "addedAt" | "missed" | "off"
> & { readonly id: string };

function endpointOnWire(given: Endpoint | EndpointSummary) {
  const {
    id,
    status,
    name,
    target: to,
    events,
    owner,
    addedAt,
    missed,
    off,
  } = given as unknown as EndpointFields;
  return {
    endpoint_id: id,
    ...{ status, name, events, owner, missed },
    target: to as EndpointTarget,
    added_at: time(addedAt),
    off: off && { ...off, at: time(off.at) },
  };
}

const text = z.string().min(1).max(2_000);
const termsSchema = {
  url: text.optional().meta({ description: "of a webhook" }),
  to: z
    .array(z.string().min(1).max(400))
    .min(1)
    .max(100)
    .optional()
    .meta({ description: "of mail: addresses, person:, role:, group: or approvers" }),
  events: z.array(z.string().min(1).max(100)).min(1).max(50).optional(),
  name: z.string().min(1).max(100).optional(),
  owner: z.string().min(1).max(210).optional(),
};
const reasonBody = z.strictObject({ reason: z.string().max(10_000).optional(), by: bySchema });

/** Drops the fields that were not sent. */
function offerFromBody(body: { readonly [field: string]: unknown }, by: string, via: string): EndpointOffer {
  const fields = Object.entries({ ...body, by, via }).filter(([, value]) => value !== undefined);
  return Object.fromEntries(fields) as unknown as EndpointOffer;
}

const reasonOf = (reason: string | undefined) => (reason === undefined ? {} : { reason });

export const endpointRoutes = [
  route({
    method: "GET",
    path: "/api/endpoints",
    summary: "Endpoints: webhooks and mail",
    tag: "messages",
    scope: "endpoints:read",
    query: z.strictObject({ status: z.enum(["on", "off", "removed", "any"]).default("any") }),
    answers: { 200: z.object({ endpoints: z.array(endpointSchema) }) },
    handle: async ({ office, query }) =>
      ok({ endpoints: (await office.endpoints.list(query)).map(endpointOnWire) }),
  }),
  route({
    method: "POST",
    path: "/api/endpoints",
    summary: "Add a webhook, or people by mail",
    tag: "messages",
    scope: "endpoints:write",
    body: z.strictObject({ ...termsSchema, secret: z.string().min(1).max(200).optional(), by: bySchema }),
    answers: { 201: withSecret },
    whenLost: "none",
    async handle({ office, who, body }) {
      const added = await office.endpoints.add(offerFromBody(body, actingOperator(who, body.by), who.via));
      return created({ ...endpointOnWire(added), secret: added.secret });
    },
  }),
  route({
    method: "GET",
    path: "/api/endpoints/{id}",
    summary: "An endpoint",
    tag: "messages",
    scope: "endpoints:read",
    params: idParams,
    answers: { 200: endpointSchema },
    handle: async ({ office, params }) => ok(endpointOnWire(await office.endpoints.get(params.id))),
  }),
  route({
    method: "PATCH",
    path: "/api/endpoints/{id}",
    summary: "Another address, other events, another name or owner; what is not named stays",
    tag: "messages",
    scope: "endpoints:write",
    params: idParams,
    body: z.strictObject({ ...termsSchema, by: bySchema }),
    answers: { 200: endpointSchema },
    handle: async ({ office, who, params, body }) =>
      ok(
        endpointOnWire(
          await office.endpoints.change(
            params.id,
            offerFromBody(body, actingOperator(who, body.by), who.via),
          ),
        ),
      ),
  }),
  route({
    method: "POST",
    path: "/api/endpoints/{id}/rotate",
    summary: "A new secret for a webhook; the old one signs too for a while",
    tag: "messages",
    scope: "endpoints:write",
    params: idParams,
    body: z.strictObject({
      overlap_seconds: z.number().int().min(0).max(2_592_000).optional(),
      by: bySchema,
    }),
    answers: { 201: withSecret },
    whenLost: "none",
    async handle({ office, who, params, body }) {
      const { overlap_seconds: overlap } = body;
      const rotated = await office.endpoints.rotate(params.id, {
        by: actingOperator(who, body.by),
        via: who.via,
        ...(overlap === undefined ? {} : { overlapMs: overlap * 1_000 }),
      });
      return created({ ...endpointOnWire(rotated), secret: rotated.secret });
    },
  }),
  ...(["off", "on"] as const).map((way) =>
    route({
      method: "POST",
      path: `/api/endpoints/{id}/${way}`,
      summary:
        way === "off"
          ? "Nothing is sent there until it is switched on; what was made waits"
          : "Send there again, what waited first",
      tag: "messages",
      scope: "endpoints:write",
      params: idParams,
      body: reasonBody.default({}),
      answers: { 200: endpointSchema },
      whenLost: "repeat",
      async handle({ office, who, params, body }) {
        const said = { by: actingOperator(who, body.by), via: who.via, ...reasonOf(body.reason) };
        const { endpoints } = office;
        const turned =
          way === "off" ? endpoints.switchOff(params.id, said) : endpoints.switchOn(params.id, said);
        return ok(endpointOnWire(await turned));
      },
    }),
  ),
  route({
    method: "POST",
    path: "/api/endpoints/{id}/test",
    summary: "Send a test message there now, and say what became of it",
    tag: "messages",
    scope: "endpoints:write",
    params: idParams,
    body: z.strictObject({ by: bySchema }).default({}),
    answers: {
      200: z.object({
        message_id: z.string(),
        arrived: z.boolean(),
        status: z.number().nullable(),
        problem: z.string().nullable(),
      }),
    },
    async handle({ office, who, params, body }) {
      const { message, ...outcome } = await office.endpoints.test(params.id, {
        by: actingOperator(who, body.by),
        via: who.via,
      });
      return ok({ message_id: message, ...outcome });
    },
  }),
  route({
    method: "POST",
    path: "/api/endpoints/{id}/remove",
    summary: "Remove it for good; what waits for it is dropped",
    tag: "messages",
    scope: "endpoints:write",
    params: idParams,
    body: reasonBody.default({}),
    answers: { 200: endpointSchema },
    whenLost: "repeat",
    async handle({ office, who, params, body }) {
      const said = { by: actingOperator(who, body.by), via: who.via, ...reasonOf(body.reason) };
      await office.endpoints.remove(params.id, said);
      return ok(endpointOnWire(await office.endpoints.get(params.id)));
    },
  }),
];

const messageSchema = z.object({
  message_id: z.string(),
  status: z.enum(MESSAGE_STATUSES),
  endpoint_id: z.string(),
  type: z.string(),
  source: z
    .object({ stream: z.string(), seq: z.number() })
    .meta({ description: "the entry that it tells of" }),
  to: z.string().nullable().meta({ description: "of mail: a person or an address" }),
  made_at: timeSchema,
  attempts: z.number(),
  last: z
    .object({ at: timeSchema, status: z.number().nullable(), problem: z.string().nullable() })
    .nullable(),
  due_at: timeSchema.nullable(),
  ended_at: timeSchema.nullable(),
  reason: z.string().nullable().meta({ description: "why it was given up" }),
});

const LIST = "messages";

function messageOnWire(given: Message | MessageSummary) {
  const message = given as unknown as LiveMessage & { readonly id: string };
  const { id, status, endpoint, type, source, to, attempts, last, reason } = message;
  return {
    message_id: id,
    endpoint_id: endpoint,
    ...{ status, type, source, to, attempts, reason },
    last: last && { ...last, at: time(last.at) },
    made_at: time(message.madeAt),
    due_at: timeOrNull(message.dueAt),
    ended_at: timeOrNull(message.endedAt),
  };
}

export const messageRoutes = [
  route({
    method: "GET",
    path: "/api/messages",
    summary: "Messages, newest first; `status=dead` are those that were given up",
    tag: "messages",
    scope: "endpoints:read",
    query: z.strictObject({
      status: z.enum([...MESSAGE_STATUSES, "any"]).default("any"),
      order: z.enum(["oldest", "newest"]).default("newest"),
      ...pageQuery,
    }),
    answers: { 200: z.object({ messages: z.array(messageSchema), next_cursor: nextCursor }) },
    async handle({ office, query }) {
      const { status, order } = query;
      const { items, next } = await office.messages.list({ status, order, ...pageOf(LIST, query) });
      return ok({ messages: items.map(messageOnWire), next_cursor: sealCursor(LIST, next) });
    },
  }),
  route({
    method: "GET",
    path: "/api/messages/{id}",
    summary: "A message, without what it says",
    tag: "messages",
    scope: "endpoints:read",
    params: idParams,
    answers: { 200: messageSchema },
    handle: async ({ office, params }) => ok(messageOnWire(await office.messages.get(params.id))),
  }),
  route({
    method: "POST",
    path: "/api/messages/{id}/retry",
    summary: "Send one again that was given up, under the same id",
    tag: "messages",
    scope: "endpoints:write",
    params: idParams,
    body: z.strictObject({ by: bySchema }).default({}),
    answers: { 200: messageSchema },
    handle: async ({ office, who, params, body }) =>
      ok(
        messageOnWire(
          await office.messages.retry(params.id, { by: actingOperator(who, body.by), via: who.via }),
        ),
      ),
  }),
];
