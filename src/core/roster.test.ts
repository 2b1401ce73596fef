import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { isHoldpointError } from "./errors.ts";
import { decideStanding, type RosterState, rosterFold } from "./roster.ts";

const recorded = (type: string, body: object | null, tv = 1) => ({ type, tv, at: 5, seq: 1, body }) as never;
const out = (state: RosterState, person: string) =>
  rosterFold.evolve(state, recorded("person.suspended", { person }));
const back = (state: RosterState, person: string) =>
  rosterFold.evolve(state, recorded("person.reinstated", { person }));
const ann = { person: "person:ann", by: "person:bob", reason: "left" };

describe("the roster", () => {
  test("knows who is suspended, each once, and forgets who is back", () => {
    const both = out(out(rosterFold.initial, "person:ann"), "person:bob");
    assert.deepEqual(out(both, "person:ann").suspended.toSorted(), ["person:ann", "person:bob"]);
    assert.deepEqual(back(both, "person:ann").suspended, ["person:bob"]);
  });

  test("writes nothing when nothing changes", () => {
    assert.deepEqual(decideStanding(rosterFold.initial, { ...ann, suspend: false }), []);
    const gone = out(rosterFold.initial, "person:ann");
    assert.deepEqual(decideStanding(gone, { ...ann, suspend: true }), []);
    assert.equal(decideStanding(gone, { ...ann, suspend: false })[0]?.type, "person.reinstated");
  });

  test("meets an unknown, newer or erased event with an error: nobody's suspension is lost by accident", () => {
    const unknown = (error: unknown) => isHoldpointError(error, "unknown_event");
    assert.throws(() => rosterFold.evolve(rosterFold.initial, recorded("person.married", {})), unknown);
    assert.throws(() => rosterFold.evolve(rosterFold.initial, recorded("person.suspended", {}, 2)), unknown);
    assert.throws(
      () => rosterFold.evolve(rosterFold.initial, recorded("person.suspended", null)),
      (error) => isHoldpointError(error, "body_erased"),
    );
  });
});
