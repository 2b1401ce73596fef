import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { inFinance, leaves, member, removed, suspended } from "../../../tests/fixtures/people.ts";
import {
  AGENT,
  ANN,
  action,
  add,
  approval,
  asked,
  BOB,
  CAT,
  comesBack,
  ESCALATE,
  executor,
  proposal,
  rejects,
  says,
  secondApproval,
  types,
  voted,
  votes,
} from "../../../tests/fixtures/rules.ts";
import { propose } from "../../effects/rules/propose.ts";
import { grantStream } from "../../kernel/stream.ts";
import { whyUnmeetable } from "../../policy/rules/stages.ts";
import { type ApproverRule, approverRule, type Verdict } from "../../policy/rules/verdict.ts";
import { type Fact, fact, given, type World } from "../../testing/given.ts";
import type { LiveApproval } from "../state.ts";

type Escalation = Extract<Verdict, { verdict: "escalate" }>;
const DAN = "person:dan";
const FINANCE: Partial<Escalation> = { approvers: { from: ["group:finance"] } };
const policyOf = (terms: Partial<Escalation>) => says({ ...(ESCALATE as Escalation), ...terms });
const stateOf = (world: World) =>
  given(world)
    .when(() => "look")
    .state(approval) as LiveApproval;
const refused = (code: string) => fact(approval, "approval.vote_refused", { code });

