import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { inFinance, leaves, member, reinstated, suspended } from "../../../tests/fixtures/people.ts";
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
  edits,
  rejects,
  SECOND,
  says,
  types,
  votes,
} from "../../../tests/fixtures/rules.ts";
import type { Draft } from "../../kernel/transaction.ts";
import type { Verdict } from "../../policy/rules/verdict.ts";
import { fact, given, NOON, type World } from "../../testing/given.ts";
import type { LiveApproval } from "../state.ts";
import { extend } from "./deadline.ts";
import { delegate } from "./delegate.ts";

type DelegateCommand = Parameters<typeof delegate>[1];

type Escalation = Extract<Verdict, { verdict: "escalate" }>;
const [DAN, EVE, FAY] = ["person:dan", "person:eve", "person:fay"] as const;
const hands =
  (by: string, to: string | null, more: Partial<DelegateCommand> = {}) =>
  (draft: Draft) =>
    delegate(draft, { approval: approval.id, by, to, reason: "on leave", via: "test", ...more });
const after = (world: World, ...steps: readonly ((draft: Draft) => never)[]): World =>
  steps.reduce((now, rules) => given(now).when(rules).world, world);
const handed = (world: World, ...pairs: readonly (readonly [string, string | null])[]): World =>
  after(world, ...pairs.map(([by, to]) => hands(by, to) as (draft: Draft) => never));
const refused = fact(approval, "approval.delegate_refused");
const from = (...people: readonly string[]): Partial<Escalation> => ({ approvers: { from: people } });
const reasonOf = (world: World, by: string, to: string | null): string =>
  (given(world).when(hands(by, to)).answer as { reason?: string }).reason ?? "";

