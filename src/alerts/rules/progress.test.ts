import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { MINUTE, SECOND, seen, times, watching } from "../../../tests/fixtures/sightings.ts";
import type { ProgressRule } from "./monitor-rule.ts";

const stuck: ProgressRule = { kind: "progress", name: "stuck", withinMs: MINUTE, fewerThan: 2 };
const fast: ProgressRule = { kind: "progress", name: "fast", withinMs: MINUTE, moreThan: 3 };
const step = (after: number) => seen("step.completed", after);

describe("a workflow that is stuck", () => {
  test("did fewer operations than expected in a stretch of time; it is over with enough of them", () => {
    const watch = watching(stuck);
    watch.sees(seen("workflow.started"), step(SECOND));
    assert.deepEqual(watch.at(MINUTE), ["+ workflow:wf_1 stuck"]);
    assert.deepEqual(watch.last().figures, { operations: 1, fewerThan: 2, withinMs: MINUTE });
    assert.deepEqual(watch.last().proof, { kind: "executing" });
    assert.deepEqual(watch.at(2 * MINUTE), [], "while it stands");
    assert.deepEqual(watch.sees(step(121 * SECOND), step(122 * SECOND)), ["- workflow:wf_1 stuck"]);
    assert.deepEqual(watch.at(3 * MINUTE), []);
    assert.deepEqual(watch.at(4 * MINUTE), ["+ workflow:wf_1 stuck"]);
  });

  test("is not one that sleeps or waits: a stretch begins when it goes on", () => {
    const watch = watching(stuck);
    watch.sees(seen("workflow.started"), seen("workflow.suspended", SECOND));
    assert.equal(watch.due(), null);
    watch.sees(seen("workflow.resumed", 10 * MINUTE));
    assert.equal(watch.due(), 11 * MINUTE);
  });

  test("log lines, values and retries are no operations", () => {
    const watch = watching(stuck);
    watch.sees(
      seen("workflow.started"),
      ...times(5, () => seen("log.written", 1, { stream: "workflow/wf_1" })),
    );
    assert.deepEqual(watch.at(MINUTE), ["+ workflow:wf_1 stuck"]);
  });

  test("is over when it waits or ends", () => {
    const watch = watching(stuck);
    watch.sees(seen("workflow.started"));
    watch.at(MINUTE);
    assert.deepEqual(watch.reopened().sees(seen("workflow.suspended")), ["- workflow:wf_1 stuck"]);
  });
});

describe("a workflow that is too fast", () => {
  test("did more operations than expected within the time; it is over when that has passed", () => {
    const watch = watching(fast);
    assert.deepEqual(watch.sees(...times(4, (n) => step(n * SECOND))), ["+ workflow:wf_1 too fast"]);
    assert.deepEqual(watch.sees(step(5 * SECOND)), []);
    assert.deepEqual(watch.at(62 * SECOND), ["- workflow:wf_1 too fast"]);
  });

  test("may do as many over a longer time", () => {
    assert.deepEqual(watching(fast).sees(...times(30, (n) => step(n * 20 * SECOND))), []);
  });

  test("begins to be counted anew after a checkpoint", () => {
    const watch = watching(fast);
    watch.sees(...times(4, (n) => step(n)));
    assert.deepEqual(watch.sees(seen("checkpoint.raised")), ["- workflow:wf_1 too fast"]);
    assert.deepEqual(watch.sees(...times(3, (n) => step(10 + n))), []);
  });
});
