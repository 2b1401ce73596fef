/** Fifty rules and sixteen actions of about 2 KB, for every system that gives verdicts: one list, said in each language. */
import type { Json, JsonObject } from "../src/kernel/json.ts";

/** The same condition as CEL over `args` and as Cedar over `context`. Money is in whole cents, which is all that Cedar compares. */
export type SameRule = { readonly id: string; readonly cel: string; readonly cedar: string };

const FORMS: readonly ((n: number) => Omit<SameRule, "id">)[] = [
  (n) => ({ cel: `args.amount_cents > ${900_000 + n}`, cedar: `context.amount_cents > ${900_000 + n}` }),
  (n) => ({ cel: `args.country == "X${n}"`, cedar: `context.country == "X${n}"` }),
  (n) => ({
    cel: `args.customer.id.startsWith("blocked-${n}-")`,
    cedar: `context.customer.id like "blocked-${n}-*"`,
  }),
  (n) => ({ cel: `"risk-${n}" in args.tags`, cedar: `context.tags.contains("risk-${n}")` }),
  (n) => ({
    cel: `args.customer.age_days < ${n} && args.amount_cents > ${5_000 * n} && !args.customer.verified`,
    cedar: `context.customer.age_days < ${n} && context.amount_cents > ${5_000 * n} && !context.customer.verified`,
  }),
  (n) => ({
    cel: `args.channel == "chat" && args.attempt > ${10 + n} || args.currency == "Z${n}"`,
    cedar: `context.channel == "chat" && context.attempt > ${10 + n} || context.currency == "Z${n}"`,
  }),
  (n) => ({ cel: `has(args.override_${n})`, cedar: `context has override_${n}` }),
];

/** All but the last one block; that one approves what is left. */
export const RULES = 50;

export function sameRules(): readonly SameRule[] {
  return Array.from({ length: RULES - 1 }, (_, index) => {
    const form = FORMS[index % FORMS.length] as (typeof FORMS)[number];
    return { id: `rule-${index}`, ...form(index) };
  });
}

const NOTE = "The customer wrote that the parcel came late, and asked for the money back. ";

function actionOf(index: number): JsonObject {
  const lines = Array.from({ length: 8 }, (_, line) => ({
    sku: `SKU-${index}-${line}`,
    title: `Article number ${line}`,
    quantity: 1 + line,
    price_cents: 1_999 * (line + 1),
  }));
  return {
    order: `A-${10_000 + index}`,
    amount_cents: 10_000 + index * 100,
    currency: "USD",
    country: "DE",
    channel: "mail",
    attempt: 1 + (index % 3),
    // Every eighth is blocked.
    tags: ["first-order", "late", index % 8 === 7 ? "risk-45" : "none"],
    customer: { id: `customer-${index}`, age_days: 400 + index, verified: true, mail: "anna@example.com" },
    note: NOTE.repeat(14),
    lines,
  };
}

export const SAME_ACTIONS: readonly JsonObject[] = Array.from({ length: 16 }, (_, index) => actionOf(index));

/** Before anything is timed: about 2 KB each, and the verdicts that they should get. */
export function checkSame(isAllowed: (args: Json) => boolean): void {
  for (const [index, args] of SAME_ACTIONS.entries()) {
    const { length } = JSON.stringify(args);
    if (length < 1_900 || length > 2_300) throw new Error(`an action has ${length} bytes`);
    if (isAllowed(args) !== (index % 8 !== 7)) throw new Error(`action ${index} got the wrong verdict`);
  }
}
