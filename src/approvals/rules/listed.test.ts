import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { inFinance, leaves, member, suspended } from "../../../tests/fixtures/people.ts";
import {
  AGENT,
  ANN,
  add,
  afterProposal,
  approval,
  asked,
  BOB,
  CAT,
  ESCALATE,
  edits,
  rejects,
  says,
  voted,
  votes,
} from "../../../tests/fixtures/rules.ts";
import type { JsonObject } from "../../kernel/json.ts";
import { ROSTER } from "../../kernel/stream.ts";
import type { RosterState } from "../../people/stream.ts";
import type { Risk, Verdict } from "../../policy/rules/verdict.ts";
import { given, NOON, type World } from "../../testing/given.ts";
import { type ListedApproval, type LiveApproval, listApproval } from "../state.ts";
import { delegate } from "./delegate.ts";
import { isEligible, isWaitingFor } from "./quorum.ts";

type Escalation = Extract<Verdict, { verdict: "escalate" }>;

function look(world: World): {
  readonly state: LiveApproval;
  readonly roster: RosterState;
  readonly row: ListedApproval;
} {
  const then = given(world).when(() => "look");
  const state = then.state(approval) as LiveApproval;
  // As a store keeps it: what JSON does not carry is not there.
  const row = JSON.parse(JSON.stringify(listApproval(state))) as ListedApproval;
  return { state, roster: then.state(ROSTER), row };
}
const waits = (world: World, person: string): boolean => {
  const { row, roster } = look(world);
  return isWaitingFor(row.waiting, roster, person);
};
const hands = (world: World, by: string, to: string): World =>
  given(world).when((draft) =>
    delegate(draft, { approval: approval.id, by, to, reason: "x".repeat(9_000), via: "test" }),
  ).world;

describe("an approval in a list", () => {
  const two = asked({ approvers: { quorum: 2, from: [ANN, BOB] } });

  test("waits for those who may decide it, and for nobody else", () => {
    assert.deepEqual(
      [ANN, BOB, CAT, AGENT].map((who) => waits(two, who)),
      [true, true, false, false],
    );
  });

  test("waits no longer for whoever has voted, or whose edit is under review", () => {
    const half = voted(two, ANN);
    assert.deepEqual([waits(half, ANN), waits(half, BOB)], [false, true]);
    const edited = given(two).when(votes(ANN, { edit: { order: "A-1", amount: 99 } }));
    edited.answers({ kind: "edit_open" });
    assert.equal(waits(edited.world, ANN), false);
  });

  test("waits for nobody once it is decided, and says when that was", () => {
    const over = given(two, { now: NOON + 5 }).when(rejects(ANN)).world;
    const { row } = look(over);
    assert.deepEqual([row.waiting, row.decidedAt], [null, NOON + 5]);
    assert.equal(waits(over, BOB), false);
  });

  test("waits for whoever a seat was handed to, without the words that went with it", () => {
    const handed = hands(two, ANN, CAT);
    assert.deepEqual([waits(handed, ANN), waits(handed, CAT)], [false, true]);
    assert.ok(JSON.stringify(look(handed).row).length < 1_000);
  });

  test("waits for the present stage", () => {
    const staged = asked({ stages: [{ from: [ANN] }, { from: [BOB] }] });
    assert.deepEqual([waits(staged, ANN), waits(staged, BOB)], [true, false]);
    const next = voted(staged, ANN);
    assert.deepEqual([waits(next, ANN), waits(next, BOB)], [false, true]);
  });

  test("waits for the same people as the approval itself, whatever the list of people says", () => {
    const finance = { approvers: { from: ["group:finance", ANN] } };
    const worlds = [
      asked(),
      asked(finance, [inFinance(BOB), member(CAT, { roles: ["supervisor"] })]),
      add(asked(finance, [inFinance(BOB)]), leaves(BOB)),
      add(asked(finance, [inFinance(BOB), inFinance(CAT)]), suspended(CAT)),
      asked({ approvers: { from: [ANN, BOB], separate: true } }),
      hands(asked({ approvers: { from: [ANN, BOB] } }), BOB, CAT),
    ];
    for (const world of worlds)
      for (const who of [ANN, BOB, CAT, AGENT, "person:nobody"]) {
        const { state, roster } = look(world);
        assert.equal(waits(world, who), isEligible(state, roster, who), who);
      }
  });

  test("says how dangerous the policy thinks it is, after an edit as well", () => {
    const risk = (level: Risk["level"]): Risk => ({ score: 3, level, conditions: [] });
    const policy = ({ args }: { readonly args: unknown }): Verdict => ({
      ...(ESCALATE as Escalation),
      risk: risk((args as JsonObject)["amount"] === 100 ? "high" : "low"),
    });
    const world = afterProposal({ policy });
    assert.equal(look(world).row.risk, "high");
    const edited = given(world).when(edits(ANN, { order: "A-1", amount: 60 }, { policy })).world;
    assert.equal(look(edited).row.risk, "low");
    assert.equal(look(afterProposal({ policy: says(ESCALATE) })).row.risk, null);
  });

  test("says that an action belongs to no workflow", () => {
    assert.equal(look(two).row.workflow, null);
  });
});
