import assert from "node:assert/strict";
import { test } from "node:test";
import { layersOf } from "./snapshot-layers.ts";

test("a snapshot is taken apart into its three layers, and nothing of it is lost", () => {
  const snapshot = {
    approval_interface: { summary: "Go?", confidence: 0.5, artifacts: [1] },
    task_state: { inputs: {} },
  };
  const layers = layersOf(snapshot);
  assert.equal(layers.approver.summary, "Go?");
  assert.equal(layers.approver.confidence, 0.5);
  assert.deepEqual(layers.approver.rest, { artifacts: [1] });
  assert.deepEqual(layers.task, { inputs: {} });
  assert.equal(layers.execution, null);
  assert.equal(layers.whole, snapshot);
});

test("what is of another shape than expected is no error", () => {
  assert.equal(layersOf(null).approver.summary, null);
  assert.equal(layersOf({ approval_interface: { summary: 3 } }).approver.summary, null);
});
