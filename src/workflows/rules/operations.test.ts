import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { JsonObject } from "../../kernel/json.ts";
import { applyEntry, emptyTable } from "./operations.ts";

const ENTRIES: readonly (readonly [string, JsonObject])[] = [
  ["question.asked", { op: "wf/1/a/how much#1", approval: "apr_1" }],
  ["checkpoint.passed", { op: "wf/1/b/look#1", outputs: {}, why: "" }],
  ["question.answered", { op: "wf/1/a/how much#1", approval: "apr_1", status: "answered", answer: 7 }],
  ["sleep.began", { op: "wf/1/b/sleep#1", until: 1 }],
  ["sleep.ended", { op: "wf/1/b/sleep#1" }],
  ["rollback.began", { to: "wf/1/b/look#1", toSeq: 2, by: "a", reason: "b", rejected: null }],
  ["rollback.ended", { undone: [], irreversible: [], generation: 2, toSeq: 2, after: "again" }],
];

describe("a table of operations after a rollback", () => {
  const table = emptyTable();
  ENTRIES.forEach(([type, body], index) => {
    applyEntry(table, { type, body, seq: index + 1, at: 0 });
  });

  test("keeps the answer to what was asked before the checkpoint, whenever it came", () => {
    assert.deepEqual(
      table.deliveries.map(({ key }) => key),
      ["b/look#1", "a/how much#1"],
    );
  });

  test("has nothing of what began after the checkpoint", () => {
    assert.deepEqual([...table.ops.keys()], ["a/how much#1", "b/look#1"]);
  });
});
