import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { ANN, BOB, EPOCH, NEXT_EPOCH, rejects, votes } from "../../tests/fixtures/rules.ts";
import {
  created,
  flow,
  reach,
  runner,
  stateIn,
  WORKFLOW,
  worldOf,
} from "../../tests/fixtures/workflow-rules.ts";
import { expireIfDue } from "../approvals/rules/deadline.ts";
import { cancelApproval } from "../approvals/rules/withdraw.ts";
import { isHoldpointError } from "../kernel/errors.ts";
import type { Draft } from "../kernel/transaction.ts";
import { type Fact, fact, given, NOON } from "../testing/given.ts";
import { reachCheckpoint } from "./rules/ask.ts";
import {
  cancelWorkflow,
  completeWorkflow,
  failRun,
  recordFacts,
  suspend,
  takeRun,
} from "./rules/lifecycle.ts";
import { endRollback, rollBack, rollBackRun } from "./rules/rollback.ts";
import { type LiveWorkflow, mayMove, WORKFLOW_STATUSES, type WorkflowStatus } from "./state.ts";

/** As the documents say it, one line a state. */
const ALLOWED: { readonly [from in WorkflowStatus]: readonly WorkflowStatus[] } = {
  initialized: ["executing", "failed"],
  executing: ["awaiting_approval", "rolling_back", "settling", "failed"],
  awaiting_approval: ["executing", "rolling_back", "failed"],
  rolling_back: ["executing", "failed"],
  settling: ["completed", "failed"],
  completed: [],
  failed: [],
};

const REPORT = { undone: [], notUndone: [], irreversible: [] };
const failure = { code: "error", reason: "no", by: "workflow", report: null } as const;

/** The event that would bring each state about. */
const INTO: { readonly [to in WorkflowStatus]: readonly ReturnType<typeof fact>[] } = {
  initialized: [created()],
  executing: [
    fact(flow, "workflow.started", { epoch: EPOCH }),
    fact(flow, "rollback.ended", { ...REPORT, generation: 2, toSeq: 0, after: "again" }),
  ],
  awaiting_approval: [],
  rolling_back: [
    fact(flow, "rollback.began", {
      to: null,
      toSeq: 0,
      by: ANN,
      reason: "no",
      after: "again",
      scope: "all",
      rejected: null,
    }),
  ],
  settling: [fact(flow, "workflow.settling", { operations: 0 })],
  completed: [fact(flow, "workflow.completed", { result: null })],
  failed: [fact(flow, "workflow.failed", failure)],
};

describe("the states of a workflow", () => {
  for (const from of WORKFLOW_STATUSES) {
    test(`${from} leads to ${ALLOWED[from].join(", ") || "nothing"}, and nowhere else`, () => {
      assert.equal(stateIn(worldOf(from)).status, from);
      for (const to of WORKFLOW_STATUSES) assert.equal(mayMove(from, to), ALLOWED[from].includes(to), to);
    });

    for (const to of WORKFLOW_STATUSES)
      for (const event of INTO[to])
        if (!ALLOWED[from].includes(to))
          test(`a journal in which ${event.type} follows on ${from} is not believed`, () => {
            const world = worldOf(from);
            assert.throws(
              () => stateIn({ ...world, facts: [...world.facts, event] }),
              (error: unknown) => isHoldpointError(error, "broken_rule"),
            );
          });
  }
});

/** The question that is asked next, and the one that was asked last. */
type Turn = { readonly next: string; readonly last: string };
type Command = (turn: Turn) => (draft: Draft) => unknown;

const said = { by: BOB, reason: "because" };
const asks =
  (canRollback: boolean): Command =>
  ({ next }) =>
  (draft) => {
    const { ask, ...reached } = reach("Look", canRollback);
    return reachCheckpoint(draft, runner(), { ...reached, ask: ask && { ...ask, approval: next } });
  };
const says =
  (by: string, more: object): Command =>
  ({ last }) =>
    votes(by, { approval: last, ...more });

