import assert from "node:assert/strict";
import { test } from "node:test";
import { faultsOfWorkflows } from "./workflow/summary.ts";
import { superviseWorkflows } from "./workflow/supervise.ts";

test("120 workflows on SQLite, their processes killed at every named point: all end as if nothing had happened", async () => {
  const options = { store: "sqlite", workflows: 120, lives: 29, seed: "7" } as const;
  const summary = await superviseWorkflows(options, () => undefined);
  assert.deepEqual(faultsOfWorkflows(summary), []);
  assert.ok(summary.kills >= 26, `only ${summary.kills} kills`);
  assert.ok(summary.workflowsKilled > 40, `only ${summary.workflowsKilled} workflows were killed under way`);
});
