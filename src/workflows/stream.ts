/**
 * The workflow stream: every event and what it does to the state, and its two lists: the one for people (workflows) and
 * the one of runs in which processes look for work.
 * One process at a time runs a workflow: the epoch that took it last. A workflow driven by a remote agent belongs to
 * that agent, and no process takes it. A workflow requested by name runs only after its definition has added its part.
 * A rollback starts a new generation; what it went back over is never replayed.
 * Runs are looked up by definition name; runs whose definition was made for one run have buckets of their own.
 */

import { HoldpointError } from "../kernel/errors.ts";
import type { Json } from "../kernel/json.ts";
import { type Via, withoutChannel } from "../kernel/principal.ts";
import { withRefusal } from "../kernel/refusals.ts";
import { defineStream } from "../kernel/stream.ts";
import type {
  CallUndo,
  CheckpointDecision,
  DefinedBody,
  FailureCode,
  ReachedBody,
  RollbackReport,
  Wait,
} from "./events.ts";
import {
  type CheckpointTerms,
  countCheckpoint,
  createState,
  defineRequest,
  isListedRun,
  isSameRun,
  isSameSummary,
  type LiveWorkflow,
  mayMove,
  type Rollback,
  recordCheckpointRequest,
  requestIdField,
  runRow,
  summaryRow,
  type WorkflowState,
  type WorkflowStatus,
  withOpenOperation,
  withoutOpenOperation,
} from "./state.ts";

type Entry = { readonly at: number; readonly seq: number };

function move(state: LiveWorkflow, status: WorkflowStatus): LiveWorkflow {
  if (mayMove(state.status, status)) return { ...state, status };
  throw new HoldpointError("broken_rule", `A workflow that is ${state.status} cannot become ${status}.`);
}

const hasEnded = (state: LiveWorkflow): boolean => state.status === "completed" || state.status === "failed";

/** Something it waits for changed: mark it ready if no process runs it. A pending checkpoint leaves nothing to do. */
function wake(state: LiveWorkflow): LiveWorkflow {
  const waits = hasEnded(state) || state.status === "awaiting_approval";
  return state.runner === null && !waits ? { ...state, isReady: true } : state;
}

/** Facts that its runner recorded, and operations that began. */
function count(state: LiveWorkflow, facts: number, operations: number): LiveWorkflow {
  return { ...state, written: state.written + facts, operations: state.operations + operations };
}

const run = (state: LiveWorkflow, { epoch }: { readonly epoch: string }): LiveWorkflow => ({
  ...state,
  ...{ runner: epoch, written: 0, isReady: false, wakeAt: null, waits: [] },
});

type Question = ReachedBody & CheckpointTerms;

/** People are asked; `isOwn`: at an operation of the definition or of its agent, not by a monitor. */
function ask(state: LiveWorkflow, body: Question & { readonly monitor?: string }, { seq }: Entry) {
  const { op, name, approval, canRollback, snapshot, irreversible, monitor } = body;
  const terms = { op, name, approval, canRollback, snapshot, irreversible, seq };
  const raised = monitor === undefined ? requestIdField(body) : { monitor };
  const asked = { ...state, pending: { ...terms, ...raised }, tally: countCheckpoint(state.tally, 1, 1) };
  return move(asked, "awaiting_approval");
}

const reach = (state: LiveWorkflow, body: Question, entry: Entry): LiveWorkflow =>
  ask(count(recordCheckpointRequest(state, body, body.approval), 1, 1), body, entry);

function pass(state: LiveWorkflow, body: ReachedBody, { at, seq }: Entry): LiveWorkflow {
  const { op, name, snapshot } = body;
  const place = { op, name, snapshot, approval: null, seq, at, ...requestIdField(body) };
  const tally = countCheckpoint(state.tally, 1, 0);
  return count(
    { ...recordCheckpointRequest(state, body, null), passed: [...state.passed, place], tally },
    1,
    1,
  );
}

type Decision = By & {
  readonly op: string;
  readonly approval: string;
  readonly decision: CheckpointDecision;
  readonly outputs: Json;
};
type By = { readonly by: readonly string[]; readonly reason: string };

