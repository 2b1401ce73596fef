// Small refunds go through, larger ones ask a person, who may lower the amount. Run it as it is: it plays both sides.
import { holdpoint } from "holdpoint";
import { z } from "zod";

const hp = holdpoint({ notify: () => {} });

const refund = hp.gate({
  name: "refund",
  input: z.object({ order: z.string(), amount: z.number().positive().max(1000) }),
  policy: ({ args }) =>
    args.amount <= 100
      ? { verdict: "approve", rule: "small" }
      : { verdict: "escalate", rule: "large", reason: `${args.amount} is more than 100` },
  run: ({ order, amount }) => `refunded ${amount} for ${order}`,
});

const run = new Date().toISOString();
const small = await refund({ order: "A1", amount: 40 }, { requestId: `A1 ${run}` });
console.log(small.status, small.status === "done" && small.result);

// An agent would wait here. `waitMs: 0` answers at once that a person has to decide.
const large = { order: "B2", amount: 900 };
const asked = await refund(large, { requestId: `B2 ${run}`, waitMs: 0 });
if (asked.status !== "pending" || asked.approval === null) throw new Error("a person should have been asked");

await hp.approvals.approve(asked.approval, { by: "person:ann", edit: { amount: 300 }, note: "half is fair" });
const answer = await refund(large, { requestId: `B2 ${run}` });
if (answer.status === "done")
  console.log(answer.result, answer.receipt.executedFrom, answer.receipt.approvedBy);
await hp.close();
