import assert from "node:assert/strict";
import { test } from "node:test";
import { runDrill } from "./drill.ts";

test("backups put back under a program that had gone on: nothing runs before it is acknowledged, nothing runs again", async () => {
  const drilled = await runDrill({ count: 10, store: "sqlite", seed: 7 }, () => undefined);
  assert.deepEqual(drilled.wrong, []);
  assert.deepEqual(drilled.again, []);
  assert.equal(drilled.refused, 10 * 9);
  assert.equal(drilled.ways.size, 4, [...drilled.ways.keys()].join());
  assert.ok(drilled.kills > 2, `only ${drilled.kills} kills`);
});

test("the drill finds effects that are done again where nothing remembers", async () => {
  const drilled = await runDrill({ count: 6, store: "sqlite", seed: 2, blind: true }, () => undefined);
  assert.ok(drilled.ways.has("overwrite"));
  assert.notDeepEqual(drilled.again, []);
  assert.notDeepEqual(drilled.wrong, []);
});
