/** What a tool says that a call will cost, by budget. */

import type { Json } from "../../kernel/json.ts";
import { type Money, moneyToJson } from "../../kernel/money.ts";
import { errorText } from "../../kernel/text.ts";

import type { Cost, ToolRules } from "../../policy/rules/tool-rules.ts";
import type { ReservedCost } from "./events.ts";

/** Two costs on one budget are one reservation. */
function sumByBudget(costs: readonly Cost[]): ReadonlyMap<string, Money> {
  const sums = new Map<string, Money>();
  for (const { budget, amount } of costs) {
    const before = sums.get(budget);
    if (before !== undefined && before.currency !== amount.currency)
      throw new TypeError(`two currencies for the budget "${budget}"`);
    sums.set(budget, { currency: amount.currency, micros: (before?.micros ?? 0n) + amount.micros });
  }
  return sums;
}

/** A text where the tool cannot say. */
export function costsOf(rules: Pick<ToolRules, "costs">, args: Json): ReadonlyMap<string, Money> | string {
  try {
    return sumByBudget(rules.costs(args));
  } catch (error) {
    return `the tool's cost estimate failed: ${errorText(error)}`;
  }
}

export const reservedCosts = (costs: ReadonlyMap<string, Money>): readonly ReservedCost[] =>
  [...costs].map(([budget, amount]) => ({ budget, ...moneyToJson(amount) }));

/** For those who are asked. Whether it can be paid is looked at when it starts, and so is an estimate that fails. */
export function expectedCosts(rules: Pick<ToolRules, "costs">, args: Json): readonly ReservedCost[] {
  const costs = costsOf(rules, args);
  return typeof costs === "string" ? [] : reservedCosts(costs);
}
