/** Messages to the outside: what was, is and will be sent, and the sending again of those that were given up. */
import { z } from "zod";
import { type LiveMessage, MESSAGE_STATUSES } from "../../core/message/message-state.ts";
import type { Message, MessageSummary } from "../../engine/message/messages.ts";
import { nextCursor, pageOf, pageQuery, sealCursor } from "../page.ts";
import { operatorOf } from "../person.ts";
import { ok, route } from "../route.ts";
import { bySchema, idParams, time, timeOrNull, timeSchema } from "../wire.ts";

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

function onWire(given: Message | MessageSummary) {
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
      return ok({ messages: items.map(onWire), next_cursor: sealCursor(LIST, next) });
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
    handle: async ({ office, params }) => ok(onWire(await office.messages.get(params.id))),
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
      ok(onWire(await office.messages.retry(params.id, { by: operatorOf(who, body.by), via: who.via }))),
  }),
];
