/** Budgets that were opened. What they come to is read from their streams: a row that said it would be written with every effect. */
import type { BudgetState } from "../core/budget.ts";

export const budgetsView = {
  view: "budgets",
  kind: "budget",
  version: 1,
  /** All of the same time, so that they are ordered by the age of their streams. */
  row(_id: string, { limit }: BudgetState) {
    return limit === null ? undefined : { bucket: "open", at: 0, due: null, data: {} };
  },
  isSame: (before: BudgetState, after: BudgetState) => (before.limit === null) === (after.limit === null),
} as const;
