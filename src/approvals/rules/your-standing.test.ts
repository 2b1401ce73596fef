import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { inFinance, member, suspended } from "../../../tests/fixtures/people.ts";
import {
  AGENT,
  ANN,
  APPROVAL,
  add,
  approval,
  asked,
  BOB,
  CAT,
  rejects,
  SECOND,
  voted,
  votes,
} from "../../../tests/fixtures/rules.ts";
import { approvalStream, ROSTER } from "../../kernel/stream.ts";
import { fact, given, NOON, type World } from "../../testing/given.ts";
import type { LiveApproval } from "../state.ts";
import { endsByYou, votersOf, type YourStanding, yourStanding } from "./card.ts";
import { passTime } from "./deadline.ts";

const DAN = "person:dan";
const STAGES = [{ from: [ANN, BOB] }, { from: [CAT, DAN] }];
const DEADLINE = { decideWithinMs: 10 * SECOND };

function standing(world: World, person: string, now = NOON): YourStanding {
  return given(world, { now }).when((draft) => {
    const more = draft.need({ write: [approval], read: [ROSTER] });
    return more ?? yourStanding(passTime(draft, APPROVAL), draft.state(ROSTER), person);
  }).answer;
}
const whyNot = (world: World, person: string, now = NOON) => standing(world, person, now).whyNot;

const edited = fact(approvalStream(APPROVAL), "approval.edited", {
  ...{ by: BOB, args: { amount: 1 }, argsDigest: "x", note: null, via: "test" },
});
const handed = fact(approvalStream(APPROVAL), "approval.delegated", {
  ...{ by: ANN, to: DAN, reason: "on leave", via: "test" },
});

describe("whoever looks at a card is told", () => {
  test("that they may decide, or that they have", () => {
    const two = asked({ approvers: { quorum: 2 } });
    assert.deepEqual(standing(two, ANN), { mayDecide: true, whyNot: null, vote: null });
    assert.deepEqual(standing(voted(two, ANN), ANN), {
      ...{ mayDecide: false, whyNot: "you have voted", vote: "approve" },
    });
  });

  test("that it is decided, taken back, or that its time is over, also where nobody has swept", () => {
    assert.equal(whyNot(voted(asked(), ANN), BOB), "it is decided");
    assert.equal(whyNot(given(asked()).when(rejects(ANN)).world, BOB), "it is decided");
    const cancelled = fact(approval, "approval.cancelled", { by: AGENT, reason: "no need" });
    assert.equal(whyNot(add(asked(), cancelled), BOB), "it was withdrawn");
    assert.equal(whyNot(asked(DEADLINE), BOB, NOON + 10 * SECOND), "it expired without a decision");
  });

  test("that they asked for it, that people decide, or that duties are kept apart", () => {
    const requested = asked().facts.map((one) =>
      one.type === "approval.requested" ? { ...one, body: { ...one.body, requester: [AGENT, ANN] } } : one,
    );
    assert.equal(whyNot({ ...asked(), facts: requested }, ANN), "you asked for it");
    assert.equal(whyNot(asked(), AGENT), "only people decide");
  });

  test("that they are not among those asked, suspended or not in the list", () => {
    assert.equal(whyNot(asked({ approvers: { from: [ANN] } }), BOB), "you are not among those asked");
    const people = [inFinance(ANN), member(BOB, {}), suspended(BOB)];
    const finance = asked({ approvers: { from: ["group:finance"] } }, people);
    assert.equal(whyNot(finance, BOB), "you are suspended");
    assert.equal(whyNot(finance, CAT), "you are not in the list of people");
    assert.equal(whyNot(finance, ANN), null);
  });

  test("which stage is asked, and that their own comes later or is over", () => {
    const first = asked({ stages: STAGES });
    assert.equal(whyNot(first, CAT), "it is not your turn: stage 1 of 2 is asked");
    const second = voted(first, ANN);
    assert.equal(whyNot(second, BOB), "your stage has ended: stage 2 of 2 is asked");
    assert.equal(whyNot(second, CAT), null);
    assert.deepEqual(standing(second, ANN), { mayDecide: false, whyNot: "you have voted", vote: null });
  });

  test("to whom they have handed their seat", () => {
    const world = add(asked({ approvers: { from: [ANN] } }), handed);
    assert.equal(whyNot(world, ANN), `you have handed your seat to ${DAN}`);
    assert.equal(whyNot(world, DAN), null);
  });

  test("that they may only reject while an edit is reviewed, or while a later stage needs them", () => {
    const editing = standing(add(asked(), edited), ANN);
    assert.equal(editing.mayDecide, true);
    assert.match(String(editing.whyNot), /^an edit by person:bob is being reviewed: .*only reject$/);
    const needed = standing(asked({ stages: [{ from: [ANN, BOB] }, { from: [ANN] }] }), ANN);
    assert.equal(needed.mayDecide, true);
    assert.match(String(needed.whyNot), /needed in a later stage.*only reject$/);
  });
});

