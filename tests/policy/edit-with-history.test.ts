import assert from "node:assert/strict";
import { test } from "node:test";
import { ANN, office, question } from "../workflows/office.ts";

test("an edit is reviewed at once, also under a policy that looks at what its workflow did before", async () => {
  const place = office();
  const desk = place.open();
  const run: number[] = [];
  const pay = desk.gate({
    name: "pay",
    policy: ({ history }) => (history.length < 9 ? { verdict: "escalate", rule: "asks" } : "block"),
    run: ({ amount }: { readonly amount: number }) => void run.push(amount),
  });
  const flow = desk.workflow("w", {}, async (ctx, _: object) => {
    await ctx.call(pay, { amount: 1 });
    await ctx.call(pay, { amount: 5 });
  });
  const { id } = await flow.start({});
  for (const amount of [2, 7]) {
    const decided = await desk.approvals.approve(await question(place, desk), { ...ANN, edit: { amount } });
    assert.equal(decided.status, "modified");
  }
  await place.finish(desk.workflows.result(id));
  assert.deepEqual(run, [2, 7]);
  await desk.close();
});
