/**
 * A workflow driven by a remote agent: no definition, no process that runs it. The agent says when it starts, reaches a
 * checkpoint, completes or fails.
 * - Only the agent that it was created for drives it. What the states do not allow is refused and recorded.
 * - A checkpoint under a request id is reached once: a repeated request returns its outcome. Another checkpoint or
 *   other content under that id is refused and recorded.
 * - It is not completed while anything that it began is open: running, in doubt, or waiting for people.
 * - Nor before it has passed each checkpoint declared to ask people, not counting what was rolled back: its agent
 *   cannot bypass them. It may fail, and be ended, at any time.
 */

import { digestOf } from "../../kernel/canonical-json.ts";
import type { Json } from "../../kernel/json.ts";
import type { Artifact } from "../../kernel/stored-value.ts";
import { actionStream, workflowStream } from "../../kernel/stream.ts";
import type { Draft, Need } from "../../kernel/transaction.ts";
import type { CreatedBody, ReachedBody, Snapshot } from "../events.ts";
import { isSameCheckpointRequest, type LiveWorkflow, mayMove } from "../state.ts";
import { type CheckpointReach, recordReach } from "./ask.ts";
import { settleCall } from "./calls.ts";
import { type Created, type Creation, createWorkflow } from "./create.ts";
import { failWorkflow, lockWorkflow, type RefusedMove, refuseMove } from "./lifecycle.ts";
import { beginRollback, findRollbackPoint } from "./rollback.ts";

type Driver = { readonly workflow: string; readonly agent: string };

export type DriveRefused =
  | { readonly kind: "unknown" }
  /** A definition drives it. */
  | { readonly kind: "not_outside" }
  | { readonly kind: "not_yours" }
  | RefusedMove;

export type DriveDone = { readonly kind: "done"; readonly state: LiveWorkflow };

const isDrivable = (answer: Need | DriveRefused | LiveWorkflow): answer is LiveWorkflow =>
  !("kind" in answer);

function lockDriven(draft: Draft, { workflow, agent }: Driver): Need | DriveRefused | LiveWorkflow {
  const state = lockWorkflow(draft, workflow);
  if (state === undefined) return { kind: "unknown" };
  if ("kind" in state) return state;
  if (state.isOutside !== true) return { kind: "not_outside" };
  return state.agent === agent ? state : { kind: "not_yours" };
}

function refuse(
  draft: Draft,
  { workflow, agent: by }: Driver,
  { status }: LiveWorkflow,
  [asked, reason]: readonly [string, string],
): RefusedMove {
  return refuseMove(draft, { workflow, by, reason, status }, asked, reason);
}

const live = (draft: Draft, id: string): LiveWorkflow => draft.state(workflowStream(id)) as LiveWorkflow;
const driveDone = (draft: Draft, { workflow }: Driver): DriveDone => ({
  kind: "done",
  state: live(draft, workflow),
});

/** The terms that distinguish workflows, in addition to the input. */
type CreationTerms = Pick<
  CreatedBody,
  | "name"
  | "description"
  | "agent"
  | "requester"
  | "parties"
  | "escrow"
  | "checkpoints"
  | "attempts"
  | "rollbackEnabled"
  | "onIrreversible"
>;

function digestTerms(told: CreationTerms): string {
  const { name, description, agent, requester, parties, escrow, checkpoints } = told;
  const { attempts, rollbackEnabled, onIrreversible } = told;
  const who = { agent, requester, parties };
  const terms = { attempts, rollbackEnabled, onIrreversible };
  return digestOf({ name, description, escrow, checkpoints, ...who, ...terms });
}

/** A request id that is taken only matches exactly the same workflow. */
export function createRemoteWorkflow(draft: Draft, creation: Creation): Need | Created {
  const made = createWorkflow(draft, creation);
  if (made.kind !== "existing" || made.workflow === creation.workflow) return made;
  const isSame = digestTerms(live(draft, made.workflow)) === digestTerms(creation.body);
  return isSame ? made : { kind: "conflict", workflow: made.workflow };
}

