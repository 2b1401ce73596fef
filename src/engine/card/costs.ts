/** What it would cost, and what is left of each budget now. */
import type { Money } from "../../core/money.ts";
import { budgetStream } from "../../core/stream.ts";
import { readState } from "../read-state.ts";
import type { Runtime } from "../runtime.ts";
import type { CardReview } from "./reviews.ts";

export type CardCost = {
  readonly budget: string;
  readonly amount: Money;
  /** Null where the budget was never opened, or is in another currency: it could not start. */
  readonly left: Money | null;
};

type Place = Pick<Runtime, "store" | "tenant">;

async function leftOf(place: Place, budget: string, currency: string): Promise<Money | null> {
  const { limit, spent, reserved } = await readState(place, budgetStream(budget));
  if (limit?.currency !== currency) return null;
  return { currency, micros: limit.micros - spent - reserved };
}

export function costsIn(
  place: Place,
  review: Pick<CardReview, "costs"> | undefined,
): Promise<readonly CardCost[]> {
  const costs = review?.costs ?? [];
  return Promise.all(
    costs.map(async ({ budget, ...cost }) => ({
      budget,
      amount: { currency: cost.currency, micros: BigInt(cost.micros) },
      left: await leftOf(place, budget, cost.currency),
    })),
  );
}
