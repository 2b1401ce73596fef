/** API keys. The text of one is answered once, when it is made, and kept nowhere. */
import { z } from "zod";
import { ROLES } from "../../core/roster.ts";
import { SCOPES } from "../../core/scopes.ts";
import { checkKeyOffer, checkKeyPage, checkRotation } from "../../engine/identity/check-identity.ts";
import {
  type ApiKey,
  getKey,
  type IssuedKey,
  issue,
  listKeys,
  revoke,
  rotate,
} from "../../engine/identity/keys.ts";
import type { Who } from "../authenticate.ts";
import { nextCursor, pageOf, pageQuery, sealCursor } from "../page.ts";
import { personOf } from "../person.ts";
import { created, ok, route } from "../route.ts";
import { bySchema, idParams, reasonSchema, time, timeOrNull, timeSchema } from "../wire.ts";

const seconds = z.number().int().min(1).max(315_000_000);
const keySchema = z.object({
  key_id: z.string(),
  principal: z.string(),
  name: z.string(),
  status: z.enum(["active", "expired", "revoked"]),
  roles: z.array(z.string()),
  scopes: z.array(z.string()).nullable().meta({ description: "null: all that its roles bring" }),
  issued_by: z.string(),
  issued_at: timeSchema,
  expires_at: timeSchema.nullable(),
  replaced_by: z.string().nullable(),
});
const issued = keySchema.extend({ key: z.string().meta({ description: "the key itself; shown this once" }) });
const LIST = "keys";

function keyOnWire(key: ApiKey) {
  const { id, principal, name, status, roles, scopes, by } = key;
  return {
    key_id: id,
    ...{ principal, name, status, roles, scopes },
    issued_by: by,
    issued_at: time(key.issuedAt),
    expires_at: timeOrNull(key.expiresAt),
    replaced_by: key.replacedBy,
  };
}

const issuedOnWire = ({ key, text }: IssuedKey) => ({ ...keyOnWire(key), key: text });
/** A key never has more than whoever makes it. */
const mayGive = ({ scopes, principal }: Who) => (principal === null ? null : scopes);

export const keyRoutes = [
  route({
    method: "GET",
    path: "/api/keys",
    summary: "Keys, newest first; what is listed is not the keys themselves",
    tag: "identities",
    scope: "keys:read",
    query: z.strictObject({ principal: z.string().max(300).optional(), ...pageQuery }),
    answers: { 200: z.object({ keys: z.array(keySchema), next_cursor: nextCursor }) },
    async handle({ runtime, query }) {
      const of = query.principal === undefined ? {} : { principal: query.principal };
      const { items, next } = await listKeys(runtime, checkKeyPage({ ...of, ...pageOf(LIST, query) }));
      return ok({ keys: items.map(keyOnWire), next_cursor: sealCursor(LIST, next) });
    },
  }),
  route({
    method: "POST",
    path: "/api/keys",
    summary: "Issue a key for an agent, a service or a person",
    tag: "identities",
    scope: "keys:write",
    body: z.strictObject({
      principal: z.string().min(1).max(300),
      name: z.string().min(1).max(100),
      roles: z.array(z.enum(ROLES)).max(ROLES.length).optional(),
      scopes: z.array(z.enum(SCOPES)).max(SCOPES.length).optional(),
      for_seconds: seconds.optional(),
      by: bySchema,
    }),
    answers: { 201: issued },
    whenLost: "none",
    async handle({ runtime, who, body }) {
      const { principal, name, roles, scopes, for_seconds } = body;
      const offer = checkKeyOffer({
        ...{ principal, name, by: personOf(who, body.by) },
        ...(roles === undefined ? {} : { roles }),
        ...(scopes === undefined ? {} : { scopes }),
        ...(for_seconds === undefined ? {} : { forMs: for_seconds * 1_000 }),
      });
      return created(issuedOnWire(await issue(runtime, offer, mayGive(who))));
    },
  }),
  route({
    method: "GET",
    path: "/api/keys/{id}",
    summary: "What is known of a key",
    tag: "identities",
    scope: "keys:read",
    params: idParams,
    answers: { 200: keySchema },
    handle: async ({ runtime, params }) => ok(keyOnWire(await getKey(runtime, params.id))),
  }),
  route({
    method: "POST",
    path: "/api/keys/{id}/rotate",
    summary: "A new key that may do the same; the old one works a while longer",
    tag: "identities",
    scope: "keys:write",
    params: idParams,
    body: z.strictObject({
      overlap_seconds: z.number().int().min(0).max(604_800).optional(),
      for_seconds: seconds.nullable().optional().meta({
        description: "of the new one; null: until it is revoked. As long as the old one, unless set",
      }),
      by: bySchema,
    }),
    answers: { 201: issued },
    whenLost: "none",
    async handle({ runtime, who, params, body }) {
      const { overlap_seconds, for_seconds } = body;
      const rotation = checkRotation({
        by: personOf(who, body.by),
        ...(overlap_seconds === undefined ? {} : { overlapMs: overlap_seconds * 1_000 }),
        ...(for_seconds === undefined ? {} : { forMs: for_seconds && for_seconds * 1_000 }),
      });
      return created(issuedOnWire(await rotate(runtime, params.id, rotation, mayGive(who))));
    },
  }),
  route({
    method: "POST",
    path: "/api/keys/{id}/revoke",
    summary: "It is worth nothing from now on; in other processes within a second",
    tag: "identities",
    scope: "keys:write",
    params: idParams,
    body: z.strictObject({ reason: reasonSchema, by: bySchema }),
    answers: { 200: keySchema },
    whenLost: "repeat",
    async handle({ runtime, who, params, body }) {
      const said = { by: personOf(who, body.by), reason: body.reason };
      return ok(keyOnWire(await revoke(runtime, params.id, said)));
    },
  }),
];
