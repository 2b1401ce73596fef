// A workflow that the kill switch holds up says so, and what to type.
import assert from "node:assert/strict";
import { test } from "node:test";
import { temporaryFolder } from "../fixtures/folder.ts";
import { linesOf, runCli } from "./bench.ts";

test("`show` and `workflows` say what holds a workflow up, and how it is released", async (t) => {
  const folder = temporaryFolder(t);
  const hp = folder.open();
  await hp.stop({ by: "person:ann", reason: "drill" });
  const send = hp.gate({ name: "send", policy: "approve", run: () => "sent" });
  const flow = hp.workflow("flow", async (ctx, _: object) => (await ctx.call(send, {})).executed);
  const { id, result } = await flow.start({});
  for await (const { type } of hp.workflows.follow(id, AbortSignal.timeout(60_000)))
    if (type === "workflow.suspended") break;
  const [shown, listed] = await Promise.all([
    runCli(folder, ["show", id]),
    runCli(folder, ["workflows", "--status", "executing"]),
  ]);
  assert.match(shown.out, /waits for +the kill switch of every agent to be released, to go on with/);
  assert.match(shown.out, /held: waits for the kill switch of every\s+agent to be released/);
  assert.ok(shown.out.includes('npx holdpoint go --reason "…"'), shown.out);
  assert.equal(linesOf(listed.out)[0]?.split("\t").at(-1), "the kill switch of every agent to be released");
  await runCli(folder, ["go", "--reason", "over"]);
  assert.partialDeepStrictEqual(await result(), { status: "completed", result: true });
});
