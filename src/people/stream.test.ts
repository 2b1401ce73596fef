import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { isHoldpointError } from "../kernel/errors.ts";
import {
  decideMember,
  decideRemoval,
  decideStanding,
  isPersonAmong,
  type Member,
  peopleAmong,
  type RosterState,
  rosterFold,
} from "./stream.ts";

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

  const finance: Member = { name: "Ann", mail: null, roles: ["supervisor"], groups: ["finance"] };
  const joined = (state: RosterState, person: string, member: Member) =>
    decideMember(state, { person, member, by: "person:root" }).reduce(
      (now, { type, body }) => rosterFold.evolve(now, recorded(type, body)),
      state,
    );

  test("finds people by name, role and group, and nobody else", () => {
    const state = joined(rosterFold.initial, "person:ann", finance);
    for (const name of ["person:ann", "role:supervisor", "group:finance"])
      assert.equal(isPersonAmong(state, "person:ann", [name]), true, name);
    for (const name of ["person:an", "role:admin", "group:supervisor", "role:finance", "ann"])
      assert.equal(isPersonAmong(state, "person:ann", [name]), false, name);
    assert.equal(isPersonAmong(state, "person:bob", ["role:supervisor"]), false);
    assert.deepEqual(peopleAmong(state, ["person:bob", "group:finance", "person:ann"]), [
      "person:bob",
      "person:ann",
    ]);
  });

  test("is told once what a person is there for, and forgets who was removed", () => {
    const state = joined(rosterFold.initial, "person:ann", finance);
    const again = { person: "person:ann", member: finance, by: "person:root" };
    assert.deepEqual(decideMember(state, again), []);
    const other = { ...again, member: { ...finance, roles: ["auditor" as const, "admin" as const] } };
    const [changed] = decideMember(state, other);
    assert.equal(changed?.type, "person.changed");
    assert.deepEqual(changed?.body["roles"], ["admin", "auditor"]);
    const [removed] = decideRemoval(state, { person: "person:ann", by: "person:root", reason: "left" });
    const after = rosterFold.evolve(state, recorded("person.removed", removed?.body ?? null));
    assert.equal(isPersonAmong(after, "person:ann", ["role:supervisor"]), false);
    assert.deepEqual(decideRemoval(after, { person: "person:ann", by: "person:root", reason: "left" }), []);
  });
});
