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
  edits,
  epochOpen,
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
import type { Verdict } from "../../policy/rules/verdict.ts";
import { fact, given, NOON, type World } from "../../testing/given.ts";
import type { LiveApproval } from "../state.ts";
import { expireIfDue } from "./deadline.ts";
import { cancelApproval } from "./withdraw.ts";

type Escalation = Extract<Verdict, { verdict: "escalate" }>;
const DAN = "person:dan";
const EVE = "person:eve";
const refused = (code: string) => fact(approval, "approval.vote_refused", { code });
const suspended = (person: string) => fact(ROSTER, "person.suspended", { person, by: EVE, reason: "left" });
const escalate = (more: Partial<Escalation>) => says({ ...(ESCALATE as Escalation), ...more });
const TWO: Partial<Escalation> = { stages: [{ from: [ANN, BOB] }, { from: [CAT, DAN] }] };
const stateOf = (world: World) =>
  given(world)
    .when(() => "look")
    .state(approval) as LiveApproval;
const sweeps = (draft: Parameters<typeof expireIfDue>[0]) => expireIfDue(draft, approval.id);

describe("stages", () => {
  test("are asked one after the other, and the last one approves", () => {
    const world = asked(TWO);
    const one = given(world).when(votes(ANN));
    one
      .then([
        fact(approval, "approval.voted", { by: ANN, stage: 1 }),
        fact(approval, "approval.stage_met", { stage: 1, by: [ANN], decideBy: null }),
      ])
      .answers({ kind: "recorded", status: "pending" });
    given(one.world)
      .when(votes(DAN))
      .then([
        fact(approval, "approval.voted", { by: DAN, stage: 2 }),
        fact(approval, "approval.approved", { by: [ANN, DAN] }),
      ])
      .answers({ status: "approved" });
  });

  test("begin with the time that is theirs, counted from when the one before was met", () => {
    const world = asked({
      stages: [
        { from: [ANN], decideWithinMs: 9 * SECOND },
        { from: [BOB], decideWithinMs: 2 * SECOND },
      ],
    });
    const one = given(world, { now: NOON + 5 * SECOND }).when(votes(ANN));
    assert.equal((one.state(approval) as LiveApproval).decideBy, NOON + 7 * SECOND);
    given(one.world, { now: NOON + 7 * SECOND })
      .when(votes(BOB))
      .answers({ status: "expired" });
    given(one.world, { now: NOON + 7 * SECOND - 1 })
      .when(votes(BOB))
      .answers({ status: "approved" });
  });

  test("have the whole of their time, and then the time to start", () => {
    const world = asked({
      stages: [{ decideWithinMs: SECOND }, { decideWithinMs: 2 * SECOND }],
      executeWithinMs: SECOND,
    });
    assert.equal(stateOf(world).executeBy, NOON + 4 * SECOND);
  });

  test("are not skipped: somebody of the second cannot decide in the first", () => {
    given(asked(TWO))
      .when(votes(CAT))
      .then([refused("not_eligible")])
      .answers({ reason: `${CAT} is asked in stage 2; now it is stage 1` });
  });

  test("that are over take no more votes", () => {
    given(voted(asked(TWO), ANN))
      .when(votes(BOB))
      .then([refused("decision_conflict")])
      .answers({ reason: `stage 1 has ended, and ${BOB} is not asked in a later one`, status: "pending" });
  });

  test("count each person once: whoever decided in the first cannot in the second", () => {
    const world = voted(asked({ stages: [{}, {}] }), ANN);
    given(world).when(votes(ANN)).then([]).answers({ kind: "same", status: "pending" });
    given(world)
      .when(rejects(ANN))
      .then([refused("decision_conflict")]);
    given(world).when(votes(BOB)).answers({ status: "approved" });
  });

  test("never count the requester, in none of them", () => {
    const world = given([epochOpen]).when(
      proposes({ policy: escalate({ stages: [{}, {}] }) }, { requester: [AGENT, BOB] }),
    ).world;
    given(voted(world, ANN))
      .when(votes(BOB))
      .then([refused("not_eligible")]);
  });

  test("keep the people they need: a vote that would leave a later one without is refused", () => {
    const world = asked({ stages: [{ from: [ANN, BOB] }, { from: [ANN] }] });
    given(world)
      .when(votes(ANN))
      .then([refused("not_eligible")])
      .answers({ reason: `${ANN} is needed in a later stage, and decides once` });
    given(voted(world, BOB)).when(votes(ANN)).answers({ status: "approved" });
  });

  test("end at a rejection in any of them", () => {
    given(voted(asked(TWO), ANN))
      .when(rejects(CAT, "too late"))
      .then([
        fact(approval, "approval.voted", { stage: 2, decision: "reject" }),
        fact(approval, "approval.rejected", { by: CAT }),
        fact(action, "action.refused", { code: "rejected", by: CAT }),
      ]);
  });

  test("go on after a rejection where the stage says so, until too few are left", () => {
    const stages = [{ from: [ANN, BOB], veto: false }, { from: [CAT] }];
    const one = given(asked({ stages })).when(rejects(ANN));
    one.answers({ status: "pending" });
    given(one.world).when(rejects(BOB)).answers({ status: "rejected" });
    const other = given(one.world).when(votes(BOB)).world;
    given(other).when(rejects(CAT)).answers({ status: "rejected" });
  });

  test("end when a rejection without a veto leaves a later one without the people it needs", () => {
    given(asked({ stages: [{ from: null, veto: false }, { from: [ANN] }] }))
      .when(rejects(ANN))
      .answers({ status: "rejected" });
  });

  test("two votes that both complete one: the first does, the second is late or counts in the next", () => {
    const both = asked({ stages: [{ from: [ANN, BOB] }, { from: [BOB, CAT], quorum: 2 }] });
    // Bob is needed in the second, so only Ann completes the first.
    given(both)
      .when(votes(BOB))
      .then([refused("not_eligible")]);
    const free = asked({ stages: [{ from: [ANN, BOB] }, { from: [BOB, CAT] }] });
    const then = given(voted(free, ANN)).when(votes(BOB));
    then.then([
      fact(approval, "approval.voted", { by: BOB, stage: 2 }),
      fact(approval, "approval.approved", { by: [ANN, BOB] }),
    ]);
    assert.deepEqual(types(given(voted(asked(TWO), ANN)).when(votes(BOB))), ["approval.vote_refused"]);
  });

  test("a vote of the first never counts in the second, whoever may decide there", () => {
    const world = voted(asked({ stages: [{ quorum: 2 }, { quorum: 2 }] }), ANN, BOB, CAT);
    assert.equal(stateOf(world).status, "pending");
    given(world).when(votes(DAN)).answers({ status: "approved" });
  });

  test("are part of the binding, and so is what happens at the deadline", () => {
    const bindings = [
      TWO,
      { stages: [{ from: [ANN, BOB] }, { from: [CAT, EVE] }] },
      { ...TWO, onTimeout: "escalate" as const },
      { ...TWO, onTimeout: "extend" as const },
      { stages: [{ from: [ANN, BOB] }, { from: [CAT, DAN], decideWithinMs: 1 }] },
      { approvers: { from: [ANN, BOB] } },
    ].map((more) => stateOf(asked(more)).binding);
    assert.equal(new Set(bindings).size, bindings.length);
  });
});

