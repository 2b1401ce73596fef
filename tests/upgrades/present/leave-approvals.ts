/** Approvals in every state in which they wait; money, a grant and effects that they lead to. */
import type { GatedTool, Holdpoint } from "../../../src/index.ts";
import type { definePresent } from "./definitions.ts";

type Args = Record<string, unknown>;
export type Leaving = {
  readonly hp: Holdpoint;
  readonly tools: ReturnType<typeof definePresent>;
  readonly ran: (line: string) => void;
};

const ANN = { by: "person:ann" };
const DAY_MS = 24 * 3_600_000;
const usd = (micros: bigint) => ({ currency: "USD", micros });

export async function ask(tool: GatedTool<Args, unknown>, requestId: string, args: Args = {}) {
  const answer = await tool({ requestId, ...args }, { requestId, waitMs: 0 });
  if (answer.status !== "pending") throw new Error(`${requestId} is ${answer.status}, not pending`);
  return String(answer.approval);
}

export async function leaveApprovals({ hp, tools }: Leaving) {
  const left = {
    pending: await ask(tools.pay, "pending"),
    approved: await ask(tools.pay, "approved"),
    modified: await ask(tools.pay, "modified", { amount: 9 }),
    large: await ask(tools.pay, "large", { text: "x".repeat(100_000) }),
    quorum: await ask(tools.both, "quorum"),
    staged: await ask(tools.staged, "staged"),
  };
  await hp.approvals.approve(left.approved, ANN);
  await hp.approvals.approve(left.modified, { ...ANN, edit: { amount: 5 } });
  await hp.approvals.approve(left.quorum, ANN);
  await hp.approvals.approve(left.staged, ANN);
  return left;
}

/** One that Bob decides for Ann, and one whose time is up before anyone decides. */
export async function leaveMoreApprovals({ hp, tools }: Leaving) {
  const delegated = await ask(tools.mine, "delegated");
  await hp.approvals.delegate(delegated, { ...ANN, to: "person:bob", reason: "on holiday" });
  const expired = await ask(tools.soon, "expired");
  return { delegated, expired };
}

/** Money that is spent and reserved, a grant that is partly used, an effect in doubt, and a result of over 64 KiB. */
export async function leaveEffects({ hp, tools, ran }: Leaving) {
  await hp.budgets.limit("trip", usd(7_000_000n));
  await tools.spend({ n: 1 }, { requestId: "spend 1" });
  const doubts = hp.gate({
    ...{ name: "doubts", policy: "approve" },
    cost: () => ({ budget: "trip", amount: usd(2_000_000n) }),
    run: (_: Args) => {
      ran("lost");
      throw new Error("no answer");
    },
  });
  const answer = await doubts({}, { requestId: "doubts" });
  await ask(tools.refund, "asked before the grant");
  const offer = { tool: "refund", uses: 3, forMs: 90 * DAY_MS, ...ANN, reason: "small ones" };
  const { id: grant } = await hp.grants.give(offer);
  await tools.refund({ n: 1 }, { requestId: "refund 1" });
  await tools.report({}, { requestId: "report" });
  return { effect: answer.status === "in_doubt" ? answer.effect : "", grant };
}
