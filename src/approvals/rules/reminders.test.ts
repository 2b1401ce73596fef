import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { suspended } from "../../../tests/fixtures/people.ts";
import {
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
  says,
  types,
  voted,
  votes,
} from "../../../tests/fixtures/rules.ts";
import type { Draft } from "../../kernel/transaction.ts";
import { approverRule, type Verdict } from "../../policy/rules/verdict.ts";
import { fact, given, NOON, type World } from "../../testing/given.ts";
import { type LiveApproval, nextDue } from "../state.ts";
import { announceDue, extend } from "./deadline.ts";

type Escalation = Extract<Verdict, { verdict: "escalate" }>;
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const DAN = "person:dan";
const sweeps = (draft: Draft) => announceDue(draft, approval.id);
const stateOf = (world: World) =>
  given(world)
    .when(() => "look")
    .state(approval) as LiveApproval;
const dueOf = (world: World) => (nextDue(stateOf(world)) ?? Number.NaN) - NOON;
const reminded = (why: string, more = {}) => fact(approval, "approval.reminded", { why, ...more });
const at = (world: World, ms: number) => given(world, { now: NOON + ms });
/** Sweeps whenever something is due, and says what came of it. */
function calendar(start: World, until: number): readonly string[] {
  const seen: string[] = [];
  let world = start;
  for (
    let due = nextDue(stateOf(world));
    due !== null && due <= NOON + until;
    due = nextDue(stateOf(world))
  ) {
    const then = given(world, { now: due }).when(sweeps);
    assert.ok(then.appended.length > 0, `nothing was due at ${due - NOON}`);
    for (const { type, body } of then.appended)
      seen.push(
        `${(due - NOON) / MINUTE} ${type.replace(/^\w+\./, "")} ${String((body as { why?: string }).why ?? "")}`.trim(),
      );
    world = then.world;
  }
  return seen;
}

