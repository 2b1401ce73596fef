import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  ANN,
  APPROVAL,
  EPOCH,
  epochOpen,
  executor,
  proposal,
  rejects,
  votes,
} from "../../../tests/fixtures/rules.ts";
import {
  approval,
  created,
  flow,
  opOf,
  snapshot,
  started,
  suspended,
  WORKFLOW,
} from "../../../tests/fixtures/workflow-rules.ts";
import { propose } from "../../effects/rules/propose.ts";
import type { Draft } from "../../kernel/transaction.ts";
import { type Fact, fact, given, type World } from "../../testing/given.ts";
import { type RaisedCheckpoint, raiseCheckpoint, raisedName } from "./ask.ts";

const asked = (seq: number | null): RaisedCheckpoint => ({
  ...{
    workflow: WORKFLOW,
    seq,
    name: "watch: long",
    why: "too long",
    monitor: "watch",
    rule: "long",
    alert: "alr_1",
  },
  ...{ approval: APPROVAL, nonce: "n1", snapshot, irreversible: [] },
  artifact: { hash: "aa", bytes: new Uint8Array([1, 2]) },
});
const raise =
  (seq: number | null = null) =>
  (draft: Draft) =>
    raiseCheckpoint(draft, asked(seq));
const running: readonly Fact[] = [epochOpen, created(), started];
const waits = (): World => given(running).when(raise()).world;

describe("a checkpoint that a monitor raises", () => {
  test("stops a workflow that executes, and asks in the same commit", () => {
    const raised = given(running).when(raise(2)).answers({ kind: "raised" });
    raised.then([
      fact(flow, "checkpoint.raised", { monitor: "watch", rule: "long", alert: "alr_1", approval: APPROVAL }),
      fact(approval, "approval.requested", { reason: "too long", says: null }),
    ]);
    assert.partialDeepStrictEqual(raised.state(flow), {
      ...{ status: "awaiting_approval", runner: EPOCH, operations: 0, written: 0 },
      pending: { monitor: "watch", approval: APPROVAL },
    });
  });

  test("stops one that sleeps, too; and nothing that is not executing", () => {
    given([...running, suspended()])
      .when(raise())
      .answers({ kind: "raised" });
    given([created()]).when(raise()).then([]).answers({ kind: "not_now", status: "initialized" });
    given(waits()).when(raise()).then([]).answers({ kind: "not_now", status: "awaiting_approval" });
    given([]).when(raise()).then([]).answers({ kind: "not_now", status: "none" });
  });

  test("is about what was seen: of one that has moved since it is not raised", () => {
    given(running).when(raise(1)).then([]).answers({ kind: "moved" });
  });

  test("keeps calls from being made while it waits, by the process that runs it too", () => {
    const placement = {
      workflow: WORKFLOW,
      op: opOf("refund"),
      undoes: null,
      goesOn: false,
      epoch: EPOCH,
      rollback: false,
    };
    given(waits())
      .when((draft) => propose(draft, proposal({ requestId: placement.op, placement, executor: executor() })))
      .then([])
      .answers({ kind: "turned" });
  });

  test("approved, lets it go on and leaves nothing to go back to", () => {
    const after = given(waits()).when(votes(ANN)).state(flow);
    assert.partialDeepStrictEqual(after, {
      status: "executing",
      pending: null,
      passed: [],
      lastDecision: { decision: "approved" },
    });
  });

  test("rejected, sends it back to where any rejection would", () => {
    const after = given(waits()).when(rejects(ANN)).state(flow);
    assert.partialDeepStrictEqual(after, { status: "rolling_back", rollback: { to: null, after: "again" } });
  });

  test("is known by its operation, which no definition can ask for", () => {
    assert.equal(raisedName(`${WORKFLOW}/1/monitor/watch: long#3`), "watch: long");
    assert.equal(raisedName(opOf("monitor")), undefined);
    assert.equal(raisedName(`${WORKFLOW}/1/parallel-1.1/monitor#1`), undefined);
  });
});
