/** A fleet under everything that can happen to it: what clients were told, the journal and the world are one history. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { NEMESES } from "./storm/plan.ts";
import { printed } from "./storm/report.ts";
import { runStorm } from "./storm/storm.ts";

for (const seed of [7, 8])
  test(`three workers and two servers, struck in every way for 20 s, have one history (seed ${seed})`, {
    timeout: 900_000,
  }, async () => {
    const storm = await runStorm({ seed, seconds: 20, nemeses: NEMESES });
    const told = printed(storm);
    assert.deepEqual(storm.faults, [], told);
    assert.deepEqual(storm.wrong, [], told);
    assert.deepEqual(new Set(storm.struck.keys()), new Set(NEMESES), "every kind of blow has come");
    // That nothing was wrong means something only where something was done.
    const kinds = new Set(
      storm.told.flatMap((line) => (line.kind === "read" || line.said === "yes" ? line.kind : [])),
    );
    assert.deepEqual(kinds, new Set(["call", "vote", "report", "workflow", "read"]), told);
    assert.ok(storm.applications > 10, told);
  });
