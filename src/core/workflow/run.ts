/**
 * Who runs a workflow, and what that process writes down.
 *
 * V1. Every fact names the epoch that took the workflow; one that lost it writes nothing more.
 * V2. A process lets go only of a workflow of which it has seen everything: what came in between is looked at first.
 * V3. Nobody takes up a workflow whose parent has failed: it fails there and then.
 * V4. Nobody takes up a workflow that an agent drives from outside.
 * V5. One that was asked for by its name begins in the commit that says what its definition adds; one whose input does not fit
 *     that fails there and then.
 */

import { type NewEvent, type StreamRef, workflowStream } from "../../kernel/stream.ts";
import type { Draft, Need } from "../../kernel/transaction.ts";

import type { Turned } from "./call.ts";
import { type Defining, takeUpRequest } from "./define.ts";
import type { Wait } from "./events.ts";
import { failWorkflow } from "./fail.ts";
import { obstacleOf } from "./held.ts";
import type { LiveWorkflow } from "./state.ts";

/** A process that runs a workflow, and how many facts it has recorded since it took it. */
export type Runner = { readonly workflow: string; readonly epoch: string; readonly written: number };

export type Taken =
  | { readonly kind: "taken"; readonly state: LiveWorkflow }
  /** Nothing was done: whoever has the definition is to say first what it adds. */
  | { readonly kind: "undefined"; readonly state: LiveWorkflow }
  | { readonly kind: "left"; readonly state: LiveWorkflow | null };

export function lockWorkflow(draft: Draft, id: string): Need | LiveWorkflow | undefined {
  const ref = workflowStream(id);
  const more = draft.need({ write: [ref] });
  if (more !== undefined) return more;
  const state = draft.state(ref);
  return state.status === "none" ? undefined : state;
}

const RUNNABLE: readonly string[] = ["initialized", "executing", "rolling_back"];

/** Whoever finds it first ends a workflow that its parent's failure has left behind. */
function failWithParent(draft: Draft, id: string, state: LiveWorkflow): Need | LiveWorkflow | undefined {
  const { parent, status } = state;
  // One that goes back finishes that, and one that asks is withdrawn with all that its parent had begun.
  if (parent === null || status === "rolling_back" || status === "awaiting_approval") return undefined;
  const ref = workflowStream(parent.workflow);
  const more = draft.need({ read: [ref] });
  if (more !== undefined) return more;
  const above = draft.state(ref);
  if (above.status === "none" || above.end?.status !== "failed") return undefined;
  const reason = `its parent ${parent.workflow} has failed: ${above.end.reason}`;
  const failure = { code: "cancelled", reason, by: above.end.by, report: null } as const;
  return failWorkflow(draft, id, failure) ?? (draft.state(workflowStream(id)) as LiveWorkflow);
}

export type Take = {
  readonly workflow: string;
  readonly epoch: string;
  /** A runner that was found dead, whose workflow may be taken over. */
  readonly dead: string | null;
  /** What the definition makes of one that was asked for by its name. */
  readonly defining?: Defining;
};

export function takeRun(draft: Draft, command: Take): Need | Taken {
  const state = lockWorkflow(draft, command.workflow);
  if (state === undefined) return { kind: "left", state: null };
  if ("kind" in state) return state;
  if (state.isOutside === true) return { kind: "left", state };
  const { epoch } = command;
  if (state.runner === epoch) return { kind: "taken", state };
  const isFree = state.runner === null || state.runner === command.dead;
  // One that waits for people has nothing to do, unless its runner died before it could let go.
  const isDue =
    RUNNABLE.includes(state.status) || (state.runner !== null && state.status === "awaiting_approval");
  if (!isFree || !isDue) return { kind: "left", state };
  const over = failWithParent(draft, command.workflow, state);
  if (over !== undefined) return "kind" in over ? over : { kind: "left", state: over };
  const unfit = takeUpRequest(draft, command.workflow, command.defining);
  if (unfit !== undefined) return unfit;
  const type = state.status === "initialized" ? "workflow.started" : "workflow.resumed";
  const ref = workflowStream(command.workflow);
  draft.append(ref, [{ type, tv: 1, body: { epoch } }]);
  return { kind: "taken", state: draft.state(ref) as LiveWorkflow };
}

