import type { Outcome, Scenario } from "./scenario.ts";
import { resultOf, usd, workflowNameOf } from "./scenario.ts";

type Task = { readonly people: number; readonly priceUsd: number };
type Order = { readonly pizzas: number; readonly priceUsd: number };

const CHECKPOINT = "Review the food order";

/** "Pizza for 10" is read as ten for each of the ten. */
const planned = (people: number): number => people * people;

export const pizza: Scenario = {
  name: "pizza",
  title: "A hundred pizzas",
  task: "Book a meeting room, and order pizza for 10 people at 12 USD each.",
  mistake: "The agent multiplied: 100 pizzas for 10 people, 90 of them for nobody.",
  input: { people: 10, priceUsd: 12 },
  hint: "modify, and set pizzas to 10",
  corrects: [{ kind: "modify", edit: { pizzas: 10 }, note: "Ten people eat ten pizzas." }],
  rejects: { kind: "reject", reason: "The lunch is off; we meet somewhere else.", final: true },
  define(hp, { supervised, say }) {
    const book = hp.gate({
      name: "room.book",
      policy: "approve",
      undo: ({ room }) => say(`The booking of ${room} is cancelled.`),
      run: ({ room, people }: { room: string; people: number }) => {
        say(`${room} is booked for ${people} people.`);
        return { booking: `${room}-1` };
      },
    });
    const order = hp.gate({
      name: "pizza.order",
      policy: "approve",
      undo: ({ pizzas }) => say(`The order of ${pizzas} pizzas is cancelled.`),
      run: ({ pizzas, priceUsd }: Order) => {
        say(`${pizzas} pizzas at ${priceUsd} USD are ordered.`);
        return { paidUsd: pizzas * priceUsd };
      },
    });
    const options = { checkpoints: [{ name: CHECKPOINT, requiresApproval: supervised }] };
    return hp.workflow(workflowNameOf("pizza", supervised), options, async (ctx, input): Promise<Outcome> => {
      const { people, priceUsd } = input as Task;
      await ctx.call(book, { room: "Room Aquarium", people });
      const pizzas = await ctx.step("plan the food", () => planned(people));
      const plan: Order = { pizzas, priceUsd };
      const summary = `Pizza for ${people}: ${pizzas} pizzas at ${priceUsd} USD, ${usd(pizzas * priceUsd)} in all.`;
      const { outputs } = await ctx.checkpoint(CHECKPOINT, { outputs: plan, summary, confidence: 0.9 });
      const { paidUsd } = resultOf(await ctx.call(order, outputs));
      return { costUsd: paidUsd, told: `${outputs.pizzas} pizzas for ${people} people` };
    });
  },
};
