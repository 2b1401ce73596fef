import assert from "node:assert/strict";
import { test } from "node:test";
import type { WorkflowBody } from "../../src/index.ts";
import { ANN, atRest, office, question } from "./office.ts";

const inOrder: WorkflowBody<object, string> = async (ctx) => {
  await ctx.step("one", () => 1);
  await ctx.step("two", () => 2);
  await ctx.checkpoint("Look");
  return "in order";
};
const otherWay: WorkflowBody<object, string> = async (ctx) => {
  await ctx.step("two", () => 2);
  await ctx.step("one", () => 1);
  await ctx.checkpoint("Look");
  return "the other way";
};

test("a definition that asks for the same in another order is left alone, and said how it differs", async () => {
  const place = office();
  const before = place.open();
  const run = await before.workflow("flow", {}, inOrder).start({}, { requestId: "r" });
  const asked = await question(place, before);
  await atRest(place, before, run.id);
  await before.close();
  const after = place.open();
  after.workflow("flow", {}, otherWay);
  await after.work();
  await after.approvals.approve(asked, ANN);
  const { status, waits } = await atRest(place, after, run.id);
  assert.equal(status, "executing");
  assert.deepEqual(
    waits.map(({ kind, on }) => `${kind}: ${on}`),
    ['definition: the journal has step "one#1", the definition asks for step "two#1"'],
  );
  await after.close();
  const again = place.open();
  const end = await place.finish(
    (await again.workflow("flow", {}, inOrder).start({}, { requestId: "r" })).result(),
  );
  assert.equal(end.status === "completed" && end.result, "in order");
});

test("a process closes at once while a definition is being answered from the journal", async () => {
  const place = office();
  const before = place.open();
  const run = await before.workflow("flow", {}, inOrder).start({}, { requestId: "r" });
  const asked = await question(place, before);
  await atRest(place, before, run.id);
  await before.close();
  const after = place.open();
  after.workflow("flow", {}, () => new Promise<never>(() => undefined));
  await after.work();
  await after.approvals.approve(asked, ANN);
  await place.until(async () => (await after.workflows.get(run.id)).runner !== null);
  const began = place.clock.now();
  await place.finish(after.close());
  assert.ok(place.clock.now() - began < 5_000, "it does not wait for a definition that will never ask");
});
