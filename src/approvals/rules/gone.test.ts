import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { member, removed } from "../../../tests/fixtures/people.ts";
import {
  AGENT,
  ANN,
  add,
  approval,
  asked,
  BOB,
  CAT,
  comesBack,
  ESCALATE,
  executor,
  proposal,
  says,
  types,
  voted,
  votes,
} from "../../../tests/fixtures/rules.ts";
import { propose } from "../../effects/rules/propose.ts";
import { grantStream } from "../../kernel/stream.ts";
import type { Role } from "../../people/stream.ts";
import type { Verdict } from "../../policy/rules/verdict.ts";
import { type Fact, fact, given, NOON, type World } from "../../testing/given.ts";
import { delegate } from "./delegate.ts";

type Escalation = Extract<Verdict, { verdict: "escalate" }>;
const BOSS = "person:boss";
const supervisor = (person: string): Fact => member(person, { roles: ["supervisor"] });
const becomes = (person: string, ...roles: readonly Role[]): Fact => member(person, { roles }, false);
const LISTED = [member(BOSS, { roles: ["admin"] }), supervisor(ANN), supervisor(BOB)];
const policyOf = (terms: Partial<Escalation>) => says({ ...(ESCALATE as Escalation), ...terms });

const RULES: readonly (readonly [string, Partial<Escalation>])[] = [
  ["anybody", {}],
  ["people by name", { approvers: { from: [ANN, BOB] } }],
  ["a role", { approvers: { from: ["role:supervisor"] } }],
];
const ofTwo = ({ approvers }: Partial<Escalation>): Partial<Escalation> => ({
  approvers: { ...approvers, quorum: 2 },
});

function startsAfter(world: World, terms: Partial<Escalation>, ...facts: readonly Fact[]): boolean {
  return types(given(add(world, ...facts)).when(comesBack({ policy: policyOf(terms) }))).includes(
    "effect.started",
  );
}

describe("the vote of somebody who was removed from the list of people", () => {
  for (const [who, terms] of RULES) {
    test(`starts nothing any more where ${who} may decide`, () => {
      const world = voted(asked(terms, LISTED), ANN);
      assert.equal(startsAfter(world, terms), true);
      assert.equal(startsAfter(world, terms, removed(ANN)), false);
    });

    test(`completes no quorum where ${who} may decide`, () => {
      const one = voted(asked(ofTwo(terms), LISTED), ANN);
      given(one).when(votes(BOB)).answers({ status: "approved" });
      given(add(one, removed(ANN)))
        .when(votes(BOB))
        .answers({ status: "pending" });
    });
  }

  test("does not count again when they are added again: they are somebody new", () => {
    const world = voted(asked({}, LISTED), ANN);
    assert.equal(startsAfter(world, {}, removed(ANN), { ...supervisor(ANN), at: NOON + 1 }), false);
  });

  test("is not accepted of somebody who is in no list, where there is one", () => {
    given(asked({}, LISTED)).when(votes(CAT)).answers({ kind: "vote_refused", code: "not_eligible" });
    given(asked({ approvers: { from: [CAT, BOB] } }, LISTED))
      .when(votes(CAT))
      .answers({ kind: "vote_refused", code: "not_eligible" });
  });

  test("counts as ever where nobody is listed", () => {
    assert.equal(startsAfter(voted(asked({}), ANN), {}), true);
  });
});

describe("the vote of somebody who lost the role that decides", () => {
  const lost = becomes(ANN, "auditor");

  test("starts nothing and completes no quorum where nobody named them", () => {
    assert.equal(startsAfter(voted(asked({}, LISTED), ANN), {}, lost), false);
    given(add(voted(asked(ofTwo({}), LISTED), ANN), lost))
      .when(votes(BOB))
      .answers({ status: "pending" });
    given(add(asked({}, LISTED), lost))
      .when(votes(ANN))
      .answers({ kind: "vote_refused", code: "not_eligible" });
  });

  test("counts where the rule names them by their name", () => {
    const terms = { approvers: { from: [ANN] } };
    assert.equal(startsAfter(voted(asked(terms, LISTED), ANN), terms, lost), true);
  });

  test("counts for nothing either where they decide in the place of another", () => {
    const terms = { approvers: { from: [BOB, BOSS], quorum: 2 } };
    const handed = given(asked(terms, LISTED)).when((draft) =>
      delegate(draft, { approval: approval.id, by: BOB, to: ANN, reason: "away", via: "test" }),
    );
    const cast = voted(handed.world, ANN);
    given(cast).when(votes(BOSS)).answers({ status: "approved" });
    for (const out of [lost, removed(ANN)])
      given(add(cast, out)).when(votes(BOSS)).answers({ status: "pending" });
  });
});

describe("a standing grant", () => {
  const GRANT = "grt_00000000000000000000000001";
  const { schemaDigest: schema } = executor().rules;
  const reach = { tool: "refund", schema, agent: null, when: null, uses: 5, limit: null };
  const terms = { by: ANN, ...reach, expiresAt: 9e15, reason: "r", via: "test" };
  const uses = (...people: readonly Fact[]) => {
    const rules = executor({ policy: policyOf({}) });
    const opened = fact({ kind: "epoch", id: rules.epoch }, "epoch.opened", { agent: AGENT, process: "p" });
    const given_ = fact(grantStream(GRANT), "grant.given", terms as never);
    const then = given([opened, ...people.slice(0, LISTED.length), given_, ...people.slice(LISTED.length)]);
    return types(then.when((draft) => propose(draft, proposal({ executor: rules }))));
  };

  test("lets through while its giver may decide, and nothing once they were removed or lost the role", () => {
    assert.ok(uses(...LISTED).includes("effect.started"));
    for (const out of [removed(ANN), becomes(ANN, "auditor")]) {
      const then = uses(...LISTED, out);
      assert.ok(!then.includes("effect.started") && then.includes("approval.requested"));
    }
    assert.ok(uses().includes("effect.started"), "where nobody is listed");
  });
});
