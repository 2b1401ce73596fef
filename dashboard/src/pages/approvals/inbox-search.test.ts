import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { addressOf, askedOf, isFiltered, searchOf } from "./inbox-search.ts";

describe("the inbox in the address", () => {
  test("shows what waits for one unless the address says something else", () => {
    const search = searchOf({});
    assert.deepEqual(addressOf(search), {});
    assert.deepEqual(askedOf(search), { status: "pending", order: "oldest", mine: "true" });
    assert.equal(isFiltered(search), false);
  });

  test("comes back from the address as it was put there", () => {
    const search = searchOf({
      tab: "decided",
      q: "refund",
      about: "checkpoint",
      agent: "agent:a",
      name: "x",
    });
    assert.deepEqual(searchOf(addressOf(search)), search);
    assert.deepEqual(askedOf(search), {
      status: "decided",
      order: "decided",
      q: "refund",
      about: "checkpoint",
      agent: "agent:a",
      name: "x",
    });
  });

  test("orders what waits by its deadline where the address says so; what was decided by when it was decided", () => {
    const search = searchOf({ tab: "waiting", order: "deadline" });
    assert.deepEqual(addressOf(search), { tab: "waiting", order: "deadline" });
    assert.deepEqual(askedOf(search), { status: "pending", order: "deadline" });
    assert.equal(askedOf({ ...search, tab: "decided" }).order, "decided");
    assert.equal(askedOf(searchOf({ order: "sideways" })).order, "oldest");
  });

  test("takes no notice of what it does not know", () => {
    assert.deepEqual(addressOf(searchOf({ tab: "x", about: "y", other: "z" })), {});
  });
});
