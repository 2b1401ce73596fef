/** Budgets: a limit, what is reserved and what was spent. */
import { z } from "zod";
import { HoldpointError } from "../../core/errors.ts";
import { type BudgetState, getBudget, setBudget } from "../../engine/operate.ts";
import { personOf } from "../person.ts";
import { ok, route } from "../route.ts";
import { bySchema, money, moneySchema } from "../wire.ts";

const params = z.object({ name: z.string().min(1).max(128) });
const micros = z.string();
const budgetSchema = z.object({
  name: z.string(),
  limit: moneySchema,
  spent_micros: micros,
  reserved_micros: micros,
  overrun_micros: micros,
  reservations: z.record(z.string(), micros).meta({ description: "micros by effect" }),
});

function budgetOnWire(name: string, { limit, spent, reserved, overrun, reservations }: BudgetState) {
  if (limit === null) throw new HoldpointError("unknown_id", `There is no budget "${name}".`);
  const held = Object.entries(reservations).map(([effect, amount]) => [effect, String(amount)]);
  return {
    name,
    limit: money(limit),
    spent_micros: String(spent),
    reserved_micros: String(reserved),
    overrun_micros: String(overrun),
    reservations: Object.fromEntries(held),
  };
}

export const budgetRoutes = [
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
      const said = { by: personOf(who, body.by), via: who.via };
      await setBudget(runtime, name, { currency, micros: BigInt(amount) }, said);
      return ok(budgetOnWire(name, await getBudget(runtime, name)));
    },
  }),
];
