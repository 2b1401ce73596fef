import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import { sqliteBench } from "../../../tests/fixtures/sqlite-bench.ts";
import { count } from "../../testing/store-contract/fixture.ts";
import { LEAVES } from "./read.ts";

test("a seal reads what moved since the last one, not the whole journal", async (t) => {
  const { open, file } = sqliteBench(t);
  await count(await open(), "one");
  const db = new DatabaseSync(file, { readOnly: true });
  const plan = db.prepare(`EXPLAIN QUERY PLAN ${LEAVES}`).all(1, 0);
  db.close();
  const steps = plan.map((step) => String(step["detail"]));
  assert.ok(steps.includes("SEARCH hp_entries USING INTEGER PRIMARY KEY (rowid>?)"), steps.join("\n"));
  assert.ok(!steps.some((step) => step.startsWith("SCAN hp_entries")), steps.join("\n"));
});