/** What was appended, after which entry, and how much this process has recorded by now. */
export type Written = {
  readonly from: number;
  readonly seq: number;
  readonly written: number;
  readonly now: number;
  readonly events: readonly NewEvent[];
};

export type Recorded =
  | (Written & { readonly kind: "recorded" })
  | { readonly kind: "early"; readonly now: number }
  | Turned;

export type Phase = "run" | "rollback";

const PHASES: { readonly [phase in Phase]: readonly string[] } = {
  run: ["executing", "awaiting_approval"],
  rollback: ["rolling_back"],
};

/** The workflow, if this process still runs it in this phase. */
export function heldBy(draft: Draft, runner: Runner, phase: Phase): Need | Turned | LiveWorkflow {
  const state = lockWorkflow(draft, runner.workflow);
  if (state === undefined) return { kind: "turned" };
  if ("kind" in state) return state;
  return state.runner === runner.epoch && PHASES[phase].includes(state.status) ? state : { kind: "turned" };
}

export function wasRecorded(state: LiveWorkflow, runner: Runner): boolean {
  return state.written > runner.written;
}

/** What this process appended just now; nothing when it had done so before. */
export function written(
  draft: Draft,
  before: LiveWorkflow,
  workflow: string,
  events: readonly NewEvent[],
): Recorded {
  const { seq, written: count } = draft.state(workflowStream(workflow)) as LiveWorkflow;
  return { kind: "recorded", from: before.seq, seq, written: count, now: draft.now, events };
}

export type Facts = {
  readonly phase: Phase;
  readonly events: (draft: Draft) => readonly NewEvent[];
  /** A sleep ends by the store's clock, not by the process's. */
  readonly notBefore?: number;
};

/** Facts of the operations themselves. */
export function recordFacts(draft: Draft, runner: Runner, facts: Facts): Need | Recorded {
  const state = heldBy(draft, runner, facts.phase);
  if ("kind" in state) return state;
  if (wasRecorded(state, runner)) return written(draft, state, runner.workflow, []);
  if (facts.notBefore !== undefined && draft.now < facts.notBefore) return { kind: "early", now: draft.now };
  const events = facts.events(draft);
  draft.append(workflowStream(runner.workflow), events);
  return written(draft, state, runner.workflow, events);
}

export type Suspension = {
  /** The last entry that the process has seen. */
  readonly seen: number;
  readonly waits: readonly Wait[];
  readonly wakeAt: number | null;
  readonly before: readonly NewEvent[];
};

export type Suspended = { readonly kind: "suspended" | "moved" } | Turned;

/** A switch that was released in between wakes nobody who waits for it only from now on. */
function isReleased(draft: Draft, waits: readonly Wait[]): Need | boolean {
  const held = waits.flatMap(({ kind, on }) => (kind === "held" ? (obstacleOf(on) ?? []) : []));
  const switches = held.filter((ref): ref is StreamRef<"switch"> => ref.kind === "switch");
  const more = draft.need({ read: switches });
  return more ?? switches.some((ref) => !draft.state(ref).stopped);
}

export function suspend(
  draft: Draft,
  runner: Runner,
  { seen, waits, wakeAt, before }: Suspension,
): Need | Suspended {
  const state = lockWorkflow(draft, runner.workflow);
  if (state === undefined) return { kind: "turned" };
  if ("kind" in state) return state;
  if (state.runner !== runner.epoch) return { kind: state.runner === null ? "suspended" : "turned" };
  if (state.seq !== seen) return { kind: "moved" };
  // Handed over: due at once by the store's clock, whatever the process takes for the time.
  const dueAt = waits.some(({ kind }) => kind === "node") ? draft.now : wakeAt;
  const free = isReleased(draft, waits);
  if (free !== false) return free === true ? { kind: "moved" } : free;
  const event = { type: "workflow.suspended", tv: 1, body: { wakeAt: dueAt, waits } };
  draft.append(workflowStream(runner.workflow), [...before, event]);
  return { kind: "suspended" };
}
