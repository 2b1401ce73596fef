/** Checkpoints that several people decide one after the other, and what happens when nobody does in time. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { isHoldpointError } from "../../src/kernel/errors.ts";
import type { CheckpointDefinition } from "../../src/workflows/rules/checkpoints.ts";
import { ANN, BOB, office, question } from "./office.ts";

const CAT = { by: "person:cat" };

async function reached(definition: Omit<CheckpointDefinition, "name">) {
  const place = office();
  const desk = place.open();
  const checkpoints = [{ name: "Look", ...definition }];
  const flow = desk.workflow("w", { checkpoints, attempts: 1 }, async (ctx, _: object) =>
    ctx.checkpoint("Look", { outputs: { n: 1 } }),
  );
  const { id } = await flow.start({});
  const approval = await question(place, desk);
  return { place, desk, id, approval, end: () => place.finish(desk.workflows.result(id)) };
}

const STAGES = { stages: [{ from: [ANN.by, BOB.by] }, { from: [CAT.by] }] };

describe("a checkpoint with stages", () => {
  test("is passed when the last one has agreed, and names everybody", async () => {
    const { desk, approval, id, end } = await reached(STAGES);
    await desk.approvals.approve(approval, ANN);
    assert.equal((await desk.workflows.get(id)).status, "awaiting_approval");
    await desk.approvals.approve(approval, CAT);
    const result = await end();
    assert.partialDeepStrictEqual(result, {
      status: "completed",
      result: { decision: "approved", by: [ANN.by, CAT.by] },
    });
    await desk.close();
  });

  test("begins again with the first when somebody of the second changes the outputs", async () => {
    const { desk, approval, end } = await reached(STAGES);
    await desk.approvals.approve(approval, ANN);
    await desk.approvals.approve(approval, { ...CAT, edit: { n: 2 } });
    const asked = await desk.approvals.get(approval);
    assert.partialDeepStrictEqual(asked, { stage: 1, votes: [], args: { n: 2 }, status: "pending" });
    await desk.approvals.approve(approval, BOB);
    await desk.approvals.approve(approval, CAT);
    assert.partialDeepStrictEqual(await end(), {
      result: { decision: "modified", outputs: { n: 2 }, by: [BOB.by, CAT.by] },
    });
    await desk.close();
  });

  test("ends at a rejection in the second", async () => {
    const { desk, approval, end } = await reached(STAGES);
    await desk.approvals.approve(approval, ANN);
    await desk.approvals.reject(approval, { ...CAT, reason: "not like this" });
    assert.partialDeepStrictEqual(await end(), { status: "failed" });
    await desk.close();
  });

  test("is handed over when its time is up, and still decided", async () => {
    const { place, desk, approval, end } = await reached({
      ...STAGES,
      timeoutSeconds: 60,
      onTimeout: "escalate",
    });
    await place.clock.set(place.clock.now() + 61_000);
    await desk.approvals.approve(approval, CAT);
    assert.partialDeepStrictEqual(await end(), { result: { decision: "approved", by: [CAT.by] } });
    await desk.close();
  });

  test("that nobody could pass is refused when the workflow is started", async () => {
    await assert.rejects(reached({ stages: [{ from: [ANN.by] }, { from: [ANN.by] }] }), (error) =>
      isHoldpointError(error, "unsatisfiable_quorum"),
    );
  });
});
