/** An edit is reviewed under the policy that asked, wherever the person who makes it votes. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { ANN, office, question } from "./office.ts";

type Args = { readonly amount: number };

async function edited(amount: number) {
  const place = office();
  const desk = place.open();
  const ran: unknown[] = [];
  const run = (args: Args) => void ran.push(args);
  const pay = desk.gate({ name: "pay", policy: "approve", run });
  const policy = ({ args }: { args: Args }) => {
    if (args.amount <= 0)
      return { verdict: "block", rule: "positive", reason: "an amount is over 0" } as const;
    return "escalate";
  };
  const { id } = await desk
    .workflow("pays", { policy: policy as never }, (ctx) => ctx.call(pay, { amount: 9 }))
    .start({});
  const approval = await question(place, desk);
  await desk.approvals.approve(approval, { ...ANN, edit: { amount } });
  return { place, desk, id, approval, ran };
}

test("an edit that the workflow's policy asks about as before is approved by the vote that made it", async () => {
  const { place, desk, id, approval, ran } = await edited(3);
  await place.finish(desk.workflows.result(id));
  assert.deepEqual(ran, [{ amount: 3 }]);
  assert.equal((await desk.approvals.get(approval)).status, "consumed");
  assert.equal(await desk.approvals.count("any"), 1);
  await desk.close();
});

test("an edit that the workflow's policy blocks is refused with the rule, and nothing runs", async () => {
  const { place, desk, approval, ran } = await edited(0);
  const refused = await place.until(
    async () => (await desk.approvals.get(approval)).editRefused ?? undefined,
  );
  assert.partialDeepStrictEqual(refused, { by: "person:ann", rule: "positive" });
  assert.equal((await desk.approvals.get(approval)).status, "pending");
  assert.deepEqual(ran, []);
  await desk.close();
});
