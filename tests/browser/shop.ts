/** A small shop whose agent refunds, deletes and plans trips: what a server declares for tests in which people decide. */
import { z } from "zod";
import type { Client } from "../../src/client/client.ts";
import type { Holdpoint } from "../../src/index.ts";

const refund = z.object({
  order: z.string(),
  amount_usd: z.number().positive().max(5_000),
  reason: z.enum(["damaged", "late"]),
});
type Refund = z.output<typeof refund>;

/** What ran, as it ran: a name and its arguments. */
export type Shop = { readonly done: string[]; readonly define: (hp: Holdpoint) => unknown };

export function openShop(): Shop {
  const done: string[] = [];
  const define = (hp: Holdpoint) => {
    hp.gate({
      name: "shop.refund",
      input: refund,
      effect: "keyed",
      policy: ({ args }: { readonly args: Refund }) =>
        args.amount_usd > 1_000
          ? { verdict: "block", rule: "cap", reason: "no refund is over 1000 USD" }
          : {
              verdict: "escalate",
              rule: "asks",
              reason: "money leaves the house",
              decideWithinMs: 3_600_000,
            },
      run: ({ order, amount_usd }) => {
        done.push(`refund ${order} ${amount_usd}`);
        return { order };
      },
    });
    hp.gate({
      name: "shop.wipe",
      policy: { verdict: "escalate", approvers: { quorum: 2 } },
      run: () => void done.push("wipe"),
    });
    hp.gate({
      name: "shop.look",
      effect: "read",
      policy: { verdict: "escalate", rule: "private", reason: "orders are private" },
      run: () => ({ orders: 2 }),
    });
    const book = hp.gate({
      name: "trip.book",
      policy: "approve",
      undo: ({ hotel }: { readonly hotel: string }) => void done.push(`cancel ${hotel}`),
      run: ({ hotel }: { readonly hotel: string }) => {
        done.push(`book ${hotel}`);
        return { hotel };
      },
    });
    hp.workflow("trip", async (ctx, input: { readonly hotel: string }) => {
      const hotel = ctx.attempt === 1 ? input.hotel : "Station";
      await ctx.call(book, { hotel });
      const { outputs } = await ctx.checkpoint("Plan", {
        summary: `One room at the ${hotel}, three nights`,
        outputs: { hotel, nights: 3 },
        confidence: 0.8,
      });
      return outputs;
    });
  };
  return { done, define };
}

export type Asked = { readonly action: string; readonly approval: string };

let orders = 0;

/** An agent asks for a refund over HTTP, with its key. */
export async function askRefund(agent: Client, amount = 40, says = "It arrived broken."): Promise<Asked> {
  orders += 1;
  const answer = await agent.actions.propose({
    tool: "shop.refund",
    args: { order: `A-${orders}`, amount_usd: amount, reason: "damaged" },
    rationale: says,
  });
  if (answer.status !== "pending" || answer.waiting_for !== "approval")
    throw new Error(`it does not wait: ${answer.status}`);
  return { action: answer.action_id, approval: answer.approval_id };
}
