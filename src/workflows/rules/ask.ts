/**
 * Questions that a workflow puts to people: at a checkpoint, as a question of its own, or at a checkpoint raised by a
 * monitor.
 * A raised checkpoint stops an executing workflow between two operations: nothing new begins after its commit, what has
 * begun ends. It is no operation: the definition is not informed of it, replay skips it, and no rollback leads back to
 * it.
 */

import { apartIn, openQuestion, stagesIn } from "../../approvals/rules/ask.ts";
import { digestOf } from "../../kernel/canonical-json.ts";
import type { Json, JsonObject } from "../../kernel/json.ts";
import type { Artifact } from "../../kernel/stored-value.ts";
import { approvalStream, type NewEvent, workflowStream } from "../../kernel/stream.ts";
import type { Draft, Need } from "../../kernel/transaction.ts";
import type { ApprovalTerms } from "../../policy/rules/stages.ts";
import { ANY_ONE_PERSON } from "../../policy/rules/verdict.ts";
import type { Irreversible, ReachedBody, Snapshot } from "../events.ts";
import type { LiveWorkflow, WorkflowStatus } from "../state.ts";
import { checkpointId } from "./checkpoints.ts";
import {
  lockOwnRun,
  lockWorkflow,
  type Recorded,
  type Runner,
  reportWritten,
  wasRecorded,
} from "./lifecycle.ts";

type WorkflowQuestion = {
  readonly approval: string;
  readonly nonce: string;
  readonly kind: "checkpoint" | "question";
  readonly op: string;
  readonly name: string;
  /** The value to be approved; an edit replaces it. */
  readonly args: Json;
  /** Digest of what the question is about: a snapshot's bytes, or a schema's text. */
  readonly about: string;
  readonly says: string | null;
  readonly reason: string;
} & Omit<ApprovalTerms, "executeWithinMs">;

function openWorkflowQuestion(
  draft: Draft,
  workflow: string,
  state: LiveWorkflow,
  question: WorkflowQuestion,
): void {
  const { approval, nonce, kind, op, name, args, about, says, reason, approvers, decideWithinMs } = question;
  openQuestion(draft, approval, {
    action: workflow,
    tool: name,
    schema: about,
    effectClass: kind,
    args: draft.keep(args),
    argsDigest: digestOf(args),
    agent: state.agent,
    requester: state.requester,
    says,
    reason,
    rule: kind,
    policy: digestOf({ workflow: state.name, version: state.version, checkpoint: name }),
    approvers,
    nonce,
    decideBy: decideWithinMs === null ? null : draft.now + decideWithinMs,
    executeBy: null,
    ...apartIn(question, state.parties),
    ...stagesIn(question),
    subject: { kind, workflow, op },
  });
}

export type CheckpointReach = {
  readonly body: ReachedBody;
  readonly before: readonly NewEvent[];
  readonly artifact: Artifact;
  /** null: no approval needed. */
  readonly ask:
    | (WorkflowQuestion & { readonly canRollback: boolean; readonly irreversible: readonly Irreversible[] })
    | null;
};

type ReachRecorded = { readonly kind: "reached"; readonly events: readonly NewEvent[] };

/** Stores the captured state and asks people, or passes the checkpoint. The caller has locked the workflow, which executes. */
export function recordReach(
  draft: Draft,
  workflow: string,
  state: LiveWorkflow,
  { body: reached, before, artifact, ask }: CheckpointReach,
): Need | ReachRecorded {
  const more = ask === null ? undefined : draft.need({ write: [approvalStream(ask.approval)] });
  if (more !== undefined) return more;
  const body = { ...reached, outputs: draft.keep(reached.outputs) };
  draft.attach(artifact);
  const event: NewEvent =
    ask === null
      ? { type: "checkpoint.passed", tv: 1, body }
      : { type: "checkpoint.reached", tv: 1, body: { ...body, ...askedTerms(ask) } };
  const events = [...before, event];
  draft.append(workflowStream(workflow), events);
  if (ask !== null) openWorkflowQuestion(draft, workflow, state, ask);
  return { kind: "reached", events };
}

function askedTerms({ approval, canRollback, irreversible }: NonNullable<CheckpointReach["ask"]>) {
  return { approval, canRollback, irreversible };
}

