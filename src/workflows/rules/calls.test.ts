import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  ACTION,
  ANN,
  action,
  applied,
  comesBack,
  EPOCH,
  ESCALATE,
  epochOpen,
  executor,
  NEXT_EPOCH,
  proposal,
  rejects,
  reports,
  says,
  votes,
} from "../../../tests/fixtures/rules.ts";
import {
  created,
  flow,
  opOf,
  started,
  suspended,
  WORKFLOW,
  worldOf,
} from "../../../tests/fixtures/workflow-rules.ts";
import { resolveByPerson } from "../../effects/rules/outcome.ts";
import { cancelAction, propose } from "../../effects/rules/propose.ts";
import type { Draft } from "../../kernel/transaction.ts";
import { type Fact, fact, given, type World } from "../../testing/given.ts";
import type { Placement } from "./calls.ts";

const placement: Placement = {
  workflow: WORKFLOW,
  op: opOf("refund"),
  undoes: null,
  goesOn: false,
  epoch: EPOCH,
  rollback: true,
};
const calls =
  (place: Partial<Placement> = {}, escalates = false) =>
  (draft: Draft) =>
    propose(
      draft,
      proposal({
        requestId: placement.op,
        placement: { ...placement, ...place },
        executor: executor(escalates ? { policy: says(ESCALATE) } : {}),
      }),
    );

const running = [epochOpen, created(), started];
const onFlow = (then: { readonly appended: readonly Fact[] }) =>
  then.appended.filter(({ on }) => on.kind === "workflow");
const and = (world: World, ...facts: readonly Fact[]): World => ({
  ...world,
  facts: [...world.facts, ...facts],
});

describe("a call that a workflow makes", () => {
  test("is named by the workflow in the commit in which the action is proposed", () => {
    const then = given(running).when(calls());
    assert.partialDeepStrictEqual(onFlow(then), [
      { type: "call.made", body: { op: opOf("refund"), action: ACTION, tool: "refund", rollback: true } },
    ]);
  });

  test("is told to the workflow in the commit of its outcome", () => {
    const { world } = given(running).when(calls());
    const then = given(world).when(reports(applied({ id: 7 })));
    assert.partialDeepStrictEqual(onFlow(then), [
      {
        type: "call.settled",
        body: {
          action: ACTION,
          answer: { executed: true, result: { id: 7 }, receipt: { status: "applied" } },
        },
      },
    ]);
  });

  test("of which nothing is known is left open, unless the workflow goes on beside it", () => {
    const doubt = reports({ status: "in_doubt", reason: "no answer" });
    const left = given(given(running).when(calls()).world).when(doubt);
    assert.deepEqual(onFlow(left), []);
    const goesOn = given(given(running).when(calls({ goesOn: true })).world).when(doubt);
    assert.partialDeepStrictEqual(onFlow(goesOn), [
      { type: "call.settled", body: { answer: { executed: "in_doubt" } } },
    ]);
    const resolved = given(left.world).when((draft) =>
      resolveByPerson(draft, {
        action: ACTION,
        by: ANN,
        status: "applied",
        reason: "found",
      }),
    );
    assert.partialDeepStrictEqual(onFlow(resolved), [
      { type: "call.settled", body: { answer: { executed: true } } },
    ]);
  });

  test("that waits for people wakes the workflow when they have decided", () => {
    const asked = and(given(running).when(calls({}, true)).world, suspended());
    const approved = given(asked).when(votes(ANN));
    assert.partialDeepStrictEqual(approved.state(flow), { status: "executing", isReady: true });
    const refused = given(asked).when(rejects(ANN));
    assert.partialDeepStrictEqual(refused.state(flow), { status: "executing", isReady: true });
  });

  test("that is withdrawn is told so", () => {
    const asked = given(running).when(calls({}, true)).world;
    const then = given(asked).when((draft) => cancelAction(draft, { action: ACTION, by: ANN, reason: "no" }));
    assert.equal(then.state(action).phase, "refused");
  });

  for (const status of ["awaiting_approval", "rolling_back", "settling", "completed", "failed"] as const)
    test(`is turned away while it is ${status}: nothing is proposed`, () => {
      given(worldOf(status)).when(calls()).then([]).answers({ kind: "turned" });
    });

  test("is turned away in the name of a process that does not run it", () => {
    given(running)
      .when(calls({ epoch: NEXT_EPOCH }))
      .then([])
      .answers({ kind: "turned" });
    given([...running, suspended()])
      .when(calls())
      .then([])
      .answers({ kind: "turned" });
  });

  test("that was approved does not start once the workflow has gone elsewhere", () => {
    const asked = given(given(running).when(calls({}, true)).world).when(votes(ANN)).world;
    const over = fact(flow, "workflow.failed", { code: "cancelled", reason: "no", by: ANN, report: null });
    const then = given(and(asked, over)).when(comesBack({ policy: says(ESCALATE) }));
    assert.ok(!then.appended.some(({ type }) => type === "effect.started"));
    then.answers({ kind: "turned" });
  });
});

describe("a compensation", () => {
  const undoing = { undoes: "act_00000000000000000000000009", op: `${opOf("refund")}/undo#1` };

  test("is made only while the workflow rolls back", () => {
    given(running).when(calls(undoing)).then([]).answers({ kind: "turned" });
    const then = given(worldOf("rolling_back")).when(calls(undoing));
    assert.partialDeepStrictEqual(onFlow(then), [
      { type: "compensation.made", body: { undoes: undoing.undoes, op: undoing.op } },
    ]);
  });

  for (const [report, status] of [
    [applied(), "undone"],
    [{ status: "not_applied", reason: "no such booking" }, "not_undone"],
  ] as const)
    test(`that is ${report.status} says ${status}`, () => {
      const { world } = given(worldOf("rolling_back")).when(calls(undoing));
      const then = given(world).when(reports(report));
      assert.partialDeepStrictEqual(onFlow(then), [
        { type: "compensation.settled", body: { undoes: undoing.undoes, status } },
      ]);
    });

  test("in doubt says nothing yet", () => {
    const { world } = given(worldOf("rolling_back")).when(calls(undoing));
    assert.deepEqual(onFlow(given(world).when(reports({ status: "in_doubt", reason: "no answer" }))), []);
  });
});
