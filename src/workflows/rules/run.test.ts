import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { EPOCH, epochOpen, NEXT_EPOCH, nextEpochOpen } from "../../../tests/fixtures/rules.ts";
import {
  created,
  flow,
  opOf,
  runner,
  started,
  suspended,
  WORKFLOW,
  worldOf,
} from "../../../tests/fixtures/workflow-rules.ts";
import type { Draft } from "../../kernel/transaction.ts";
import { fact, given, NOON } from "../../testing/given.ts";
import { type RunFacts, recordFacts, suspend, takeRun } from "./lifecycle.ts";

const takes =
  (epoch = NEXT_EPOCH, dead: string | null = null, workflow = WORKFLOW) =>
  (draft: Draft) =>
    takeRun(draft, { workflow, epoch, dead });
const slept = { type: "sleep.ended", tv: 1, body: { op: opOf("sleep") } } as const;
const writes =
  (written = 0, epoch = EPOCH, more: Partial<RunFacts> = {}) =>
  (draft: Draft) =>
    recordFacts(draft, runner(written, epoch), { phase: "run", events: () => [slept], ...more });
const rests =
  (seen: number, epoch = EPOCH) =>
  (draft: Draft) =>
    suspend(draft, runner(0, epoch), { seen, waits: [], wakeAt: 7, before: [slept] });

const running = [epochOpen, nextEpochOpen, created(), started];

describe("taking a workflow", () => {
  test("that nobody has begun starts it", () => {
    given([epochOpen, created()])
      .when(takes(EPOCH))
      .then([fact(flow, "workflow.started", { epoch: EPOCH })])
      .answers({ kind: "taken", state: { status: "executing", runner: EPOCH } });
  });

  test("that was let go of resumes it", () => {
    given([...running, suspended()])
      .when(takes())
      .then([fact(flow, "workflow.resumed", { epoch: NEXT_EPOCH })])
      .answers({ kind: "taken", state: { runner: NEXT_EPOCH, waits: [], wakeAt: null } });
  });

  test("that this process runs already is answered and not written again", () => {
    given(running).when(takes(EPOCH)).then([]).answers({ kind: "taken" });
  });

  test("of another process that may live is left alone", () => {
    given(running).when(takes()).then([]).answers({ kind: "left" });
    given(running).when(takes(NEXT_EPOCH, NEXT_EPOCH)).then([]).answers({ kind: "left" });
  });

  test("of a process that was found dead takes it over", () => {
    given(running)
      .when(takes(NEXT_EPOCH, EPOCH))
      .then([fact(flow, "workflow.resumed", { epoch: NEXT_EPOCH })]);
  });

  test("that waits for people takes nothing, unless its process died before it could let go", () => {
    const waits = worldOf("awaiting_approval");
    given({ ...waits, facts: [...waits.facts, suspended()] })
      .when(takes())
      .then([])
      .answers({ kind: "left" });
    given(waits)
      .when(takes(NEXT_EPOCH, EPOCH))
      .then([fact(flow, "workflow.resumed", { epoch: NEXT_EPOCH })]);
  });

  for (const status of ["settling", "completed", "failed"] as const)
    test(`that is ${status} takes nothing`, () => {
      given(worldOf(status)).when(takes(NEXT_EPOCH, EPOCH)).then([]).answers({ kind: "left" });
    });

  test("that does not exist takes nothing", () => {
    given([]).when(takes()).then([]).answers({ kind: "left", state: null });
  });
});

describe("what a process records", () => {
  test("is written while it runs the workflow, and counted", () => {
    given(running)
      .when(writes())
      .then([fact(flow, "sleep.ended")])
      .answers({ kind: "recorded", from: 2, seq: 3, written: 1, now: NOON, events: [slept] });
  });

  test("is not written twice when it asks again after an answer that was lost", () => {
    const then = given(running).when(writes());
    given(then.world).when(writes()).then([]).answers({ kind: "recorded", events: [], written: 1, seq: 3 });
    given(then.world)
      .when(writes(1))
      .then([fact(flow, "sleep.ended")]);
  });

  test("is turned away when another process runs it by now", () => {
    given([...running, suspended(), fact(flow, "workflow.resumed", { epoch: NEXT_EPOCH })])
      .when(writes())
      .then([])
      .answers({ kind: "turned" });
  });

  for (const status of ["initialized", "rolling_back", "settling", "completed", "failed"] as const)
    test(`is turned away while it is ${status}`, () => {
      given(worldOf(status)).when(writes()).then([]).answers({ kind: "turned" });
    });

  test("in a rollback is turned away while there is none", () => {
    given(running)
      .when(writes(0, EPOCH, { phase: "rollback" }))
      .then([])
      .answers({ kind: "turned" });
  });

  test("of a sleep is too early by the store's clock, whatever the process thinks", () => {
    given(running)
      .when(writes(0, EPOCH, { notBefore: NOON + 1 }))
      .then([])
      .answers({ kind: "early", now: NOON });
    given(running)
      .when(writes(0, EPOCH, { notBefore: NOON }))
      .then([fact(flow, "sleep.ended")]);
  });
});

describe("letting go", () => {
  test("says what it waits for and until when, after the values that it had given out", () => {
    const then = given(running)
      .when(rests(2))
      .then([fact(flow, "sleep.ended"), fact(flow, "workflow.suspended", { wakeAt: 7, waits: [] })])
      .answers({ kind: "suspended" });
    assert.partialDeepStrictEqual(then.state(flow), { runner: null, wakeAt: 7, isReady: false });
  });

  test("to hand it over leaves it due at once by the store's clock", () => {
    const waits = [{ op: opOf("node"), kind: "node", on: EPOCH }] as const;
    const then = given(running).when((draft) =>
      suspend(draft, runner(), { seen: 2, waits, wakeAt: null, before: [] }),
    );
    then.answers({ kind: "suspended" });
    assert.partialDeepStrictEqual(then.state(flow), { runner: null, isReady: false, waits, wakeAt: NOON });
  });

  test("is not possible when something has come in between", () => {
    given([...running, fact(flow, "workflow.woken", { by: "apr_1" })])
      .when(rests(2))
      .then([])
      .answers({ kind: "moved" });
  });

  test("once more answers the same", () => {
    given([...running, suspended()])
      .when(rests(2))
      .then([])
      .answers({ kind: "suspended" });
  });

  test("of what another process runs is turned away", () => {
    given(running).when(rests(2, NEXT_EPOCH)).then([]).answers({ kind: "turned" });
  });
});

test("a workflow that was let go of is ready as soon as something moves, but not while people are asked", () => {
  const woken = fact(flow, "workflow.woken", { by: "apr_1" });
  const free = given([...running, suspended(), woken]).when(() => undefined);
  assert.partialDeepStrictEqual(free.state(flow), { isReady: true });
  const waits = worldOf("awaiting_approval");
  const asked = given({ ...waits, facts: [...waits.facts, suspended(), woken] }).when(() => undefined);
  assert.partialDeepStrictEqual(asked.state(flow), { isReady: false });
});
