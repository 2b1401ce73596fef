/** Standing grants: what people permit before it is asked for. */
import { z } from "zod";
import type { Money } from "../../core/money.ts";
import {
  getGrant,
  giveStanding,
  listGrants,
  revokeStanding,
  type StandingGrant,
  usesOf,
} from "../../engine/grants.ts";
import { nextCursor, pageOf, pageQuery, sealCursor } from "../page.ts";
import { personOf } from "../person.ts";
import { created, ok, route } from "../route.ts";
import { bySchema, idParams, money, moneySchema, reasonSchema, time, timeSchema } from "../wire.ts";

const STATUSES = ["active", "used_up", "expired", "revoked"] as const;

const grantSchema = z.object({
  grant_id: z.string(),
  status: z.enum(STATUSES),
  tool: z.string(),
  agent: z.string().nullable(),
  when: z.string().nullable(),
  uses: z.number(),
  used: z.number(),
  limit: z.object({ amount: z.string(), total: moneySchema, spent: moneySchema }).nullable(),
  by: z.string(),
  reason: z.string(),
  given_at: timeSchema,
  expires_at: timeSchema,
  revoked: z.object({ by: z.string(), reason: z.string(), at: timeSchema }).nullable(),
});

const use = z.object({
  at: timeSchema,
  action_id: z.string(),
  effect_id: z.string(),
  amount: moneySchema.nullable(),
  returned: z.boolean(),
});

const LIST = "grants";

function grantOnWire(grant: StandingGrant) {
  const { id, status, tool, agent, when, uses, used, limit, by, reason, revoked } = grant;
  return {
    grant_id: id,
    ...{ status, tool, agent, when, uses, used },
    limit: limit && { amount: limit.amount, total: money(limit.total), spent: money(limit.spent) },
    ...{ by, reason },
    given_at: time(grant.givenAt),
    expires_at: time(grant.expiresAt),
    revoked: revoked && { by: revoked.by, reason: revoked.reason, at: time(revoked.at) },
  };
}

const offer = z.strictObject({
  tool: z.string().min(1).max(128),
  when: z.string().max(4_000).optional(),
  agent: z.string().max(200).optional(),
  uses: z.number().int().min(1).max(1_000_000),
  for_seconds: z.number().int().min(1).max(7_776_000),
  total: moneySchema.optional(),
  amount: z.string().max(4_000).optional(),
  reason: reasonSchema,
  by: bySchema,
});

const moneyOf = ({ currency, micros }: z.output<typeof moneySchema>): Money => ({
  currency,
  micros: BigInt(micros),
});

/** Only what was said: an option that is not there is not the same as one that is undefined. */
function given<Name extends string, Value>(name: Name, value: Value | undefined) {
  return (value === undefined ? {} : { [name]: value }) as { readonly [key in Name]?: Value };
}

export const grantRoutes = [
  route({
    method: "GET",
    path: "/api/grants",
    summary: "Standing grants, newest first; those that can be used unless another status is asked for",
    tag: "grants",
    scope: "grants:read",
    query: z.strictObject({
      status: z.enum([...STATUSES, "any"]).default("active"),
      tool: z.string().max(128).optional(),
      ...pageQuery,
    }),
    answers: { 200: z.object({ grants: z.array(grantSchema), next_cursor: nextCursor }) },
    async handle({ runtime, query }) {
      const { status, tool } = query;
      const page = { status, ...given("tool", tool), ...pageOf(LIST, query) };
      const { items, next } = await listGrants(runtime, page);
      return ok({ grants: items.map(grantOnWire), next_cursor: sealCursor(LIST, next) });
    },
  }),
  route({
    method: "POST",
    path: "/api/grants",
    summary: "Permit calls of one tool before they are asked for: so often, for so much, until then",
    tag: "grants",
    scope: "grants:write",
    body: offer,
    answers: { 201: grantSchema },
    async handle({ runtime, who, body }) {
      const { tool, uses, reason, for_seconds, total } = body;
      const terms = { tool, uses, reason, forMs: for_seconds * 1_000, by: personOf(who, body.by) };
      const more = {
        ...given("when", body.when),
        ...given("agent", body.agent),
        ...given("amount", body.amount),
        ...given("total", total === undefined ? undefined : moneyOf(total)),
      };
      return created(grantOnWire(await giveStanding(runtime, { ...terms, ...more }, { via: who.via })));
    },
  }),
  route({
    method: "GET",
    path: "/api/grants/{id}",
    summary: "A standing grant, with every use of it",
    tag: "grants",
    scope: "grants:read",
    params: idParams,
    answers: { 200: grantSchema.extend({ used_by: z.array(use) }) },
    async handle({ runtime, params }) {
      const grant = await getGrant(runtime, params.id);
      const uses = await usesOf(runtime, grant.id);
      const used_by = uses.map(({ at, action, effect, amount, returned }) => ({
        at: time(at),
        action_id: action,
        effect_id: effect,
        amount: amount && money(amount),
        returned,
      }));
      return ok({ ...grantOnWire(grant), used_by });
    },
  }),
  route({
    method: "POST",
    path: "/api/grants/{id}/revoke",
    summary: "From now on nothing starts by it",
    tag: "grants",
    scope: "grants:write",
    params: idParams,
    body: z.strictObject({ reason: reasonSchema, by: bySchema }),
    answers: { 200: grantSchema },
    whenLost: "repeat",
    async handle({ runtime, who, params, body }) {
      const said = { by: personOf(who, body.by), reason: body.reason, via: who.via };
      return ok(grantOnWire(await revokeStanding(runtime, params.id, said)));
    },
  }),
];
