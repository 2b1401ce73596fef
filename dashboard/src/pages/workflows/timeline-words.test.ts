import assert from "node:assert/strict";
import { test } from "node:test";
import type { TimelineRow } from "../../api/workflows.ts";
import { attemptsOf, toneOfRow, tookMs } from "./timeline-words.ts";

const row = (given: Partial<TimelineRow>): TimelineRow => ({
  ...{
    seq: 1,
    at: "2026-01-01T00:00:00.000Z",
    kind: "call",
    name: "pay",
    title: null,
    attempt: 1,
    branch: [],
  },
  ...{ ref: null, undoes: null, status: "open", ended_at: null, by: [], reason: "", is_back: false },
  ...{ op: null, ended_seq: null, is_undone: false, until: null, checkpoint: null, report: null },
  ...given,
});

test("what was gone back over has no colour any more, however it ended", () => {
  assert.equal(toneOfRow(row({ status: "applied" })), "go");
  assert.equal(toneOfRow(row({ status: "applied", is_back: true })), "plain");
  assert.equal(toneOfRow(row({ status: "in_doubt" })), "doubt");
  assert.equal(toneOfRow(row({ kind: "checkpoint" })), "hold");
});

test("an instant is not told as a duration", () => {
  assert.equal(tookMs(row({ ended_at: "2026-01-01T00:00:00.400Z" })), null);
  assert.equal(tookMs(row({ ended_at: "2026-01-01T00:00:02.000Z" })), 2_000);
  assert.equal(tookMs(row({})), null);
});

test("rows stand with their attempt, in order", () => {
  const rows = [row({ seq: 1 }), row({ seq: 2 }), row({ seq: 3, attempt: 2 })];
  assert.deepEqual(
    attemptsOf(rows).map(({ attempt, rows: own }) => [attempt, own.map(({ seq }) => seq)]),
    [
      [1, [1, 2]],
      [2, [3]],
    ],
  );
});

test("that a workflow was created is not told as gone back over", () => {
  const [first] = attemptsOf([row({ kind: "workflow", status: "created", is_back: true })]);
  assert.equal(first?.rows[0]?.is_back, false);
});
