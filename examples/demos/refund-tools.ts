/** The tools of a refund desk. They look up facts and execute; the policy decides whether they may. */
import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { z } from "zod";
import type { Holdpoint } from "../../src/index.ts";

const USERS = {
  42: { id: 42, name: "Anna", country: "US", tier: "enterprise" },
  7: { id: 7, name: "Max", country: "US", tier: "pro" },
} as const;

const BILLING = {
  42: { plan: "annual_enterprise", currency: "USD", last_charge_usd: 1200, days_since_payment: 10 },
  7: { plan: "pro_monthly", currency: "USD", last_charge_usd: 49, days_since_payment: 35 },
} as const;

const HINT = { auto_refund_limit_usd: 1000, refund_window_days: 14 };
const DAY = "20260226";

type UserId = keyof typeof USERS;
const isUser = (id: number): id is UserId => Object.hasOwn(USERS, id);
const cents = (amount: number): number => Math.round(amount * 100) / 100;
const failed = (error: string) => ({ status: "error", error });

/** The outside world. It performs each key once. */
type Outside = { once(key: string, entry: object): void };

/** A file with a line for each effect. */
export function fileOutside(file: string): Outside {
  return {
    once(key, entry) {
      const done = existsSync(file) ? readFileSync(file, "utf8") : "";
      if (!done.includes(`{"key":"${key}",`)) appendFileSync(file, `${JSON.stringify({ key, ...entry })}\n`);
    },
  };
}

export function refundContext(user_id: number) {
  if (!isUser(user_id)) return { error: `context_not_found_for_user:${user_id}` };
  return { user: USERS[user_id], billing: BILLING[user_id], policy_hint: HINT };
}

type Refund = { readonly user_id: number; readonly amount_usd: number; readonly reason: string };

export function refunded({ user_id, amount_usd, reason }: Refund) {
  if (!isUser(user_id)) return failed(`refund_user_not_found:${user_id}`);
  if (amount_usd <= 0) return failed("refund_amount_must_be_positive");
  if (reason.trim() === "") return failed("refund_reason_must_not_be_blank");
  const { last_charge_usd: max_refund_usd, currency } = BILLING[user_id];
  if (amount_usd > max_refund_usd) return { ...failed("refund_exceeds_last_charge"), max_refund_usd };
  const transaction_id = `rf_${user_id}_${DAY}`;
  const refund = { user_id, currency, amount_usd: cents(amount_usd), reason: reason.trim(), transaction_id };
  return { status: "ok", refund };
}

type Email = { readonly user_id: number; readonly amount_usd: number; readonly message: string };

export function emailed({ user_id, amount_usd, message }: Email) {
  if (!isUser(user_id)) return failed(`email_user_not_found:${user_id}`);
  const to = `${USERS[user_id].name.toLowerCase()}@example.com`;
  const template = "refund_confirmation_v2";
  const email_id = `em_${user_id}_${DAY}`;
  return { status: "ok", email: { to, template, amount_usd: cents(amount_usd), message, email_id } };
}

/** The three tools, gated. Money and mail go outside, under the key of their effect. */
export function refundTools(hp: Holdpoint, outside: Outside) {
  const context = hp.gate({
    name: "get_refund_context",
    description: "The customer's profile and billing facts, and hints about the refund policy",
    effect: "read",
    input: z.strictObject({ user_id: z.int() }),
    run: ({ user_id }) => refundContext(user_id),
  });
  const refund = hp.gate({
    name: "issue_refund",
    description: "Pays an amount in USD back to the customer",
    effect: "keyed",
    input: z.strictObject({ user_id: z.int(), amount_usd: z.number(), reason: z.string().optional() }),
    run: ({ user_id, amount_usd, reason = "" }, { idempotencyKey }) => {
      const result = refunded({ user_id, amount_usd, reason });
      if ("refund" in result) outside.once(idempotencyKey, result.refund);
      return result;
    },
  });
  const email = hp.gate({
    name: "send_refund_email",
    description: "Sends the customer a confirmation of the refund",
    effect: "keyed",
    input: z.strictObject({ user_id: z.int(), amount_usd: z.number(), message: z.string() }),
    run: (args, { idempotencyKey }) => {
      const result = emailed(args);
      if ("email" in result) outside.once(idempotencyKey, result.email);
      return result;
    },
  });
  return [context, refund, email] as const;
}