function decide(state: LiveWorkflow, body: Decision, { at, seq }: Entry): LiveWorkflow {
  const { pending, tally } = state;
  if (pending === null || pending.op !== body.op)
    throw new HoldpointError("broken_rule", "A checkpoint was decided that is not waiting.");
  const { op, approval, decision, by, reason, outputs } = body;
  const { name, snapshot } = pending;
  const about = { checkpoint: name, op, approval, ...requestIdField(pending) };
  const lastDecision = { ...about, decision, by, reason, at, outputs, reachedSeq: pending.seq };
  const decided = {
    ...state,
    pending: null,
    lastDecision,
    tally: { ...tally, decisions: tally.decisions + 1 },
  };
  if (decision !== "approved" && decision !== "modified") return decided;
  // The definition does not know a raised checkpoint, so no rollback leads back to it.
  if (pending.monitor !== undefined) return wake(move(decided, "executing"));
  const place = { op, name, snapshot, approval, seq, at, ...requestIdField(pending) };
  return wake(move({ ...decided, passed: [...state.passed, place] }, "executing"));
}

type RollbackEnd = RollbackReport & Pick<Rollback, "toSeq" | "after"> & { readonly generation: number };

function endRollback(state: LiveWorkflow, body: RollbackEnd): LiveWorkflow {
  const { rollback } = state;
  if (rollback === null) throw new HoldpointError("broken_rule", "A rollback ended that never began.");
  const { undone, notUndone, irreversible, generation, toSeq, after } = body;
  const passed = state.passed.filter(({ seq }) => seq <= toSeq);
  const past = { ...rollback, undone, notUndone, irreversible };
  const known = new Set(state.irreversible.map(({ action }) => action));
  const left = [...state.irreversible, ...irreversible.filter(({ action }) => !known.has(action))];
  const stands = { generation, passed, rollback: null, rolledBack: past, pending: null, irreversible: left };
  const back = { ...state, ...stands };
  return after === "again" ? move(back, "executing") : back;
}

type Failure = Via & {
  readonly code: FailureCode;
  readonly reason: string;
  readonly by: string;
  readonly report: RollbackReport | null;
};

const stopped = { runner: null, isReady: false, wakeAt: null, waits: [] } as const;

function complete(state: LiveWorkflow, { result }: { readonly result: Json }, { at }: Entry): LiveWorkflow {
  return { ...move(state, "completed"), ...stopped, end: { status: "completed", at, result } };
}

function fail(state: LiveWorkflow, body: Failure, { at }: Entry): LiveWorkflow {
  // How far an interrupted rollback came is unknown: nothing may begin again within its range.
  const passed = state.passed.filter(({ seq }) => seq <= (state.rollback?.toSeq ?? seq));
  const end = { status: "failed", at, ...withoutChannel(body) } as const;
  const left = { pending: null, rollback: null, passed, closing: state.open.length > 0 };
  return { ...move(state, "failed"), ...stopped, ...left, end };
}

const { after, define } = defineStream<WorkflowState>();

type Apply<Body> = (state: LiveWorkflow, body: Body, entry: Entry) => LiveWorkflow;

const live = <Body>(meaning: string, apply: Apply<Body>) =>
  after("live", meaning, (state: LiveWorkflow, body: Body, entry) => {
    const { seq, at: changedAt } = entry;
    return { ...apply(state, body, entry), seq, changedAt };
  });

/** Begins an operation: `id` is what it leaves open, if anything. */
const begins = <Body>(meaning: string, id: (body: Body) => string | null = () => null, facts = 1) =>
  live<Body>(meaning, (state, body) => {
    const opened = id(body);
    return count(opened === null ? state : withOpenOperation(state, opened), facts, 1);
  });
/** A fact of an operation that has begun. */
const notes = <Body>(meaning: string) => live<Body>(meaning, (state) => count(state, 1, 0));
/** Something that it waits for has ended. */
const ends = <Body>(meaning: string, id: (body: Body) => string) =>
  live<Body>(meaning, (state, body) => wake(withoutOpenOperation(state, id(body))));
/** The same for a call or its undo, which policies see. */
const settles = <Body extends { readonly action: string }>(meaning: string) =>
  live<Body>(meaning, (state, { action }, { seq: settledSeq }) => ({
    ...wake(withoutOpenOperation(state, action)),
    settledSeq,
  }));

type Op = { readonly op: string };
type IntentOp = Op & { readonly intent: string };

