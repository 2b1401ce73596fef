import assert from "node:assert/strict";
import { test } from "node:test";
import { compare } from "./calibrate.ts";

test("a mixed load leaves as many rows in the database as the model says", async () => {
  const { predicted, measured } = await compare({ performed: 60, approved: 20, rejected: 10, suspended: 10 });
  const { entries, streams, names, viewRows } = measured;
  const { bytes: _, decisions, ...rows } = predicted;
  assert.deepEqual({ entries, streams, names, viewRows }, rows);
  assert.ok(measured.commits <= decisions, `${measured.commits} commits for ${decisions} decisions`);
});
