/** Calls of a workflow whose preview moves while people decide, or that were granted beforehand. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { grantVerbs } from "../../src/grants/verbs.ts";
import { bindLibrary } from "../../src/runtime/verb.ts";
import { ANN, office, question } from "./office.ts";

test("a call whose preview has moved goes back to people, and the workflow waits for their second answer", async () => {
  const place = office();
  const desk = place.open();
  const ran: number[] = [];
  let files = 3;
  const move = desk.gate({
    name: "move",
    preview: () => ({ files }),
    run: () => void ran.push(files),
  });
  const flow = desk.workflow("w", {}, (ctx, _: object) => ctx.call(move, {}));
  const { id } = await flow.start({});
  const first = await question(place, desk);
  files = 4;
  await desk.approvals.approve(first, ANN);
  await place.until(async () => (await desk.approvals.list()).items.some((item) => item.id !== first));
  const second = (await desk.approvals.list()).items[0]?.id ?? "";
  assert.deepEqual((await desk.approvals.get(second)).preview?.value, { files: 4 });
  assert.equal((await desk.approvals.get(first)).status, "lapsed");
  assert.deepEqual(ran, []);
  await desk.approvals.approve(second, ANN);
  const result = await place.finish(desk.workflows.result(id));
  assert.partialDeepStrictEqual(result, { status: "completed", result: { status: "done" } });
  assert.deepEqual(ran, [4]);
  await desk.close();
});

test("a call that was granted beforehand goes on without anybody, and its receipt says so in the workflow's answer", async () => {
  const place = office();
  const desk = place.open();
  const move = desk.gate({ name: "move", run: () => "moved" });
  const grant = await bindLibrary(async () => desk.runtime, grantVerbs).give({
    ...ANN,
    tool: "move",
    uses: 1,
    forMs: 60_000,
    reason: "routine",
  });
  const flow = desk.workflow("w", {}, (ctx, _: object) => ctx.call(move, {}));
  const result = await place.finish(flow.run({}));
  assert.partialDeepStrictEqual(result, {
    status: "completed",
    result: { status: "done", receipt: { grant: grant.id } },
  });
  await desk.close();
});
