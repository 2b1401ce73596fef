/** What a workflow waits for may come in the very moment before it has said that it waits. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { type Holdpoint, holdpoint } from "../../../src/index.ts";
import { workflowStream } from "../../../src/kernel/stream.ts";
import type { CrashPoint } from "../../../src/runtime/runtime.ts";
import { runCommand } from "../../../src/runtime/store-access.ts";
import { buildCreation, defineWorkflow } from "../../../src/workflows/define.ts";
import { workflowState } from "../../../src/workflows/read.ts";
import { createWorkflow } from "../../../src/workflows/rules/create.ts";
import { openRun, readNews, releaseRun } from "../../../src/workflows/run/run.ts";
import { workflowVerbs } from "../../../src/workflows/verbs.ts";
import { machine } from "../../fixtures/runtime.ts";

type Reach = (hp: Holdpoint, point: CrashPoint) => Promise<void>;

function open(t: TestContext, reach: Reach): Holdpoint {
  const folder = mkdtempSync(join(tmpdir(), "holdpoint-wake-"));
  const hp: Holdpoint = holdpoint({
    folder,
    keyFile: join(folder, "key.json"),
    notify: () => undefined,
    reach: (point) => reach(hp, point),
  });
  t.after(async () => {
    await hp.close();
    rmSync(folder, { recursive: true, force: true });
  });
  return hp;
}

const ann = { by: "person:ann" };

/** At a point, once there is something to decide: decides it there and then. */
function decideAt(wanted: CrashPoint, tool: string): Reach {
  return async (hp, point) => {
    if (point !== wanted) return;
    const { items } = await hp.approvals.list();
    for (const item of items) if (item["tool"] === tool) await hp.approvals.approve(item.id, ann);
  };
}

test("a call that was approved before its workflow had noted that it waits goes on", async (t) => {
  const hp = open(t, decideAt("after_start", "gift.send"));
  const send = hp.gate({ name: "gift.send", policy: "escalate", run: () => "sent" });
  const gift = hp.workflow("gift", async (ctx) => (await ctx.call(send, {})).status);
  const { status } = await gift.run({});
  assert.equal(status, "completed");
});

test("a compensation that was approved before the rollback had noted that it waits goes on", async (t) => {
  const hp = open(t, decideAt("after_start", "gift.send.undo"));
  const send = hp.gate({
    name: "gift.send",
    policy: "approve",
    run: () => "sent",
    undo: { policy: "escalate", run: () => undefined },
  });
  const gift = hp.workflow("gift", { rollbackEnabled: true }, async (ctx) => {
    await ctx.call(send, {});
    throw new Error("after all");
  });
  const result = await gift.run({});
  assert.equal(result.status === "failed" && result.code, "error");
});

test("a compensation in doubt that was resolved before the rollback had noted that it waits goes on", async (t) => {
  const hp = open(t, async (one, point) => {
    if (point !== "after_compensation") return;
    const { items } = await one.actions.list({ phase: "in_doubt" });
    for (const { effect } of items)
      await one.actions.resolve(String(effect), { ...ann, status: "applied", reason: "seen" });
  });
  const send = hp.gate({
    name: "gift.send",
    policy: "approve",
    run: () => "sent",
    undo: () => {
      throw new Error("no answer");
    },
  });
  const gift = hp.workflow("gift", { rollbackEnabled: true }, async (ctx) => {
    await ctx.call(send, {});
    throw new Error("after all");
  });
  const result = await gift.run({});
  assert.equal(result.status === "failed" && result.code, "error");
});

test("a workflow is not let go of when something is seen after it was found to wait", async (t) => {
  const { runtime, close } = machine().process();
  t.after(close);
  const definition = defineWorkflow("gift", {}, async () => undefined);
  const { id: epoch } = await runtime.epoch();
  const creation = buildCreation(runtime, definition, {}, { requestId: null, epoch });
  const { workflow } = creation;
  await runCommand(runtime, { write: [workflowStream(workflow)] }, (draft) =>
    createWorkflow(draft, creation),
  );
  const run = await openRun(runtime, definition, workflow, await workflowState(runtime, workflow));
  const nowhere = { id: workflow, ...ann, reason: "no", to: "nowhere", after: "again" } as const;
  await assert.rejects(workflowVerbs.verbs.rollback.perform({ runtime, how: {} }, nowhere));
  const seen = readNews(run);
  const wait = { op: `${workflow}/1//Plan#1`, kind: "checkpoint", on: "apr", until: null } as const;
  assert.equal(await releaseRun(run, [wait]), false);
  await seen;
  assert.equal(await releaseRun(run, [wait]), true);
});
