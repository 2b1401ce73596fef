import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { MINUTE, SECOND, seen, times, watching } from "../../../tests/fixtures/sightings.ts";
import type { RateRule } from "./monitor-rule.ts";

const call = (after: number, tool = "refund") => seen("action.proposed", after, { tool });
const rule: RateRule = { kind: "rate", name: "busy", of: "calls", windowMs: MINUTE, above: 3 };

describe("more than a number within a window", () => {
  test("is said once when it begins, and once when it is over", () => {
    const watch = watching(rule);
    assert.deepEqual(watch.sees(...times(3, (n) => call(n * SECOND))), []);
    assert.deepEqual(watch.sees(call(3 * SECOND)), ["+ all"]);
    assert.deepEqual(watch.last().figures, { count: 4, above: 3, windowMs: MINUTE });
    assert.deepEqual(watch.sees(...times(5, (n) => call((4 + n) * SECOND))), [], "while it stands");
    assert.equal(watch.due(), 5 * SECOND + MINUTE, "the oldest of the four newest leaves the window");
    assert.deepEqual(watch.at(64 * SECOND), []);
    assert.deepEqual(watch.at(66 * SECOND), ["- all"]);
    assert.equal(watch.due(), null);
  });

  test("slides: a burst that lies across two minutes of the clock is one", () => {
    const watch = watching(rule);
    const burst = [58, 59, 61, 62].map((second) => call(second * SECOND));
    assert.deepEqual(watch.sees(...burst), ["+ all"]);
  });

  test("is not said of the same number over a longer time", () => {
    assert.deepEqual(watching(rule).sees(...times(50, (n) => call(n * 20 * SECOND))), []);
  });

  test("counts by tool, agent or workflow, each for itself", () => {
    const watch = watching({ ...rule, above: 1, per: "tool" });
    assert.deepEqual(watch.sees(call(0, "a"), call(1, "b"), call(2, "a")), ["+ tool:a"]);
    const agents = watching({ ...rule, above: 1, per: "agent" });
    assert.deepEqual(agents.sees(call(0), call(1)), ["+ agent:worker"]);
    const flows = watching({ ...rule, above: 1, per: "workflow" });
    const inside = (after: number) => seen("action.proposed", after, { workflow: "wf_7" });
    assert.deepEqual(flows.sees(call(0), call(1), inside(2), inside(3)), ["+ workflow:wf_7"]);
    assert.equal(flows.last().workflow, "wf_7");
  });

  test("counts errors and escalations apart from calls", () => {
    const errors = watching({ ...rule, of: "errors", above: 2 });
    const bad = ["effect.not_applied", "action.refused", "effect.in_doubt"].map((type) => seen(type));
    assert.deepEqual(errors.sees(...times(9, () => call(0)), seen("effect.applied"), ...bad), ["+ all"]);
    const asked = watching({ ...rule, of: "escalations", above: 0 });
    assert.deepEqual(asked.sees(seen("action.reviewed", 0, { body: { verdict: "approve" } })), []);
    assert.deepEqual(asked.sees(seen("action.reviewed", 0, { body: { verdict: "escalate" } })), ["+ all"]);
  });

  test("goes on in another process, unless the rule counts something else by then", () => {
    const watch = watching(rule);
    watch.sees(...times(3, (n) => call(n)));
    assert.deepEqual(watch.reopened().sees(call(4)), ["+ all"]);
    assert.deepEqual(watch.reopened({ ...rule, severity: "critical" }).sees(call(4)), ["+ all"]);
    assert.deepEqual(watch.reopened({ ...rule, windowMs: MINUTE + 1 }).sees(call(4)), []);
    watch.sees(call(4));
    assert.deepEqual(watch.reopened().sees(call(5)), [], "it stands there too");
    assert.deepEqual(watch.reopened().at(2 * MINUTE), ["- all"]);
  });
});

const usual: RateRule = {
  kind: "rate",
  name: "unusual",
  of: "calls",
  windowMs: MINUTE,
  baseline: { warmUp: 10 },
};

/** So many calls in each of these minutes. */
const minutes = (from: number, counts: readonly number[]) =>
  counts.flatMap((count, at) => times(count, (n) => call((from + at) * MINUTE + n)));

describe("against its own baseline", () => {
  const steady = minutes(0, [10, 12, 9, 11, 10, 12, 9, 11, 10, 12, 9, 11]);

  test("says nothing before it has seen enough windows, however many there are", () => {
    assert.deepEqual(watching(usual).sees(...minutes(0, [1, 1, 500])), []);
  });

  test("says what is far above what is usual, and when that is over", () => {
    const watch = watching(usual);
    assert.deepEqual(watch.sees(...steady), []);
    assert.deepEqual(watch.sees(...minutes(12, [60])), ["+ all"]);
    assert.match(watch.last().says, /calls within 1 min, where 10\.\d+ are usual/);
    assert.deepEqual(watch.at(13 * MINUTE), [], "the window of the spike has closed");
    assert.deepEqual(watch.at(14 * MINUTE), ["- all"], "and one without it");
  });

  test("does not take a spike for what is usual: the next one is said again", () => {
    const watch = watching(usual);
    watch.sees(...steady);
    const spikes = minutes(12, [200, 10, 10, 200]);
    assert.deepEqual(watch.sees(...spikes), ["+ all", "- all", "+ all"]);
  });

  test("gets used to a level that stays", () => {
    const watch = watching(usual);
    watch.sees(...steady);
    watch.sees(...minutes(12, Array(60).fill(40)));
    assert.deepEqual(watch.sees(...minutes(72, [41, 42, 40, 43])), []);
  });

  test("says nothing of small numbers", () => {
    const watch = watching({ ...usual, baseline: { warmUp: 3, least: 9 } });
    assert.deepEqual(watch.sees(...minutes(0, [1, 1, 1, 1, 1, 1, 9])), []);
    assert.deepEqual(watch.reopened().sees(...minutes(7, [30])), ["+ all"]);
  });

  test("a year without a call takes no longer than a night", () => {
    const watch = watching(usual);
    watch.sees(...steady);
    assert.deepEqual(watch.sees(call(525_600 * MINUTE)), []);
  });
});