export const workflow = define("workflow", {
  what: "A workflow",
  version: 9,
  initial: { status: "none" },
  words: { none: "not created" },
  isOver: (state) => state.status === "completed" || state.status === "failed",
  events: {
    "workflow.created": after(
      ["none"],
      "it exists: name, input, `given` (the digest of what it was given, where its definition made something else of it), agent and requester, checkpoints, terms, parent (with the workflows above that one) or origin; `isOfOneRun` where its definition was made for it alone, `notify` where an endpoint was named; `isOutside` where an agent [drives it from outside](../guide/outside-agents.md#workflows)",
      createState,
    ),
    "workflow.requested": live<{ readonly by: string; readonly given: string } & Via>(
      "it was [asked for by its name](../guide/workflows.md#by-its-name), by whom; `given` is the digest of what it was asked for with. What only its definition knows is not said yet",
      (state, { by, given }) => ({ ...state, requested: { by, given, isDefined: false } }),
    ),
    "workflow.defined": live<DefinedBody>(
      "a process that has the definition has taken it up: what that makes of the input, and what it adds",
      defineRequest,
    ),
    "workflow.started": live<{ readonly epoch: string }>(
      "a process runs it from here on; its epoch, or the agent that drives it from outside",
      (state, body) => run(move(state, "executing"), body),
    ),
    "workflow.resumed": live("the same once more: another process, or the same one again", run),
    "workflow.suspended": live<{ readonly wakeAt: number | null; readonly waits: readonly Wait[] }>(
      "no process runs it: what it waits for, and when it wakes by itself; `node` where its process ended in good order and another is to go on",
      (state, body) => ({ ...state, runner: null, written: 0, isReady: false, ...body }),
    ),
    "workflow.woken": live<{ readonly by: string }>(
      "something about one of its calls moved, for example its approval was given",
      wake,
    ),
    "step.completed": begins<Op & { readonly result: Json; readonly attempts: number }>(
      "a plain step's result, and how many attempts it took",
    ),
    "step.retried": notes<
      Op & { readonly attempt: number; readonly error: string; readonly retryAt: number }
    >("an attempt of it failed; when the next one comes"),
    "step.failed": begins<Op & { readonly error: string; readonly attempts: number }>(
      "the last attempt failed",
    ),
    "call.made": begins<
      Op & {
        readonly action: string;
        readonly tool: string;
        readonly argsDigest: string;
        /** Undone automatically when the workflow fails. */
        readonly rollback: boolean;
        /** Only if a remote agent drives the workflow. */
        readonly undo?: CallUndo;
      }
    >(
      "a call was proposed: its action, tool and the digest of its arguments; from outside, also how it is undone",
      ({ action }) => action,
      0,
    ),
    "call.settled": settles<Op & { readonly action: string; readonly answer: Json }>(
      "what it came to: the answer that the definition gets",
    ),
    "operation.refused": begins<
      Op & { readonly kind: string; readonly code: string; readonly error: string }
    >(
      "an operation was asked for in a way that cannot be (arguments that do not fit, and the like): the error that the definition gets",
    ),
    "value.recorded": notes<Op & { readonly value: Json }>(
      "what `ctx.now`, `ctx.random` or `ctx.version` gave out",
    ),
    "log.written": notes<Op & { readonly text: string; readonly data: Json }>("what the definition logged"),
    "sleep.began": begins<Op & { readonly until: number }>("it sleeps until then"),
    "sleep.ended": notes<Op>("that time has come"),
    "child.spawned": begins<
      Op & { readonly child: string; readonly name: string; readonly inputDigest: string }
    >("another workflow was started", ({ child }) => child),
    "child.ended": ends<
      Op & {
        readonly child: string;
        readonly status: "completed" | "failed";
        readonly result: Json;
        readonly reason: string;
      }
    >("that workflow has completed or failed", ({ child }) => child),
    "question.asked": begins<
      Op & { readonly approval: string; readonly text: string; readonly argsDigest: string }
    >("people were asked something", ({ approval }) => approval),
    "question.answered": ends<
      Op &
        By & {
          readonly approval: string;
          readonly status: "answered" | "rejected" | "expired" | "cancelled";
          readonly answer: Json;
        }
    >("their answer, or why there is none", ({ approval }) => approval),
    "send.made": begins<
      IntentOp & { readonly intentType: string; readonly to: string; readonly payloadDigest: string }
    >(
      "it sent an [intent](../guide/intents.md): which, its type, for whom, and the digest of its payload",
      ({ intent }) => intent,
    ),
    "send.ended": live<IntentOp & { readonly status: string }>(
      "an intent that it sent has ended",
      (state, { intent }) => withoutOpenOperation(state, intent),
    ),
    /** `until`: when the definition stops waiting; the intent goes on. */
    "wait.began": begins<IntentOp & { readonly until: number | null }>(
      "it waits for an intent, until then if it says so",
    ),
    "wait.ended": live<
      IntentOp & {
        readonly status: "completed" | "failed" | "timed_out" | "cancelled" | "timed_out_waiting";
        readonly data: Json;
        readonly reason: string;
      }
    >("how the intent ended, or that the time to wait has passed", wake),
    "checkpoint.reached": live(
      "the state was captured and people are asked: snapshot, outputs, approval, and which effects could not be undone",
      reach,
    ),
    "checkpoint.passed": live("the state was captured and no approval was needed, and why", pass),
    "checkpoint.raised": live<
      Question & { readonly monitor: string; readonly rule: string; readonly alert: string }
    >(
      "a monitor has stopped it, and people are asked whether it goes on: rule, alert, why, what is known, approval. Not an operation of the definition",
      ask,
    ),
    "checkpoint.decided": live(
      "what people decided, by whom, with what reason, and the outputs as they are from then on",
      decide,
    ),
    "rollback.began": live<Rollback & Via>(
      "it goes back: to which entry, by whom, why, and whether it is tried again afterwards",
      (state, body) =>
        wake({ ...move(state, "rolling_back"), rollback: withoutChannel(body), pending: null }),
    ),
    "compensation.made": begins<
      Op & { readonly action: string; readonly undoes: string; readonly tool: string }
    >("an undo was proposed as an action of its own; which action it undoes", ({ action }) => action, 0),
    "compensation.settled": settles<{
      readonly action: string;
      readonly undoes: string;
      readonly status: "undone" | "not_undone";
      readonly reason: string;
    }>("that action was undone, or it was not, and why"),
    "rollback.ended": live<RollbackEnd>(
      "it is where it was at that entry, and begins another attempt: what was undone, and what could not be",
      (state, body, { seq: settledSeq }) => ({
        ...count(endRollback(state, body), 1, 0),
        settledSeq,
      }),
    ),
    "workflow.settling": live<{ readonly operations: number }>("the definition has returned", (state) =>
      move(state, "settling"),
    ),
    "workflow.completed": live("its result", complete),
    "workflow.failed": live(
      "code, reason, by whom, and after a rollback, or one that was broken off, what was undone, what was not and what cannot be",
      fail,
    ),
    "workflow.closed": live<Record<string, never>>(
      "it has failed, and what it had begun was withdrawn: its questions, its calls that waited, its children",
      (state) => ({
        ...state,
        open: [],
        closing: false,
      }),
    ),
    "workflow.forked": live<{ readonly fork: string; readonly seq: number; readonly checkpoint: string }>(
      "another workflow begins with what this one had done up to that entry",
      (state, { fork, seq }) => ({ ...state, forks: [...state.forks, { workflow: fork, seq }] }),
    ),
    "workflow.refused": live<{
      readonly asked: string;
      readonly by: string;
      readonly status: string;
      readonly reason: string;
    }>("a move was requested that its status does not allow", (state, { by }) => withRefusal(state, by)),
  },
  lists: [
    {
      bucket: ({ status }) => status,
      data: summaryRow,
      isSame: isSameSummary,
      orders: {
        created: { view: "workflows", version: 3, oldest: 2, at: ({ createdAt }) => createdAt },
      },
    },
    {
      bucket: (state) => runRow(state).bucket,
      data: (state) => runRow(state).data,
      isSame: isSameRun,
      orders: {
        created: {
          view: "runs",
          version: 7,
          oldest: 6,
          only: isListedRun,
          at: ({ createdAt }) => createdAt,
          due: (state) => runRow(state).due ?? null,
        },
      },
    },
  ],
});

type WorkflowBodies = NonNullable<typeof workflow.bodies>;
export type WorkflowEvent = {
  [Type in keyof WorkflowBodies]: { readonly type: Type; readonly body: WorkflowBodies[Type] };
}[keyof WorkflowBodies];
export type WorkflowEventOf<Type extends WorkflowEvent["type"]> = Extract<WorkflowEvent, { type: Type }>;
