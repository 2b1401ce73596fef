import assert from "node:assert/strict";
import { test } from "node:test";
import { isNothing, reachOf } from "./reach.ts";

const call = (tool: string, phase: string, undo: "yes" | "no" | "nothing" | "unknown") => ({
  ...{ action_id: `act_${tool}`, tool, phase, at: "2026-01-01T00:00:00.000Z", undo },
});

test("what cannot be taken back, what can, and what nobody knows are told apart", () => {
  const reach = reachOf([
    call("mail", "applied", "no"),
    call("pay", "applied", "yes"),
    call("step", "applied", "unknown"),
    call("read", "applied", "nothing"),
    call("lost", "in_doubt", "yes"),
    call("asked", "waiting", "yes"),
    call("refused", "refused", "yes"),
  ]);
  assert.deepEqual(
    Object.entries(reach).map(([name, calls]) => [name, calls.map(({ tool }) => tool)]),
    [
      ["stays", ["mail"]],
      ["undone", ["pay"]],
      ["unknown", ["step"]],
      ["inDoubt", ["lost"]],
      ["underWay", []],
      ["withdrawn", ["asked"]],
    ],
  );
});

test("what only read, or was refused, leaves nothing to do", () => {
  assert.ok(isNothing(reachOf([call("read", "applied", "nothing"), call("no", "refused", "yes")])));
});
