/** Verbs of standing grants, with their routes, schemas and terminal output. */
import { z } from "zod";
import { contract, findVerb, listVerb, plainVerb, verb } from "../kernel/contract.ts";
import { moneyText } from "../kernel/money.ts";
import type { CardDocument, ResourceCommand, RichText } from "../kernel/terminal.ts";
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
type GrantStatus = (typeof STATUSES)[number];

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

const words = (status: GrantStatus): string => status.replace("_", " ");
const TONES = { active: "green", used_up: "yellow", expired: "yellow", revoked: "red" } as const;

const total = ({ limit }: StandingGrant): string =>
  limit === null ? "no limit" : `${moneyText(limit.spent)} of ${moneyText(limit.total)}`;

function useText({ at, action, amount, returned }: GrantUse): RichText {
  const sum = amount === null ? "" : `, ${moneyText(amount)}`;
  return [{ ago: at }, `: ${action}${sum}${returned ? " (given back: it did nothing)" : ""}`];
}

type Shown = StandingGrant & { readonly usedBy?: readonly GrantUse[] };

function card({ usedBy = [], ...one }: Shown): CardDocument {
  const { limit, revoked } = one;
  return {
    title: `Grant ${one.id}`,
    asOf: revoked?.at ?? one.givenAt,
    badge: { text: words(one.status), tone: TONES[one.status] },
    sections: {
      "What it permits without asking": {
        tool: `${one.tool}, as long as its input schema is ${one.schema.slice(0, 12)}…`,
        arguments: one.when ?? "any",
        agent: one.agent ?? "any",
        uses: `${one.used} of ${one.uses}`,
        total: total(one),
        "one use": limit?.amount,
      },
      "Who gave it": {
        owner: `${one.by}, whose vote it stands for`,
        reason: one.reason,
        given: [{ ago: one.givenAt }],
        expires: [{ ago: one.expiresAt }],
        revoked: revoked === null ? undefined : [{ ago: revoked.at }, ` by ${revoked.by}: ${revoked.reason}`],
      },
      Uses: usedBy.length === 0 ? { none: "yet" } : { used: { each: usedBy.map(useText) } },
    },
    next: one.status === "active" ? [`grants revoke ${one.id} --reason "…"`] : [],
  };
}

function revokedWords({ id: name, tool }: Shown, before: Shown | undefined): RichText {
  const { revoked = null } = before ?? {};
  if (revoked === null) return `Revoked: ${name}, ${tool}. Nothing more starts by it.`;
  const { at, by, reason: why } = revoked;
  return [`Already revoked: ${name}, ${tool}, `, { ago: at }, ` by ${by}: ${why}. Nothing was written.`];
}

export const grantsTerminal: ResourceCommand<Shown, keyof (typeof grants)["verbs"]> = {
  group: "Limit what agents may do",
  summary: "List, give, show and revoke standing grants",
  details: [
    "grants (or grants list) lists what can be used now; --all also what cannot any more.",
    "grants show <id> shows every use; grants revoke <id> --reason <text> ends it.",
    "In a pipe each line is tab-separated: id, status, tool, agent, uses, total, expiry, owner, condition.",
  ],
  examples: [
    'holdpoint grants give --tool payments.refund --when "args.amount_usd <= 100" --uses 50 --total "500 USD" --amount args.amount_usd --for 7d --reason "small refunds"',
  ],
  list: {
    all: { filter: { status: "any" }, summary: "also what cannot be used any more" },
    empty: "Nothing is granted beforehand.",
    columns: [
      ["ID", (one) => one.id],
      ["STATUS", (one) => words(one.status)],
      ["TOOL", (one) => one.tool],
      ["AGENT", (one) => one.agent ?? "any"],
      ["USES", (one) => `${one.used}/${one.uses}`],
      ["TOTAL", total],
      ["EXPIRES", (one) => [{ moment: one.expiresAt }]],
      ["OWNER", (one) => one.by],
      ["ARGUMENTS", (one) => one.when ?? "any"],
    ],
  },
  acts: {
    give: { says: () => "Given. From now on this runs without asking:", showsCard: true },
    revoke: { says: revokedWords },
  },
  card,
  json: ({ usedBy, ...grant }) => (usedBy === undefined ? grant : { grant, uses: usedBy }),
};
