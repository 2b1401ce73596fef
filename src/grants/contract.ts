/** Verbs of standing grants, with their routes and schemas. */
import { z } from "zod";
import { contract, findVerb, listVerb, plainVerb, verb } from "../kernel/contract.ts";
import {
  actor,
  agentName,
  duration,
  expression,
  id,
  moneyAmount,
  reason,
  timestamp,
  toolName,
  whole,
} from "../kernel/values.ts";

const STATUSES = ["active", "used_up", "expired", "revoked"] as const;

const LONGEST_MS = 90 * 86_400_000;
const USES = "A grant has a number of uses: a whole number from 1 to 1000000.";
const ENDS = "A grant ends: after at most 90 days, given as forMs in whole milliseconds.";
const TOGETHER = "A total goes together with an amount: the expression that says what one use comes to.";

const offer = z
  .strictObject({
    tool: toolName.describe("the tool"),
    when: expression.optional().describe("which arguments, such as args.amount <= 100; any unless set"),
    agent: agentName.optional().describe("which agent; any unless set"),
    uses: whole(1_000_000, USES).describe("how often"),
    total: moneyAmount.optional().describe("what all uses may come to, together with amount"),
    amount: expression.optional().describe("what one use comes to, such as args.amount"),
    forMs: duration(LONGEST_MS, ENDS).describe("how long, at most 90 days"),
    reason,
    /** The owner of the grant: the person whose vote it replaces. */
    by: actor,
  })
  .refine(({ total, amount }) => (total === undefined) === (amount === undefined), { error: TOGETHER })
  .refine(({ total }) => total === undefined || total.micros >= 0n, { error: "A total is at least 0." });

const standingGrant = z.object({
  id: id("grant"),
  status: z.enum(STATUSES),
  tool: z.string(),
  /** Digest of the tool's input schema when the grant was given. The grant does not cover another schema. */
  schema: z.string(),
  agent: z.string().nullable(),
  when: z.string().nullable(),
  uses: z.number(),
  used: z.number(),
  /** `amount`: expression for the amount of one use. `total`: limit for all uses. null: no limit. */
  limit: z.object({ amount: z.string(), total: moneyAmount, spent: moneyAmount }).nullable(),
  by: z.string(),
  reason: z.string(),
  givenAt: timestamp,
  expiresAt: timestamp,
  revoked: z.object({ by: z.string(), reason: z.string(), at: timestamp }).nullable(),
});

const grantUse = z.object({
  at: timestamp,
  action: id("action"),
  effect: id("effect"),
  amount: moneyAmount.nullable(),
  /** The effect was certainly not applied, so the use does not count. */
  returned: z.boolean(),
});

export const grants = contract({
  name: "grants",
  owner: "grant",
  verbs: {
    /** Newest first. Default status: `active`. */
    list: listVerb({
      http: "GET /api/grants",
      summary: "Standing grants, newest first; those that can be used unless another status is asked for",
      filters: {
        status: z.enum([...STATUSES, "any"]).default("active"),
        tool: z.string().max(128).optional(),
      },
      item: standingGrant,
    }),
    /** Lets a person permit calls of one tool in advance, limited in number of uses, total amount and time. */
    give: verb({
      http: "POST /api/grants",
      status: 201,
      summary: "Permit calls of one tool before they are asked for: so often, for so much, until then",
      takes: "offer",
      input: offer,
      output: standingGrant,
    }),
    get: plainVerb({
      http: "GET /api/grants/{id}",
      summary: "A standing grant, with every use of it",
      output: standingGrant.extend({ usedBy: z.array(grantUse).readonly() }),
    }),
    /** Every use of the grant, oldest first. */
    uses: plainVerb({
      http: "GET /api/grants/{id}/uses",
      summary: "Every use of a standing grant, oldest first",
      output: z.array(grantUse).readonly(),
      wrap: "uses",
    }),
    find: findVerb({ http: "GET /api/grants/find" }),
    /** Ends the grant: no further effect starts under it. Any person in good standing may revoke. */
    revoke: verb({
      http: "POST /api/grants/{id}/revoke",
      summary: "From now on nothing starts by it",
      whenLost: "repeat",
      takes: "said",
      input: z.strictObject({ reason, by: actor }),
      output: standingGrant,
    }),
  },
});

export type GrantOffer = z.input<typeof offer>;
export type StandingGrant = z.output<typeof standingGrant>;
export type GrantUse = z.output<typeof grantUse>;