export function startRemoteWorkflow(draft: Draft, driver: Driver): Need | DriveRefused | DriveDone {
  const state = lockDriven(draft, driver);
  if (!isDrivable(state)) return state;
  // A repeated start, before anything was done.
  const isFresh = state.status === "executing" && state.generation === 1 && state.operations === 0;
  if (isFresh) return driveDone(draft, driver);
  if (state.status !== "initialized") return refuse(draft, driver, state, ["start", `it is ${state.status}`]);
  draft.append(workflowStream(driver.workflow), [
    { type: "workflow.started", tv: 1, body: { epoch: driver.agent } },
  ]);
  return driveDone(draft, driver);
}

export type RemoteReach = {
  /** The last entry seen by the process that captured it: `irreversible` is as of this entry. */
  readonly seq: number;
  readonly requestId: string | null;
  readonly body: Omit<ReachedBody, "op" | "requestId" | "handed">;
  /** Digest of everything that the agent submits. */
  readonly handed: string;
  readonly artifact: Artifact;
  /** null: no approval needed. */
  readonly ask: Omit<NonNullable<CheckpointReach["ask"]>, "op"> | null;
};

export type RemoteReached = {
  /** `passed`: no approval needed, or approved. `decided`: not approved, or undone; it goes or has gone back. */
  readonly kind: "waiting" | "passed" | "decided";
  /** Name of the reached checkpoint. */
  readonly name: string;
  readonly state: LiveWorkflow;
  readonly approval: string | null;
  /** The captured snapshot; null if people did not approve and the workflow has left the checkpoint. */
  readonly snapshot: Snapshot | null;
};

type ReachConflict = { readonly kind: "conflict"; readonly name: string };
type RecordedConflict = ReachConflict & Pick<RefusedMove, "isRecorded">;

/** undefined: not reached before. A commit with an unknown outcome is recognized by its snapshot. */
function reachedBefore(
  draft: Draft,
  state: LiveWorkflow,
  { requestId, body, handed }: RemoteReach,
): RemoteReached | ReachConflict | undefined {
  const { pending, passed, asked = [] } = state;
  const known = requestId === null ? undefined : asked.find((one) => one.requestId === requestId);
  const outputs = digestOf(draft.keep(body.outputs));
  if (known !== undefined && !isSameCheckpointRequest(known, { name: body.name, handed, outputs }))
    return { kind: "conflict", name: known.name };
  const own = `#${body.snapshot.id}`;
  const isIt = ({ op }: { readonly op: string }) => op.endsWith(own) || op === known?.op;
  if (pending !== null && isIt(pending)) return reachedAt("waiting", pending, state);
  const there = passed.find(isIt);
  if (there !== undefined) return reachedAt("passed", there, state);
  const left = known ?? decidedAt(state.lastDecision, own);
  if (left === undefined) return undefined;
  return { kind: "decided", name: left.name, state, approval: left.approval, snapshot: null };
}

function reachedAt(
  kind: RemoteReached["kind"],
  { name, approval, snapshot }: Pick<RemoteReached, "name" | "approval" | "snapshot">,
  state: LiveWorkflow,
): RemoteReached {
  return { kind, name, state, approval, snapshot };
}

function decidedAt(last: LiveWorkflow["lastDecision"], own: string) {
  if (last === null || !last.op.endsWith(own)) return undefined;
  return { name: last.checkpoint, approval: last.approval };
}

export function reachRemoteCheckpoint(
  draft: Draft,
  driver: Driver,
  reach: RemoteReach,
): Need | DriveRefused | RemoteReached | RecordedConflict | { readonly kind: "moved" } {
  const state = lockDriven(draft, driver);
  if (!isDrivable(state)) return state;
  const before = reachedBefore(draft, state, reach);
  if (before?.kind === "conflict") {
    const why = "the request id is that of another checkpoint or content";
    return { ...before, isRecorded: refuse(draft, driver, state, ["checkpoint", why]).isRecorded };
  }
  if (before !== undefined) return before;
  if (state.status !== "executing")
    return refuse(draft, driver, state, ["checkpoint", `it is ${state.status}`]);
  if (state.seq !== reach.seq) return { kind: "moved" };
  const { ask, artifact, requestId, handed } = reach;
  const op = `${driver.workflow}/${state.generation}//${reach.body.name}#${reach.body.snapshot.id}`;
  const body = { ...reach.body, op, ...(requestId === null ? {} : { requestId, handed }) };
  const recorded = { body, before: [], artifact, ask: ask === null ? null : { ...ask, op } };
  const done = recordReach(draft, driver.workflow, state, recorded);
  if (done.kind === "need") return done;
  const kind = ask === null ? "passed" : "waiting";
  const { name, snapshot } = reach.body;
  return reachedAt(kind, { name, approval: ask?.approval ?? null, snapshot }, live(draft, driver.workflow));
}