const COMMANDS: { readonly [name: string]: Command } = {
  take: () => (draft) => takeRun(draft, { workflow: WORKFLOW, epoch: EPOCH, dead: null }),
  "take over": () => (draft) => takeRun(draft, { workflow: WORKFLOW, epoch: NEXT_EPOCH, dead: EPOCH }),
  "reach a checkpoint": asks(true),
  "reach one that cannot go back": asks(false),
  approve: says(ANN, {}),
  edit: says(BOB, { edit: { n: 2 } }),
  reject: says(ANN, { decision: "reject", note: "no" }),
  "reject for good": says(ANN, { decision: "reject", note: "never", isFinal: true }),
  withdraw:
    ({ last }) =>
    (draft) =>
      cancelApproval(draft, { approval: last, ...said }),
  expire:
    ({ last }) =>
    (draft) =>
      expireIfDue(draft, last),
  complete: () => (draft) => completeWorkflow(draft, runner(), { result: 1, before: [] }),
  fail: () => (draft) => failRun(draft, runner(), { failure, before: [] }),
  "fail and undo": () => (draft) => rollBackRun(draft, runner(), { reason: "no", scope: "all", before: [] }),
  "end the rollback": () => (draft) => endRollback(draft, runner(), REPORT),
  "end it badly": () => (draft) =>
    endRollback(draft, runner(), { ...REPORT, notUndone: [{ action: "act_1", reason: "no" }] }),
  "send back": () => (draft) => rollBack(draft, { workflow: WORKFLOW, ...said, to: null, after: "again" }),
  "send back for good": () => (draft) =>
    rollBack(draft, { workflow: WORKFLOW, ...said, to: "start", after: "fail" }),
  cancel: () => (draft) => cancelWorkflow(draft, { workflow: WORKFLOW, ...said }),
  rest: () => (draft) => suspend(draft, runner(), { seen: 3, waits: [], wakeAt: null, before: [] }),
  record: () => (draft) =>
    recordFacts(draft, runner(), {
      phase: "run",
      events: () => [{ type: "sleep.began", tv: 1, body: { op: `${WORKFLOW}/1//sleep#1`, until: 1 } }],
    }),
};

const approvalOf = (number: number) => `apr_${String(number).padStart(26, "0")}`;
const isOver = ({ status }: LiveWorkflow) => status === "completed" || status === "failed";

/** What holds of every state, whatever led to it. */
function checkState(state: LiveWorkflow): void {
  assert.equal(state.status === "awaiting_approval", state.pending !== null);
  assert.equal(state.status === "rolling_back", state.rollback !== null);
  assert.equal(state.end !== null, isOver(state));
  if (isOver(state)) assert.deepEqual([state.runner, state.isReady, state.waits], [null, false, []]);
}

/** What holds of every command: its events alone move the workflow, and an end is for ever. */
function checkMove(before: LiveWorkflow, after: LiveWorkflow, events: readonly Fact[]): void {
  const own = events.filter(({ on }) => on.kind === "workflow");
  if (own.length === 0) assert.deepEqual(after, before);
  if (!isOver(before)) return;
  assert.deepEqual(after.end, before.end);
  assert.ok(own.every(({ type }) => type === "workflow.refused" || type === "workflow.woken"));
}

test("whatever is asked of a workflow in whatever order, it never moves where it may not", () => {
  const reached = new Map<string, number>();
  const orders = fc.array(fc.constantFrom(...Object.keys(COMMANDS)), { minLength: 5, maxLength: 30 });
  fc.assert(
    fc.property(orders, (names) => {
      let world = worldOf("initialized");
      let asked = 0;
      for (const [index, name] of names.entries()) {
        const turn = { next: approvalOf(asked + 1), last: approvalOf(asked) };
        const before = stateIn(world);
        const then = given(world, { now: NOON + index * 10_000 }).when((COMMANDS[name] as Command)(turn));
        // The fold of all entries is the state that the next command sees: it throws at a move that does not exist.
        const after = stateIn(then.world);
        checkState(after);
        checkMove(before, after, then.appended);
        if (then.appended.some(({ type }) => type === "approval.requested")) asked++;
        reached.set(after.status, (reached.get(after.status) ?? 0) + 1);
        world = then.world;
      }
    }),
    { numRuns: 2_000, seed: 4711 },
  );
  for (const status of WORKFLOW_STATUSES)
    if (status !== "settling")
      assert.ok((reached.get(status) ?? 0) > 100, `${status} was hardly ever reached`);
});

describe("a poller", () => {
  for (const [how, command, decision] of [
    ["approved", votes(ANN), "approved"],
    ["rejected", rejects(ANN), "rejected"],
  ] as const)
    test(`sees in last_decision that a checkpoint was ${how}, in the same commit`, () => {
      const world = worldOf("awaiting_approval");
      const then = given(world, { now: NOON + 5 }).when(command);
      assert.partialDeepStrictEqual(then.state(flow), {
        status: how === "approved" ? "executing" : "rolling_back",
        pending: null,
        lastDecision: { checkpoint: "Look", decision, by: [ANN], at: NOON + 5 },
      });
    });
});
