import assert from "node:assert/strict";
import { test } from "node:test";
import { countsSince } from "./counts-since.ts";

const row = (status: "consumed" | "rejected" | "expired", decided_at: string | null) =>
  ({ status, about: "action", edited: false, decided_at, requested_at: "2026-01-01T00:00:00Z" }) as const;

test("the last hours are counted by what was decided, and whether that is all is said", () => {
  const rows = [
    row("consumed", "2026-01-02T10:00:00Z"),
    row("rejected", "2026-01-02T09:00:00Z"),
    row("consumed", "2026-01-02T08:00:00Z"),
  ];
  const since = Date.parse("2026-01-02T08:30:00Z");
  assert.deepEqual(countsSince(rows, since, true), {
    counts: [
      ["approved", 1],
      ["rejected", 1],
    ],
    isAll: true,
  });
  assert.equal(countsSince(rows, 0, true).isAll, false);
  assert.equal(countsSince(rows, 0, false).isAll, true);
});
