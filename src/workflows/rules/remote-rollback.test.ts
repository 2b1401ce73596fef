import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { AGENT, ANN, rejects } from "../../../tests/fixtures/rules.ts";
import { created, flow, reach, WORKFLOW } from "../../../tests/fixtures/workflow-rules.ts";
import { fact, given } from "../../testing/given.ts";
import { reachRemoteCheckpoint } from "./remote.ts";
import {
  type EffectToUndo,
  endRemoteRollback,
  MAX_UNDO_ATTEMPTS,
  nextRollbackStep,
  type UndoAttempt,
} from "./rollback.ts";

const call = (n: number, more: Partial<EffectToUndo> = {}): EffectToUndo => ({
  op: `op ${n}`,
  action: `act_${n}`,
  tool: `tool ${n}`,
  undo: "agent",
  phase: "applied",
  at: n,
  seq: n,
  ...more,
});
const undo = (of: number, phase: UndoAttempt["phase"], n = 1): UndoAttempt => ({
  action: `act_${of}_${n}`,
  undoes: `act_${of}`,
  phase,
  reason: phase === "refused" ? "not wanted" : "",
});

describe("the way back", () => {
  test("undoes the newest first, and the next only once that was undone", () => {
    const calls = [call(1), call(2), call(3)];
    assert.partialDeepStrictEqual(nextRollbackStep(calls, []), {
      kind: "undo",
      call: { action: "act_3" },
      attempt: 1,
      action: null,
    });
    assert.partialDeepStrictEqual(nextRollbackStep(calls, [undo(3, "running")]), {
      call: { action: "act_3" },
      action: "act_3_1",
    });
    assert.partialDeepStrictEqual(nextRollbackStep(calls, [undo(3, "applied")]), {
      call: { action: "act_2" },
    });
    const all = [undo(3, "applied"), undo(2, "applied"), undo(1, "applied")];
    assert.deepEqual(nextRollbackStep(calls, all), {
      kind: "over",
      report: { undone: ["act_3", "act_2", "act_1"], notUndone: [], irreversible: [] },
    });
  });

  test("waits for what is under way and for what is in doubt, before anything is undone", () => {
    for (const phase of ["running", "in_doubt", "waiting", "open"] as const)
      assert.deepEqual(nextRollbackStep([call(1), call(2, { phase })], []), {
        kind: "waits",
        on: ["act_2"],
      });
  });

  test("waits at an undo that is in doubt", () => {
    const back = nextRollbackStep([call(1), call(2)], [undo(2, "in_doubt")]);
    assert.partialDeepStrictEqual(back, { kind: "undo", call: { action: "act_2" }, action: "act_2_1" });
  });

  test("has nothing to undo of what did not happen, and says what cannot be undone", () => {
    const calls = [
      call(1, { phase: "refused" }),
      call(2, { phase: "not_applied" }),
      call(3, { undo: "nothing" }),
      call(4, { undo: "none" }),
    ];
    assert.deepEqual(nextRollbackStep(calls, []), {
      kind: "over",
      report: {
        undone: [],
        notUndone: [],
        irreversible: [{ op: "op 4", action: "act_4", tool: "tool 4" }],
      },
    });
  });

  test("tries an undo that did nothing again, a few times; one that was refused is not tried again", () => {
    const once = [undo(1, "not_applied")];
    assert.partialDeepStrictEqual(nextRollbackStep([call(1)], once), {
      kind: "undo",
      attempt: 2,
      action: null,
    });
    const often = Array.from({ length: MAX_UNDO_ATTEMPTS }, (_, n) => undo(1, "not_applied", n));
    assert.partialDeepStrictEqual(nextRollbackStep([call(1)], often), {
      kind: "over",
      report: { notUndone: [{ action: "act_1" }] },
    });
    assert.partialDeepStrictEqual(nextRollbackStep([call(1)], [undo(1, "refused")]), {
      kind: "over",
      report: { notUndone: [{ action: "act_1", reason: "not wanted" }] },
    });
  });
});

describe("what a child tried to undo itself", () => {
  const child = (phase: UndoAttempt["phase"], n = 1) => ({ ...undo(1, phase, n), isOfChild: true as const });

  test("is undone, or was refused, for its parent too", () => {
    assert.partialDeepStrictEqual(nextRollbackStep([call(1)], [child("not_applied"), child("applied", 2)]), {
      kind: "over",
      report: { undone: ["act_1"] },
    });
    assert.partialDeepStrictEqual(nextRollbackStep([call(1)], [child("refused")]), {
      kind: "over",
      report: { notUndone: [{ action: "act_1", reason: "not wanted" }] },
    });
  });

  test("does not count as an attempt of the parent, whose undos have ids of their own", () => {
    const tried = Array.from({ length: MAX_UNDO_ATTEMPTS }, (_, n) => child("not_applied", n));
    assert.partialDeepStrictEqual(nextRollbackStep([call(1, { undo: "here" })], tried), {
      kind: "undo",
      attempt: 1,
      action: null,
    });
  });
});

describe("an undo that this process does not know", () => {
  test("is the next step: nothing older is undone before it", () => {
    const effects = [call(1, { undo: "here" }), call(2, { undo: "unknown" })];
    assert.partialDeepStrictEqual(nextRollbackStep(effects, []), { kind: "undo", call: { action: "act_2" } });
  });
});

describe("its end", () => {
  const { body, artifact, ask } = reach();
  const rejected = given(
    given([created({ isOutside: true }), fact(flow, "workflow.started", { epoch: AGENT })]).when((draft) =>
      reachRemoteCheckpoint(
        draft,
        { workflow: WORKFLOW, agent: AGENT },
        { seq: 2, requestId: null, handed: "d1", body, artifact, ask },
      ),
    ).world,
  ).when(rejects(ANN, "again, please"));
  const { seq } = rejected.state(flow) as { seq: number };
  const nothing = { undone: [], notUndone: [], irreversible: [] };

  test("is another attempt of the same agent, which is told why", () => {
    const then = given(rejected.world).when((draft) =>
      endRemoteRollback(draft, { workflow: WORKFLOW, seq, report: nothing }),
    );
    then.then([fact(flow, "rollback.ended", { generation: 2, after: "again" })]).answers({ kind: "again" });
    assert.partialDeepStrictEqual(then.state(flow), {
      status: "executing",
      generation: 2,
      runner: AGENT,
      isReady: false,
      lastDecision: { decision: "rejected", reason: "again, please" },
    });
  });

  test("is failure where something could not be undone", () => {
    const report = { ...nothing, irreversible: [{ op: "o", action: "a", tool: "t" }] };
    given(rejected.world)
      .when((draft) => endRemoteRollback(draft, { workflow: WORKFLOW, seq, report }))
      .then([fact(flow, "rollback.ended"), fact(flow, "workflow.failed", { code: "rollback_failed" })]);
  });

  test("is not written by whoever has not seen everything", () => {
    given(rejected.world)
      .when((draft) => endRemoteRollback(draft, { workflow: WORKFLOW, seq: seq - 1, report: nothing }))
      .then([])
      .answers({ kind: "moved" });
  });
});
