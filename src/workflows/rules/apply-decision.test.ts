import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { ANN, APPROVAL, BOB, epochOpen, rejects, votes } from "../../../tests/fixtures/rules.ts";
import {
  approval,
  created,
  flow,
  opOf,
  runner,
  started,
  suspended,
  waitingWorld,
} from "../../../tests/fixtures/workflow-rules.ts";
import { expireIfDue } from "../../approvals/rules/deadline.ts";
import { cancelApproval } from "../../approvals/rules/withdraw.ts";
import type { Draft } from "../../kernel/transaction.ts";
import { ANY_ONE_PERSON } from "../../policy/rules/verdict.ts";
import { type Fact, fact, given, NOON, type World } from "../../testing/given.ts";
import { askQuestion } from "./ask.ts";

const and = (world: World, ...facts: readonly Fact[]): World => ({
  ...world,
  facts: [...world.facts, ...facts],
});
const onFlow = (then: { readonly appended: readonly Fact[] }) =>
  then.appended.filter(({ on }) => on.kind === "workflow").map(({ type }) => type);

describe("a decision on a checkpoint", () => {
  test("that approves moves the workflow in the vote's own commit, and uses the approval up", () => {
    const then = given(and(waitingWorld(), suspended())).when(votes(ANN, { note: "fine" }));
    assert.deepEqual(
      then.appended.map(({ type }) => type),
      ["approval.voted", "approval.approved", "approval.consumed", "checkpoint.decided"],
    );
    assert.partialDeepStrictEqual(then.state(flow), {
      status: "executing",
      isReady: true,
      passed: [{ name: "Look", approval: APPROVAL }],
      lastDecision: { decision: "approved", by: [ANN], reason: "fine" },
    });
  });

  test("that edits hands on the outputs as they were edited", () => {
    const then = given(waitingWorld()).when(votes(ANN, { edit: { n: 9 } }));
    const decided = then.appended.find(({ type }) => type === "checkpoint.decided");
    assert.partialDeepStrictEqual(decided?.body, { decision: "modified", outputs: { n: 9 } });
    assert.partialDeepStrictEqual(then.state(approval), { status: "consumed" });
  });

  test("that rejects begins the rollback", () => {
    const then = given(waitingWorld()).when(rejects(ANN, "too much"));
    assert.deepEqual(onFlow(then), ["checkpoint.decided", "rollback.began"]);
    assert.partialDeepStrictEqual(then.state(flow), {
      status: "rolling_back",
      rollback: { by: ANN, reason: "too much", after: "again", scope: "all", rejected: opOf("Look") },
    });
  });

  test("that rejects for good, or for the last time, begins one that ends in failure", () => {
    const final = votes(ANN, { decision: "reject", note: "never", isFinal: true });
    assert.partialDeepStrictEqual(given(waitingWorld()).when(final).state(flow), {
      rollback: { after: "fail" },
    });
    const last = given(waitingWorld(true, { attempts: 1 })).when(rejects(ANN));
    assert.partialDeepStrictEqual(last.state(flow), { rollback: { after: "fail" } });
  });

  test("that rejects one that cannot go back fails the workflow", () => {
    const then = given(waitingWorld(false)).when(rejects(ANN, "never"));
    assert.deepEqual(onFlow(then), ["checkpoint.decided", "workflow.failed"]);
    assert.partialDeepStrictEqual(then.state(flow), { end: { code: "rejected", reason: "never", by: ANN } });
  });

  test("that nobody makes in time takes the path of a rejection", () => {
    const then = given(waitingWorld(), { now: NOON + 60_000 }).when((draft) => expireIfDue(draft, APPROVAL));
    assert.deepEqual(onFlow(then), ["checkpoint.decided", "rollback.began"]);
    assert.partialDeepStrictEqual(then.state(flow), {
      lastDecision: { decision: "expired" },
      rollback: { by: "deadline" },
    });
  });

  test("that comes too late moves nothing but the deadline, whoever notices it first", () => {
    const then = given(waitingWorld(), { now: NOON + 60_000 }).when(votes(ANN));
    assert.partialDeepStrictEqual(then.state(flow), {
      status: "rolling_back",
      lastDecision: { decision: "expired" },
    });
  });

  test("is not made by withdrawing the question: the workflow has then failed as cancelled", () => {
    const then = given(waitingWorld()).when((draft) =>
      cancelApproval(draft, { approval: APPROVAL, by: BOB, reason: "no" }),
    );
    assert.partialDeepStrictEqual(then.state(flow), {
      status: "failed",
      end: { code: "cancelled", by: BOB },
    });
  });

  test("by the agent that asks is refused, and moves nothing", () => {
    const world = waitingWorld(true, { requester: ["agent:refunds", ANN] });
    const then = given(world).when(votes(ANN));
    assert.deepEqual(onFlow(then), []);
    assert.partialDeepStrictEqual(then.state(flow), { status: "awaiting_approval" });
  });

  test("once more moves nothing", () => {
    const { world } = given(waitingWorld()).when(votes(ANN));
    assert.deepEqual(onFlow(given(world).when(votes(ANN))), []);
    assert.deepEqual(onFlow(given(world).when(rejects(BOB))), []);
  });
});

describe("an answer to a question", () => {
  const asks = (draft: Draft) =>
    askQuestion(draft, runner(), {
      question: {
        approval: APPROVAL,
        nonce: "non_1",
        kind: "question",
        op: opOf("colour"),
        name: "colour",
        args: { colour: "red" },
        about: "cc",
        says: null,
        reason: "Which colour?",
        approvers: ANY_ONE_PERSON,
        decideWithinMs: 60_000,
      },
      before: [],
      schema: null,
    });
  const asked = and(given([epochOpen, created(), started]).when(asks).world, suspended());

  test("wakes the workflow with what was said, and leaves its status", () => {
    const then = given(asked).when(votes(ANN, { edit: { colour: "blue" } }));
    const answered = then.appended.find(({ type }) => type === "question.answered");
    assert.partialDeepStrictEqual(answered?.body, {
      op: opOf("colour"),
      status: "answered",
      answer: { colour: "blue" },
      by: [ANN],
    });
    assert.partialDeepStrictEqual(then.state(flow), { status: "executing", isReady: true });
  });

  test("that agrees with the suggestion is the suggestion", () => {
    const answered = given(asked)
      .when(votes(ANN))
      .appended.find(({ type }) => type === "question.answered");
    assert.partialDeepStrictEqual(answered?.body, { answer: { colour: "red" } });
  });

  for (const [status, rule, now] of [
    ["rejected", rejects(ANN, "no colour"), NOON],
    ["expired", (draft: Draft) => expireIfDue(draft, APPROVAL), NOON + 60_000],
    [
      "cancelled",
      (draft: Draft) => cancelApproval(draft, { approval: APPROVAL, by: BOB, reason: "x" }),
      NOON,
    ],
  ] as const)
    test(`that is ${status} says so`, () => {
      const then = given(asked, { now }).when((draft): unknown => rule(draft));
      const answered = then.appended.find(({ type }) => type === "question.answered");
      assert.partialDeepStrictEqual(answered?.body, { status, answer: null });
    });

  test("after the workflow is over changes nothing there", () => {
    const over = fact(flow, "workflow.failed", { code: "error", reason: "no", by: "workflow", report: null });
    const then = given(and(asked, over)).when(votes(ANN));
    assert.partialDeepStrictEqual(then.state(flow), { status: "failed", isReady: false });
  });
});
