import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { drawOffsets, drawPlan, NEMESES, NODES } from "./storm/plan.ts";

const wanted = { seconds: 20, leaseMs: 3_000, nemeses: NEMESES };

describe("the plan of a run under fire", () => {
  test("is the same for the same seed, and another for another", () => {
    assert.deepEqual(drawPlan({ ...wanted, seed: 5 }), drawPlan({ ...wanted, seed: 5 }));
    assert.notDeepEqual(drawPlan({ ...wanted, seed: 5 }), drawPlan({ ...wanted, seed: 6 }));
  });

  test("has every kind that is wanted, in a short run too, and freezes outlast the lease", () => {
    for (let seed = 1; seed <= 200; seed++) {
      const plan = drawPlan({ ...wanted, seed, seconds: 12 });
      assert.deepEqual(new Set(plan.map(({ kind }) => kind)), new Set(NEMESES));
      assert.ok(plan.every((blow) => blow.kind !== "freeze" || blow.forMs > wanted.leaseMs));
    }
    assert.deepEqual(drawPlan({ ...wanted, seed: 1, nemeses: [] }), []);
  });

  test("sets every clock wrong, by ten minutes at most", () => {
    const offsets = drawOffsets({ seed: 3, nemeses: NEMESES });
    assert.deepEqual([...offsets.keys()], [...NODES]);
    for (const offset of offsets.values())
      assert.ok(Math.abs(offset) >= 60_000 && Math.abs(offset) <= 600_000);
    assert.ok([...drawOffsets({ seed: 3, nemeses: ["kill"] }).values()].every((offset) => offset === 0));
  });
});