describe("a seat that is handed over", () => {
  const world = asked(from(ANN, BOB));
  const staffed = asked(from(ANN, BOB), [member(EVE, { roles: ["supervisor"] }), member(ANN, {})]);

  test("is recorded; whoever has it decides, and whoever gave it does not", () => {
    const then = given(world).when(hands(ANN, CAT));
    then
      .then([fact(approval, "approval.delegated", { by: ANN, to: CAT, reason: "on leave", via: "test" })])
      .answers({ kind: "delegated", status: "pending" });
    const no = given(then.world).when(votes(ANN));
    no.then([fact(approval, "approval.vote_refused", { code: "not_eligible" })]);
    assert.match(JSON.stringify(no.answer), /person:ann has handed their seat to person:cat/);
    given(then.world)
      .when(votes(CAT))
      .then([
        fact(approval, "approval.voted", { by: CAT }),
        fact(approval, "approval.approved", { by: [CAT] }),
      ]);
  });

  test("leaves the binding as it is, and the effect starts under it", () => {
    const before = given(world)
      .when(() => "look")
      .state(approval) as LiveApproval;
    const one = given(handed(world, [ANN, CAT])).when(votes(CAT));
    assert.equal((one.state(approval) as LiveApproval).binding, before.binding);
    const policy = says({ ...(ESCALATE as Escalation), ...from(ANN, BOB) });
    given(one.world).when(comesBack({ policy })).answers({ kind: "started" });
  });

  test("said twice is said once; to another one it has to be taken back first", () => {
    const once = handed(world, [ANN, CAT]);
    given(once).when(hands(ANN, CAT)).then([]).answers({ kind: "same" });
    given(once).when(hands(ANN, DAN)).then([refused]);
    assert.match(reasonOf(once, ANN, DAN), /has handed it to person:cat already/);
  });

  test("is one seat: with a quorum of two, giver and holder are never both counted", () => {
    const two = asked({ approvers: { from: [ANN, BOB], quorum: 2 } });
    const one = given(handed(two, [ANN, CAT])).when(votes(CAT)).world;
    given(one).when(votes(ANN)).answers({ kind: "vote_refused" });
    given(one).when(votes(BOB)).answers({ status: "approved" });
  });

  test("can be handed on, over three people and no more", () => {
    const third = handed(world, [ANN, CAT], [CAT, DAN], [DAN, EVE]);
    given(third).when(votes(EVE)).answers({ status: "approved" });
    given(third).when(votes(DAN)).answers({ kind: "vote_refused" });
    given(third).when(hands(EVE, FAY)).then([refused]);
    assert.match(reasonOf(third, EVE, FAY), /handed on 3 times/);
  });

  for (const [what, start, by, to, reason] of [
    ["in a circle", handed(world, [ANN, CAT]), CAT, ANN, /come from person:ann/],
    ["in a wide circle", handed(world, [ANN, CAT], [CAT, DAN]), DAN, ANN, /come from person:ann/],
    ["to oneself", world, ANN, ANN, /has it already/],
    ["to the requester", world, ANN, AGENT, /agent:refunds may not decide/],
    ["to somebody who is suspended", add(world, suspended(CAT)), ANN, CAT, /person:cat may not decide/],
    ["to a service", world, ANN, "service:clock", /service:clock may not decide this: only people/],
    ["to somebody unknown, where the list says who decides", staffed, ANN, DAN, /not in the list of people/],
    [
      "to somebody listed who is not there to decide",
      add(staffed, member(DAN, { roles: ["executor", "auditor"] })),
      ANN,
      DAN,
      /no role that decides/,
    ],
    [
      "to a supervisor who is suspended",
      add(staffed, member(DAN, { roles: ["supervisor"] }), suspended(DAN)),
      ANN,
      DAN,
      /they are suspended/,
    ],
    ["by somebody who is not asked", world, CAT, DAN, /person:cat may not decide/],
    ["by somebody who is suspended", add(world, suspended(ANN)), ANN, CAT, /person:ann may not decide/],
    [
      "by somebody who has voted",
      after(asked({ approvers: { from: [ANN, BOB, CAT], quorum: 2 } }), votes(ANN) as never),
      ANN,
      DAN,
      /person:ann has decided already/,
    ],
    [
      "to somebody who has voted: two seats, one person",
      after(asked({ approvers: { from: [ANN, BOB, CAT], quorum: 2 } }), votes(BOB) as never),
      ANN,
      BOB,
      /person:bob has decided already/,
    ],
    [
      "to somebody who has handed theirs over",
      handed(asked(from(ANN, BOB)), [BOB, CAT]),
      ANN,
      BOB,
      /handed their own seat/,
    ],
    [
      "to somebody who is asked too, where both are needed",
      asked({ approvers: { from: [ANN, BOB], quorum: 2 } }),
      ANN,
      BOB,
      /too few people/,
    ],
    [
      "to somebody whom a later stage needs",
      asked({ stages: [{ from: [ANN] }, { from: [BOB] }] }),
      ANN,
      BOB,
      /needed in a later stage/,
    ],
  ] as const)
    test(`is refused and recorded ${what}`, () => {
      const then = given(start).when(hands(by, to));
      then.then([refused]).answers({ kind: "delegate_refused" });
      assert.match(reasonOf(start, by, to), reason);
    });

  test("goes to a supervisor or an admin of the list, and to whomever the rule names", () => {
    for (const role of ["supervisor", "admin"] as const)
      given(add(staffed, member(DAN, { roles: [role] })))
        .when(hands(ANN, DAN))
        .answers({ kind: "delegated" });
    const listed = [member(EVE, { roles: ["supervisor"] }), member(CAT, {})];
    const three = asked({ approvers: { from: [ANN, BOB, CAT] } }, [...listed, member(ANN, {})]);
    given(three).when(hands(ANN, CAT)).answers({ kind: "delegated" });
    const anybody = asked({}, [...listed, member(ANN, { roles: ["admin"] })]);
    given(anybody).when(hands(ANN, CAT)).answers({ kind: "delegate_refused" });
    given(anybody).when(hands(ANN, EVE)).answers({ kind: "delegated" });
  });

  test("may go to somebody who is asked too while enough people are left: they have one vote", () => {
    const three = asked({ approvers: { from: [ANN, BOB, CAT], quorum: 2 } });
    const one = given(handed(three, [ANN, BOB])).when(votes(BOB));
    one.answers({ status: "pending" });
    given(one.world).when(votes(CAT)).answers({ status: "approved" });
    assert.match(reasonOf(handed(three, [ANN, BOB]), CAT, BOB), /too few people/);
  });

  test("counts for nothing once its first holder may not decide any more, and again when they may", () => {
    const two = asked({ approvers: { from: [ANN, BOB], quorum: 2 } });
    const cast = after(handed(two, [ANN, CAT]), votes(CAT) as never);
    const out = given(add(cast, suspended(ANN))).when(votes(BOB));
    out.answers({ status: "pending" });
    const back = add(out.world, reinstated(ANN));
    given(back).when(votes(BOB)).answers({ kind: "same", status: "approved" });
  });

  test("of a group is gone when its giver leaves the group, also between the vote and the start", () => {
    const terms = from("group:finance");
    const world = asked(terms, [inFinance(ANN), inFinance(BOB), member(DAN, {})]);
    const cast = after(handed(world, [ANN, DAN]), votes(DAN) as never);
    const policy = says({ ...(ESCALATE as Escalation), ...terms });
    given(cast).when(comesBack({ policy })).answers({ kind: "started" });
    const then = given(add(cast, leaves(ANN))).when(comesBack({ policy }));
    assert.ok(types(then).includes("approval.lapsed") && !types(then).includes("effect.started"));
  });

  test("lets its holder give more time, and its giver not", () => {
    const more = (by: string) => (draft: Draft) =>
      extend(draft, { approval: approval.id, by, until: NOON + 9 * SECOND, seen: null, via: "test" });
    const world = handed(asked({ ...from(ANN, BOB), decideWithinMs: SECOND }), [ANN, CAT]);
    given(world).when(more(CAT)).answers({ kind: "extended" });
    given(world).when(more(ANN)).answers({ kind: "extend_refused" });
  });

  test("holds in its stage and in no other", () => {
    const stages = [{ from: [ANN, BOB] }, { from: [ANN, CAT] }];
    const one = after(handed(asked({ stages }), [ANN, DAN]), votes(BOB) as never);
    given(one).when(votes(DAN)).answers({ kind: "vote_refused" });
    given(one).when(votes(ANN)).answers({ status: "approved" });
  });

  test("stays where it is over an edit", () => {
    const policy = says({ ...(ESCALATE as Escalation), approvers: { from: [ANN, BOB], quorum: 2 } });
    const two = asked({ approvers: { from: [ANN, BOB], quorum: 2 } });
    const edited = given(handed(two, [ANN, CAT])).when(edits(BOB, { order: "A-1", amount: 60 }, { policy }));
    given(edited.world).when(votes(ANN)).answers({ kind: "vote_refused" });
    given(edited.world).when(votes(CAT)).answers({ status: "modified" });
  });

  test("without a veto, a rejection by its holder takes that seat out", () => {
    const two = asked({ approvers: { from: [ANN, BOB], quorum: 1, veto: false } });
    const one = given(handed(two, [ANN, CAT])).when(rejects(CAT));
    one.answers({ status: "pending" });
    given(one.world).when(rejects(BOB)).answers({ status: "rejected" });
  });

  test("is nobody's after the deadline", () => {
    const world = asked({ ...from(ANN, BOB), decideWithinMs: SECOND });
    const late = given(world, { now: NOON + SECOND }).when(hands(ANN, CAT));
    late.answers({ kind: "not_possible", status: "expired" });
    assert.deepEqual(types(late), ["approval.expired", "action.refused"]);
  });
});

