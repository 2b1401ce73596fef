/** Verbs of budgets, with their routes and schemas. */
import { z } from "zod";
import { contract, listVerb, plainVerb, verb } from "../kernel/contract.ts";
import { actorOfAnyKind, micros, moneyAmount, moneyWithoutPeriod } from "../kernel/values.ts";

const PERIOD =
  "The limit of a budget has a period, and budgets have none yet: a limit holds for as long as its budget. Open a budget of its own for each period, such as refunds-2026-07.";
const limit = moneyWithoutPeriod(PERIOD)
  .refine(({ micros: amount }) => amount >= 0n, { error: "A limit is at least 0." })
  .describe("what may be spent and reserved together");

const amounts = {
  name: z.string(),
  limit: moneyAmount,
  spent: micros,
  reserved: micros,
  /** Spent beyond the reserved amounts, because a tool's estimate was too low. */
  overrun: micros,
};
const budget = z.object({
  ...amounts,
  reservations: z.record(z.string(), micros).describe("micros by effect"),
});
const summary = z.object({
  ...amounts,
  effects: z.number().describe("number of effects, running or in doubt, that hold a reservation"),
});

export const budgets = contract({
  name: "budgets",
  owner: "budget",
  verbs: {
    list: listVerb({
      http: "GET /api/budgets",
      summary: "Budgets that were opened, oldest first",
      filters: {},
      item: summary,
    }),
    get: plainVerb({
      http: "GET /api/budgets/{name}",
      summary: "Limit, spent, reserved and overrun amounts of a budget, and its reservations",
      output: budget,
    }),
    limit: verb({
      http: "PUT /api/budgets/{name}",
      summary: "Opens a budget, or changes its limit",
      takes: "limit",
      positional: "limit",
      input: z.strictObject({ limit, by: actorOfAnyKind.optional() }),
      output: budget,
    }),
  },
});

export type Budget = z.output<typeof budget>;
export type BudgetSummary = z.output<typeof summary>;
