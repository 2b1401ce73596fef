/** What people and programs do with standing grants: the verbs, their routes and their schemas. */
import { z } from "zod";
import { isPrincipal } from "../core/principal.ts";
import { agentScope } from "../core/switch.ts";
import { actor, id, money, reason, span, time } from "../kernel/codec.ts";
import { contract, findVerb, type Library, listVerb, plainVerb, verb } from "../kernel/contract.ts";

const STATUSES = ["active", "used_up", "expired", "revoked"] as const;
export type GrantStatus = (typeof STATUSES)[number];

const DAY_MS = 86_400_000;
export const LONGEST_MS = 90 * DAY_MS;
const USES = "A grant has a number of uses: a whole number from 1 to 1000000.";
const ENDS = "A grant ends: after at most 90 days, given as forMs in whole milliseconds.";
const TOGETHER = "A total goes together with an amount: the expression that says what one use comes to.";

const toolName = z
  .string()
  .min(1)
  .max(128)
  .regex(/^[A-Za-z][A-Za-z0-9_.:-]*$/);
const expression = z
  .string()
  .max(4_000)
  .refine((text) => text.isWellFormed(), { error: "An expression is well-formed Unicode." });
const agentName = z
  .string()
  .max(200)
  .refine((name) => !/^(person|service):/.test(name) && isPrincipal(agentScope(name)), {
    error: "That is not an agent's name.",
  });

const offer = z
  .strictObject({
    tool: toolName,
    /** An expression over `args` that has to be true, such as `args.amount_usd <= 100`. Default: any arguments. */
    when: expression.optional(),
    /** Only for this agent. Default: any agent. */
    agent: agentName.optional(),
    /** How often it may be used. */
    uses: z.int({ error: USES }).min(1, { error: USES }).max(1_000_000, { error: USES }),
    /** How long it lasts, in milliseconds; at most 90 days. */
    forMs: span(LONGEST_MS, ENDS),
    /** The most that all uses may come to together; needs `amount`. */
    total: money.optional(),
    /** An expression over `args` that gives what one use comes to, in units of the total's currency. */
    amount: expression.optional(),
    reason,
    /** The person who gives it: its owner. */
    by: actor,
  })
  .refine(({ total, amount }) => (total === undefined) === (amount === undefined), { error: TOGETHER })
  .refine(({ total }) => total === undefined || total.micros >= 0n, { error: "A total is at least 0." });

const standingGrant = z.object({
  id: id("grant"),
  status: z.enum(STATUSES),
  tool: z.string(),
  /** Digest of the tool's input schema when the grant was given: another schema is another tool. */
  schema: z.string(),
  agent: z.string().nullable(),
  when: z.string().nullable(),
  uses: z.number(),
  used: z.number(),
  /** What all uses may come to, what they have come to, and the expression that gives what one does; null: no limit. */
  limit: z.object({ amount: z.string(), total: money, spent: money }).nullable(),
  by: z.string(),
  reason: z.string(),
  givenAt: time,
  expiresAt: time,
  revoked: z.object({ by: z.string(), reason: z.string(), at: time }).nullable(),
});

const grantUse = z.object({
  at: time,
  action: id("action"),
  effect: id("effect"),
  amount: money.nullable(),
  /** The effect certainly did nothing, so the use does not count. */
  returned: z.boolean(),
});

export const grants = contract({
  name: "grants",
  owner: "grant",
  what: "A grant",
  verbs: {
    /** Newest first; those that can be used, unless another status is asked for. */
    list: listVerb({
      http: "GET /api/grants",
      scope: "grants:read",
      summary: "Standing grants, newest first; those that can be used unless another status is asked for",
      filters: {
        status: z.enum([...STATUSES, "any"]).default("active"),
        tool: z.string().max(128).optional(),
      },
      item: standingGrant,
    }),
    /** A person permits calls before they are asked for: of one tool, so often, for so much, until then. */
    give: verb({
      http: "POST /api/grants",
      status: 201,
      scope: "grants:write",
      summary: "Permit calls of one tool before they are asked for: so often, for so much, until then",
      takes: "offer",
      input: offer,
      output: standingGrant,
    }),
    get: plainVerb({
      http: "GET /api/grants/{id}",
      scope: "grants:read",
      summary: "A standing grant, with every use of it",
      output: standingGrant.extend({ usedBy: z.array(grantUse).readonly() }),
    }),
    /** Ids that begin with a text, at most ten. */
    find: findVerb({ http: "GET /api/grants/find", scope: "grants:read" }),
    /** From now on nothing starts by it. Any person in good standing may do that. */
    revoke: verb({
      http: "POST /api/grants/{id}/revoke",
      scope: "grants:write",
      summary: "From now on nothing starts by it",
      whenLost: "repeat",
      takes: "said",
      input: z.strictObject({ reason, by: actor }),
      output: standingGrant,
    }),
  },
});

/** Standing grants: what people permit before it is asked for. */
export type Grants = Library<typeof grants> & {
  /** Every use of one, oldest first. */
  uses(id: string): Promise<readonly GrantUse[]>;
};

/** Here and at a distance. */
export const withUses = (library: Library<typeof grants>): Grants => ({
  ...library,
  uses: async (one) => (await library.get(one)).usedBy,
});

export type GrantOffer = z.input<typeof offer>;
export type StandingGrant = z.output<typeof standingGrant>;
export type GrantUse = z.output<typeof grantUse>;
export type GrantPage = z.input<(typeof grants)["verbs"]["list"]["input"]>;
export type GrantList = z.output<(typeof grants)["verbs"]["list"]["output"]>;
