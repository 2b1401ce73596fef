/** The tenants of this instance, for admins of its home tenant only. */
import { z } from "zod";
import { actingPerson } from "../../api/authenticate.ts";
import { created, ok, route } from "../../api/route.ts";
import {
  bySchema,
  nextCursor,
  pageOf,
  pageQuery,
  reasonSchema,
  sealCursor,
  time,
  timeOrNull,
  timeSchema,
} from "../../api/wire.ts";

import {
  addTenant,
  type CreatedTenant,
  closeTenant,
  getTenant,
  listTenants,
  type Tenant,
} from "./methods.ts";

const LIST = "tenants";
const params = z.object({ tenant: z.string().min(1).max(300).meta({ description: "its name" }) });

const tenantSchema = z.object({
  tenant: z.string(),
  home: z.boolean().meta({ description: "the one from which the others are looked after" }),
  status: z.enum(["open", "closed"]),
  by: z.string().nullable().meta({ description: "who made or closed it; null where a program began it" }),
  at: timeSchema.nullable(),
  reason: z.string().nullable(),
});

const made = tenantSchema.extend({
  admin: z.string().meta({ description: "its first admin, a person of the new tenant" }),
  login_id: z.string(),
  link: z.string().meta({ description: "for `POST /api/session`, or behind `/login#`; answered this once" }),
  expires_at: timeSchema,
});

const tenantOnWire = ({ name, home, status, by, at, reason }: Tenant) => ({
  ...{ tenant: name, home, status, by, reason },
  at: timeOrNull(at),
});

const madeOnWire = ({ tenant, admin, login: { id, text, expiresAt } }: CreatedTenant) => ({
  ...tenantOnWire(tenant),
  ...{ admin, login_id: id, link: text, expires_at: time(expiresAt) },
});

export const tenantRoutes = [
  route({
    method: "GET",
    path: "/api/tenants",
    summary: "The tenants of this instance, by name",
    tag: "identities",
    scope: "tenants:manage",
    query: z.strictObject(pageQuery),
    answers: { 200: z.object({ tenants: z.array(tenantSchema), next_cursor: nextCursor }) },
    async handle({ runtime, query }) {
      const { items, next } = await listTenants(runtime, pageOf(LIST, query));
      return ok({ tenants: items.map(tenantOnWire), next_cursor: sealCursor(LIST, next) });
    },
  }),
  route({
    method: "POST",
    path: "/api/tenants",
    summary: "Make a tenant, with its first admin and a link by which they log in, once",
    tag: "identities",
    scope: "tenants:manage",
    body: z.strictObject({
      tenant: z.string().min(1).max(63).meta({ description: "its name: small letters, digits and hyphens" }),
      admin: z.string().min(1).max(300).meta({ description: "`person:<name>`" }),
      for_seconds: z.number().int().min(1).max(86_400).optional(),
      by: bySchema,
    }),
    answers: { 201: made },
    whenLost: "none",
    async handle({ runtime, who, body: { tenant, admin, for_seconds, by } }) {
      const life = for_seconds === undefined ? {} : { forMs: for_seconds * 1_000 };
      const wanted = { name: tenant, admin, by: actingPerson(who, by), ...life };
      return created(madeOnWire(await addTenant(runtime, wanted, { via: who.via })));
    },
  }),
  route({
    method: "GET",
    path: "/api/tenants/{tenant}",
    summary: "How a tenant stands",
    tag: "identities",
    scope: "tenants:manage",
    params,
    answers: { 200: tenantSchema },
    handle: async ({ runtime, params: { tenant } }) => ok(tenantOnWire(await getTenant(runtime, tenant))),
  }),
  route({
    method: "POST",
    path: "/api/tenants/{tenant}/close",
    summary: "For good: no credential of it works, none is made, nothing in it starts; what it holds is kept",
    tag: "identities",
    scope: "tenants:manage",
    params,
    body: z.strictObject({ reason: reasonSchema, by: bySchema }),
    answers: { 200: tenantSchema },
    whenLost: "repeat",
    async handle({ runtime, who, params: { tenant }, body }) {
      const said = { by: actingPerson(who, body.by), reason: body.reason, via: who.via };
      return ok(tenantOnWire(await closeTenant(runtime, tenant, said)));
    },
  }),
];