describe("what is said and what is decided", () => {
  const worlds: readonly (readonly [string, World, number])[] = [
    ["one person", asked(), NOON],
    ["named people", asked({ approvers: { from: [ANN, BOB], quorum: 2 } }), NOON],
    ["somebody voted", voted(asked({ approvers: { quorum: 2 } }), ANN), NOON],
    ["decided", voted(asked(), ANN), NOON],
    ["stages", asked({ stages: STAGES }), NOON],
    ["the second stage", voted(asked({ stages: STAGES }), ANN), NOON],
    ["needed later", asked({ stages: [{ from: [ANN, BOB] }, { from: [ANN] }] }), NOON],
    ["overdue", asked(DEADLINE), NOON + 10 * SECOND],
    ["handed over", asked({ stages: STAGES, ...DEADLINE, onTimeout: "escalate" }), NOON + 10 * SECOND],
    ["an edit", add(asked(), edited), NOON],
    ["delegated", add(asked({ approvers: { from: [ANN] } }), handed), NOON],
    ["a list", asked({}, [member(ANN, { roles: ["supervisor"] }), member(BOB, {}), suspended(CAT)]), NOON],
  ];

  for (const [title, world, now] of worlds)
    test(`are the same: ${title}`, () => {
      for (const person of [ANN, BOB, CAT, DAN, AGENT]) {
        const { mayDecide, whyNot: why } = standing(world, person, now);
        const rejected = given(world, { now }).when(rejects(person)).answer;
        assert.equal(rejected.kind === "recorded", mayDecide, `${person} rejects: ${why}`);
        const approved = given(world, { now }).when(votes(person)).answer;
        const had = approved.kind === "same" && why === "you have voted";
        assert.equal(approved.kind === "recorded", mayDecide && why === null, `${person} approves: ${why}`);
        if (approved.kind === "same") assert.ok(had || why === "it is decided", String(why));
      }
    });
});

describe("whether it is over once they reject it", () => {
  const three = { from: [ANN, BOB, CAT], quorum: 2, veto: false };
  const free = asked({ approvers: three });
  const worlds: readonly (readonly [string, World])[] = [
    ["a veto", asked({ approvers: { from: [ANN, BOB], quorum: 2 } })],
    ["two of three, no veto", free],
    ["one of them has rejected", given(free).when(rejects(ANN)).world],
    ["anybody, no veto", asked({ approvers: { quorum: 2, veto: false } })],
    ["a later stage that needs two of two", asked({ stages: [three, { from: [CAT, DAN], quorum: 2 }] })],
  ];
  const ends = (world: World, person: string | null) =>
    given(world).when((draft) => {
      const more = draft.need({ write: [approval], read: [ROSTER] });
      if (more !== undefined) return more;
      const [now, roster] = [passTime(draft, APPROVAL), draft.state(ROSTER)];
      return { ends: endsByYou(now, roster, person, yourStanding(now, roster, person ?? DAN)) };
    }).answer.ends;

  for (const [title, world] of worlds)
    test(`is said as it is decided: ${title}`, () => {
      for (const person of [ANN, BOB, CAT, DAN]) {
        const rejected = given(world).when(rejects(person)).answer;
        const told = rejected.kind === "recorded" ? rejected.status === "rejected" : null;
        assert.equal(ends(world, person), told, person);
      }
    });

  test("is not known of nobody in particular where there is no veto", () => {
    assert.equal(ends(asked(), null), true);
    assert.equal(ends(asked({ approvers: { quorum: 2, veto: false } }), null), null);
  });
});

describe("who has voted and who is still asked", () => {
  const voters = (world: World) =>
    given(world).when((draft) => {
      const more = draft.need({ read: [approval, ROSTER] });
      return more ?? votersOf(draft.state(approval) as LiveApproval, draft.state(ROSTER));
    }).answer;

  test("is said by name where the rule names people, roles or groups", () => {
    const people = [inFinance(ANN), inFinance(BOB), member(CAT, {}), inFinance(DAN), suspended(DAN)];
    const world = asked({ approvers: { from: ["group:finance", CAT], quorum: 2 } }, people);
    assert.deepEqual(voters(voted(world, BOB)), [
      { person: BOB, state: "approved", stage: 1 },
      { person: CAT, state: "asked", stage: 1 },
      { person: ANN, state: "asked", stage: 1 },
    ]);
  });

  test("names nobody as asked where any person may decide, and nobody once it is over", () => {
    assert.deepEqual(voters(asked()), []);
    const over = given(asked({ approvers: { from: [ANN, BOB] } })).when(rejects(ANN)).world;
    assert.deepEqual(voters(over), [{ person: ANN, state: "rejected", stage: 1 }]);
  });

  test("keeps the stage of each vote, and whoever decides in another's place", () => {
    const world = voted(asked({ stages: STAGES }), BOB);
    assert.deepEqual(voters(world), [
      { person: BOB, state: "approved", stage: 1 },
      { person: CAT, state: "asked", stage: 2 },
      { person: DAN, state: "asked", stage: 2 },
    ]);
    const seat = add(asked({ approvers: { from: [ANN] } }), handed);
    assert.deepEqual(voters(seat), [{ person: DAN, state: "asked", stage: 1 }]);
  });

  test("stops at fifty", () => {
    const from = Array.from({ length: 80 }, (_, number) => `person:p${number}`);
    assert.equal(voters(asked({ approvers: { from } })).length, 50);
  });
});
