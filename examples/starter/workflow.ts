// An agent that prepares an order, stops for a person, and orders what was agreed. `npx holdpoint run` runs it.
import type { Holdpoint } from "holdpoint";

type Task = { readonly item?: string; readonly people?: number };
type Order = { readonly item: string; readonly count: number };

const PRICE_USD = 3;
const usd = (amount: number) => ({ currency: "USD", micros: BigInt(Math.round(amount * 1_000_000)) });

/** Stands for a model. Put your own agent here: what it answers is recorded, and not asked for again. */
async function plan({ item = "notebook", people = 10 }: Task): Promise<Order> {
  return { item, count: people * 2 };
}

export default async function define(hp: Holdpoint) {
  await hp.budgets.limit("orders", usd(1_000));

  const reserve = hp.gate({
    name: "stock.reserve",
    policy: "approve",
    run: ({ item, count }: Order) => ({ reserved: `${count} × ${item}` }),
    undo: ({ item }) => console.error(`${item}: the reservation is taken back`),
  });

  const order = hp.gate({
    name: "order.place",
    policy: ({ args }) => (args.count > 100 ? "block" : "approve"),
    cost: ({ count }) => ({ budget: "orders", amount: usd(count * PRICE_USD) }),
    run: ({ item, count }: Order) => ({ ordered: `${count} × ${item}` }),
    undo: ({ item }) => console.error(`${item}: the order is cancelled`),
  });

  return hp.workflow("order", { rollbackEnabled: true }, async (ctx, task: Task) => {
    const planned = await ctx.step("plan", () => plan(task));
    await ctx.call(reserve, planned);
    const summary = `${planned.count} of ${planned.item}, ${planned.count * PRICE_USD} USD`;
    const { outputs } = await ctx.checkpoint("Review the order", { outputs: planned, summary });
    const placed = await ctx.call(order, outputs);
    if (placed.status !== "done") throw new Error(placed.reason);
    return placed.result;
  });
}
