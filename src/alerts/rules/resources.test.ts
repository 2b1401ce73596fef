import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { MINUTE, seen, times, watching } from "../../../tests/fixtures/sightings.ts";
import type { ResourcesRule } from "./monitor-rule.ts";

const of = (limits: Partial<ResourcesRule>): ResourcesRule => ({
  kind: "resources",
  name: "used",
  ...limits,
});
const asked = (input: number, output: number) =>
  seen("step.completed", 0, { result: { text: "…", tokens: { input, output } } });
const usd = (micros: bigint) => ({ currency: "USD", micros });
const started = (costs: readonly (readonly [string, string, string])[]) =>
  seen("effect.started", 0, {
    workflow: "wf_1",
    body: { costs: costs.map(([budget, currency, micros]) => ({ budget, currency, micros })) },
  });
const used = (resources: Record<string, number>) =>
  seen("checkpoint.passed", 0, { snapshot: { execution_state: { resource_consumption: resources } } });

describe("what a workflow uses up", () => {
  test("tokens are those that its steps report, input and output together", () => {
    const watch = watching(of({ tokens: 100 }));
    assert.deepEqual(watch.sees(asked(50, 10), asked(30, 10)), [], "100 are not over 100");
    assert.deepEqual(watch.sees(asked(1, 0)), ["+ workflow:wf_1 tokens"]);
    assert.deepEqual(watch.last().figures, { tokens: 101, limit: 100 });
    assert.deepEqual(watch.sees(asked(500, 0)), [], "said once");
  });

  test("or what a snapshot says, where that is more", () => {
    const watch = watching(of({ tokens: 100, apiCalls: 2 }));
    assert.deepEqual(watch.sees(asked(50, 0), used({ tokens_used: 60, api_calls: 2 })), []);
    const over = ["+ workflow:wf_1 tokens", "+ workflow:wf_1 apiCalls"];
    assert.deepEqual(watch.sees(used({ tokens_used: 101, api_calls: 3 })), over);
  });

  test("results that only look like it, or lie, count for nothing", () => {
    const watch = watching(of({ tokens: 0 }));
    const odd = [null, 7, "tokens", [], { tokens: "many" }, { tokens: { input: -5, output: "9" } }];
    assert.deepEqual(watch.sees(...odd.map((result) => seen("step.completed", 0, { result }))), []);
  });

  test("costs are exact, of one currency, and counted once though they stand on two budgets", () => {
    const watch = watching(of({ cost: usd(3_000_000n) }));
    const first = started([
      ["trip", "USD", "2000000"],
      ["month", "USD", "2000000"],
      ["month", "EUR", "9000000"],
    ]);
    assert.deepEqual(watch.sees(seen("workflow.created"), first, started([["trip", "USD", "1000000"]])), []);
    assert.deepEqual(watch.sees(started([["trip", "USD", "1"]])), ["+ workflow:wf_1 cost"]);
    assert.match(watch.last().says, /3\.000001 USD were spent, over 3 USD/);
  });

  test("operations are counted, and what is said in between is not", () => {
    const watch = watching(of({ operations: 2 }));
    assert.deepEqual(watch.sees(seen("workflow.started"), seen("step.completed"), seen("call.made")), []);
    assert.deepEqual(watch.sees(seen("call.settled"), seen("workflow.suspended")), []);
    assert.deepEqual(watch.sees(seen("sleep.began")), ["+ workflow:wf_1 operations"]);
  });

  test("time is that since it was created, also while it writes nothing", () => {
    const watch = watching(of({ elapsedMs: MINUTE }));
    watch.sees(seen("workflow.created", 5), seen("workflow.suspended", 10));
    // Created before the monitor began, and heard of after the other.
    watch.sees(seen("workflow.resumed", 20, { workflow: "wf_0", born: -MINUTE / 2 }));
    assert.equal(watch.due(), MINUTE / 2 + 1);
    assert.deepEqual(watch.at(MINUTE / 2 + 1), ["+ workflow:wf_0 elapsedMs"]);
    assert.deepEqual(watch.at(MINUTE), []);
    assert.deepEqual(watch.reopened().at(2 * MINUTE), ["+ workflow:wf_1 elapsedMs"]);
  });

  test("is over when the workflow is, and what is said of it later does not bring it back", () => {
    const watch = watching(of({ operations: 0, elapsedMs: MINUTE }));
    watch.sees(seen("workflow.created"), seen("step.completed"));
    const end = seen("workflow.completed");
    assert.deepEqual(watch.sees(end), ["- workflow:wf_1 operations"]);
    assert.deepEqual(watch.sees(...times(3, () => started([]))), []);
    assert.equal(watch.due(), null);
  });

  test("is kept for the next process", () => {
    const watch = watching(of({ tokens: 100, cost: usd(5n) }));
    watch.sees(asked(60, 0));
    assert.deepEqual(watch.reopened().sees(asked(41, 0)), ["+ workflow:wf_1 tokens"]);
  });
});
