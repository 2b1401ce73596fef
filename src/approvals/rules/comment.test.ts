import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { member, suspended } from "../../../tests/fixtures/people.ts";
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
  SECOND,
  says,
  voted,
  votes,
} from "../../../tests/fixtures/rules.ts";
import type { Draft } from "../../kernel/transaction.ts";
import type { Verdict } from "../../policy/rules/verdict.ts";
import { fact, given, NOON, type World } from "../../testing/given.ts";
import type { LiveApproval } from "../state.ts";
import { comment, MOST_COMMENTS } from "./comment.ts";
import { delegate } from "./delegate.ts";

type CommentCommand = Parameters<typeof comment>[1];

type Escalation = Extract<Verdict, { verdict: "escalate" }>;
const from = (...people: readonly string[]): Partial<Escalation> => ({ approvers: { from: people } });
const writes =
  (by: string, more: Partial<CommentCommand> = {}) =>
  (draft: Draft) =>
    comment(draft, { approval: approval.id, by, text: "which order?", via: "test", ...more });
const commented = fact(approval, "approval.commented");
const refused = fact(approval, "approval.comment_refused");
const stateOf = (world: World) =>
  given(world)
    .when(() => "look")
    .state(approval) as LiveApproval;
const withComments = (world: World, by: string, count: number): World =>
  add(
    world,
    ...Array.from({ length: count }, (_, index) =>
      fact(approval, "approval.commented", { by, text: `number ${index}`, via: "test" }),
    ),
  );

describe("a comment", () => {
  const world = asked(from(ANN, BOB));

  test("by somebody who may decide is recorded, and stands with the approval", () => {
    const then = given(world, { now: NOON + SECOND }).when(writes(ANN));
    then
      .then([fact(approval, "approval.commented", { by: ANN, text: "which order?", via: "test" })])
      .answers({ kind: "commented", status: "pending" });
    assert.deepEqual(stateOf(then.world).comments, [
      { by: ANN, text: "which order?", via: "test", at: NOON + SECOND },
    ]);
  });

  test("by the agent that asked is an answer", () => {
    given(world)
      .when(writes(AGENT, { text: "A-1" }))
      .then([commented])
      .answers({ kind: "commented" });
  });

  test("changes no vote, binding, deadline or stage", () => {
    const quorum = { quorum: 2, from: [ANN, BOB] };
    const half = voted(asked({ approvers: quorum, decideWithinMs: 60 * SECOND }), ANN);
    const before = stateOf(half);
    const after = stateOf(given(half).when(writes(BOB)).world);
    assert.deepEqual({ ...after, comments: [] }, before);
    const done = given(given(half).when(writes(BOB)).world).when(votes(BOB));
    done.answers({ status: "approved" });
    const policy = says({ ...(ESCALATE as Escalation), approvers: quorum, decideWithinMs: 60 * SECOND });
    given(done.world).when(comesBack({ policy })).answers({ kind: "started" });
  });

  test("comes from whoever decides later or has decided, too", () => {
    const stages = [{ from: [ANN] }, { from: [BOB] }];
    const staged = asked({ stages });
    given(staged).when(writes(BOB)).then([commented]);
    given(voted(staged, ANN)).when(writes(ANN)).then([commented]);
  });

  test("comes from whom a seat was handed to, and not from who handed it over", () => {
    const handing = { approval: approval.id, by: ANN, to: CAT, reason: "away", via: "test" };
    const handed = given(world).when((draft) => delegate(draft, handing)).world;
    given(handed).when(writes(CAT)).then([commented]);
    given(handed).when(writes(ANN)).then([refused]);
  });

  for (const [who, start, by] of [
    ["somebody whom nobody asked", world, CAT],
    ["another agent", world, "agent:stranger"],
    ["a service", world, "service:clock"],
    ["somebody who is suspended", add(world, suspended(ANN)), ANN],
    ["somebody who is not in the list of people", add(asked(), member(BOB, { roles: ["supervisor"] })), ANN],
    ["whomever the agent acts for, if nobody asked them", world, "person:customer"],
  ] as const)
    test(`by ${who} is refused, and that is recorded`, () => {
      const then = given(start).when(writes(by));
      then
        .then([fact(approval, "approval.comment_refused", { by, via: "test" })])
        .answers({ kind: "comment_refused", status: "pending", isRecorded: true });
      assert.deepEqual(stateOf(then.world).comments, []);
    });

  test("that is refused over and over leaves only so many entries", () => {
    const often = Array.from({ length: 20 }, () => writes(CAT)).reduce(
      (now, rules) => given(now).when(rules).world,
      world,
    );
    given(often).when(writes(CAT)).then([]).answers({ kind: "comment_refused", isRecorded: false });
  });

  test("on what was decided is not taken", () => {
    given(voted(world, ANN))
      .when(writes(BOB))
      .then([])
      .answers({ kind: "not_possible", status: "approved", reason: "it is approved already" });
  });

  test("after the deadline finds that it has expired", () => {
    const late = asked({ ...from(ANN), decideWithinMs: SECOND });
    given(late, { now: NOON + SECOND })
      .when(writes(ANN))
      .then([fact(approval, "approval.expired"), fact(action, "action.refused", { code: "expired" })])
      .answers({ kind: "not_possible", status: "expired" });
  });

  test("is one of at most fifty of the agent's: there is room for people", () => {
    const full = withComments(world, AGENT, MOST_COMMENTS.each);
    given(full).when(writes(AGENT)).then([]).answers({ kind: "not_possible", status: "pending" });
    given(full).when(writes(ANN)).then([commented]);
  });

  test("is one of at most a hundred", () => {
    const full = withComments(withComments(world, AGENT, 50), ANN, 50);
    given(full)
      .when(writes(BOB))
      .then([])
      .answers({ kind: "not_possible", reason: "it has 100 comments, and takes no more" });
  });

  test("on nothing is known as that", () => {
    given([]).when(writes(ANN)).then([]).answers({ kind: "unknown" });
  });
});
