import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { isStale, touchedBy } from "./touches.ts";

const query = (queryKey: readonly unknown[], madeOf?: readonly string[]) => ({
  queryKey,
  meta: madeOf === undefined ? undefined : { madeOf: () => madeOf },
  state: { data: undefined },
});
const after = (...streams: readonly string[]) => new Set<string>(streams.flatMap(touchedBy));

describe("what an entry makes stale", () => {
  test("are the lists of its subject, whatever stream it stands in", () => {
    assert.ok(isStale(query(["approvals", "list"]), after("action/act_1")));
    assert.ok(!isStale(query(["budgets"]), after("action/act_1")));
    assert.deepEqual(touchedBy("seal/1"), []);
  });

  test("is the page of a list by the kind of its streams, without an entry here", () => {
    assert.ok(isStale(query(["epoch", false]), after("epoch/epo_1")));
    assert.ok(!isStale(query(["epoch", false]), after("endpoint/end_1")));
  });

  test("is a card only where it is made of that stream", () => {
    const card = query(["approvals", "card", "apr_1"], ["approval/apr_1", "action/act_1", "roster/people"]);
    assert.ok(isStale(card, after("approval/apr_1")));
    assert.ok(isStale(card, after("approval/apr_2", "action/act_1")));
    assert.ok(isStale(card, after("roster/people")));
    assert.ok(!isStale(card, after("approval/apr_2", "action/act_2", "workflow/wf_1")));
  });
});
