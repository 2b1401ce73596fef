import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { seen, times, watching } from "../../../tests/fixtures/sightings.ts";
import type { ConditionAnswer, MonitoredEntry, WhenRule } from "./monitor-rule.ts";

const rule = (condition: WhenRule["condition"], more: Partial<WhenRule> = {}): WhenRule => ({
  kind: "when",
  name: "odd",
  condition,
  ...more,
});

describe("a condition of one's own", () => {
  test("sees the entry, holds while it says so, and says nothing by answering nothing", () => {
    const confidence = ({ snapshot }: MonitoredEntry): ConditionAnswer => {
      const shown = snapshot?.["approval_interface"] as { confidence?: number } | undefined;
      return shown?.confidence === undefined ? undefined : shown.confidence < 0.8;
    };
    const at = (value: number) =>
      seen("checkpoint.passed", 0, { snapshot: { approval_interface: { confidence: value } } });
    const watch = watching(rule(confidence));
    assert.deepEqual(watch.sees(at(0.9), at(0.7), seen("step.completed"), at(0.6), at(0.8)), [
      "+ workflow:wf_1",
      "- workflow:wf_1",
    ]);
  });

  test("keeps a small state by subject, which the next process has too", () => {
    const third = (_: MonitoredEntry, state: unknown): ConditionAnswer => {
      const count = Number(state ?? 0) + 1;
      return { state: count, holds: count >= 3, figures: { count } };
    };
    const watch = watching(rule(third, { per: "tool" }));
    const call = (tool: string) => seen("action.proposed", 0, { tool });
    assert.deepEqual(watch.sees(call("a"), call("a"), call("b"), call("b")), []);
    const next = watch.reopened();
    assert.deepEqual(next.sees(call("b")), ["+ tool:b"]);
    assert.deepEqual(next.last().figures, { count: 3 });
  });

  test("of an entry outside of workflows counts for all of them", () => {
    assert.deepEqual(
      watching(rule(() => true)).sees(seen("switch.stopped", 0, { stream: "switch/tenant" })),
      ["+ all"],
    );
    assert.deepEqual(watching(rule(() => true, { per: "tool" })).sees(seen("step.completed")), []);
  });

  const broken: readonly (readonly [string, () => unknown])[] = [
    ["throws", () => assert.fail("ouch")],
    ["answers a promise", () => Promise.resolve(true)],
    ["answers a number", () => 1],
    ["keeps too much", () => ({ state: "x".repeat(20_000) })],
    ["keeps what is no JSON", () => ({ state: new Map() })],
    ["gives figures that are none", () => ({ holds: true, figures: { at: Number.NaN } })],
  ];
  for (const [what, condition] of broken)
    test(`that ${what} is said to be broken, once, until it answers again`, () => {
      let isBroken = true;
      const watch = watching(rule((() => (isBroken ? condition() : undefined)) as WhenRule["condition"]));
      assert.deepEqual(watch.sees(...times(3, () => seen("step.completed"))), ["+ rule"]);
      assert.match(watch.last().says, /cannot be judged/);
      isBroken = false;
      assert.deepEqual(watch.sees(seen("step.completed")), ["- rule"]);
    });
});
