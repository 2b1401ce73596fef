import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  ACTION,
  AGENT,
  ANN,
  action,
  add,
  applied,
  approval,
  asked,
  type Bending,
  comesBack,
  EFFECT,
  EPOCH,
  ESCALATE,
  epochDied,
  epochOpen,
  limited,
  NEXT_EPOCH,
  nextEpochOpen,
  proposes,
  reports,
  SECOND,
  says,
  stopped,
  types,
  usd,
  voted,
} from "../../../tests/fixtures/rules.ts";
import { budgetStream } from "../../kernel/stream.ts";
import type { Draft } from "../../kernel/transaction.ts";
import { type Fact, fact, given, NOON, type World } from "../../testing/given.ts";
import { resolveByPerson, settleAfterRestore } from "./outcome.ts";
import { passReportTime, type ReportCommand, recordReport } from "./permit.ts";
import { takeOver } from "./recover.ts";

const OUTSIDE = { reportWithinMs: 60 * SECOND };
const LATE = NOON + 60 * SECOND;
const NOT_APPLIED = { status: "not_applied", reason: "the card was declined" } as const;
const UNKNOWN = { status: "in_doubt", reason: "the connection broke" } as const;

/** The world after the agent was permitted to perform it. */
const permitted = (bending: Bending = {}, before: readonly Fact[] = []): World =>
  given([epochOpen, ...before]).when(proposes({ outside: OUTSIDE, ...bending })).world;

const saying =
  (report: ReportCommand["report"], more: Partial<ReportCommand> = {}) =>
  (draft: Draft) =>
    recordReport(draft, { action: ACTION, agent: AGENT, report, ...more });
const sweeps = (draft: Draft) => passReportTime(draft, ACTION);
const resolves = (draft: Draft) =>
  resolveByPerson(draft, { action: ACTION, status: "applied", by: ANN, reason: "on the statement" });

describe("a permit", () => {
  test("is an effect that the agent holds, with a time by which it has to report", () => {
    const then = given([epochOpen]).when(proposes({ outside: OUTSIDE }));
    then.answers({ answer: { kind: "started", effect: EFFECT } });
    assert.deepEqual(types(then), ["action.proposed", "action.reviewed", "effect.started"]);
    assert.partialDeepStrictEqual(then.appended[0]?.body, { outside: true });
    assert.partialDeepStrictEqual(then.appended[2]?.body, { epoch: AGENT, reportBy: LATE });
  });

  test("uses up the approval of people, and reserves the budget, in the same commit", () => {
    const costs = () => [{ budget: "daily", amount: usd(40n) }];
    const bending = { costs, policy: says(ESCALATE), outside: OUTSIDE };
    const open = given([epochOpen, limited("daily", 100n)]).when(proposes(bending)).world;
    const then = given(voted(open, ANN)).when(comesBack(bending));
    assert.deepEqual(types(then).toSorted(), ["approval.consumed", "budget.reserved", "effect.started"]);
    assert.partialDeepStrictEqual(then.state(approval), { status: "consumed" });
  });

  test("is not given while the kill switch is on, nor in the name of a process that was taken for dead", () => {
    given([epochOpen, stopped()])
      .when(proposes({ outside: OUTSIDE }))
      .answers({ answer: { kind: "held", refusal: { code: "stopped" } } });
    given([epochOpen, epochDied])
      .when(proposes({ outside: OUTSIDE }))
      .answers({ answer: { kind: "epoch_ended" } });
  });

  test("is another action's where a process, or another agent, uses its request id", () => {
    given(permitted()).when(proposes()).answers({ kind: "conflict" });
    const other = { agent: "agent:other", requester: ["agent:other"] };
    given(permitted())
      .when(proposes({ outside: OUTSIDE }, other))
      .answers({ kind: "conflict" });
    given(permitted())
      .when(proposes({ outside: OUTSIDE }))
      .then([])
      .answers({ kind: "existing" });
  });

  test("outlives the process that gave it: nobody takes the effect over", () => {
    const gone = add(permitted(), epochDied, nextEpochOpen);
    const command = { action: ACTION, epoch: NEXT_EPOCH, reason: "its owner died", tool: null };
    given(gone)
      .when((draft) => takeOver(draft, command))
      .then([])
      .answers({ kind: "left" });
    given(gone)
      .when(saying(applied({ id: 7 })))
      .answers({ kind: "recorded", state: { phase: "applied" } });
  });

  test("is nothing that a process could write an outcome for", () => {
    given(permitted())
      .when(reports(applied(), { epoch: EPOCH }))
      .answers({ kind: "late", state: { phase: "running" } });
  });
});

