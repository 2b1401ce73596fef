/** What is measured at length by `npm run fleet -- --only …`, a few times and without a look at the time. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { measureSwitch } from "./figures/switch.ts";
import { measureTakeover } from "./figures/takeover.ts";

test("workflows of workers that are killed run elsewhere", { timeout: 600_000 }, async () => {
  const { ms, wrong } = await measureTakeover(2, 1);
  assert.deepEqual(wrong, []);
  assert.ok(ms.length >= 2);
});

test("while the kill switch is on no node starts anything, one that was frozen included", {
  timeout: 600_000,
}, async () => {
  const { started, effects, wrong } = await measureSwitch(5, 1);
  assert.deepEqual(wrong, []);
  assert.deepEqual(started, [0, 0, 0, 0, 0]);
  assert.ok(effects > 20);
});
