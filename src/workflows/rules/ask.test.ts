import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { APPROVAL, epochOpen } from "../../../tests/fixtures/rules.ts";
import {
  approval,
  created,
  flow,
  opOf,
  reach,
  reaches,
  runner,
  started,
  WORKFLOW,
  worldOf,
} from "../../../tests/fixtures/workflow-rules.ts";
import type { Draft } from "../../kernel/transaction.ts";
import { ANY_ONE_PERSON } from "../../policy/rules/verdict.ts";
import { fact, given, NOON } from "../../testing/given.ts";
import { askQuestion, reachCheckpoint } from "./ask.ts";

const running = [epochOpen, created(), started];
const value = { type: "value.recorded", tv: 1, body: { op: opOf("now"), value: 7 } } as const;

describe("a checkpoint that asks", () => {
  test("captures the state, moves the workflow and opens the question, in one commit", () => {
    const then = given(running)
      .when((draft) => reachCheckpoint(draft, runner(), { ...reach(), before: [value] }))
      .then([
        fact(flow, "value.recorded"),
        fact(flow, "checkpoint.reached", { name: "Look", approval: APPROVAL, canRollback: true }),
        fact(approval, "approval.requested", {
          action: WORKFLOW,
          tool: "Look",
          args: { n: 1 },
          decideBy: NOON + 60_000,
          subject: { kind: "checkpoint", workflow: WORKFLOW, op: opOf("Look") },
        }),
      ]);
    assert.deepEqual(
      then.world.artifacts.map(({ hash }) => hash),
      ["aa"],
    );
    assert.partialDeepStrictEqual(then.state(flow), {
      status: "awaiting_approval",
      pending: { approval: APPROVAL },
    });
  });

  test("is bound to what it shows: another snapshot, other outputs or another workflow is another binding", () => {
    const bindingOf = (rules: (draft: Draft) => unknown) =>
      given(running)
        .when(rules)
        .appended.find(({ type }) => type === "approval.requested")?.body["binding"];
    const base = reach();
    const ask = base.ask ?? assert.fail();
    const asks = (more: object) => (draft: Draft) =>
      reachCheckpoint(draft, runner(), { ...base, ask: { ...ask, ...more } });
    const all = [{}, { about: "bb" }, { args: { n: 2 } }, { nonce: "non_2" }, { op: opOf("Other") }].map(
      (more) => bindingOf(asks(more)),
    );
    assert.equal(new Set(all).size, all.length);
  });

  test("is written once, however often the process says it", () => {
    const { world } = given(running).when(reaches());
    given(world).when(reaches()).then([]).answers({ kind: "recorded", events: [] });
  });

  for (const status of ["initialized", "awaiting_approval", "rolling_back", "completed", "failed"] as const)
    test(`is turned away while the workflow is ${status}`, () => {
      given(worldOf(status))
        .when((draft) => reachCheckpoint(draft, runner(1), reach("Other")))
        .then([])
        .answers({ kind: "turned" });
    });
});

test("a checkpoint that asks nobody is passed, and is a place to go back to", () => {
  const then = given(running)
    .when((draft) => reachCheckpoint(draft, runner(), { ...reach(), ask: null }))
    .then([fact(flow, "checkpoint.passed", { name: "Look" })]);
  assert.partialDeepStrictEqual(then.state(flow), {
    status: "executing",
    passed: [{ name: "Look", approval: null, seq: 3 }],
  });
});

describe("a question of the definition's own", () => {
  const question = {
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
    decideWithinMs: null,
  } as const;
  const asks =
    (written = 0) =>
    (draft: Draft) =>
      askQuestion(draft, runner(written), { question, before: [], schema: null });

  test("is asked without moving the workflow", () => {
    const then = given(running)
      .when(asks())
      .then([
        fact(flow, "question.asked", { text: "Which colour?", approval: APPROVAL }),
        fact(approval, "approval.requested", {
          decideBy: null,
          subject: { kind: "question", workflow: WORKFLOW, op: opOf("colour") },
        }),
      ]);
    assert.partialDeepStrictEqual(then.state(flow), { status: "executing" });
  });

  test("is asked once, however often the process says it", () => {
    const { world } = given(running).when(asks());
    given(world).when(asks()).then([]).answers({ kind: "recorded" });
  });

  test("is not asked while a checkpoint waits", () => {
    given(worldOf("awaiting_approval")).when(asks(1)).then([]).answers({ kind: "turned" });
  });
});
