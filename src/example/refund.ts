/**
 * The example: Anna wants 1200 USD back, and over 1000 a person decides. Everything about it is real but the money: the agent
 * proposes, policy reviews, people are asked, and what was approved is done once. Done means a line in a file.
 */
import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { z } from "zod";
import type { Holdpoint } from "../index.ts";

export const EXAMPLE = {
  workflow: "example.refund",
  refund: "example.issue_refund",
  agent: "agent:refund-agent",
} as const;

const CASE = {
  customer: "Anna",
  user_id: 42,
  plan: "annual",
  paid_usd: 1200,
  days_since_payment: 10,
  refund_within_days: 14,
} as const;

const SAYS =
  "Anna paid 1200 USD for a year ten days ago and does not use it. Our terms give 14 days. I would pay all of it back.";

/** Under one key a thing is done once: whoever sends it again finds the line. */
function writeOnce(file: string, key: string, entry: object): void {
  const done = existsSync(file) ? readFileSync(file, "utf8") : "";
  if (!done.includes(`{"key":"${key}",`)) appendFileSync(file, `${JSON.stringify({ key, ...entry })}\n`);
}

function toolsOf(hp: Holdpoint, file: string) {
  const read = hp.gate({
    name: "example.read_case",
    description: "What is known of a customer who wants money back",
    effect: "read",
    input: z.strictObject({ user_id: z.int() }),
    run: () => CASE,
  });
  const refund = hp.gate({
    name: EXAMPLE.refund,
    description: "Pays an amount in USD back to the customer",
    effect: "keyed",
    input: z.strictObject({
      user_id: z.int(),
      amount_usd: z.number().positive().meta({ description: "how much, in USD" }),
      reason: z.string().min(1).max(500),
    }),
    run: ({ user_id, amount_usd }, { idempotencyKey: key }) => {
      writeOnce(file, key, { refunded_usd: amount_usd, user_id });
      return { refunded_usd: amount_usd };
    },
    undo: ({ user_id, amount_usd }, _result, { idempotencyKey: key }) =>
      writeOnce(file, key, { taken_back_usd: amount_usd, user_id }),
  });
  const tell = hp.gate({
    name: "example.send_message",
    description: "Writes to the customer",
    effect: "keyed",
    input: z.strictObject({ user_id: z.int(), text: z.string() }),
    run: ({ user_id, text }, { idempotencyKey: key }) => {
      writeOnce(file, key, { message: text, user_id });
      return { sent: true };
    },
    undo: "nothing",
  });
  return { read, refund, tell };
}

/** `file` gets a line for everything that happened. */
export function defineExample(hp: Holdpoint, file: string): void {
  const { read, refund, tell } = toolsOf(hp, file);
  const description = "Anna wants 1200 USD back. Over 1000 USD a person decides.";
  hp.workflow(EXAMPLE.workflow, { description }, async (ctx) => {
    const { user_id, paid_usd } = CASE;
    const { agent } = EXAMPLE;
    const known = await ctx.call(read, { user_id }, { agent });
    if (known.executed !== true) return { refunded_usd: 0, why: known.reason };
    const args = { user_id, amount_usd: paid_usd, reason: "Annual plan, paid 10 days ago" };
    const paid = await ctx.call(refund, args, { agent, says: SAYS });
    if (paid.executed !== true) return { refunded_usd: 0, why: paid.reason };
    // What people made of it, not what was proposed.
    const refunded_usd = paid.result?.refunded_usd ?? paid_usd;
    await ctx.call(tell, { user_id, text: `We have paid ${refunded_usd} USD back to you.` }, { agent });
    return { refunded_usd };
  });
}