/** Records the end of refused actions in the workflow. Returns the actions that are still open. */
function closeCalls(draft: Draft, state: LiveWorkflow): Need | { readonly open: readonly string[] } {
  const ids = state.open.filter((one) => one.startsWith("act_"));
  const more = draft.need({ read: ids.map(actionStream) });
  if (more !== undefined) return more;
  const open: string[] = [];
  for (const id of ids) {
    if (draft.state(actionStream(id)).phase === "refused") {
      const missing = settleCall(draft, id);
      if (missing !== undefined) return missing;
    } else open.push(id);
  }
  return { open };
}

function isSameEnd({ end }: LiveWorkflow, kept: Json): boolean {
  return end?.status === "completed" && digestOf(end.result) === digestOf(kept);
}

/** Names of declared checkpoints that ask people and that it has not passed, or not since it was rolled back. */
function missedBy({ checkpoints, passed }: LiveWorkflow): readonly string[] {
  return checkpoints
    .filter(({ name, requiresApproval }) => requiresApproval && !passed.some((one) => one.name === name))
    .map(({ name }) => JSON.stringify(name));
}

export function completeRemoteWorkflow(
  draft: Draft,
  driver: Driver,
  result: Json,
): Need | DriveRefused | DriveDone {
  const state = lockDriven(draft, driver);
  if (!isDrivable(state)) return state;
  const kept = draft.keep(result);
  if (isSameEnd(state, kept)) return driveDone(draft, driver);
  if (!mayMove(state.status, "settling"))
    return refuse(draft, driver, state, ["complete", `it is ${state.status}`]);
  const closed = closeCalls(draft, state);
  if ("kind" in closed) return closed;
  if (closed.open.length > 0)
    return refuse(draft, driver, state, ["complete", `${closed.open.join(", ")} has not ended`]);
  const missed = missedBy(state);
  if (missed.length > 0)
    return refuse(draft, driver, state, [
      "complete",
      `it has not passed ${missed.join(", ")}, where people are asked`,
    ]);
  draft.append(workflowStream(driver.workflow), [
    { type: "workflow.settling", tv: 1, body: { operations: state.operations } },
    { type: "workflow.completed", tv: 1, body: { result: kept } },
  ]);
  return driveDone(draft, driver);
}

function isFailedSo({ end, rollback }: LiveWorkflow, reason: string): boolean {
  if (rollback !== null) return rollback.by === "workflow" && rollback.reason === reason;
  return end?.status === "failed" && end.code === "error" && end.reason === reason;
}

/** Undoes its effects first, if it was created with rollback enabled. */
export function failRemoteWorkflow(
  draft: Draft,
  driver: Driver,
  reason: string,
): Need | DriveRefused | DriveDone {
  const state = lockDriven(draft, driver);
  if (!isDrivable(state)) return state;
  if (isFailedSo(state, reason)) return driveDone(draft, driver);
  // An agent cannot interrupt a rollback: it undoes its calls, or a person cancels.
  if (state.status === "rolling_back" || !mayMove(state.status, "failed"))
    return refuse(draft, driver, state, ["fail", `it is ${state.status}`]);
  const { workflow, agent } = driver;
  const more =
    state.rollbackEnabled && state.status === "executing"
      ? beginRollback(
          draft,
          workflow,
          { to: null, by: "workflow", reason, after: "fail", scope: "all", rejected: null },
          findRollbackPoint(state, null) ?? { op: null, seq: 0 },
        )
      : failWorkflow(draft, workflow, { code: "error", reason, by: agent, report: null });
  return more ?? driveDone(draft, driver);
}
