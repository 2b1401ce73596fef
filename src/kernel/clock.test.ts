import assert from "node:assert/strict";
import { test } from "node:test";
import { storeClock } from "./clock.ts";

test("a clock says the store's time from when it was heard, however far off its own is, and after that was set", () => {
  let own = 1_000_000;
  const clock = storeClock({ now: () => own, sleep: async () => undefined });
  assert.equal(clock.now(), 1_000_000);
  clock.heard?.(1_600_000);
  own += 50;
  assert.equal(clock.now(), 1_600_050);
  own -= 600_000;
  clock.heard?.(1_600_100);
  assert.equal(clock.now(), 1_600_100);
});