describe("a seat that is taken back", () => {
  const world = handed(asked(from(ANN, BOB)), [ANN, CAT]);

  test("is its giver's again", () => {
    const then = given(world).when(hands(ANN, null));
    then
      .then([fact(approval, "approval.delegation_withdrawn", { by: ANN, of: ANN, to: CAT })])
      .answers({ kind: "withdrawn" });
    given(then.world).when(votes(CAT)).answers({ kind: "vote_refused" });
    given(then.world).when(votes(ANN)).answers({ status: "approved" });
    given(then.world).when(hands(ANN, DAN)).answers({ kind: "delegated" });
  });

  test("comes back from whomever it was handed on to, and what they were given by others stays", () => {
    const far = handed(world, [CAT, DAN], [DAN, EVE]);
    const then = given(far).when(hands(ANN, null));
    assert.deepEqual(
      then.appended.map(({ body }) => (body as { of: string }).of),
      [ANN, CAT, DAN],
    );
    given(then.world).when(votes(EVE)).answers({ kind: "vote_refused" });
    const own = handed(asked({ approvers: { from: [ANN, BOB, CAT] } }), [ANN, CAT], [CAT, DAN]);
    const less = given(own).when(hands(ANN, null));
    assert.equal(less.appended.length, 1);
    given(less.world).when(votes(DAN)).answers({ status: "approved" });
  });

  test("does not come back once somebody has decided with it", () => {
    const two = handed(asked({ approvers: { from: [ANN, BOB], quorum: 2 } }), [ANN, CAT], [CAT, DAN]);
    const cast = after(two, votes(DAN) as never);
    for (const by of [ANN, CAT]) given(cast).when(hands(by, null)).then([refused]);
    assert.match(reasonOf(cast, ANN, null), /person:dan has decided with it/);
  });

  test("was handed over by whoever takes it back", () => {
    given(world)
      .when(hands(BOB, null))
      .then([])
      .answers({ kind: "not_possible", reason: "person:bob has handed nothing over" });
  });

  test("of an approval that is over is nothing any more", () => {
    const over = after(world, votes(BOB) as never);
    given(over).when(hands(ANN, null)).then([]).answers({ kind: "not_possible", status: "approved" });
    given(asked())
      .when((draft) => delegate(draft, { approval: "apr_9", by: ANN, to: BOB, reason: "r", via: "test" }))
      .answers({ kind: "unknown" });
  });
});
