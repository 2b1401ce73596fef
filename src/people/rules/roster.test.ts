import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { ROSTER } from "../../kernel/stream.ts";
import { type Fact, fact, given } from "../../testing/given.ts";
import type { Member, Role } from "../stream.ts";
import {
  changeStanding,
  decideAddPerson,
  decideChangePerson,
  decideFirstAdmin,
  decideRemovePerson,
} from "./roster.ts";

const BY = "person:root";
const member = (roles: readonly Role[]): Member => ({ name: "Ann", mail: null, roles, groups: [] });
const added = (name: string, roles: readonly Role[]): Fact =>
  fact(ROSTER, "person.added", { person: `person:${name}`, ...member(roles), by: BY });
const out = (name: string): Fact =>
  fact(ROSTER, "person.suspended", { person: `person:${name}`, by: BY, reason: "left" });
const ANN = "person:ann";
const said = { person: ANN, by: BY, reason: "left" };

describe("the list of people", () => {
  test("takes somebody in once, and is told of changes by what changes", () => {
    given([])
      .when((draft) => decideAddPerson(draft, { person: ANN, member: member(["admin"]), by: BY }))
      .then([added("ann", ["admin"])])
      .answers({ kind: "done", changed: true });
    given([added("ann", ["admin"])])
      .when((draft) => decideAddPerson(draft, { person: ANN, member: member(["admin"]), by: BY }))
      .then([])
      .answers({ kind: "done", changed: false });
    given([added("ann", ["admin"])])
      .when((draft) => decideAddPerson(draft, { person: ANN, member: member(["auditor"]), by: BY }))
      .then([])
      .answers({ kind: "known" });
    given([added("ann", ["admin"])])
      .when((draft) =>
        decideChangePerson(draft, { person: ANN, member: { mail: "ann@example.com" }, by: BY }),
      )
      .then([fact(ROSTER, "person.changed", { name: "Ann", mail: "ann@example.com", roles: ["admin"] })])
      .answers({ kind: "done", changed: true });
    given([])
      .when((draft) => decideChangePerson(draft, { person: ANN, member: {}, by: BY }))
      .answers({ kind: "unknown" });
    given([])
      .when((draft) => decideRemovePerson(draft, said))
      .answers({ kind: "unknown" });
  });

  test("never loses its last admin: not by removal, a change of roles, or suspension", () => {
    const alone = [added("ann", ["admin", "auditor"]), added("bob", ["supervisor"])];
    for (const facts of [alone, [...alone, added("cat", ["admin"]), out("cat")]]) {
      given(facts)
        .when((draft) => decideRemovePerson(draft, said))
        .then([])
        .answers({ kind: "last_admin" });
      given(facts)
        .when((draft) => decideChangePerson(draft, { person: ANN, member: { roles: ["auditor"] }, by: BY }))
        .then([])
        .answers({ kind: "last_admin" });
      given(facts)
        .when((draft) => changeStanding(draft, { ...said, suspend: true }))
        .then([])
        .answers({ kind: "last_admin" });
    }
    const two = [...alone, added("cat", ["admin"])];
    given(two)
      .when((draft) => decideRemovePerson(draft, said))
      .then([fact(ROSTER, "person.removed", said)]);
    given(two)
      .when((draft) => changeStanding(draft, { ...said, suspend: true }))
      .then([out("ann")]);
  });

  test("may be without one before the first, and people in no list can be suspended", () => {
    given([added("ann", ["auditor"])])
      .when((draft) => decideRemovePerson(draft, said))
      .answers({ kind: "done" });
    given([])
      .when((draft) => changeStanding(draft, { ...said, suspend: true }))
      .then([out("ann")]);
  });

  test("has whoever starts it as its first admin, and nobody after that", () => {
    given([])
      .when((draft) => decideFirstAdmin(draft, ANN))
      .then([fact(ROSTER, "person.added", { person: ANN, name: "ann", roles: ["admin"], by: ANN })])
      .answers({ kind: "done", changed: true });
    given([added("bob", [])])
      .when((draft) => decideFirstAdmin(draft, ANN))
      .then([])
      .answers({ kind: "done", changed: false });
    given([out("ann")])
      .when((draft) => decideFirstAdmin(draft, ANN))
      .then([])
      .answers({ kind: "not_allowed" });
  });

  test("is changed only by people in good standing", () => {
    for (const [facts, by] of [
      [[], "agent:mailer"],
      [[], "service:cron"],
      [[out("root")], BY],
    ] as const) {
      const after = given([added("ann", []), ...facts]);
      after
        .when((draft) => decideRemovePerson(draft, { ...said, by }))
        .then([])
        .answers({ kind: "not_allowed" });
      after
        .when((draft) => decideChangePerson(draft, { person: ANN, member: { roles: ["admin"] }, by }))
        .then([])
        .answers({ kind: "not_allowed" });
      for (const suspend of [true, false])
        after
          .when((draft) => changeStanding(draft, { ...said, person: BY, by, suspend }))
          .then([])
          .answers({ kind: "not_allowed" });
      const { answer } = after.when((draft) =>
        decideAddPerson(draft, { person: "person:eve", member: member(["admin"]), by }),
      );
      assert.equal((answer as { kind: string }).kind, "not_allowed");
    }
  });
});