describe("an approver rule that names a group or a role", () => {
  test("lets exactly its members decide", () => {
    const world = asked(FINANCE, [inFinance(ANN), member(BOB, { groups: ["sales"] })]);
    given(world)
      .when(votes(BOB))
      .then([refused("not_eligible")]);
    given(world)
      .when(votes(CAT))
      .then([refused("not_eligible")]);
    given(world).when(votes(ANN)).answers({ status: "approved" });
  });

  test("means people, roles and groups side by side", () => {
    const from = ["role:supervisor", "group:finance", CAT];
    const people = [member(ANN, { roles: ["supervisor"] }), inFinance(BOB), member(CAT, {})];
    const world = asked({ approvers: { from, quorum: 3 } }, people);
    assert.equal(stateOf(voted(world, ANN, BOB, CAT)).status, "approved");
    given(world)
      .when(votes(DAN))
      .then([refused("not_eligible")]);
  });

  test("counts people as the roster has them when they vote, not when they were asked", () => {
    const world = asked(FINANCE, [inFinance(ANN)]);
    const joined = add(world, inFinance(BOB));
    given(joined).when(votes(BOB)).answers({ status: "approved" });
    given(add(joined, leaves(ANN)))
      .when(votes(ANN))
      .then([refused("not_eligible")]);
  });

  for (const [how, goes] of [
    ["has left the group", leaves],
    ["was removed", removed],
    ["was suspended", suspended],
  ] as const) {
    test(`does not count a vote of somebody who ${how} since`, () => {
      const terms = { approvers: { from: ["group:finance"], quorum: 2 } };
      const people = [inFinance(ANN), inFinance(BOB), inFinance(CAT)];
      const world = add(voted(asked(terms, people), ANN), goes(ANN));
      const second = given(world).when(votes(BOB));
      second.answers({ status: "pending" });
      given(second.world).when(votes(CAT)).answers({ status: "approved" });
    });

    test(`asks anew at the start if an approver ${how} between the vote and the start`, () => {
      const people = [inFinance(ANN), inFinance(BOB)];
      const world = add(voted(asked(FINANCE, people), ANN), goes(ANN));
      given(world)
        .when(comesBack({ policy: policyOf(FINANCE) }))
        .then([
          fact(approval, "approval.lapsed"),
          fact(action, "action.reviewed", { verdict: "escalate" }),
          fact(secondApproval, "approval.requested"),
        ])
        .answers({ kind: "waiting" });
    });
  }

  test("a group that is empty at the start blocks, and says so", () => {
    const world = add(voted(asked(FINANCE, [inFinance(ANN)]), ANN), leaves(ANN));
    const then = given(world).when(comesBack({ policy: policyOf(FINANCE) }));
    then.answers({ kind: "refused", refusal: { code: "blocked" } });
    assert.match(JSON.stringify(then.answer), /group:finance has no members/);
    assert.ok(!types(then).includes("effect.started"));
  });

  for (const [what, terms, people, says_] of [
    ["an empty group", FINANCE, [], /1 person is asked for and 0 .* group:finance has no members/],
    [
      "too small a group",
      { approvers: { from: ["group:finance"], quorum: 2 } },
      [inFinance(ANN)],
      /2 people are asked for and 1 of those named may vote/,
    ],
    [
      "a group of nobody but the requester",
      FINANCE,
      [inFinance("person:me")],
      /person:me may not decide this/,
    ],
    [
      "two stages that need the same person",
      { stages: [{ from: ["group:finance"] }, { from: ["role:admin"] }] },
      [member(ANN, { groups: ["finance"], roles: ["admin"] })],
      /each person decides once/,
    ],
  ] as const)
    test(`is refused when it is asked: ${what}`, () => {
      const start = given([
        fact({ kind: "epoch", id: executor().epoch }, "epoch.opened", { agent: AGENT, process: "p" }),
        ...people,
      ]);
      const rules = executor({ policy: policyOf(terms as Partial<Escalation>) });
      const then = start.when((draft) =>
        propose(draft, proposal({ requester: [AGENT, "person:me"], executor: rules })),
      );
      assert.ok(!types(then).includes("approval.requested"));
      assert.match(JSON.stringify(then.answer), says_);
    });

  test("a suspended member is waited for, as somebody who is named is", () => {
    const world = asked(FINANCE, [inFinance(ANN), suspended(ANN)]);
    assert.equal(stateOf(world).status, "pending");
  });

  test("without a veto, a rejection ends it once too few members are left", () => {
    const terms = { approvers: { from: ["group:finance"], quorum: 2, veto: false } };
    const people = [inFinance(ANN), inFinance(BOB), inFinance(CAT)];
    const one = given(asked(terms, people)).when(rejects(ANN));
    one.answers({ status: "pending" });
    given(one.world).when(rejects(BOB)).answers({ status: "rejected" });
    given(add(one.world, leaves(CAT)))
      .when(rejects(BOB))
      .answers({ status: "rejected" });
    given(add(one.world, inFinance(DAN)))
      .when(rejects(BOB))
      .answers({ status: "pending" });
  });

  test("keeps somebody for the later stage whose group has nobody else", () => {
    const terms = { stages: [{ from: ["group:finance"] }, { from: ["role:admin"] }] };
    const both = member(ANN, { groups: ["finance"], roles: ["admin"] });
    const world = asked(terms, [both, inFinance(BOB)]);
    given(world)
      .when(votes(ANN))
      .then([refused("not_eligible")]);
    given(add(world, member(CAT, { roles: ["admin"] })))
      .when(votes(ANN))
      .answers({ status: "pending" });
  });

  test("cannot be met is not known where there is no roster; a role that does not exist is", () => {
    const rule = approverRule({ from: ["group:finance"], quorum: 9 }) as ApproverRule;
    assert.equal(whyUnmeetable({ approvers: rule }, []), undefined);
    assert.match(String(approverRule({ from: ["role:boss"] })), /role:boss is not a role; there are admin/);
    assert.match(String(approverRule({ from: ["group:"] })), /is not a group/);
  });
});

describe("what somebody granted beforehand", () => {
  const GRANT = "grt_00000000000000000000000001";
  const terms = {
    by: ANN,
    tool: "refund",
    schema: executor().rules.schemaDigest,
    agent: null,
    when: null,
    uses: 5,
    limit: null,
    expiresAt: 9e15,
    reason: "r",
    via: "test",
  };
  const given_ = fact(grantStream(GRANT), "grant.given", terms as never);
  const start = (people: readonly Fact[], from: readonly string[]) => {
    const rules = executor({ policy: policyOf({ approvers: { from } }) });
    const opened = fact({ kind: "epoch", id: rules.epoch }, "epoch.opened", { agent: AGENT, process: "p" });
    return given([opened, given_, ...people]).when((draft) => propose(draft, proposal({ executor: rules })));
  };

  test("stands for a member of the group, and for nobody who has left it", () => {
    assert.ok(types(start([inFinance(ANN)], ["group:finance"])).includes("effect.started"));
    const left = start([inFinance(ANN), inFinance(BOB), leaves(ANN)], ["group:finance"]);
    assert.ok(!types(left).includes("effect.started"));
    assert.ok(types(left).includes("approval.requested"));
  });
});
