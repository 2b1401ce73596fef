import assert from "node:assert/strict";
import { test } from "node:test";
import type { TimelineRow } from "../../api/workflows.ts";
import { movesOf, wayOf } from "./way.ts";

const at = (seconds: number): string => new Date(seconds * 1_000).toISOString();

function row(seq: number, given: Partial<TimelineRow>): TimelineRow {
  const fresh = {
    name: "",
    title: null,
    attempt: 1,
    branch: [],
    op: null,
    ref: null,
    undoes: null,
    by: [],
    reason: "",
  };
  const ends = {
    ended_seq: null,
    ended_at: null,
    is_back: false,
    is_undone: false,
    until: null,
    checkpoint: null,
    report: null,
  };
  return { seq, at: at(seq), kind: "call", status: "open", ...fresh, ...ends, ...given };
}

const created = row(1, { kind: "workflow", status: "created", ended_at: at(1) });
const states = (rows: readonly TimelineRow[], now: Parameters<typeof wayOf>[1]) =>
  wayOf(rows, now).map(({ status }) => status);

test("one that was only created stands at its beginning", () => {
  assert.deepEqual(states([created], "initialized"), ["initialized"]);
});

test("a checkpoint that was approved leads back to work, and the end through settling", () => {
  const rows = [
    created,
    row(2, { kind: "step", status: "completed" }),
    row(3, { kind: "checkpoint", ref: "apr_1", status: "approved", ended_at: at(9) }),
    row(10, { kind: "workflow", status: "completed" }),
  ];
  assert.deepEqual(states(rows, "completed"), [
    "initialized",
    "executing",
    "awaiting_approval",
    "executing",
    "settling",
    "completed",
  ]);
});

test("one that was sent back shows the way back and the second attempt", () => {
  const rows = [
    created,
    row(2, {}),
    row(3, { kind: "checkpoint", ref: "apr_1", status: "rejected", ended_at: at(4) }),
    row(5, { kind: "rollback", status: "done", ended_at: at(6) }),
    row(7, { kind: "checkpoint", ref: "apr_2", status: "open" }),
  ];
  const way = wayOf(rows, "awaiting_approval");
  assert.deepEqual(
    way.map(({ status }) => status),
    ["initialized", "executing", "awaiting_approval", "rolling_back", "executing", "awaiting_approval"],
  );
  assert.equal(movesOf(way).get("executing>awaiting_approval"), 2);
});

test("a rollback that ended it leads to failed, and not to work again", () => {
  const rows = [
    created,
    row(2, {}),
    row(5, { kind: "rollback", status: "done", ended_at: at(6) }),
    row(6, { kind: "workflow", status: "failed" }),
  ];
  assert.deepEqual(states(rows, "failed"), ["initialized", "executing", "rolling_back", "failed"]);
});

test("where the timeline is a moment behind, the state itself counts", () => {
  assert.deepEqual(states([created, row(2, {})], "settling"), ["initialized", "executing", "settling"]);
});
