import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { parseReplayEntry } from "./replay.ts";

const entry = (stream: string, type: string, body: string | null = null) =>
  parseReplayEntry({ position: 1, stream, seq: 3, type, tv: 1, at: 7, body });

test("an entry of a stream that a policy sees nothing of is left out", () => {
  for (const stream of ["epoch/ep_1", "budget/action/act_1", "answer/approval/apr_1"])
    assert.equal(entry(stream, "action.proposed"), undefined);
});

test("any name of a stream leaves the type as it is", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (name) => {
      const taped = entry(`action/${name}`, "effect.started", "{}");
      assert.deepEqual([taped?.type, taped?.id, taped?.at], ["effect.started", name, 7]);
    }),
    { numRuns: 300 },
  );
});
