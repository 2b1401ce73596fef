import assert from "node:assert/strict";
import { test } from "node:test";
import { type Sample, sampleMemory, slopeOf } from "./memory.ts";

const samplesOf = (heapMb: (seconds: number) => number): readonly Sample[] =>
  Array.from({ length: 60 }, (_, index) => {
    const seconds = 300 + index * 10;
    return { seconds, heapMb: heapMb(seconds), externalMb: 1, rssMb: 100 };
  });

test("the slope is megabytes in ten minutes, whatever goes up and down meanwhile", () => {
  const slope = (heapMb: (seconds: number) => number) =>
    slopeOf(samplesOf(heapMb), (sample) => sample.heapMb);
  assert.ok(Math.abs(slope((seconds) => 20 + seconds / 600) - 1) < 1e-9);
  assert.equal(
    slope(() => 20),
    0,
  );
  assert.ok(Math.abs(slope((seconds) => 20 + Math.sin(seconds))) < 0.2);
});

test("what is held shows in the next sample, and what was let go does not", async () => {
  const before = await sampleMemory(0);
  const held = Array.from({ length: 20_000 }, (_, index) => ({ index, text: `number ${index}`.repeat(20) }));
  const during = await sampleMemory(1);
  assert.ok(during.heapMb - before.heapMb > 1, `${during.heapMb - before.heapMb} MB`);
  assert.equal(held.length, 20_000);
  held.length = 0;
  const after = await sampleMemory(2);
  assert.ok(after.heapMb - before.heapMb < 1, `${after.heapMb - before.heapMb} MB`);
});
