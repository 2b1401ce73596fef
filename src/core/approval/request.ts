/** Opens a durable question to people about an action as it stands now. */

import { keepPreview } from "../action/preview.ts";
import type { LiveAction } from "../action/state.ts";
import { bindingOf } from "../binding.ts";
import type { Draft, Need } from "../draft.ts";
import type { Preview } from "../preview.ts";
import type { Review } from "../review.ts";
import { actionStream, approvalStream, streamName, workflowStream } from "../stream.ts";
import type { ApprovalQuestion } from "./events.ts";

export type EscalateReview = Extract<Review, { verdict: "escalate" }>;

export type AskPeople = {
  readonly action: string;
  readonly state: LiveAction;
  readonly review: EscalateReview;
  readonly policy: string;
  /** Kept beside the question, so that an approver's edit can be checked anywhere. */
  readonly schemaText: string | null;
  readonly approval: string;
  readonly nonce: string;
  /** What the tool shows of it; null where it shows nothing. */
  readonly preview: Preview | null;
};

type BoundFields = Omit<ApprovalQuestion, "binding" | "says" | "reason" | "rule" | "args" | "agent">;

/** The binding of a question: recomputed wherever it is relied on, never taken on trust. */
export function questionBinding(tenant: string, question: BoundFields): string {
  const {
    action,
    tool,
    schema,
    argsDigest,
    effectClass,
    policy,
    approvers,
    requester,
    decideBy,
    executeBy,
    nonce,
  } = question;
  const { subject, preview } = question;
  const stream = streamName(subject === undefined ? actionStream(action) : workflowStream(action));
  return bindingOf({
    tenant,
    stream,
    action: subject?.op ?? action,
    tool,
    schema,
    args: argsDigest,
    effectClass,
    policy,
    approvers,
    requester,
    decideBy,
    executeBy,
    nonce,
    ...(preview === undefined ? {} : { preview: preview.digest }),
  });
}

function deadlines(
  now: number,
  review: EscalateReview,
): { decideBy: number | null; executeBy: number | null } {
  const decideBy = review.decideWithinMs === null ? null : now + review.decideWithinMs;
  const executeBy = review.executeWithinMs === null ? null : (decideBy ?? now) + review.executeWithinMs;
  return { decideBy, executeBy };
}

export function askPeople(draft: Draft, ask: AskPeople): Need | undefined {
  const ref = approvalStream(ask.approval);
  const more = draft.need({ write: [ref] });
  if (more !== undefined) return more;
  const { tool, schema, effectClass, args, argsDigest, agent, requester, says } = ask.state;
  const bound = {
    action: ask.action,
    tool,
    schema,
    effectClass,
    argsDigest,
    requester,
    policy: ask.policy,
    approvers: ask.review.approvers,
    nonce: ask.nonce,
    ...deadlines(draft.now, ask.review),
    ...keepPreview(draft, ask.preview),
  };
  const said = { args, agent, says, reason: ask.review.reason, rule: ask.review.rule };
  const body = { ...bound, ...said, binding: questionBinding(draft.tenant, bound) };
  if (ask.schemaText !== null) draft.attach({ hash: schema, bytes: Buffer.from(ask.schemaText) });
  draft.append(ref, [{ type: "approval.requested", tv: 1, body }]);
  return undefined;
}