/** A definition reaches it. */
export function reachCheckpoint(draft: Draft, runner: Runner, reach: CheckpointReach): Need | Recorded {
  const state = lockOwnRun(draft, runner, "run");
  if ("kind" in state) return state;
  if (wasRecorded(state, runner)) return reportWritten(draft, state, runner.workflow, []);
  if (state.status !== "executing") return { kind: "turned" };
  const done = recordReach(draft, runner.workflow, state, reach);
  return done.kind === "need" ? done : reportWritten(draft, state, runner.workflow, done.events);
}

export function askQuestion(
  draft: Draft,
  runner: Runner,
  {
    question,
    before,
    schema,
  }: {
    readonly question: WorkflowQuestion;
    readonly before: readonly NewEvent[];
    readonly schema: Artifact | null;
  },
): Need | Recorded {
  const state = lockOwnRun(draft, runner, "run");
  if ("kind" in state) return state;
  if (wasRecorded(state, runner)) return reportWritten(draft, state, runner.workflow, []);
  if (state.status !== "executing") return { kind: "turned" };
  const { op, approval, reason: text, args } = question;
  const more = draft.need({ write: [approvalStream(approval)] });
  if (more !== undefined) return more;
  const ref = workflowStream(runner.workflow);
  if (schema !== null) draft.attach(schema);
  const body = { op, approval, text, argsDigest: digestOf(args) };
  const events = [...before, { type: "question.asked", tv: 1, body }];
  draft.append(ref, events);
  openWorkflowQuestion(draft, runner.workflow, state, question);
  return reportWritten(draft, state, runner.workflow, events);
}

export type RaisedCheckpoint = {
  readonly workflow: string;
  /** The last entry that the monitor has seen; null: the workflow writes constantly, so stop it at any entry. */
  readonly seq: number | null;
  readonly name: string;
  readonly why: string;
  readonly monitor: string;
  readonly rule: string;
  readonly alert: string;
  readonly approval: string;
  readonly nonce: string;
  readonly snapshot: Snapshot;
  readonly artifact: Artifact;
  readonly irreversible: readonly Irreversible[];
};

type RaiseAnswer =
  | { readonly kind: "raised" | "moved" }
  | { readonly kind: "not_now"; readonly status: WorkflowStatus | "none" };

const NOTHING: JsonObject = {};

const RAISED = /^[^/]*\/\d+\/monitor\/(.*)#\d+$/su;

/** The name of a checkpoint that a monitor raised, by its operation; undefined: the definition reached it. */
export const raisedName = (op: string): string | undefined => RAISED.exec(op)?.[1];

export function raiseCheckpoint(draft: Draft, raise: RaisedCheckpoint): Need | RaiseAnswer {
  const state = lockWorkflow(draft, raise.workflow);
  if (state === undefined) return { kind: "not_now", status: "none" };
  if ("kind" in state) return state;
  if (state.status !== "executing") return { kind: "not_now", status: state.status };
  if (raise.seq !== null && state.seq !== raise.seq) return { kind: "moved" };
  const more = draft.need({ write: [approvalStream(raise.approval)] });
  if (more !== undefined) return more;
  const { workflow, name, why, monitor, rule, alert, approval, nonce, snapshot, irreversible } = raise;
  // No branch of a definition has this path.
  const op = `${workflow}/${state.generation}/monitor/${name}#${state.seq + 1}`;
  const checkpoint = checkpointId({ name });
  const facts = { op, name, checkpoint, snapshot, outputs: NOTHING, agent: null, why };
  const terms = { approval, canRollback: true, irreversible: [...state.irreversible, ...irreversible] };
  draft.attach(raise.artifact);
  draft.append(workflowStream(workflow), [
    { type: "checkpoint.raised", tv: 1, body: { ...facts, ...terms, monitor, rule, alert } },
  ]);
  openWorkflowQuestion(draft, workflow, state, {
    ...{ approval, nonce, kind: "checkpoint", op, name, args: NOTHING, about: snapshot.hash, says: null },
    ...{ reason: why, approvers: ANY_ONE_PERSON, decideWithinMs: null },
  });
  return { kind: "raised" };
}
