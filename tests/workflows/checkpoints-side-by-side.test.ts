import assert from "node:assert/strict";
import { test } from "node:test";
import { ANN, office, question } from "./office.ts";

test("two branches at checkpoints of their own are asked one after the other, also when the first is decided at once", async () => {
  const place = office();
  const desk = place.open();
  const held = Promise.withResolvers<number>();
  const times = new Set<number>();
  const flow = desk.workflow("two", {}, async (ctx, _: object) =>
    ctx.parallel([
      async (own) => (await own.checkpoint("left")).decision,
      async (own) => {
        times.add(own.now());
        return (await own.checkpoint("right")).decision;
      },
      // Keeps the run in memory while the first checkpoint is decided.
      (own) => own.step("long", () => held.promise),
    ]),
  );
  const run = await flow.start({});
  await desk.approvals.approve(await question(place, desk), ANN);
  held.resolve(1);
  await desk.approvals.approve(await question(place, desk), ANN);
  const end = await place.finish(run.result());
  assert.equal(end.status === "completed" && end.result.join(), "approved,approved,1");
  assert.equal(times.size, 1, "what was given out before a checkpoint that had to wait is recorded with it");
});