describe("people are reminded", () => {
  for (const [what, ms, expected] of [
    ["a day", DAY, ["720 reminded half_time", "1296 reminded last_call", "1440 expired", "1440 refused"]],
    [
      "half a year: a day before its end",
      180 * DAY,
      ["129600 reminded half_time", "257760 reminded last_call"],
    ],
    [
      "ten minutes",
      10 * MINUTE,
      ["5 reminded half_time", "9 reminded last_call", "10 expired", "10 refused"],
    ],
    ["ninety seconds: the last call only", 90_000, ["0.5 reminded last_call", "1.5 expired", "1.5 refused"]],
    ["a minute: half time only", MINUTE, ["0.5 reminded half_time", "1 expired", "1 refused"]],
    ["less than a minute: never", 59_999, ["0.9999833333333333 expired", "0.9999833333333333 refused"]],
    ["a millisecond: never", 1, [`${1 / MINUTE} expired`, `${1 / MINUTE} refused`]],
    ["no deadline: never", null, []],
  ] as const)
    test(`at half time and before the end, of ${what}`, () => {
      const world = asked(ms === null ? {} : { decideWithinMs: ms });
      assert.deepEqual(calendar(world, 180 * DAY - 1), expected);
    });

  test("once each, whoever sweeps and how often", () => {
    const world = asked({ decideWithinMs: DAY });
    const one = at(world, DAY / 2).when(sweeps);
    one.then([reminded("half_time", { due: NOON + DAY / 2, decideBy: NOON + DAY })]);
    one.answers({ kind: "reminded", why: "half_time" });
    at(one.world, DAY / 2)
      .when(sweeps)
      .then([]);
    at(one.world, DAY / 2 + HOUR)
      .when(sweeps)
      .then([]);
    at(world, DAY / 2 - 1)
      .when(sweeps)
      .then([]);
  });

  test("late where nobody swept in time, and not of half time once the last call is due too", () => {
    const world = asked({ decideWithinMs: DAY });
    at(world, DAY / 2 + 3 * HOUR)
      .when(sweeps)
      .then([reminded("half_time", { due: NOON + DAY / 2 })]);
    const late = at(world, DAY - HOUR).when(sweeps);
    late.then([reminded("last_call")]);
    at(late.world, DAY - 1)
      .when(sweeps)
      .then([]);
    assert.deepEqual(types(at(world, DAY).when(sweeps)), ["approval.expired", "action.refused"]);
  });

  test("again after more time was given, of the time that is left then", () => {
    const world = at(asked({ decideWithinMs: 2 * HOUR }), HOUR).when(sweeps).world;
    const until = NOON + 5 * HOUR;
    const longer = at(world, HOUR).when((draft) =>
      extend(draft, { approval: approval.id, by: ANN, until, seen: null, via: "test" }),
    ).world;
    assert.deepEqual(calendar(longer, 5 * HOUR - 1), ["180 reminded half_time", "276 reminded last_call"]);
  });

  test("in each stage, and after an extension by itself", () => {
    const stages = [
      { from: [ANN], decideWithinMs: HOUR },
      { from: [BOB], decideWithinMs: 2 * HOUR },
    ];
    const handed = ["30 half_time", "54 last_call", "60 escalated", "120 half_time", "168 last_call"];
    const seen = (onTimeout: "escalate" | "extend", until: number) =>
      calendar(asked({ stages, onTimeout }), until).map((one) => one.replace("reminded ", ""));
    assert.deepEqual(seen("escalate", 3 * HOUR - 1), handed);
    const longer = ["30 half_time", "54 last_call", "60 extended", "90 half_time", "114 last_call"];
    assert.deepEqual(seen("extend", 2 * HOUR - 1), longer);
  });

  test("every so often where the rule asks for it, with and without a deadline", () => {
    const approvers = { remindEveryMs: 10 * HOUR };
    const often = calendar(asked({ approvers }), 45 * HOUR).map((one) => one.split(" ")[0]);
    assert.deepEqual(often, ["600", "1200", "1800", "2400"]);
    assert.deepEqual(calendar(asked({ approvers, decideWithinMs: DAY }), DAY - 1), [
      "600 reminded interval",
      "720 reminded half_time",
      "1200 reminded interval",
      "1296 reminded last_call",
    ]);
  });

  test("of several that are due the latest, and of two at one moment the one that says more", () => {
    const world = asked({ approvers: { remindEveryMs: HOUR }, decideWithinMs: 4 * HOUR });
    at(world, 2 * HOUR + 5)
      .when(sweeps)
      .then([reminded("half_time")]);
    const late = at(world, 3 * HOUR).when(sweeps);
    late.then([reminded("interval", { due: NOON + 3 * HOUR })]);
    assert.equal(dueOf(late.world), 4 * HOUR - 24 * MINUTE);
  });

  test("and nothing is decided by it: votes, binding and deadline are what they were", () => {
    const world = voted(asked({ decideWithinMs: DAY, approvers: { quorum: 2 } }), ANN);
    const then = at(world, DAY / 2).when(sweeps);
    const [before, after] = [stateOf(world), then.state(approval) as LiveApproval];
    assert.deepEqual({ ...after, remindedUpTo: 0 }, { ...before, remindedUpTo: 0 });
    at(then.world, DAY / 2)
      .when(votes(BOB))
      .answers({ status: "approved" });
  });

  test("never of what is over", () => {
    const world = given(asked({ decideWithinMs: DAY })).when(votes(ANN)).world;
    assert.ok(Number.isNaN(dueOf(world)));
    at(world, DAY / 2)
      .when(sweeps)
      .then([])
      .answers({ kind: "not_possible" });
  });

  test("not more often than every minute, and by nothing that is no time", () => {
    for (const remindEveryMs of [0, -1, 59_999, 1.5, "1h", Number.NaN, 1e15])
      assert.match(String(approverRule({ remindEveryMs })), /remindEveryMs/, String(remindEveryMs));
    assert.equal(typeof approverRule({ remindEveryMs: 60_000 }), "object");
  });
});