describe("an approval without stages", () => {
  test("has the events that it had before there were any", () => {
    const then = given(asked({ decideWithinMs: SECOND, onTimeout: "expire" })).when(votes(ANN));
    assert.deepEqual(types(then), ["approval.voted", "approval.approved"]);
    assert.deepEqual(Object.keys(then.appended[0]?.body ?? {}).toSorted(), [
      "binding",
      "by",
      "decision",
      "note",
      "via",
    ]);
    const question = then.world.facts.find(({ type }) => type === "approval.requested")?.body ?? {};
    assert.equal("stages" in question || "onTimeout" in question, false);
  });

  test("keeps its deadline when it is edited", () => {
    const policy = escalate({ decideWithinMs: SECOND });
    const world = asked({ decideWithinMs: SECOND });
    const then = given(world, { now: NOON + 500 }).when(edits(ANN, { order: "A-1", amount: 80 }, { policy }));
    const revised = then.appended.find(({ type }) => type === "approval.revised")?.body ?? {};
    assert.equal("again" in revised, false);
    assert.equal((then.state(approval) as LiveApproval).decideBy, NOON + SECOND);
  });
});

describe("a voter who lost their standing", () => {
  const world = asked(TWO);
  test("in an earlier stage keeps the last one from approving", () => {
    const one = add(voted(world, ANN), suspended(ANN));
    given(one).when(votes(CAT)).answers({ status: "pending" });
  });

  for (const person of [ANN, CAT])
    test(`is found when it is used, in whichever stage: ${person}`, () => {
      const given2 = add(voted(world, ANN, CAT), suspended(person));
      const then = given(given2).when(comesBack({ policy: escalate(TWO) }));
      then.answers({ kind: "waiting" });
      assert.ok(types(then).includes("approval.lapsed"));
      assert.equal(then.state(secondApproval).status, "pending");
    });

  test("nobody did: the effect starts by the word of everybody", () => {
    given(voted(world, ANN, CAT))
      .when(comesBack({ policy: escalate(TWO) }))
      .answers({ kind: "started" });
  });

  test("a policy that asks other people in a stage by now is not content with those", () => {
    const other = escalate({ stages: [{ from: [ANN, BOB] }, { from: [CAT, EVE] }] });
    given(voted(world, ANN, CAT))
      .when(comesBack({ policy: other }))
      .answers({ kind: "waiting" });
  });
});

