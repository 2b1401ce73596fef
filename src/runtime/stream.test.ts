import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { isHoldpointError } from "../kernel/errors.ts";
import type { NewEvent } from "../kernel/stream.ts";
import { type EpochState, endEpoch, epochFold, openEpoch } from "./stream.ts";

const fold = (events: readonly NewEvent[], from: EpochState = epochFold.initial): EpochState =>
  events.reduce((state, event, index) => epochFold.evolve(state, { ...event, at: 1, seq: index + 1 }), from);
const FACTS = { agent: "agent:a", process: "host/1", kind: "program", version: null, definitions: null };
const open = fold(openEpoch(FACTS));

describe("an epoch", () => {
  test("opens with what its process says of itself", () => {
    assert.deepEqual(open, { life: "open", openedAt: 1, ...FACTS });
    const worker = { ...FACTS, kind: "worker", version: "1.2.3", definitions: ["deploy"] };
    assert.deepEqual(fold(openEpoch(worker)), { life: "open", openedAt: 1, ...worker });
  });

  test("with more definitions than it can say says nothing of them, rather than of some", () => {
    const definitions = Array.from({ length: 501 }, (_, n) => `d${n}`);
    assert.partialDeepStrictEqual(fold(openEpoch({ ...FACTS, definitions })), { definitions: null });
    const few = definitions.slice(0, 500);
    assert.partialDeepStrictEqual(fold(openEpoch({ ...FACTS, definitions: few })), { definitions: few });
  });

  for (const how of ["closed", "died"] as const) {
    test(`that ${how} is over for good: whoever says so first has ended it`, () => {
      const ended = fold(endEpoch(open, how, "epo_2"), open);
      assert.deepEqual(ended, { ...FACTS, life: "ended", how, openedAt: 1, endedAt: 1 });
      assert.deepEqual(endEpoch(ended, "closed", "epo_1"), []);
      assert.deepEqual(endEpoch(ended, "died", "epo_3"), []);
      assert.throws(
        () => fold(openEpoch(FACTS), ended),
        (error) => isHoldpointError(error, "broken_rule"),
      );
    });
  }

  test("that never opened cannot end", () => {
    assert.deepEqual(endEpoch(epochFold.initial, "died", "epo_2"), []);
  });

  test("meets an unknown, newer or erased event with an error", () => {
    const unknown = (error: unknown) => isHoldpointError(error, "unknown_event");
    assert.throws(() => fold([{ type: "epoch.paused", tv: 1, body: {} }]), unknown);
    assert.throws(() => fold([{ type: "epoch.opened", tv: 2, body: {} }]), unknown);
    const erased = { type: "epoch.opened", tv: 1, at: 1, seq: 1, body: null };
    assert.throws(
      () => epochFold.evolve(epochFold.initial, erased),
      (error) => isHoldpointError(error, "body_erased"),
    );
  });
});
