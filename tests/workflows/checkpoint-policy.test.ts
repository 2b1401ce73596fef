/** What a checkpoint was declared with is kept to: how it is undone, and that people are asked. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { isHoldpointError } from "../../src/index.ts";
import type { CheckpointUndo } from "../../src/workflows/rules/checkpoints.ts";
import { reject } from "./kit.ts";
import { ANN, atRest, type Desk, office, question, reopen } from "./office.ts";

const flowWith = (desk: Desk, undo: CheckpointUndo) => {
  const checkpoints = [{ name: "Draft", requiresApproval: false, undo }];
  return desk.workflow("w", { checkpoints }, async (ctx, _: object) => {
    await ctx.checkpoint("Draft", { outputs: { words: 300 } });
    await ctx.sleep(1_000_000);
  });
};

describe("the undo of a checkpoint", () => {
  test("is asked about where its policy says so", async () => {
    const place = office();
    const desk = place.open();
    const done: unknown[] = [];
    const undo = { run: (outputs: object) => void done.push(outputs), policy: "escalate" } as const;
    const { id } = await flowWith(desk, undo).start({});
    await atRest(place, desk, id);
    await desk.workflows.rollback(id, { to: "start", after: "fail", ...ANN, reason: "no" });
    const asked = await question(place, desk);
    assert.deepEqual(done, [], "it waits for its approval");
    assert.equal((await desk.approvals.get(asked)).tool, "checkpoint.Draft.undo");
    await desk.approvals.approve(asked, ANN);
    await place.finish(desk.workflows.result(id));
    assert.deepEqual(done, [{ words: 300 }]);
    await desk.close();
  });

  test("that its policy blocks is not run, and the report says so", async () => {
    const place = office();
    const desk = place.open();
    const undo: CheckpointUndo = {
      run: () => assert.fail("it ran"),
      policy: ({ args }) => ({ verdict: "block", reason: `never ${JSON.stringify(args)}` }),
    };
    const { id } = await flowWith(desk, undo).start({});
    await atRest(place, desk, id);
    await desk.workflows.rollback(id, { to: "start", ...ANN, reason: "no" });
    const end = await place.finish(desk.workflows.result(id));
    const said = end.status === "failed" ? end.report?.notUndone.map(({ reason }) => reason) : [];
    assert.deepEqual(said, ['never {"args":{"checkpoint":"Draft"},"result":{"words":300}}']);
    await desk.close();
  });

  test("with a policy that is none is refused when it is declared", () => {
    const desk = office().open();
    for (const policy of ["maybe", { verdict: "revise" }])
      assert.throws(
        () => flowWith(desk, { run: () => 1, policy } as unknown as CheckpointUndo),
        (error) => isHoldpointError(error, "invalid_input"),
      );
  });
});

describe("a checkpoint that asked when its workflow was created", () => {
  const setUp = (checkpoints: readonly object[] | object) => (desk: Desk) =>
    desk.workflow("w", { checkpoints, complexity: () => "simple" } as never, async (ctx, _: object) => {
      await ctx.sleep(60_000);
      return (await ctx.checkpoint("Pay")).decision;
    });
  const pay = { name: "Pay" };
  const waved: readonly (readonly [string, readonly object[] | object])[] = [
    ["needs no approval any more", [{ ...pay, requiresApproval: false }]],
    ["is left out", { simple: { checkpoints: [] }, complex: { checkpoints: [pay] } }],
  ];
  for (const [what, changed] of waved)
    test(`asks although the definition says now that it ${what}`, async () => {
      const place = office();
      const first = place.open();
      const { id } = await setUp([pay])(first).start({});
      await atRest(place, first, id);
      const second = await reopen(place, first, setUp(changed));
      const asked = await question(place, second);
      await reject(second, asked, "no", { final: true });
      assert.partialDeepStrictEqual(await place.finish(second.workflows.result(id)), { code: "rejected" });
      await second.close();
    });

  test("is judged by the conditions that the definition has now", async () => {
    const place = office();
    const first = place.open();
    const { id } = await setUp([pay])(first).start({});
    await atRest(place, first, id);
    const second = await reopen(place, first, setUp([{ ...pay, when: () => false }]));
    assert.partialDeepStrictEqual(await place.finish(second.workflows.result(id)), { result: "passed" });
    await second.close();
  });
});
