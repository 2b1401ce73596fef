import assert from "node:assert/strict";
import { test } from "node:test";
import { ANN, type Desk, type Office, office, question } from "./office.ts";

/** Every operation depends on which attempt it is, and why. */
function declare(desk: Desk, seen: string[]) {
  const note = desk.gate({
    name: "note",
    policy: "approve",
    effect: "idempotent",
    run: ({ text }: { text: string }) => void seen.push(text),
    undo: "nothing",
  });
  return desk.workflow("flow", {}, async (ctx, _: object) => {
    const say = (place: string) =>
      ctx.call(note, { text: `${place} ${ctx.attempt} ${ctx.sentBack?.reason ?? "-"}` });
    await say("start");
    await ctx.checkpoint("First");
    await say("after First");
    await ctx.checkpoint("Second");
    await say("after Second");
    await ctx.checkpoint("Third");
    return ctx.attempt;
  });
}

async function reject(place: Office, desk: Desk, reason: string): Promise<void> {
  await desk.approvals.reject(await question(place, desk), { ...ANN, reason });
}
const approve = async (place: Office, desk: Desk) =>
  void (await desk.approvals.approve(await question(place, desk), ANN));

test("what was done before the checkpoint that it went back to was done in the attempt of that time", async () => {
  const place = office();
  const desk = place.open();
  const seen: string[] = [];
  const run = await declare(desk, seen).start({});
  await approve(place, desk);
  await reject(place, desk, "too long");
  await approve(place, desk);
  await reject(place, desk, "too short");
  await approve(place, desk);
  const end = await place.finish(run.result());
  assert.equal(end.status === "completed" && end.result, 3);
  assert.deepEqual(seen, [
    "start 1 -",
    "after First 1 -",
    "after First 2 too long",
    "after Second 2 too long",
    "after Second 3 too short",
  ]);
  assert.deepEqual(
    desk.notices.filter(({ kind }) => kind === "definition_changed"),
    [],
  );
});

test("a fork goes on as its origin did at that place, and is sent back on its own account", async () => {
  const place = office();
  const desk = place.open();
  const seen: string[] = [];
  const run = await declare(desk, seen).start({});
  await approve(place, desk);
  await reject(place, desk, "too long");
  await approve(place, desk);
  await question(place, desk);
  await desk.workflows.cancel(run.id, { ...ANN, reason: "it was a rehearsal" });
  const fork = await desk.workflows.fork(run.id, { at: "Second" });
  await reject(place, desk, "of the fork");
  await approve(place, desk);
  const end = await place.finish(desk.workflows.result(fork));
  assert.equal(end.status, "completed");
  assert.deepEqual(seen.slice(-3), [
    "after Second 2 too long",
    "after Second 2 too long",
    "after Second 2 of the fork",
  ]);
});
