import assert from "node:assert/strict";
import { test } from "node:test";
import { nearestFirst } from "./nearest.ts";

test("what runs out soonest comes first, then what waits longest", () => {
  const rows = [
    { id: "new", created_at: "2026-01-01T03:00:00Z", decide_by: null },
    { id: "old", created_at: "2026-01-01T01:00:00Z", decide_by: null },
    { id: "later", created_at: "2026-01-01T00:00:00Z", decide_by: "2026-01-02T00:00:00Z" },
    { id: "soon", created_at: "2026-01-01T02:00:00Z", decide_by: "2026-01-01T04:00:00Z" },
  ];
  assert.deepEqual(
    nearestFirst(rows).map(({ id }) => id),
    ["soon", "later", "old", "new"],
  );
});
