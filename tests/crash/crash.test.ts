import assert from "node:assert/strict";
import { test } from "node:test";
import { faultsOf, type RunOptions } from "./summary.ts";
import { superviseRun } from "./supervise.ts";

const run = (options: Pick<RunOptions, "store" | "kills" | "serverCrashes">) =>
  superviseRun({ ...options, workers: 2, seed: "54" }, () => undefined);

test("processes on SQLite, killed 12 times: nothing lost, nothing doubled, nothing unexplained", async () => {
  const summary = await run({ store: "sqlite", kills: 12, serverCrashes: 0 });
  assert.deepEqual(faultsOf(summary), []);
  assert.ok(summary.kills >= 12, `only ${summary.kills} kills`);
  assert.ok(summary.applications > 50, `only ${summary.applications} applications`);
});

test("processes on PostgreSQL, killed 6 times and their server twice: nothing lost, doubled or unexplained", async () => {
  const summary = await run({ store: "postgres", kills: 6, serverCrashes: 2 });
  assert.deepEqual(faultsOf(summary), []);
  assert.ok(summary.kills >= 6, `only ${summary.kills} kills`);
  assert.equal(summary.serverCrashes, 2);
  assert.ok(summary.applications > 20, `only ${summary.applications} applications`);
});
