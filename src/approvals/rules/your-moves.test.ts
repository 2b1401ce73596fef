import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { member, suspended } from "../../../tests/fixtures/people.ts";
import {
  AGENT,
  ANN,
  APPROVAL,
  add,
  approval,
  asked,
  BOB,
  CAT,
  executor,
  rejects,
  SECOND,
  voted,
  votes,
} from "../../../tests/fixtures/rules.ts";
import { ROSTER } from "../../kernel/stream.ts";
import { type Draft, isNeed } from "../../kernel/transaction.ts";
import { fact, given, NOON, type World } from "../../testing/given.ts";
import type { ApprovalMove } from "../state.ts";
import { isEditable, movesOf, yourStanding } from "./card.ts";
import { comment } from "./comment.ts";
import { extend, passTime } from "./deadline.ts";
import { delegate } from "./delegate.ts";
import { withAction } from "./subject.ts";
import { cancelIfAllowed, revokeApproval } from "./withdraw.ts";

const DAN = "person:dan";
const EVE = "person:eve";
const DEADLINE = { decideWithinMs: 10 * SECOND };
const STAGES = [{ from: [ANN, BOB] }, { from: [CAT, DAN] }];

function moves(world: World, who: string | null, now = NOON): readonly ApprovalMove[] {
  return given(world, { now }).when((draft) => {
    const locked = withAction(draft, APPROVAL);
    const more = isNeed(locked) ? locked : draft.need({ read: [ROSTER] });
    if (more !== undefined) return more;
    const state = passTime(draft, APPROVAL);
    return movesOf(draft, state, who, yourStanding(state, draft.state(ROSTER), who ?? ANN));
  }).answer as readonly ApprovalMove[];
}

const handed = fact(approval, "approval.delegated", { by: ANN, to: DAN, reason: "on leave", via: "test" });

/** What each of them really answers, where it did it. */
const DONE: {
  readonly [move in ApprovalMove]: readonly [(by: string) => (draft: Draft) => unknown, string];
} = {
  approve: [(by) => votes(by), "recorded"],
  reject: [(by) => rejects(by), "recorded"],
  edit: [(by) => votes(by, { edit: { order: "A-1", amount: 90 }, executor: executor() }), "recorded"],
  extend: [
    (by) => (draft) =>
      extend(draft, { approval: APPROVAL, by, until: NOON + 60 * SECOND, seen: null, via: "test" }),
    "extended",
  ],
  delegate: [
    (by) => (draft) => delegate(draft, { approval: APPROVAL, by, to: EVE, reason: "on leave", via: "test" }),
    "delegated",
  ],
  take_back: [
    (by) => (draft) => delegate(draft, { approval: APPROVAL, by, to: null, reason: "back", via: "test" }),
    "withdrawn",
  ],
  cancel: [(by) => (draft) => cancelIfAllowed(draft, { approval: APPROVAL, by, reason: "no need" }), "ended"],
  revoke: [(by) => (draft) => revokeApproval(draft, { approval: APPROVAL, by, reason: "no" }), "ended"],
  comment: [
    (by) => (draft) => comment(draft, { approval: APPROVAL, by, text: "why?", via: "test" }),
    "commented",
  ],
};

const people = [ANN, BOB, CAT, DAN, EVE].map((one) => member(one, { roles: ["supervisor"] }));
const named = { approvers: { from: [ANN, BOB] }, ...DEADLINE };
const WORLDS: readonly (readonly [string, World, number?])[] = [
  ["anybody is asked", asked(DEADLINE)],
  ["there is no deadline", asked()],
  ["two are named", asked(named)],
  ["of a list of people, one is suspended", asked(named, [...people, suspended(BOB)])],
  ["stages", asked({ stages: STAGES })],
  ["a seat was handed over", add(asked(named), handed)],
  [
    "a seat was handed over and used",
    voted(add(asked({ approvers: { from: [ANN, BOB], quorum: 2 } }), handed), DAN),
  ],
  ["one has voted", voted(asked({ approvers: { quorum: 2 } }), ANN)],
  ["it is approved", voted(asked(), ANN)],
  ["it is rejected", given(asked()).when(rejects(ANN)).world],
  ["its time is over", asked(DEADLINE), NOON + 10 * SECOND],
];

describe("what somebody is told that they could do, and what they really can,", () => {
  for (const [title, world, now = NOON] of WORLDS)
    test(`are the same: ${title}`, () => {
      for (const who of [ANN, BOB, CAT, DAN, AGENT]) {
        const may = moves(world, who, now);
        for (const [move, [does, done]] of Object.entries(DONE)) {
          // Whoever is no person is refused before the rules are asked.
          if (move === "revoke" && who === AGENT) continue;
          const { kind } = given(world, { now }).when(does(who) as (draft: Draft) => { kind: string }).answer;
          assert.equal(kind === done, may.includes(move as ApprovalMove), `${who} ${move}: ${kind}`);
        }
      }
    });

  test("where nobody is authenticated, it is what somebody could do under some name", () => {
    assert.deepEqual(moves(asked(), null), ["approve", "reject", "edit", "delegate", "cancel", "comment"]);
    assert.ok(moves(add(asked(named), handed), null).includes("take_back"));
    assert.deepEqual(moves(voted(asked(), ANN), null), ["revoke"]);
  });
});

describe("what can be changed in approving it", () => {
  const at = { kind: "checkpoint", workflow: "wf_1", op: "wf_1/1//Plan#1" } as const;
  test("is an action, and a checkpoint that has outputs", () => {
    assert.equal(isEditable({ args: {} }), true);
    assert.equal(isEditable({ args: { plan: 1 }, subject: at }), true);
    assert.equal(isEditable({ args: {}, subject: at }), false);
  });

  test("is not what a monitor raised, a question, or what was sent", () => {
    assert.equal(isEditable({ args: { a: 1 }, subject: { ...at, op: "wf_1/1/monitor/cost#1" } }), false);
    assert.equal(isEditable({ args: { a: 1 }, subject: { ...at, kind: "question" } }), false);
    const sent = { kind: "intent", intent: "int_1", op: "x" } as const;
    assert.equal(isEditable({ args: { a: 1 }, subject: sent }), false);
  });
});
