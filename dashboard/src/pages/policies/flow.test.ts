import assert from "node:assert/strict";
import { test } from "node:test";
import { flowOf } from "./flow.ts";

const CHANGES = [
  { from: "escalate", to: "block", count: 5 },
  { from: "escalate", to: "approve", count: 30 },
  { from: "approve", to: "escalate", count: 15 },
];

test("verdicts stand from the freest to the strictest on both sides, with their counts", () => {
  const { before, after } = flowOf(CHANGES);
  assert.deepEqual(
    before.map(({ verdict, count }) => [verdict, count]),
    [
      ["approve", 15],
      ["escalate", 35],
    ],
  );
  assert.deepEqual(
    after.map(({ verdict }) => verdict),
    ["approve", "escalate", "block"],
  );
});

test("bands are as high as their counts say and fill the ends that they join", () => {
  const { before, after, bands } = flowOf(CHANGES);
  for (const [ends, side] of [
    [before, "from"],
    [after, "to"],
  ] as const)
    for (const { verdict, height } of ends) {
      const own = bands.filter((band) => band[side] === verdict);
      const joined = own.reduce((all, band) => all + band.height, 0);
      assert.ok(Math.abs(joined - height) < 1e-9);
    }
});

test("a verdict that is said with more stands beside the bare one", () => {
  const { after } = flowOf([
    { from: "approve", to: "escalate, revised", count: 1 },
    { from: "approve", to: "block", count: 1 },
    { from: "approve", to: "escalate", count: 1 },
  ]);
  assert.deepEqual(
    after.map(({ verdict }) => verdict),
    ["escalate", "escalate, revised", "block"],
  );
});

test("nothing is drawn outside of the picture, and nothing at all where nothing changed", () => {
  const { before, after } = flowOf(CHANGES);
  for (const { top, height } of [...before, ...after]) assert.ok(top >= 0 && top + height <= 1 + 1e-9);
  assert.deepEqual(flowOf([]), { before: [], after: [], bands: [] });
});
