import assert from "node:assert/strict";
import { test } from "node:test";
import { ANN, office, question, types, atRest } from "./office.ts";
test("smoke", async () => {
  const place = office();
  const desk = place.open();
  const done: string[] = [];
  const book = desk.gate({ name: "book", policy: "approve", undo: () => { done.push("undo"); }, run: (args: { room: string }) => { done.push(args.room); return 7; } });
  const flow = desk.workflow("w", {}, async (ctx, n: number) => {
    await ctx.call(book, { room: "A" });
    await ctx.sleep(100_000);
    const got = await ctx.checkpoint("Look", { outputs: { n } });
    return got.outputs.n + 1;
  });
  const handle = await flow.start(1);
  const id = await question(place, desk);
  await desk.approvals.reject(id, { ...ANN, reason: "no" });
  await place.until(async () => (await desk.workflows.get(handle.id)).generation === 2);
  await desk.approvals.approve(await question(place, desk), { ...ANN, edit: { n: 5 } });
  assert.deepEqual(await place.finish(handle.result()), { status: "completed", workflow: handle.id, result: 6 });
  console.log(types(await desk.entries(handle.id)), done, place.clock.now(), desk.notices);
  await desk.close();
});