describe("an edit in a stage", () => {
  const within = {
    stages: [
      { from: [ANN, BOB], decideWithinMs: SECOND },
      { from: [CAT], decideWithinMs: SECOND },
    ],
  };
  const policy = escalate(within);
  const second = voted(asked({ ...within, executeWithinMs: SECOND }), ANN);

  test("has the stages begin again with the first and with their time; earlier votes are void", () => {
    const then = given(second, { now: NOON + 500 }).when(
      edits(CAT, { order: "A-1", amount: 80 }, { policy }),
    );
    const state = then.state(approval) as LiveApproval;
    assert.deepEqual([state.stage, state.votes, state.status], [1, [], "pending"]);
    assert.equal(state.decideBy, NOON + 500 + SECOND);
    assert.equal(state.executeBy, NOON + 500 + 3 * SECOND);
    given(voted(then.world, BOB, CAT), { now: NOON + 600 })
      .when(comesBack({ policy }))
      .answers({ kind: "started" });
  });

  test("sent twice by somebody of a later stage gets the same answer", () => {
    const edit = edits(CAT, { order: "A-1", amount: 80 }, { policy });
    const then = given(second).when(edit);
    given(then.world).when(edit).then([]).answers({ kind: "same", status: "pending" });
  });

  test("by somebody of the first counts there", () => {
    const then = given(asked(within)).when(edits(BOB, { order: "A-1", amount: 80 }, { policy }));
    const own = types(then).filter((type) => type.startsWith("approval."));
    assert.deepEqual(own.slice(-2), ["approval.voted", "approval.stage_met"]);
  });

  test("that the policy lets through without asking needs nobody else", () => {
    const then = given(second).when(
      edits(CAT, { order: "A-1", amount: 10 }, { policy: says({ verdict: "approve" }) }),
    );
    then.answers({ status: "modified" });
    given(then.world)
      .when(comesBack({ policy: says({ verdict: "approve" }) }))
      .answers({ kind: "started" });
    given(add(then.world, suspended(CAT)))
      .when(comesBack({ policy }))
      .answers({ kind: "waiting" });
  });

  test("by somebody of another stage is refused", () => {
    given(second)
      .when(edits(BOB, { order: "A-1", amount: 80 }, { policy }))
      .then([refused("decision_conflict")]);
  });
});

