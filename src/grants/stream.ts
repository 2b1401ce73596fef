/**
 * A standing grant: what a person permits in advance, and how much of it is left.
 *
 * - It is used only while it is neither revoked nor used up, and never beyond its limit.
 * - A use is returned at most once. Only a recorded use can be returned.
 */

import type { JsonObject } from "../kernel/json.ts";
import type { MoneyJson } from "../kernel/money.ts";
import type { Via } from "../kernel/principal.ts";
import { defineStream, outOfOrder } from "../kernel/stream.ts";

/** Limit for the sum of all uses, and the expression that computes the amount of one use, in currency units. */
type GrantLimit = MoneyJson & { readonly amount: string };

export type GrantTerms = {
  readonly tool: string;
  /** Digest of the tool's input schema when the grant was given. The grant does not cover another schema. */
  readonly schema: string;
  /** null: any agent. */
  readonly agent: string | null;
  /** Expression over `args` that must be true. null: any arguments. */
  readonly when: string | null;
  readonly uses: number;
  readonly limit: GrantLimit | null;
  readonly expiresAt: number;
  /** The owner: the person whose vote the grant replaces. */
  readonly by: string;
  readonly reason: string;
};

/** One use by one effect. `amount` is null if the grant has no limit. */
export type RecordedGrantUse = {
  readonly action: string;
  readonly effect: string;
  readonly amount: MoneyJson | null;
};

export type LiveGrant = GrantTerms & {
  readonly status: "given" | "revoked";
  readonly givenAt: number;
  /** Number of uses that count, and their total amount. A returned use does not count. */
  readonly used: number;
  readonly spent: bigint;
  readonly revoked: { readonly by: string; readonly reason: string; readonly at: number } | null;
};
export type GrantState = { readonly status: "none" } | LiveGrant;

export const isUsedUp = ({ used, uses }: LiveGrant): boolean => used >= uses;
const isActive = (grant: LiveGrant): boolean => grant.status === "given" && !isUsedUp(grant);

const WHAT = "A grant";
const microsIn = ({ amount }: RecordedGrantUse): bigint => BigInt(amount?.micros ?? 0);

function countUse(grant: LiveGrant, use: RecordedGrantUse): LiveGrant {
  const spent = grant.spent + microsIn(use);
  const isOver = grant.limit !== null && spent > BigInt(grant.limit.micros);
  if (isUsedUp(grant) || isOver) throw outOfOrder(WHAT, "grant.used", "used up");
  return { ...grant, used: grant.used + 1, spent };
}

function returnUse(grant: LiveGrant, use: RecordedGrantUse): LiveGrant {
  const spent = grant.spent - microsIn(use);
  if (grant.used === 0 || spent < 0n) throw outOfOrder(WHAT, "grant.returned", "not used");
  return { ...grant, used: grant.used - 1, spent };
}

/** Ignores expiry, because rows have no clock. */
export function statusIn(grant: LiveGrant): "active" | "used_up" | "revoked" {
  if (grant.status === "revoked") return "revoked";
  return isUsedUp(grant) ? "used_up" : "active";
}

function terms({ tool, schema, agent, when, uses, limit, expiresAt, by, reason }: LiveGrant): JsonObject {
  return { tool, schema, agent, when, uses, limit, expiresAt, by, reason };
}

const { after, define } = defineStream<GrantState>();

export const grant = define("grant", {
  what: WHAT,
  version: 1,
  initial: { status: "none" },
  words: { none: "not given" },
  events: {
    "grant.given": after(
      ["none"],
      "a person permits something beforehand: tool and its schema digest, condition, agent, uses, limit, until when, and why",
      (_none, { via: _, ...given }: GrantTerms & Via, { at }) => ({
        ...given,
        ...{ status: "given", givenAt: at, used: 0, spent: 0n, revoked: null },
      }),
    ),
    "grant.used": after(
      ["given"],
      "an effect started by it, in this very commit: action, effect, and what it comes to",
      countUse,
    ),
    "grant.returned": after("live", "that effect certainly did nothing: the use does not count", returnUse),
    "grant.revoked": after(
      ["given"],
      "a person ended it, or a restore of the store did",
      (given, { by, reason }: { readonly by: string; readonly reason: string } & Via, { at }) => ({
        ...given,
        ...{ status: "revoked", revoked: { by, reason, at } },
      }),
    ),
  },
  lists: [
    {
      bucket: statusIn,
      data: () => ({}),
      orders: { given: { view: "grants", version: 2, oldest: 1, at: ({ givenAt }) => givenAt } },
    },
  ],
  indexes: {
    /** Usable grants, by tool. */
    standing: {
      version: 1,
      only: isActive,
      key: ({ tool }) => tool,
      at: ({ expiresAt }) => expiresAt,
      data: terms,
    },
  },
});
