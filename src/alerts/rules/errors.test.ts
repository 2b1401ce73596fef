import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { MINUTE, SECOND, seen, times, watching } from "../../../tests/fixtures/sightings.ts";
import type { ErrorsRule } from "./monitor-rule.ts";

const rule: ErrorsRule = { kind: "errors", name: "failing", above: 0.5, last: 10 };
const good = (after = 0) => seen("effect.applied", after);
const failed = (after = 0) => seen("effect.not_applied", after);

describe("the share of errors", () => {
  test("is said when it is above, with each kind of outcome counted apart", () => {
    const watch = watching(rule);
    assert.deepEqual(watch.sees(failed(), failed(), good(), good()), [], "too few to say");
    assert.deepEqual(watch.sees(seen("action.refused")), ["+ all"]);
    assert.deepEqual(watch.last().figures, {
      share: 0.6,
      above: 0.5,
      outcomes: 5,
      failed: 2,
      refused: 1,
      in_doubt: 0,
    });
    assert.deepEqual(watch.sees(good()), ["- all"], "half is not above half");
  });

  test("does not count what is in doubt as failed, unless it is asked to", () => {
    const doubt = times(10, () => seen("effect.in_doubt"));
    assert.deepEqual(watching({ ...rule, of: ["failed", "refused"] }).sees(...doubt), []);
    const watch = watching(rule);
    assert.deepEqual(watch.sees(...doubt), ["+ all"]);
    assert.equal(watch.last().figures["failed"], 0);
  });

  test("looks at the last so many and forgets those before", () => {
    const watch = watching(rule);
    assert.deepEqual(watch.sees(...times(10, () => failed())), ["+ all"]);
    assert.deepEqual(watch.sees(...times(5, () => good())), ["- all"]);
  });

  test("or at those within a window, also when nothing more comes", () => {
    const watch = watching({ kind: "errors", name: "failing", above: 0.5, windowMs: MINUTE });
    assert.deepEqual(watch.sees(...times(5, (n) => failed(n * SECOND))), ["+ all"]);
    assert.equal(watch.due(), MINUTE);
    assert.deepEqual(watch.at(MINUTE), ["- all"], "four are too few to say");
  });

  test("counts steps by workflow, and not by tool", () => {
    const steps = times(5, () => seen("step.failed"));
    assert.deepEqual(watching({ ...rule, per: "workflow" }).sees(...steps), ["+ workflow:wf_1"]);
    assert.deepEqual(watching({ ...rule, per: "tool" }).sees(...steps), []);
  });

  test("is remembered over a restart", () => {
    const watch = watching(rule);
    watch.sees(...times(5, () => failed()));
    assert.deepEqual(watch.reopened().sees(failed()), []);
    assert.deepEqual(watch.reopened().sees(...times(6, () => good())), ["- all"]);
  });
});
