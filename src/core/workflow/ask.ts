/** Questions that a workflow puts to people: at a checkpoint, or one of its own. */

import { apartIn, openQuestion, stagesIn } from "../../approvals/rules/ask.ts";
import { digestOf } from "../../kernel/canonical-json.ts";
import type { Json } from "../../kernel/json.ts";
import type { Artifact } from "../../kernel/stored-value.ts";
import { approvalStream, type NewEvent, workflowStream } from "../../kernel/stream.ts";
import type { Draft, Need } from "../../kernel/transaction.ts";

import type { ApprovalTerms } from "../../policy/rules/stages.ts";

import type { Irreversible, ReachedBody } from "./events.ts";
import { heldBy, type Recorded, type Runner, wasRecorded, written } from "./run.ts";
import type { LiveWorkflow } from "./state.ts";

export type Question = {
  readonly approval: string;
  readonly nonce: string;
  readonly kind: "checkpoint" | "question";
  readonly op: string;
  readonly name: string;
  /** What stands for approval, and what an edit replaces. */
  readonly args: Json;
  /** Digest of what the question is about: a snapshot's bytes, or a schema's text. */
  readonly about: string;
  readonly says: string | null;
  readonly reason: string;
} & Omit<ApprovalTerms, "executeWithinMs">;

export function askAbout(draft: Draft, workflow: string, state: LiveWorkflow, question: Question): void {
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

export type Reach = {
  readonly body: ReachedBody;
  readonly before: readonly NewEvent[];
  readonly artifact: Artifact;
  /** null: nobody has to be asked. */
  readonly ask:
    | (Question & { readonly canRollback: boolean; readonly irreversible: readonly Irreversible[] })
    | null;
};

/** A checkpoint: the captured state is kept, and people are asked, or it is passed. */
export function reachCheckpoint(draft: Draft, runner: Runner, reach: Reach): Need | Recorded {
  const state = heldBy(draft, runner, "run");
  if ("kind" in state) return state;
  if (wasRecorded(state, runner)) return written(draft, state, runner.workflow, []);
  if (state.status !== "executing") return { kind: "turned" };
  const { ask, before } = reach;
  const more = ask === null ? undefined : draft.need({ write: [approvalStream(ask.approval)] });
  if (more !== undefined) return more;
  const ref = workflowStream(runner.workflow);
  const body = { ...reach.body, outputs: draft.keep(reach.body.outputs) };
  draft.attach(reach.artifact);
  const event: NewEvent =
    ask === null
      ? { type: "checkpoint.passed", tv: 1, body }
      : { type: "checkpoint.reached", tv: 1, body: { ...body, ...termsOf(ask) } };
  const events = [...before, event];
  draft.append(ref, events);
  if (ask !== null) askAbout(draft, runner.workflow, state, ask);
  return written(draft, state, runner.workflow, events);
}

function termsOf({ approval, canRollback, irreversible }: NonNullable<Reach["ask"]>) {
  return { approval, canRollback, irreversible };
}

export function askQuestion(
  draft: Draft,
  runner: Runner,
  {
    question,
    before,
    schema,
  }: { readonly question: Question; readonly before: readonly NewEvent[]; readonly schema: Artifact | null },
): Need | Recorded {
  const state = heldBy(draft, runner, "run");
  if ("kind" in state) return state;
  if (wasRecorded(state, runner)) return written(draft, state, runner.workflow, []);
  if (state.status !== "executing") return { kind: "turned" };
  const { op, approval, reason: text, args } = question;
  const more = draft.need({ write: [approvalStream(approval)] });
  if (more !== undefined) return more;
  const ref = workflowStream(runner.workflow);
  if (schema !== null) draft.attach(schema);
  const body = { op, approval, text, argsDigest: digestOf(args) };
  const events = [...before, { type: "question.asked", tv: 1, body }];
  draft.append(ref, events);
  askAbout(draft, runner.workflow, state, question);
  return written(draft, state, runner.workflow, events);
}
