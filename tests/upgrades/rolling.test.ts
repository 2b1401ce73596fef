/** A small fleet of 0.1.0 under load, replaced by this version; `npm run upgrade` does the same for longer. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { RELEASE } from "./archive.ts";
import { LEFT } from "./rolling/load.ts";
import { roll } from "./rolling/roll.ts";

test("a fleet of 0.1.0 that is replaced at work loses nothing, does nothing twice and leaves nothing behind", {
  timeout: 600_000,
}, async (t) => {
  const { orders, letters, across, lost, doubled, stuck, wrong } = await roll(t, {
    older: RELEASE,
    orders: 4,
    pauseMs: 500,
    say: (line) => t.diagnostic(line),
  });
  assert.deepEqual({ lost, doubled, stuck, wrong }, { lost: [], doubled: [], stuck: [], wrong: [] });
  // Otherwise it has shown nothing.
  const done = `${orders} orders, ${across} of them at both versions, ${letters} letters`;
  assert.ok(orders > 10 && across >= LEFT / 2 && letters >= LEFT / 2, done);
});
