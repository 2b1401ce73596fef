// A workflow that the kill switch holds up says so, and what to type.
import assert from "node:assert/strict";
import { test } from "node:test";
import { temporaryFolder } from "../fixtures/folder.ts";
import { linesOf, runCli } from "./bench.ts";

test("`show` and `workflows` say what holds a workflow up, and how it is released", async (t) => {
  const folder = temporaryFolder(t);
  const hp = folder.open();
  await hp.pause({ by: "person:ann", reason: "drill" });
  const send = hp.gate({ name: "send", policy: "approve", run: () => "sent" });
  const flow = hp.workflow("flow", async (ctx, _: object) => (await ctx.call(send, {})).status);
  const { id, result } = await flow.start({});
  for await (const { type } of hp.workflows.follow(id, AbortSignal.timeout(60_000)))
    if (type === "workflow.suspended") break;
  const [shown, listed] = await Promise.all([
    runCli(folder, ["show", id]),
    runCli(folder, ["workflows", "--status", "executing"]),
  ]);
  assert.match(shown.out, /waits for +the kill switch of every agent to be released, to go on with/);
  assert.match(shown.out, /held: waits for the kill switch of every\s+agent to be released/);
  assert.ok(shown.out.includes('npx holdpoint resume --reason "…"'), shown.out);
  assert.equal(linesOf(listed.out)[0]?.split("\t").at(-1), "the kill switch of every agent to be released");
  await runCli(folder, ["resume", "--reason", "over"]);
  assert.partialDeepStrictEqual(await result(), { status: "completed", result: "done" });
});

test("one workflow is stopped and released by its id, and one that is not there is not", async (t) => {
  const folder = temporaryFolder(t);
  const hp = folder.open();
  const send = hp.gate({ name: "send", policy: "approve", run: () => "sent" });
  const flow = hp.workflow("flow", async (ctx, _: object) => {
    await ctx.checkpoint("Look", {});
    return (await ctx.call(send, {})).status;
  });
  const { id, result } = await flow.start({});
  const until = async (wanted: string) => {
    for await (const { type } of hp.workflows.follow(id, AbortSignal.timeout(60_000)))
      if (type === wanted) return;
  };
  await until("workflow.suspended");
  const stopped = await runCli(folder, ["pause", "--workflow", id, "--reason", "drill"]);
  assert.match(
    stopped.out,
    new RegExp(`the workflow ${id} starts nothing new until .holdpoint resume --workflow ${id}`),
  );
  const [question] = (await hp.approvals.list()).items;
  await hp.approvals.approve(question?.id ?? "", { by: "person:ann" });
  while (!(await hp.workflows.get(id)).waits.some(({ kind }) => kind === "held"))
    await until("workflow.suspended");
  const shown = await runCli(folder, ["show", id]);
  assert.ok(shown.out.includes(`npx holdpoint resume --workflow ${id} --reason "…"`), shown.out);
  const again = await runCli(folder, ["pause", "--workflow", id, "--reason", "drill", "--json"]);
  assert.partialDeepStrictEqual(JSON.parse(again.out), { paused: true, changed: false, workflow: id });
  const both = await runCli(folder, ["pause", "--workflow", id, "--agent", "x", "--reason", "drill"]);
  assert.equal(both.code, 2, both.err);
  const other = await runCli(folder, [
    "pause",
    "--workflow",
    "wf_01ARZ3NDEKTSV4RRFFQ69G5FAV",
    "--reason",
    "x",
  ]);
  assert.equal(other.code, 3, other.err);
  await runCli(folder, ["resume", "--workflow", id, "--reason", "over"]);
  assert.partialDeepStrictEqual(await result(), { status: "completed", result: "done" });
});
