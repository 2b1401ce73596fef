import assert from "node:assert/strict";
import { describe, test } from "node:test";
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
  epochOpen,
  executor,
  proposes,
  rejects,
  SECOND,
  says,
  secondApproval,
  types,
  voted,
  votes,
} from "../../../tests/fixtures/rules.ts";
import { ROSTER } from "../../kernel/stream.ts";
import { fact, given, NOON, type World } from "../../testing/given.ts";
import type { LiveApproval } from "../state.ts";

const suspended = (person: string) => fact(ROSTER, "person.suspended", { person, by: CAT, reason: "left" });
const reinstated = (person: string) =>
  fact(ROSTER, "person.reinstated", { person, by: CAT, reason: "is back" });
const refused = (code: string) => fact(approval, "approval.vote_refused", { code });
const two = (from: readonly string[] | null = null, veto = true) =>
  asked({ approvers: { quorum: 2, from, veto } });
const bindingOf = (world: World) => {
  const body = world.facts.findLast(({ type }) => type === "approval.requested")?.body;
  return String(body?.["binding"]);
};

describe("what was shown", () => {
  const shown = "ab".repeat(32);
  const bodyOf = (world: World, type: string) => world.facts.findLast((one) => one.type === type)?.body;

  test("is recorded with the vote, and stands with it", () => {
    const then = given(asked()).when(votes(ANN, { shown }));
    assert.equal(bodyOf(then.world, "approval.voted")?.["shown"], shown);
    assert.equal((then.state(approval) as LiveApproval).votes[0]?.shown, shown);
  });

  test("is recorded with a rejection", () => {
    const then = given(asked()).when(votes(ANN, { decision: "reject", note: "no", shown }));
    assert.equal(bodyOf(then.world, "approval.voted")?.["shown"], shown);
  });

  test("is recorded with an edit, and with the vote of the editor", () => {
    const edit = { order: "A-1", amount: 60 };
    const then = given(asked()).when(
      votes(ANN, { edit, shown, executor: executor({ approval: secondApproval.id, nonce: "non_2" }) }),
    );
    assert.equal(bodyOf(then.world, "approval.edited")?.["shown"], shown);
    assert.equal(bodyOf(then.world, "approval.voted")?.["shown"], shown);
  });

  test("is not there where nobody says it, and a vote of before stands without it", () => {
    const then = given(asked()).when(votes(ANN));
    assert.ok(!("shown" in (bodyOf(then.world, "approval.voted") ?? {})));
  });

  test("decides nothing: the same vote with another card is the same vote", () => {
    const two = given(asked({ approvers: { quorum: 2 } })).when(votes(ANN, { shown })).world;
    given(two)
      .when(votes(ANN, { shown: "cd".repeat(32) }))
      .then([])
      .answers({ kind: "same" });
  });
});