describe("a deadline that passes", () => {
  const staged = (onTimeout?: "escalate" | "extend") =>
    asked({
      stages: [
        { from: [ANN, BOB], quorum: 2, decideWithinMs: 2 * SECOND },
        { from: [CAT], decideWithinMs: 3 * SECOND },
      ],
      ...(onTimeout === undefined ? {} : { onTimeout }),
    });

  test("expires the whole, unless set otherwise, in whichever stage", () => {
    given(staged(), { now: NOON + 2 * SECOND })
      .when(sweeps)
      .then([fact(approval, "approval.expired"), fact(action, "action.refused", { code: "expired" })]);
  });

  test("escalates: the next stage is asked, and has its time from there on", () => {
    given(staged("escalate"), { now: NOON + 2 * SECOND + 700 })
      .when(sweeps)
      .then([fact(approval, "approval.escalated", { stage: 1, decideBy: NOON + 5 * SECOND })])
      .answers({ kind: "moved" });
  });

  for (const [ms, who, status] of [
    [-1, ANN, "pending"],
    [-1, CAT, "refused"],
    [0, ANN, "refused"],
    [0, CAT, "approved"],
    [1, CAT, "approved"],
  ] as const)
    test(`escalates by the decision itself: ${who} ${ms} ms from it is ${status}`, () => {
      const then = given(staged("escalate"), { now: NOON + 2 * SECOND + ms }).when(votes(who));
      if (status === "refused") then.answers({ kind: "vote_refused", status: "pending" });
      else then.answers({ kind: "recorded", status });
    });

  test("escalates without the votes so far, and whoever cast them does not decide again", () => {
    const world = voted(
      asked({
        stages: [
          { from: [ANN, BOB], quorum: 2, decideWithinMs: SECOND },
          { from: [ANN, CAT, DAN], quorum: 2 },
        ],
        onTimeout: "escalate",
      }),
      ANN,
    );
    const then = given(world, { now: NOON + SECOND }).when(votes(CAT));
    then.answers({ status: "pending" });
    given(then.world, { now: NOON + SECOND })
      .when(votes(ANN))
      .then([])
      .answers({ kind: "same", status: "pending" });
    const done = given(then.world, { now: NOON + SECOND }).when(votes(DAN));
    done.then([fact(approval, "approval.voted"), fact(approval, "approval.approved", { by: [CAT, DAN] })]);
  });

  test("escalates as often as time has passed, whenever somebody looks; the last stage expires", () => {
    const then = given(staged("escalate"), { now: NOON + 5 * SECOND }).when(votes(CAT));
    then
      .then([
        fact(approval, "approval.escalated", { stage: 1 }),
        fact(approval, "approval.expired", { decideBy: NOON + 5 * SECOND }),
        refused("decision_conflict"),
        fact(action, "action.refused", { code: "expired" }),
      ])
      .answers({ status: "expired" });
  });

  test("escalates past an edit that nobody reviewed: it is refused, and its author told", () => {
    const open = given(staged("escalate")).when(votes(ANN, { edit: { order: "A-1", amount: 80 } })).world;
    const then = given(open, { now: NOON + 2 * SECOND }).when(comesBack({ policy: says(ESCALATE) }));
    then.then([
      fact(approval, "approval.edit_refused", { by: ANN, rule: "deadline" }),
      fact(approval, "approval.escalated"),
    ]);
    then.answers({ kind: "waiting", decideBy: NOON + 5 * SECOND });
  });

  test("extends once by the same length, and then expires", () => {
    const world = asked({ decideWithinMs: SECOND, executeWithinMs: SECOND, onTimeout: "extend" });
    const then = given(world, { now: NOON + SECOND }).when(sweeps);
    then.then([
      fact(approval, "approval.extended", {
        by: "deadline",
        from: NOON + SECOND,
        decideBy: NOON + 2 * SECOND,
      }),
    ]);
    assert.equal((then.state(approval) as LiveApproval).executeBy, NOON + 3 * SECOND);
    given(then.world, { now: NOON + 2 * SECOND - 1 })
      .when(votes(ANN))
      .answers({ status: "approved" });
    given(then.world, { now: NOON + 2 * SECOND })
      .when(votes(ANN))
      .answers({ status: "expired" });
    given(world, { now: NOON + 2 * SECOND })
      .when(votes(ANN))
      .answers({ status: "expired" });
  });

  test("extends each stage once", () => {
    const world = staged("extend");
    const one = voted(given(world, { now: NOON + 3 * SECOND }).when(votes(ANN)).world, BOB);
    const two = given(one, { now: NOON + 4 * SECOND }).when(votes(CAT));
    two.answers({ status: "approved" });
    assert.equal(types(two).includes("approval.extended"), true);
    given(one, { now: NOON + 6 * SECOND })
      .when(votes(CAT))
      .answers({ status: "expired" });
  });

  test("does not break what people agreed to: it is started under the binding that they saw", () => {
    const more = { decideWithinMs: SECOND, onTimeout: "extend" as const };
    const late = given(asked({ ...more, approvers: { quorum: 2 } })).when(votes(ANN)).world;
    const then = given(late, { now: NOON + SECOND }).when(votes(BOB));
    then.answers({ status: "approved" });
    given(then.world, { now: NOON + SECOND })
      .when(comesBack({ policy: escalate({ ...more, approvers: { quorum: 2 } }) }))
      .answers({ kind: "started" });
  });

  test("and was handed over can still be taken back", () => {
    const command = { approval: approval.id, by: EVE, reason: "not needed" };
    const then = given(staged("escalate"), { now: NOON + 3 * SECOND }).when((draft) =>
      cancelApproval(draft, command),
    );
    assert.deepEqual(types(then), ["approval.escalated", "approval.cancelled", "action.refused"]);
  });
});
