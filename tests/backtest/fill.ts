/** Makes a store with a history: refunds let through, blocked, asked about and decided by people, alone and in workflows. */
import { type Holdpoint, holdpoint, type PolicyInput, type Verdict } from "../../src/index.ts";

const LANES = 500;
const CALLS = 10;
/** So many of a hundred are calls of a workflow. */
const IN_WORKFLOWS = 10;

type Refund = { readonly user_id: number; readonly amount_usd: number; readonly reason: string };

/** In force while the history is made. */
export function refunds({ args }: Pick<PolicyInput, "args">): Verdict {
  const { amount_usd: amount } = args as Refund;
  if (amount > 1_000) return { verdict: "block", rule: "too_much", reason: "more than 1000 USD" };
  if (amount > 400) return { verdict: "escalate", rule: "large", reason: "more than 400 USD" };
  return { verdict: "approve", rule: "small" };
}

const refundOf = (number: number): Refund => ({
  user_id: number % 977,
  amount_usd: (number * 37) % 1_100,
  reason: `order ${number} did not arrive`,
});

function tools(hp: Holdpoint) {
  return hp.gate<Refund, unknown>({
    name: "issue_refund",
    effect: "idempotent",
    policy: refunds as never,
    cost: ({ amount_usd }) => ({
      budget: "refunds",
      amount: { currency: "USD", micros: BigInt(amount_usd) * 1_000_000n },
    }),
    run: ({ amount_usd }) => ({ refunded: amount_usd }),
  });
}

/** People say no to the largest, lower some, and agree to the rest. */
async function decide(hp: Holdpoint, approval: string, number: number, amount: number): Promise<void> {
  const by = number % 2 === 0 ? "person:ann" : "person:bob";
  if (amount > 900) await hp.approvals.reject(approval, { by, reason: "far too much" });
  else if (amount > 800) await hp.approvals.approve(approval, { by, edit: { amount_usd: 800 } });
  else await hp.approvals.approve(approval, { by });
}

async function alone(hp: Holdpoint, refund: ReturnType<typeof tools>, number: number): Promise<void> {
  const args = refundOf(number);
  const options = { requestId: `refund-${number}`, waitMs: 0 };
  const answer = await refund(args, options);
  if (!("code" in answer) || answer.approval === undefined || answer.approval === null) return;
  await decide(hp, answer.approval, number, args.amount_usd);
  await refund(args, options);
}

function inLanes(count: number, work: (number: number) => Promise<void>, lanes = LANES): Promise<unknown> {
  let next = 0;
  const lane = async () => {
    for (let number = next++; number < count; number = next++) await work(number);
  };
  return Promise.all(Array.from({ length: lanes }, lane));
}

/** So many actions, in an order that nobody has chosen. */
export async function fillHistory(
  folder: string,
  actions: number,
  progress: (done: number) => void = () => undefined,
): Promise<void> {
  const hp = holdpoint({ folder, agent: "support", notify: () => undefined });
  await hp.budgets.limit("refunds", { currency: "USD", micros: 10n ** 15n });
  const refund = tools(hp);
  const inFlows = Math.floor((actions * IN_WORKFLOWS) / 100 / CALLS);
  const flow = hp.workflow("orders", async (ctx, { first }: { readonly first: number }) => {
    for (let call = 0; call < CALLS; call++)
      await ctx.call(refund, { ...refundOf(first + call), amount_usd: (first + call) % 400 });
  });
  const others = actions - inFlows * CALLS;
  await inLanes(others, async (number) => {
    await alone(hp, refund, number);
    if (number % 10_000 === 0) progress(number);
  });
  await inLanes(inFlows, async (number) => void (await flow.run({ first: number * CALLS })), 100);
  await hp.close();
}
