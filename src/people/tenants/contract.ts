/** Verbs of the tenants of a store, with their routes and schemas. Only the home tenant has them. */
import { z } from "zod";
import { contract, listVerb, plainVerb, verb } from "../../kernel/contract.ts";
import { displayValue } from "../../kernel/text.ts";
import { actor, reason, timestamp } from "../../kernel/values.ts";
import { linkLifetime, oneTimeLink, personName } from "../contract.ts";

/** Names that a credential shows unencoded. */
const NAME = /^[a-z0-9][a-z0-9-]{0,62}$/;
const notAName = ({ input }: { readonly input?: unknown }): string =>
  `"${displayValue(input)}" is no tenant's name: small letters, digits and hyphens, at most 63.`;

const newTenant = z.strictObject({
  name: z
    .string({ error: notAName })
    .regex(NAME, { error: notAName })
    .describe("small letters, digits and hyphens"),
  admin: personName.describe("its first admin: `person:<name>`"),
  forMs: linkLifetime.optional().describe("how long the login link can be used; ten minutes by default"),
  by: actor,
});

/** `by` and `at`: who made or closed it, and when; null if a program just started to write in it. */
const tenant = z.object({
  name: z.string(),
  home: z.boolean().describe("whether it is the home tenant, which manages the others"),
  status: z.enum(["open", "closed"]),
  by: z.string().nullable().describe("who made or closed it; null if a program just started to write in it"),
  at: timestamp.nullable(),
  reason: z.string().nullable(),
});
const created = z.object({
  tenant,
  admin: z.string().describe("its first admin, a person of the new tenant"),
  login: oneTimeLink,
});

const MANAGED = { scope: "tenants:manage" } as const;

export const tenants = contract({
  name: "tenants",
  owner: "tenant",
  tag: "identities",
  door: "admin",
  verbs: {
    list: listVerb({
      http: "GET /api/tenants",
      ...MANAGED,
      summary: "All tenants of the store, by name; from the home tenant",
      filters: {},
      item: tenant,
    }),
    add: verb({
      http: "POST /api/tenants",
      ...MANAGED,
      status: 201,
      summary: "Make a tenant, with its first admin and a login link for them; from the home tenant",
      whenLost: "none",
      takes: "tenant",
      input: newTenant,
      output: created,
    }),
    get: plainVerb({
      http: "GET /api/tenants/{tenant}",
      ...MANAGED,
      summary: "A tenant that has entries",
      output: tenant,
    }),
    close: verb({
      http: "POST /api/tenants/{tenant}/close",
      ...MANAGED,
      summary: "Close a tenant for good: its credentials are void and nothing in it starts; its data is kept",
      whenLost: "repeat",
      takes: "said",
      input: z.strictObject({ reason, by: actor }),
      output: tenant,
    }),
  },
});

export type Tenant = z.output<typeof tenant>;
export type NewTenant = z.input<typeof newTenant>;
/** The login link is returned only here and never stored. */
export type CreatedTenant = z.output<typeof created>;
export type TenantPage = z.input<(typeof tenants)["verbs"]["list"]["input"]>;
export type TenantList = z.output<(typeof tenants)["verbs"]["list"]["output"]>;
