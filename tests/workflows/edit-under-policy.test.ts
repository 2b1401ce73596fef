/** An edit of a call is reviewed under the policy of its workflow too, whoever takes the vote. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Policy } from "../../src/effects/define-tool.ts";
import { ANN, type Desk, office, question } from "./office.ts";

const policy = (({ args }: { args: { amount: number } }) => {
  if (args.amount > 2000) return { verdict: "block", reason: "at most 2000", rule: "cap" };
  return args.amount > 1000
    ? { verdict: "escalate", reason: "large" }
    : { verdict: "approve", reason: "small" };
}) as unknown as Policy<never>;

function flowOn(desk: Desk, done: number[]) {
  const pay = desk.gate({
    name: "pay",
    policy: "approve",
    run: ({ amount }: { amount: number }) => void done.push(amount),
  });
  return desk.workflow("pay it", { policy }, (ctx, { amount }: { amount: number }) =>
    ctx.call(pay, { amount }),
  );
}

async function asked() {
  const place = office();
  const desk = place.open();
  const done: number[] = [];
  const handle = await flowOn(desk, done).start({ amount: 1200 });
  const approval = await question(place, desk);
  const end = async () => {
    const ended = await place.finish(handle.result());
    assert.ok(ended.status === "completed");
    return ended.result;
  };
  return { place, desk, done, approval, end };
}

describe("an edit of a call under its workflow's policy", () => {
  for (const amount of [800, 1500])
    test(`to ${amount} is asked about once, and runs by that approval`, async () => {
      const { desk, done, approval, end } = await asked();
      await desk.approvals.approve(approval, { ...ANN, edit: { amount } });
      const answer = await end();
      assert.ok(answer.status === "done");
      assert.deepEqual(done, [amount]);
      assert.partialDeepStrictEqual(answer.receipt, {
        approval,
        approvedBy: ["person:ann"],
        executedFrom: "human_revised",
      });
      await desk.close();
    });

  test("that this policy blocks is refused with its rule, and the question stays", async () => {
    const { place, desk, done, approval, end } = await asked();
    await desk.approvals.approve(approval, { ...ANN, edit: { amount: 3000 } });
    const refused = await place.until(
      async () => (await desk.approvals.get(approval)).editRefused ?? undefined,
    );
    assert.partialDeepStrictEqual(refused, { reason: "at most 2000" });
    assert.deepEqual(done, []);
    await desk.approvals.approve(approval, ANN);
    assert.equal((await end()).status, "done");
    assert.deepEqual(done, [1200]);
    await desk.close();
  });
});
