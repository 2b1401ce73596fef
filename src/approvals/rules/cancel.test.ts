import { describe, test } from "node:test";
import { askedWorld, SENDER } from "../../../tests/fixtures/intent-rules.ts";
import { member, suspended } from "../../../tests/fixtures/people.ts";
import {
  AGENT,
  ANN,
  APPROVAL,
  action,
  add,
  approval,
  asked,
  BOB,
  SECOND,
} from "../../../tests/fixtures/rules.ts";
import type { Draft } from "../../kernel/transaction.ts";
import { fact, given, NOON, type World } from "../../testing/given.ts";
import { cancelIfAllowed } from "./withdraw.ts";

const BOSS = "person:boss";
const DAN = "person:dan";
const LISTED = [
  member(BOSS, { roles: ["admin"] }),
  member(ANN, { roles: ["supervisor"] }),
  member(BOB, { roles: ["supervisor"] }),
  member(DAN, { roles: ["auditor"] }),
];
const FROM_ANN = { approvers: { from: [ANN] } };
const takes = (by: string) => (draft: Draft) =>
  cancelIfAllowed(draft, { approval: APPROVAL, by, reason: "not needed" });
const refuses = (world: World, by: string): void => {
  given(world).when(takes(by)).then([]).answers({ kind: "not_theirs" });
};

describe("a question is taken back", () => {
  const world = asked(FROM_ANN, LISTED);

  for (const [who, by] of [
    ["whoever asks", AGENT],
    ["somebody who may decide", ANN],
    ["an admin", BOSS],
  ] as const)
    test(`by ${who}`, () => {
      given(world)
        .when(takes(by))
        .then([fact(approval, "approval.cancelled", { by }), fact(action, "action.refused", { by })])
        .answers({ kind: "ended", status: "cancelled" });
    });

  for (const [who, by] of [
    ["a supervisor who is not among those who may decide", BOB],
    ["somebody who only reads", DAN],
    ["somebody who is in no list", "person:eve"],
    ["another program", "agent:other"],
  ] as const)
    test(`and not ended by ${who}`, () => refuses(world, by));

  test("by those of the present stage, and not by those of another", () => {
    const staged = asked({ stages: [{ from: [ANN] }, { from: [BOB] }] }, LISTED);
    refuses(staged, BOB);
    given(staged).when(takes(ANN)).answers({ kind: "ended" });
  });

  test("by nobody who is suspended, also where nobody is listed", () => {
    refuses(add(world, suspended(ANN)), ANN);
    refuses(add(asked(), suspended(ANN)), ANN);
  });

  test("by anybody where nobody is listed", () => {
    given(asked(FROM_ANN)).when(takes(BOB)).answers({ kind: "ended", status: "cancelled" });
  });

  test("no more once its time is over: it has expired", () => {
    const timed = asked({ ...FROM_ANN, decideWithinMs: SECOND }, LISTED);
    for (const by of [ANN, BOB])
      given(timed, { now: NOON + SECOND })
        .when(takes(by))
        .then([fact(approval, "approval.expired"), fact(action, "action.refused", { code: "expired" })])
        .answers({ kind: "not_possible", status: "expired" });
  });

  test("of an intent, by its sender or an admin, as the intent is", () => {
    const sent = askedWorld();
    const all = { ...sent, facts: [...sent.facts, ...LISTED] };
    for (const by of [ANN, BOB]) refuses(all, by);
    for (const by of [SENDER, BOSS]) given(all).when(takes(by)).answers({ kind: "ended" });
  });
});
