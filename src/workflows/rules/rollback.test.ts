import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { ANN, BOB, NEXT_EPOCH } from "../../../tests/fixtures/rules.ts";
import {
  approval,
  created,
  flow,
  opOf,
  passed,
  rejected,
  runner,
  stateIn,
  suspended,
  WORKFLOW,
  waitingWorld,
  worldOf,
} from "../../../tests/fixtures/workflow-rules.ts";
import type { Draft } from "../../kernel/transaction.ts";
import { type Fact, fact, given, type World } from "../../testing/given.ts";
import type { RollbackReport } from "../events.ts";
import { endRollback, findRollbackPoint, nextAttempt, rollBack, rollBackRun } from "./rollback.ts";

const REPORT: RollbackReport = { undone: ["act_2", "act_1"], notUndone: [], irreversible: [] };
const left = { ...REPORT, notUndone: [{ action: "act_3", reason: "no answer" }] };
const mailed = { ...REPORT, irreversible: [{ op: opOf("mail"), action: "act_4", tool: "mail" }] };

const and = (world: World, ...facts: readonly Fact[]): World => ({
  ...world,
  facts: [...world.facts, ...facts],
});
const sends =
  (to: string | null = null, after: "again" | "fail" = "again") =>
  (draft: Draft) =>
    rollBack(draft, { workflow: WORKFLOW, by: BOB, reason: "look again", to, after });
const ends = (report: RollbackReport, epoch?: string) => (draft: Draft) =>
  endRollback(draft, runner(0, epoch), report);

const twice = and(worldOf("executing"), passed("One"), passed("Two"));

describe("where a rollback leads", () => {
  test("to the last checkpoint that was passed, to one that is named, or to the start", () => {
    const state = stateIn(twice);
    assert.deepEqual(findRollbackPoint(state, null), { op: opOf("Two"), seq: 4 });
    assert.deepEqual(findRollbackPoint(state, "One"), { op: opOf("One"), seq: 3 });
    assert.deepEqual(findRollbackPoint(state, opOf("One")), { op: opOf("One"), seq: 3 });
    assert.deepEqual(findRollbackPoint(state, "start"), { op: null, seq: 0 });
    assert.equal(findRollbackPoint(state, "Three"), undefined);
    assert.deepEqual(findRollbackPoint(stateIn(worldOf("executing")), null), { op: null, seq: 0 });
  });

  test("never to a checkpoint that it went back over", () => {
    const back = given(given(twice).when(sends("One")).world).when(ends(REPORT)).world;
    const state = stateIn(back);
    assert.deepEqual(
      state.passed.map(({ name }) => name),
      ["One"],
    );
    assert.equal(findRollbackPoint(state, "Two"), undefined);
  });
});

describe("an operator who sends a workflow back", () => {
  test("begins a rollback of everything, which somebody then has to perform", () => {
    const then = given(and(twice, suspended()))
      .when(sends("One"))
      .then([
        fact(flow, "rollback.began", {
          to: opOf("One"),
          toSeq: 3,
          by: BOB,
          after: "again",
          scope: "all",
          rejected: null,
        }),
      ])
      .answers({ kind: "done", status: "rolling_back" });
    assert.partialDeepStrictEqual(then.state(flow), { status: "rolling_back", isReady: true });
  });

  test("takes back the question that a checkpoint asks", () => {
    given(worldOf("awaiting_approval"))
      .when(sends())
      .then([fact(approval, "approval.cancelled", { by: BOB }), fact(flow, "rollback.began")]);
  });

  for (const status of ["initialized", "rolling_back", "settling", "completed", "failed"] as const)
    test(`is refused while it is ${status}, and that is recorded`, () => {
      given(worldOf(status))
        .when(sends())
        .then([
          fact(flow, "workflow.refused", { asked: "rollback", by: BOB, status, reason: `it is ${status}` }),
        ])
        .answers({ kind: "refused", status });
    });

  test("to a checkpoint that was not passed is refused, and that is recorded", () => {
    given(twice)
      .when(sends("Three"))
      .then([fact(flow, "workflow.refused", { reason: 'no checkpoint "Three" was passed' })]);
  });

  test("of a workflow that does not exist is told so", () => {
    given([]).when(sends()).then([]).answers({ kind: "unknown" });
  });
});

describe("a definition that failed", () => {
  const fails = (draft: Draft) =>
    rollBackRun(draft, runner(), { reason: "no", scope: "declared", before: [] });

  test("is rolled back to the last checkpoint, for good", () => {
    given(twice)
      .when(fails)
      .then([fact(flow, "rollback.began", { toSeq: 4, by: "workflow", after: "fail", scope: "declared" })]);
  });

  test("is turned away while it is rolled back already", () => {
    given(worldOf("rolling_back")).when(fails).then([]).answers({ kind: "turned" });
  });
});

describe("a rollback that has ended", () => {
  test("starts another generation", () => {
    const then = given(worldOf("rolling_back"))
      .when(ends(REPORT))
      .then([
        fact(flow, "rollback.ended", { generation: 2, toSeq: 0, after: "again", undone: ["act_2", "act_1"] }),
      ])
      .answers({ kind: "again" });
    assert.partialDeepStrictEqual(then.state(flow), {
      status: "executing",
      generation: 2,
      rollback: null,
      rolledBack: { reason: "no", by: ANN, undone: ["act_2", "act_1"] },
    });
  });

  test("and left something behind has failed, with the report", () => {
    given(worldOf("rolling_back"))
      .when(ends(left))
      .then([
        fact(flow, "rollback.ended", { after: "fail", generation: 1 }),
        fact(flow, "workflow.failed", {
          code: "rollback_failed",
          reason: "no (not everything could be undone: act_3)",
          report: { ...left },
        }),
      ])
      .answers({ kind: "failed" });
  });

  test("and met something irreversible has failed, unless the workflow goes on all the same", () => {
    const types = (world: World) =>
      given(world)
        .when(ends(mailed))
        .appended.map(({ type }) => type);
    assert.deepEqual(types(worldOf("rolling_back")), ["rollback.ended", "workflow.failed"]);
    assert.deepEqual(types(rejected(waitingWorld(true, { onIrreversible: "continue" }))), ["rollback.ended"]);
  });

  for (const [what, world, code] of [
    ["a rejection of the last attempt", rejected(waitingWorld(true, { attempts: 1 })), "rejected"],
    ["an operator's word", given(twice).when(sends(null, "fail")).world, "rolled_back"],
    [
      "a failure",
      given(twice).when((draft) => rollBackRun(draft, runner(), { reason: "no", scope: "all", before: [] }))
        .world,
      "error",
    ],
  ] as const)
    test(`after ${what} has failed as ${code}`, () => {
      const { appended } = given(world).when(ends(REPORT));
      assert.partialDeepStrictEqual(appended.at(-1), {
        type: "workflow.failed",
        body: { code, report: { undone: ["act_2", "act_1"] } },
      });
    });

  test("is written only by the process that performs it, and once", () => {
    given(worldOf("rolling_back")).when(ends(REPORT, NEXT_EPOCH)).then([]).answers({ kind: "turned" });
    const { world } = given(worldOf("rolling_back")).when(ends(REPORT));
    given(world).when(ends(REPORT)).then([]).answers({ kind: "again" });
  });
});

test("a rejection may be tried again as long as attempts are left", () => {
  const state = stateIn({ facts: [created({ attempts: 3 })], names: new Map(), artifacts: [] });
  assert.equal(nextAttempt({ ...state, generation: 2 }), "again");
  assert.equal(nextAttempt({ ...state, generation: 3 }), "fail");
});
