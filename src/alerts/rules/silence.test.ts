import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { MINUTE, SECOND, seen, times, watching } from "../../../tests/fixtures/sightings.ts";
import type { SilenceRule } from "./monitor-rule.ts";

const rule: SilenceRule = { kind: "silence", name: "silent", forMs: MINUTE };

describe("silence", () => {
  test("of a workflow that executes is said once, and is over with its next entry", () => {
    const watch = watching(rule);
    watch.sees(seen("workflow.created"), seen("workflow.started", SECOND));
    assert.deepEqual(watch.at(MINUTE), []);
    assert.deepEqual(watch.at(MINUTE + SECOND), ["+ workflow:wf_1"]);
    assert.deepEqual(watch.last().proof, { kind: "silent", forMs: MINUTE });
    assert.deepEqual(watch.at(9 * MINUTE), []);
    assert.deepEqual(watch.sees(seen("step.completed", 10 * MINUTE)), ["- workflow:wf_1"]);
    assert.deepEqual(watch.at(11 * MINUTE), ["+ workflow:wf_1"]);
  });

  for (const type of [
    "workflow.suspended",
    "checkpoint.reached",
    "checkpoint.raised",
    "rollback.began",
    "workflow.completed",
    "workflow.failed",
  ])
    test(`is none after ${type}`, () => {
      const watch = watching(rule);
      watch.sees(seen("workflow.started"), seen(type, SECOND));
      assert.equal(watch.due(), null);
      assert.deepEqual(watch.at(60 * MINUTE), []);
    });

  test("begins to be measured when a checkpoint was approved, and not when it was rejected", () => {
    const decided = (decision: string) => seen("checkpoint.decided", SECOND, { body: { decision } });
    const go = watching(rule);
    go.sees(decided("approved"));
    assert.equal(go.due(), MINUTE + SECOND);
    const back = watching(rule);
    back.sees(decided("rejected"));
    assert.equal(back.due(), null);
    back.sees(seen("rollback.ended", 2 * SECOND, { body: { after: "again" } }));
    assert.equal(back.due(), MINUTE + 2 * SECOND);
  });

  test("looks only at the one that was heard of least recently", () => {
    const watch = watching(rule);
    const id = (n: number) => ({ workflow: `wf_${n}` });
    watch.sees(...times(5, (n) => seen("workflow.started", n * SECOND, id(n))));
    watch.sees(seen("step.completed", 30 * SECOND, id(0)));
    assert.equal(watch.due(), SECOND + MINUTE);
    assert.deepEqual(watch.at(MINUTE + 2 * SECOND), ["+ workflow:wf_1", "+ workflow:wf_2"]);
  });

  test("is neither forgotten nor said again by the next process", () => {
    const watch = watching(rule);
    watch.sees(seen("workflow.started"), seen("workflow.started", SECOND, { workflow: "wf_2" }));
    watch.at(MINUTE);
    const next = watch.reopened();
    assert.deepEqual(next.at(MINUTE), []);
    assert.deepEqual(next.at(2 * MINUTE), ["+ workflow:wf_2"]);
    assert.deepEqual(next.sees(seen("workflow.completed")), ["- workflow:wf_1"]);
  });
});
