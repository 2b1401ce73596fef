import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { ANN, BOB, EPOCH, epochOpen } from "../../../tests/fixtures/rules.ts";
import {
  approval,
  CHILD,
  child,
  created,
  creation,
  flow,
  opOf,
  runner,
  started,
  suspended,
  WORKFLOW,
  worldOf,
} from "../../../tests/fixtures/workflow-rules.ts";
import type { Draft } from "../../kernel/transaction.ts";
import { fact, given } from "../../testing/given.ts";
import { cancelWorkflow, completeWorkflow, failRun } from "./lifecycle.ts";

const failure = { code: "error", reason: "no", by: "workflow", report: null } as const;
const completes = (draft: Draft) => completeWorkflow(draft, runner(), { result: { ok: true }, before: [] });
const fails = (draft: Draft) => failRun(draft, runner(), { failure, before: [] });
const cancels =
  (by = ANN, workflow = WORKFLOW) =>
  (draft: Draft) =>
    cancelWorkflow(draft, { workflow, by, reason: "not needed" });

const parent = { workflow: WORKFLOW, op: opOf("part") };
const family = [
  epochOpen,
  created(),
  started,
  suspended(),
  fact(child, "workflow.created", creation({ name: "part", parent })),
  fact(child, "workflow.started", { epoch: EPOCH }),
];
const ofChild = { ...runner(), workflow: CHILD };

describe("a workflow that ends", () => {
  test("settles and completes with its result", () => {
    given(worldOf("executing"))
      .when(completes)
      .then([fact(flow, "workflow.settling"), fact(flow, "workflow.completed", { result: { ok: true } })]);
  });

  test("or fails with its reason", () => {
    given(worldOf("executing"))
      .when(fails)
      .then([fact(flow, "workflow.failed", { code: "error", reason: "no" })]);
  });

  for (const [how, rule, status] of [
    ["completes", completes, "completed"],
    ["fails", fails, "failed"],
  ] as const) {
    test(`${how} once: asked again it is turned away`, () => {
      given(worldOf(status)).when(rule).then([]).answers({ kind: "turned" });
    });

    test(`${how} only by the hand of the process that runs it`, () => {
      const world = worldOf("executing");
      given({ ...world, facts: [...world.facts, suspended()] })
        .when(rule)
        .then([])
        .answers({ kind: "turned" });
    });
  }

  test("does not complete while people look at a checkpoint of it", () => {
    given(worldOf("awaiting_approval")).when(completes).then([]).answers({ kind: "turned" });
  });

  test("tells its parent in the same commit, which is then ready", () => {
    const then = given(family)
      .when((draft) => completeWorkflow(draft, ofChild, { result: 5, before: [] }))
      .then([
        fact(child, "workflow.settling"),
        fact(child, "workflow.completed"),
        fact(flow, "child.ended", { op: parent.op, child: CHILD, status: "completed", result: 5 }),
      ]);
    assert.partialDeepStrictEqual(then.state(flow), { isReady: true });
    given(family)
      .when((draft) => failRun(draft, ofChild, { failure, before: [] }))
      .then([
        fact(child, "workflow.failed"),
        fact(flow, "child.ended", { status: "failed", reason: "no", result: null }),
      ]);
  });

  test("after its parent has failed is still told there, and changes nothing", () => {
    const over = fact(flow, "workflow.failed", failure);
    const then = given([...family, over]).when((draft) =>
      completeWorkflow(draft, ofChild, { result: 5, before: [] }),
    );
    assert.partialDeepStrictEqual(then.state(flow), { status: "failed", isReady: false });
  });
});

describe("cancelling", () => {
  for (const status of ["initialized", "executing", "rolling_back", "settling"] as const)
    test(`one that is ${status} makes it fail`, () => {
      given(worldOf(status))
        .when(cancels())
        .then([fact(flow, "workflow.failed", { code: "cancelled", by: ANN, reason: "not needed" })])
        .answers({ kind: "done", status: "failed" });
    });

  test("one that waits for people takes the question back", () => {
    given(worldOf("awaiting_approval"))
      .when(cancels())
      .then([
        fact(approval, "approval.cancelled", { by: ANN, reason: "not needed" }),
        fact(flow, "workflow.failed", { code: "cancelled" }),
      ]);
  });

  for (const status of ["completed", "failed"] as const)
    test(`one that is ${status} is refused and recorded`, () => {
      given(worldOf(status))
        .when(cancels(BOB))
        .then([fact(flow, "workflow.refused", { asked: "cancel", by: BOB, status })])
        .answers({ kind: "refused", status });
    });

  test("one that was cancelled before answers the same, and records nothing", () => {
    const { world } = given(worldOf("executing")).when(cancels());
    given(world).when(cancels(BOB)).then([]).answers({ kind: "done", status: "failed" });
  });

  test("one that does not exist is unknown", () => {
    given([]).when(cancels()).then([]).answers({ kind: "unknown" });
  });
});
