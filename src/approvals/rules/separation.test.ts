import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { member } from "../../../tests/fixtures/people.ts";
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
  epochOpen,
  rejects,
  says,
  types,
  votes,
} from "../../../tests/fixtures/rules.ts";
import { created, reach, runner, started } from "../../../tests/fixtures/workflow-rules.ts";
import type { Draft } from "../../kernel/transaction.ts";
import { approvalTerms, whyUnmeetable } from "../../policy/rules/stages.ts";
import { ANY_ONE_PERSON, type ApproverRule, type Verdict } from "../../policy/rules/verdict.ts";
import { fact, given, type World } from "../../testing/given.ts";
import { reachCheckpoint } from "../../workflows/rules/ask.ts";
import type { LiveApproval } from "../state.ts";
import { apartIn, keepApart, questionBinding } from "./ask.ts";
import { delegate } from "./delegate.ts";

type Escalation = Extract<Verdict, { verdict: "escalate" }>;
const PARTIES = { poster: ANN, executor: "agent:worker", supervisor: BOB };
/** A checkpoint of a workflow that Ann posted. */
function posted(rule: Partial<ApproverRule>): World {
  const usual = reach();
  const ask = usual.ask === null ? null : { ...usual.ask, approvers: { ...ANY_ONE_PERSON, ...rule } };
  const before = [epochOpen, created({ parties: PARTIES }), started];
  return given(before).when((draft) => reachCheckpoint(draft, runner(), { ...usual, ask })).world;
}
const stateOf = (world: World) =>
  given(world)
    .when(() => "look")
    .state(approval) as LiveApproval;
const refused = fact(approval, "approval.vote_refused", { code: "not_eligible" });

describe("under separation of duties", () => {
  const world = posted({ separate: true });

  test("whoever posted the work does not decide about it; its supervisor does", () => {
    for (const vote of [votes(ANN), rejects(ANN)]) given(world).when(vote).then([refused]);
    assert.equal(given(world).when(votes(BOB)).answer.kind, "recorded");
  });

  test("without it, whoever posted the work may decide", () => {
    assert.equal(stateOf(posted({})).apart, undefined);
    assert.equal(given(posted({})).when(votes(ANN)).answer.kind, "recorded");
  });

  test("who is left out is part of what people approve", () => {
    const { binding, apart, ...question } = stateOf(world);
    assert.deepEqual(apart, [ANN, "agent:worker"]);
    assert.equal(questionBinding("acme", { ...question, apart: apart ?? [] }), binding);
    assert.notEqual(questionBinding("acme", question), binding);
    assert.notEqual(questionBinding("acme", { ...question, apart: [CAT] }), binding);
  });

  test("nobody hands their seat to whoever posted the work", () => {
    const hands = (draft: Draft) =>
      delegate(draft, { approval: approval.id, by: BOB, to: ANN, reason: "r", via: "test" });
    given(world).when(hands).answers({ kind: "delegate_refused" });
  });

  test("it holds in the stages that ask for it", () => {
    const usual = reach();
    const stages = [
      { ...ANY_ONE_PERSON, decideWithinMs: null },
      { ...ANY_ONE_PERSON, separate: true, decideWithinMs: null },
    ];
    const ask = usual.ask === null ? null : { ...usual.ask, stages };
    const before = [epochOpen, created({ parties: PARTIES }), started];
    const start = given(before).when((draft) => reachCheckpoint(draft, runner(), { ...usual, ask })).world;
    given(start).when(votes(ANN)).answers({ status: "pending" });
    const second = given(start).when(votes(BOB)).world;
    given(second).when(votes(ANN)).answers({ kind: "vote_refused" });
  });

  test("a quorum of nobody but them is none", () => {
    const terms = approvalTerms({ approvers: { from: [ANN], separate: true } });
    assert.ok(typeof terms !== "string");
    const fault = whyUnmeetable(terms, [], { apart: [ANN] });
    assert.match(String(fault), /0 of those named may vote; person:ann may not decide this/);
    const roster = { suspended: [], members: new Map() };
    assert.equal(whyUnmeetable(terms, [], { roster }), undefined);
  });
});

describe("somebody who edits under separation of duties", () => {
  const terms: Partial<Escalation> = { approvers: { separate: true } };
  const policy = says({ ...(ESCALATE as Escalation), ...terms });
  const EDIT = { order: "A-1", amount: 60 };

  test("is not alone: somebody else agrees to what they made of it", () => {
    const edited = given(asked(terms)).when(edits(ANN, EDIT, { policy }));
    edited.answers({ kind: "recorded", status: "pending" });
    given(edited.world).when(votes(ANN)).answers({ kind: "same", status: "pending" });
    const agreed = given(edited.world).when(votes(BOB));
    agreed.answers({ status: "modified" });
    given(agreed.world).when(comesBack({ policy })).answers({ kind: "started" });
  });

  test("is enough without it, or beside another who agrees", () => {
    const plain = says(ESCALATE);
    given(asked())
      .when(edits(ANN, EDIT, { policy: plain }))
      .answers({ status: "modified" });
    const two = { approvers: { quorum: 2, separate: true } };
    const both = says({ ...(ESCALATE as Escalation), ...two });
    const edited = given(asked(two)).when(edits(ANN, EDIT, { policy: both }));
    given(edited.world).when(votes(BOB)).answers({ status: "modified" });
  });
});

describe("an instance that keeps duties apart", () => {
  test("asks for it in every stage of every verdict, and touches nothing else", () => {
    const stages = [{ from: [ANN] }, { from: [BOB] }];
    assert.deepEqual(keepApart({ verdict: "escalate", stages }), {
      verdict: "escalate",
      stages: stages.map((one) => ({ ...one, separate: true })),
    });
    assert.deepEqual(keepApart({ verdict: "escalate" }), {
      verdict: "escalate",
      approvers: { separate: true },
    });
    assert.deepEqual(keepApart({ verdict: "approve" }), { verdict: "approve" });
    const odd = { verdict: "escalate", approvers: "everybody" } as unknown as Verdict;
    assert.deepEqual(keepApart(odd), odd);
  });

  test("names nobody where the work has no poster", () => {
    const rule = { ...ANY_ONE_PERSON, separate: true };
    assert.deepEqual(apartIn({ approvers: rule }, null), {});
    assert.deepEqual(apartIn({ approvers: ANY_ONE_PERSON }, PARTIES), {});
  });

  test("a member of a role who posted the work is not counted in it", () => {
    const world = posted({ from: ["role:admin"], separate: true });
    const staffed = add(world, member(ANN, { roles: ["admin"] }), member(CAT, { roles: ["admin"] }));
    given(staffed).when(votes(ANN)).then([refused]);
    assert.ok(types(given(staffed).when(votes(CAT))).includes("checkpoint.decided"));
  });
});
