import assert from "node:assert/strict";
import { test } from "node:test";
import { wallClock } from "../kernel/clock.ts";
import { isHoldpointError } from "../kernel/errors.ts";
import { createYieldCheck, runYielding } from "./concurrency.ts";

/** Time passes by steps: one millisecond each. */
function bench() {
  let at = 0;
  const closed = new AbortController();
  const clock = { ...wallClock, elapsed: () => at };
  function* steps(count: number): Generator<void, string> {
    for (let step = 0; step < count; step++) {
      at += 1;
      yield;
    }
    return "done";
  }
  return { steps, closed, pace: () => createYieldCheck({ clock, closing: closed.signal }), at: () => at };
}

test("long work lets others have their turn every few milliseconds", async () => {
  const { steps, pace } = bench();
  let turns = 0;
  let isOver = false;
  const others = (): void => {
    turns += 1;
    if (!isOver) setImmediate(others);
  };
  setImmediate(others);
  assert.equal(await runYielding(steps(200), pace()), "done");
  isOver = true;
  assert.ok(turns >= 39, `${turns} turns`);
});

test("of several long works one goes on in a turn", async () => {
  const [one, two] = [bench(), bench()];
  const seen: string[] = [];
  function* told(name: string, steps: Generator<void, string>): Generator<void, string> {
    for (;;) {
      const step = steps.next();
      if (step.done === true) return step.value;
      if (seen.at(-1) !== name) seen.push(name);
      yield;
    }
  }
  await Promise.all([
    runYielding(told("one", one.steps(50)), one.pace()),
    runYielding(told("two", two.steps(50)), two.pace()),
  ]);
  assert.ok(seen.length >= 18, seen.join(" "));
});

test("it ends when the instance closes", async () => {
  const { steps, closed, pace, at } = bench();
  const work = runYielding(steps(1_000_000), pace());
  closed.abort();
  await assert.rejects(work, (error) => isHoldpointError(error, "closed"));
  assert.ok(at() < 100);
});