describe("one person's decision", () => {
  test("approves, with the binding of what was asked", () => {
    const world = asked();
    given(world)
      .when(votes(ANN, { note: "fine" }))
      .then([
        fact(approval, "approval.voted", {
          by: ANN,
          decision: "approve",
          binding: bindingOf(world),
          note: "fine",
        }),
        fact(approval, "approval.approved", { by: [ANN] }),
      ])
      .answers({ kind: "recorded", status: "approved" });
  });

  test("rejects, and the action is refused with that person and that reason in the same commit", () => {
    given(asked())
      .when(rejects(ANN, "wrong customer"))
      .then([
        fact(approval, "approval.voted", { decision: "reject" }),
        fact(approval, "approval.rejected", { by: ANN, reason: "wrong customer" }),
        fact(action, "action.refused", { code: "rejected", by: ANN, reason: "wrong customer", retry: false }),
      ]);
  });

  test("said again the same way gets the original answer and writes nothing", () => {
    given(voted(asked(), ANN)).when(votes(ANN)).then([]).answers({ kind: "same", status: "approved" });
    const no = given(asked()).when(rejects(ANN)).world;
    given(no).when(rejects(ANN)).then([]).answers({ kind: "same", status: "rejected" });
  });

  test("said again of something else than was voted on is refused like a first one", () => {
    for (const world of [voted(asked(), ANN), voted(two(), ANN)]) {
      const again = given(world).when(votes(ANN, { binding: "0".repeat(64) }));
      again.then([refused("decision_conflict")]).answers({ kind: "vote_refused" });
      const same = given(world).when(votes(ANN, { binding: bindingOf(world) }));
      same.then([]).answers({ kind: "same" });
    }
  });

  test("said again after it was used up still gets the original answer, and nothing runs twice", () => {
    const used = given(voted(asked(), ANN)).when(comesBack({ policy: says(ESCALATE) })).world;
    given(used).when(votes(ANN)).then([]).answers({ kind: "same", status: "consumed" });
  });

  test("changed afterwards is refused and recorded: the first stands", () => {
    const then = given(voted(asked(), ANN)).when(rejects(ANN));
    then.then([refused("decision_conflict")]).answers({ kind: "vote_refused", status: "approved" });
    const no = given(asked()).when(rejects(ANN)).world;
    given(no)
      .when(votes(ANN))
      .then([refused("decision_conflict")])
      .answers({ status: "rejected" });
  });

  test("after another person's is refused with the current state", () => {
    given(voted(asked(), ANN))
      .when(votes(BOB))
      .then([refused("decision_conflict")])
      .answers({ status: "approved" });
    given(voted(asked(), ANN))
      .when(rejects(BOB))
      .then([refused("decision_conflict")])
      .answers({ status: "approved" });
  });

  test("on something else than what is asked now is refused", () => {
    given(asked())
      .when(votes(ANN, { binding: "0".repeat(64) }))
      .then([refused("decision_conflict")])
      .answers({ reason: "what was decided is not what is asked now", status: "pending" });
  });

  test("on exactly what is asked now counts", () => {
    const world = asked();
    given(world)
      .when(votes(ANN, { binding: bindingOf(world) }))
      .answers({ status: "approved" });
  });

  test("on an approval that does not exist is unknown and writes nothing", () => {
    given(asked())
      .when(votes(ANN, { approval: "apr_9" }))
      .then([])
      .answers({ kind: "unknown" });
  });
});

describe("who may decide", () => {
  for (const by of [AGENT, "agent:other", "service:cron"]) {
    test(`${by} cannot vote`, () => {
      given(asked())
        .when(votes(by))
        .then([refused("not_eligible")]);
      given(asked())
        .when(rejects(by))
        .then([refused("not_eligible")]);
    });
  }

  test("whoever the agent acts for cannot decide what it asks", () => {
    const requester = [AGENT, ANN];
    const world = given([epochOpen]).when(proposes({ policy: says(ESCALATE) }, { requester })).world;
    given(world)
      .when(votes(ANN))
      .then([refused("not_eligible")]);
    given(world).when(votes(BOB)).answers({ status: "approved" });
  });

  test("somebody who is not named cannot decide", () => {
    given(asked({ approvers: { from: [ANN] } }))
      .when(votes(BOB))
      .then([refused("not_eligible")]);
  });

  test("a suspended person cannot decide", () => {
    given(add(asked(), suspended(ANN)))
      .when(votes(ANN))
      .then([refused("not_eligible")]);
  });

  test("a person who is back can decide", () => {
    given(add(asked(), suspended(ANN), reinstated(ANN)))
      .when(votes(ANN))
      .answers({ status: "approved" });
  });
});

