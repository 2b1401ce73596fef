import type { Outcome, Scenario } from "./scenario.ts";
import { resultOf, usd, workflowNameOf } from "./scenario.ts";

type Order = { readonly shares: number; readonly priceUsd: number };

const CHECKPOINT = "Review the trade";
/** What the market does in this story, once the order is through. */
const DROP_PERCENT = 20;

export const trade: Scenario = {
  name: "trade",
  title: "A trade before a fall",
  task: "Read the market, and trade on what you see.",
  mistake: "The agent saw a chance and put all of it on one share; the market fell by 20 %.",
  input: { shares: 1_000, priceUsd: 50 },
  hint: "modify, and set shares to 500",
  corrects: [{ kind: "modify", edit: { shares: 500 }, note: "The market is nervous: half of it." }],
  rejects: { kind: "reject", reason: "No new positions this week.", final: true },
  define(hp, { supervised, say }) {
    const reserve = hp.gate({
      name: "funds.reserve",
      policy: "approve",
      undo: ({ amountUsd }) => say(`${usd(amountUsd)} are released.`),
      run: ({ amountUsd }: { amountUsd: number }) => {
        say(`${usd(amountUsd)} are set aside for the trade.`);
        return { reservation: "F-1" };
      },
    });
    const buy = hp.gate({
      name: "shares.buy",
      policy: "approve",
      run: ({ shares, priceUsd }: Order) => {
        say(`${shares.toLocaleString("en-US")} shares are bought at ${priceUsd} USD.`);
        return { shares, paidUsd: shares * priceUsd };
      },
    });
    const options = { checkpoints: [{ name: CHECKPOINT, requiresApproval: supervised }] };
    return hp.workflow(workflowNameOf("trade", supervised), options, async (ctx, input): Promise<Outcome> => {
      const plan = await ctx.step("read the market", () => input as Order);
      const amountUsd = plan.shares * plan.priceUsd;
      await ctx.call(reserve, { amountUsd });
      const summary = `The share is cheap. Buy ${plan.shares.toLocaleString("en-US")} at ${plan.priceUsd} USD: ${usd(amountUsd)}.`;
      const { outputs } = await ctx.checkpoint(CHECKPOINT, { outputs: plan, summary, confidence: 0.7 });
      const { shares, paidUsd } = resultOf(await ctx.call(buy, outputs));
      const drop = await ctx.step("the market closes", () => {
        say(`The market falls by ${DROP_PERCENT} %.`);
        return DROP_PERCENT;
      });
      const costUsd = (paidUsd * drop) / 100;
      return { costUsd, told: `${shares.toLocaleString("en-US")} shares lost ${drop} % of their price` };
    });
  },
};
