/** HTTP routes of budgets: limit, reserved and spent amounts. */
import { z } from "zod";
import { actingPerson } from "../api/authenticate.ts";
import { ok, route } from "../api/route.ts";
import {
  bySchema,
  moneyAsMicrosText,
  moneySchema,
  nextCursor,
  pageOf,
  pageQuery,
  sealCursor,
} from "../api/wire.ts";
import { HoldpointError } from "../kernel/errors.ts";

import { type BudgetState, type BudgetSummary, getBudget, listBudgets, setBudget } from "./methods.ts";

const params = z.object({ name: z.string().min(1).max(128) });
const micros = z.string();
const standing = {
  name: z.string(),
  limit: moneySchema,
  spent_micros: micros,
  reserved_micros: micros,
  overrun_micros: micros,
};
const budgetSchema = z.object({
  ...standing,
  reservations: z.record(z.string(), micros).meta({ description: "micros by effect" }),
});

const rowSchema = z.object({
  ...standing,
  effects: z.number().meta({ description: "how many hold a part of it: under way, or in doubt" }),
});

const LIST = "budgets";

function standingOnWire({ name, limit, spent, reserved, overrun }: Omit<BudgetSummary, "effects">) {
  return {
    name,
    limit: moneyAsMicrosText(limit),
    spent_micros: String(spent),
    reserved_micros: String(reserved),
    overrun_micros: String(overrun),
  };
}

function budgetOnWire(name: string, { limit, reservations, ...state }: BudgetState) {
  if (limit === null) throw new HoldpointError("unknown_id", `There is no budget "${name}".`);
  const held = Object.entries(reservations).map(([effect, amount]) => [effect, String(amount)]);
  return { ...standingOnWire({ name, limit, ...state }), reservations: Object.fromEntries(held) };
}

export const budgetRoutes = [
  route({
    method: "GET",
    path: "/api/budgets",
    summary: "Budgets that were opened, in the order in which they came",
    tag: "budgets",
    scope: "budgets:read",
    query: z.strictObject(pageQuery),
    answers: { 200: z.object({ budgets: z.array(rowSchema), next_cursor: nextCursor }) },
    async handle({ runtime, query }) {
      const { items, next } = await listBudgets(runtime, pageOf(LIST, query));
      const budgets = items.map(({ effects, ...budget }) => ({ ...standingOnWire(budget), effects }));
      return ok({ budgets, next_cursor: sealCursor(LIST, next) });
    },
  }),
  route({
    method: "GET",
    path: "/api/budgets/{name}",
    summary: "A budget as it stands",
    tag: "budgets",
    scope: "budgets:read",
    params,
    answers: { 200: budgetSchema },
    handle: async ({ runtime, params: { name } }) => ok(budgetOnWire(name, await getBudget(runtime, name))),
  }),
  route({
    method: "PUT",
    path: "/api/budgets/{name}",
    summary: "Open a budget, or give it another limit",
    tag: "budgets",
    scope: "budgets:write",
    params,
    body: z.strictObject({ limit: moneySchema, by: bySchema }),
    answers: { 200: budgetSchema },
    async handle({ runtime, who, params: { name }, body }) {
      const { currency, micros: amount } = body.limit;
      const said = { by: actingPerson(who, body.by), via: who.via };
      await setBudget(runtime, name, { currency, micros: BigInt(amount) }, said);
      return ok(budgetOnWire(name, await getBudget(runtime, name)));
    },
  }),
];