describe("a quorum", () => {
  test("of two waits for a second person", () => {
    const one = given(two()).when(votes(ANN));
    assert.deepEqual(types(one), ["approval.voted"]);
    given(one.world)
      .when(votes(BOB))
      .then([fact(approval, "approval.voted"), fact(approval, "approval.approved", { by: [ANN, BOB] })]);
  });

  test("counts distinct people: the same one twice is one", () => {
    given(voted(two(), ANN)).when(votes(ANN)).then([]).answers({ kind: "same", status: "pending" });
  });

  test("is not met by a name that only looks like another person's", () => {
    // A different spelling is a different principal; who that is, is settled by the credential and not here.
    given(voted(two([ANN, BOB]), ANN))
      .when(votes("person:Ann"))
      .then([refused("not_eligible")]);
  });

  test("ends at one rejection, which is a veto", () => {
    given(voted(two(), ANN)).when(rejects(BOB)).answers({ status: "rejected" });
  });

  test("without a veto goes on after a rejection", () => {
    const one = given(two([ANN, BOB, CAT], false)).when(rejects(ANN));
    one.then([fact(approval, "approval.voted", { decision: "reject" })]).answers({ status: "pending" });
    given(voted(one.world, BOB, CAT))
      .when(votes(CAT))
      .answers({ status: "approved" });
  });

  test("without a veto ends when too few of the people named are left", () => {
    const one = given(two([ANN, BOB, CAT], false)).when(rejects(ANN)).world;
    given(one).when(rejects(BOB)).answers({ status: "rejected" });
  });

  test("without a veto and without names goes on however many say no", () => {
    const one = given(two(null, false)).when(rejects(ANN)).world;
    given(one).when(rejects(BOB)).answers({ status: "pending" });
  });

  test("a person who rejected cannot approve the same question later", () => {
    const one = given(two([ANN, BOB, CAT], false)).when(rejects(ANN)).world;
    given(one)
      .when(votes(ANN))
      .then([refused("decision_conflict")]);
  });

  test("does not count a voter who was suspended meanwhile", () => {
    const world = add(voted(two(), ANN), suspended(ANN));
    given(world).when(votes(BOB)).answers({ status: "pending" });
  });

  test("that a returning voter completes is met as soon as anybody repeats their vote", () => {
    const waiting = given(add(voted(two([ANN, BOB]), ANN), suspended(ANN))).when(votes(BOB)).world;
    const back = add(waiting, reinstated(ANN));
    given(back)
      .when(votes(ANN))
      .then([fact(approval, "approval.approved", { by: [ANN, BOB] })])
      .answers({ status: "approved" });
  });
});

describe("the deadline to decide", () => {
  const world = asked({ decideWithinMs: SECOND });

  for (const [ms, status] of [
    [-1, "approved"],
    [0, "expired"],
    [1, "expired"],
  ] as const) {
    test(`a decision ${ms} ms from it: ${status}`, () => {
      given(world, { now: NOON + SECOND + ms })
        .when(votes(ANN))
        .answers({ status });
    });
  }

  test("is kept by the decision itself: late is refused and recorded, whether or not a sweeper came by", () => {
    given(world, { now: NOON + SECOND })
      .when(votes(ANN))
      .then([
        fact(approval, "approval.expired"),
        refused("decision_conflict"),
        fact(action, "action.refused", { code: "expired" }),
      ])
      .answers({ kind: "vote_refused", status: "expired", reason: "it is expired already" });
  });

  test("passed is expiry and not rejection: it has no decider", () => {
    const then = given(world, { now: NOON + SECOND }).when(rejects(ANN));
    assert.deepEqual((then.state(approval) as LiveApproval).decided?.by, []);
    assert.partialDeepStrictEqual(then.state(action), { refusal: { code: "expired", by: "deadline" } });
  });

  test("does not stop an approval of before from being used", () => {
    given(voted(world, ANN), { now: NOON + 10 * SECOND })
      .when(comesBack({ policy: says({ ...ESCALATE, decideWithinMs: SECOND } as never) }))
      .answers({ kind: "started" });
  });

  test("left out never comes", () => {
    given(asked(), { now: NOON + 1e13 })
      .when(votes(ANN))
      .answers({ status: "approved" });
  });

  test("of one millisecond has expired when that millisecond ends", () => {
    given(asked({ decideWithinMs: 1 }), { now: NOON + 1 })
      .when(votes(ANN))
      .answers({ status: "expired" });
  });
});