describe("at half time more people may decide", () => {
  const rule = { from: [ANN], escalateAtHalf: [BOB, "group:finance"] };
  const terms: Partial<Escalation> = { approvers: rule, decideWithinMs: HOUR };
  const widened = fact(approval, "approval.widened", {
    also: rule.escalateAtHalf,
    halfTime: NOON + HOUR / 2,
  });
  const policy = says({ ...(ESCALATE as Escalation), ...terms });

  test("from that moment on, whether anybody swept or not, and the binding is what it was", () => {
    const world = asked(terms);
    at(world, HOUR / 2 - 1)
      .when(votes(BOB))
      .then([fact(approval, "approval.vote_refused", { code: "not_eligible" })]);
    const then = at(world, HOUR / 2).when(votes(BOB));
    then.then([
      widened,
      fact(approval, "approval.voted", { by: BOB }),
      fact(approval, "approval.approved", { by: [BOB] }),
    ]);
    assert.equal((then.state(approval) as LiveApproval).binding, stateOf(world).binding);
    given(then.world, { now: NOON + HOUR })
      .when(comesBack({ policy }))
      .answers({ kind: "started" });
  });

  test("once, by the sweeper with the reminder where nobody came before", () => {
    const one = at(asked(terms), HOUR / 2).when(sweeps);
    one.then([widened, reminded("half_time")]);
    assert.deepEqual(stateOf(one.world).approvers.from, [ANN, BOB, "group:finance"]);
    assert.deepEqual(types(at(one.world, HOUR / 2 + 1).when(votes(ANN))), [
      "approval.voted",
      "approval.approved",
    ]);
  });

  test("whoever was asked first may still decide, and those who come later need the same quorum", () => {
    const both = { approvers: { ...rule, from: [ANN, CAT], quorum: 2 }, decideWithinMs: HOUR };
    const one = given(asked(both)).when(votes(ANN)).world;
    at(one, HOUR / 2)
      .when(votes(BOB))
      .answers({ status: "approved" });
    at(one, HOUR / 2)
      .when(votes(DAN))
      .answers({ kind: "vote_refused" });
  });

  test("without a veto it is not over while those of half time may still agree", () => {
    const open = { approvers: { ...rule, veto: false }, decideWithinMs: HOUR };
    const one = given(asked(open)).when(rejects(ANN));
    one.answers({ status: "pending" });
    at(one.world, HOUR / 2)
      .when(votes(BOB))
      .answers({ status: "approved" });
    at(one.world, HOUR / 2)
      .when(rejects(BOB))
      .answers({ status: "rejected" });
    given(asked({ approvers: open.approvers }))
      .when(rejects(ANN))
      .answers({ status: "rejected" });
  });

  test("a stage that is over needs nobody more; one that is given time by itself keeps whom it got", () => {
    const stages = [{ ...rule, decideWithinMs: HOUR }, { from: [CAT] }];
    assert.deepEqual(types(at(asked({ stages, onTimeout: "escalate" }), HOUR).when(sweeps)), [
      "approval.escalated",
    ]);
    const longer = at(asked({ ...terms, onTimeout: "extend" }), HOUR).when(votes(BOB));
    assert.deepEqual(types(longer), [
      "approval.widened",
      "approval.extended",
      "approval.voted",
      "approval.approved",
    ]);
  });

  test("a vote of half time counts in its stage while the next one is asked, and not if its voter is suspended", () => {
    const stages = [{ ...rule, decideWithinMs: HOUR }, { from: [CAT] }];
    const one = at(asked({ stages }), HOUR / 2).when(votes(BOB)).world;
    assert.equal(stateOf(one).stage, 2);
    given(one, { now: NOON + HOUR })
      .when(votes(CAT))
      .answers({ status: "approved" });
    given(add(one, suspended(BOB)), { now: NOON + HOUR })
      .when(votes(CAT))
      .answers({ status: "pending" });
  });

  test("an edit of the stages begins with those who were asked first", () => {
    const stages = [{ ...rule, decideWithinMs: HOUR }, { from: [CAT] }];
    const policy_ = says({ ...(ESCALATE as Escalation), stages });
    const one = at(asked({ stages }), HOUR / 2).when(
      edits(ANN, { order: "A-1", amount: 60 }, { policy: policy_ }),
    );
    const state = one.state(approval) as LiveApproval;
    assert.deepEqual([state.widened, state.since], [[], NOON + HOUR / 2]);
  });

  test("nobody is added where anybody may decide", () => {
    assert.match(String(approverRule({ escalateAtHalf: [BOB] })), /adds nobody/);
  });
});