describe("a report", () => {
  test("by the agent that holds the effect is its outcome, on the agent's word", () => {
    given(permitted())
      .when(saying(applied({ id: 7 })))
      .then([fact(action, "effect.applied", { epoch: AGENT, attempt: 1, result: { id: 7 } })])
      .answers({ kind: "recorded", state: { phase: "applied", outcome: { by: AGENT } } });
    given(permitted())
      .when(saying(NOT_APPLIED))
      .then([fact(action, "effect.not_applied", { epoch: AGENT, reason: NOT_APPLIED.reason })])
      .answers({ state: { outcome: { by: AGENT } } });
  });

  test("that nobody knows is in doubt, and the money stays reserved", () => {
    const costs = () => [{ budget: "daily", amount: usd(40n) }];
    const world = permitted({ costs }, [limited("daily", 100n)]);
    const then = given(world).when(saying(UNKNOWN));
    then.then([fact(action, "effect.in_doubt", { reason: UNKNOWN.reason })]);
    assert.equal(then.state(budgetStream("daily")).reserved, 40n);
  });

  test("settles the budget at what was spent, or gives it back", () => {
    const costs = () => [{ budget: "daily", amount: usd(40n) }];
    const world = permitted({ costs }, [limited("daily", 100n)]);
    const spent = given(world).when(saying(applied("done", { daily: 25n })));
    assert.deepEqual(
      [spent.state(budgetStream("daily")).spent, spent.state(budgetStream("daily")).reserved],
      [25n, 0n],
    );
    const none = given(world).when(saying(NOT_APPLIED));
    assert.deepEqual(
      [none.state(budgetStream("daily")).spent, none.state(budgetStream("daily")).reserved],
      [0n, 0n],
    );
  });

  test("said again is answered alike and not recorded", () => {
    for (const report of [applied({ id: 7 }), NOT_APPLIED, UNKNOWN]) {
      const once = given(permitted()).when(saying(report)).world;
      given(once).when(saying(report)).then([]).answers({ kind: "same" });
    }
  });

  test("that says something else is a conflict, recorded once, and changes nothing", () => {
    const once = given(permitted()).when(saying(applied({ id: 7 }))).world;
    const other = given(once).when(saying(NOT_APPLIED));
    other
      .then([fact(action, "effect.reported_late", { epoch: AGENT, status: "not_applied" })])
      .answers({ kind: "conflict", state: { phase: "applied" }, told: { status: "applied" } });
    given(other.world).when(saying(NOT_APPLIED)).then([]).answers({ kind: "conflict" });
    const result = given(other.world).when(saying(applied({ id: 8 })));
    result.then([fact(action, "effect.reported_late", { result: { id: 8 } })]).answers({ kind: "conflict" });
    given(result.world)
      .when(saying(applied({ id: 7 })))
      .then([])
      .answers({ kind: "same" });
  });

  test("of another agent is not taken, and leaves no trace", () => {
    given(permitted())
      .when(saying(applied(), { agent: "agent:other" }))
      .then([])
      .answers({ kind: "not_yours" });
  });

  test("of what was never permitted, or is performed by a process, is not taken", () => {
    given(asked()).when(saying(applied())).then([]).answers({ kind: "not_started" });
    const own = given([epochOpen]).when(proposes()).world;
    given(own).when(saying(applied())).then([]).answers({ kind: "not_started" });
  });
});

describe("nobody has reported in time", () => {
  test("it is in doubt from that moment on, whether or not anybody has announced it", () => {
    given(permitted(), { now: LATE - 1 })
      .when(sweeps)
      .then([])
      .answers({ kind: "left" });
    given(permitted(), { now: LATE })
      .when(sweeps)
      .then([fact(action, "effect.in_doubt", { by: "deadline" })])
      .answers({ kind: "overdue", state: { phase: "in_doubt", outcome: { by: "deadline" } } });
  });

  test("a report afterwards is testimony: it does not end the doubt, a person does", () => {
    const late = given(permitted(), { now: LATE }).when(saying(applied({ id: 7 })));
    late
      .then([
        fact(action, "effect.in_doubt", { by: "deadline" }),
        fact(action, "effect.reported_late", { epoch: AGENT, status: "applied", result: { id: 7 } }),
      ])
      .answers({ kind: "late", state: { phase: "in_doubt" } });
    given(late.world)
      .when(saying(applied({ id: 7 })))
      .then([])
      .answers({ kind: "late" });
    given(late.world).when(saying(NOT_APPLIED)).answers({ kind: "conflict" });
    given(late.world)
      .when(resolves)
      .answers({ kind: "resolved", state: { phase: "applied" } });
  });

  test("a report after a person has ended the doubt is testimony too", () => {
    const doubt = given(permitted(), { now: LATE }).when(sweeps).world;
    const over = given(doubt).when(resolves).world;
    given(over)
      .when(saying(NOT_APPLIED))
      .answers({ kind: "late", state: { phase: "applied" } });
  });

  test("a read that nobody has reported did not give anything", () => {
    given(permitted({ effectClass: "read" }), { now: LATE })
      .when(sweeps)
      .then([fact(action, "effect.not_applied", { epoch: "deadline" })])
      .answers({ state: { phase: "not_applied", outcome: { by: "deadline" } } });
    given(permitted({ effectClass: "read" }))
      .when(saying(UNKNOWN))
      .answers({ state: { phase: "not_applied" } });
  });

  test("a store that was restored puts it in doubt, and the agent's word is still its first", () => {
    const back = given(permitted()).when((draft) => settleAfterRestore(draft, ACTION)).world;
    given(back)
      .when(saying(applied()))
      .answers({ kind: "late", state: { phase: "in_doubt" } });
  });
});
