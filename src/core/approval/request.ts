/** Opens a durable question to people about an action as it stands now. */

import type { Versions } from "../action/events.ts";
import { undoBinding, undoIn } from "../action/keep-undo.ts";
import { keepPreview, PREVIEW_MOVED } from "../action/preview.ts";
import type { LiveAction } from "../action/state.ts";
import { bindingOf } from "../binding.ts";
import type { Draft, Need } from "../draft.ts";
import type { Preview } from "../preview.ts";
import type { Review } from "../review.ts";
import type { ApprovalTerms } from "../stages.ts";
import { approvalStream, streamName } from "../stream.ts";
import { aboutOf } from "./about.ts";
import type { Again, ApprovalQuestion } from "./events.ts";
import { apartOf } from "./separation.ts";
import type { LiveApproval } from "./state.ts";

export type EscalateReview = Extract<Review, { verdict: "escalate" }>;

export type AskPeople = {
  readonly action: string;
  readonly state: LiveAction;
  readonly review: EscalateReview;
  readonly versions: Versions;
  /** Kept beside the question, so that an approver's edit can be checked anywhere. */
  readonly schemaText: string | null;
  readonly approval: string;
  readonly nonce: string;
  /** What the tool shows of it; null where it shows nothing. */
  readonly preview: Preview | null;
};

type BoundFields = Omit<
  ApprovalQuestion,
  "binding" | "says" | "reason" | "rule" | "args" | "agent" | "documents" | "risk" | "workflow"
>;

/** For lists and cards: nothing is decided by it. */
export const riskIn = ({ risk }: Review): Pick<ApprovalQuestion, "risk"> =>
  risk === null ? {} : { risk: risk.level };

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
  const { subject, stages, onTimeout, preview, apart } = question;
  const stream = streamName(aboutOf(question));
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
    ...(apart === undefined ? {} : { apart }),
    ...(stages === undefined ? {} : { stages }),
    ...(onTimeout === undefined ? {} : { onTimeout }),
    ...(preview === undefined ? {} : { preview: preview.digest }),
    ...undoBinding(question),
  });
}

/** The binding of an approval under way, with what an edit changes or a check found: of the terms as they were asked. */
export function bindingNow(tenant: string, approval: LiveApproval, found: Partial<BoundFields>): string {
  const { approvers, decideBy, executeBy } = approval.asked;
  return questionBinding(tenant, { ...approval, approvers, decideBy, executeBy, ...found });
}

function wholeTime({ stages, decideWithinMs }: Pick<ApprovalTerms, "stages" | "decideWithinMs">): number {
  return (stages ?? [{ decideWithinMs }]).reduce((sum, one) => sum + (one.decideWithinMs ?? 0), 0);
}

/** Every stage may take all of its time, and then there is the time to start. */
function deadlines(now: number, terms: ApprovalTerms): Again {
  const { decideWithinMs, executeWithinMs } = terms;
  const whole = wholeTime(terms);
  return {
    decideBy: decideWithinMs === null ? null : now + decideWithinMs,
    executeBy: executeWithinMs === null ? null : now + whole + executeWithinMs,
  };
}

/** An edit has the stages begin again, with their time; an approval without stages keeps its deadlines. */
export function againAfterEdit({ stages, asked }: LiveApproval, now: number): { readonly again?: Again } {
  if (stages === undefined) return {};
  const later = (at: number | null) => (at === null ? null : at + (now - asked.at));
  return { again: { decideBy: later(asked.decideBy), executeBy: later(asked.executeBy) } };
}

/** The terms as they were asked, with all of their time again. */
function termsAgain({ asked, stages, onTimeout }: LiveApproval): ApprovalTerms {
  const { approvers, at, decideBy, executeBy } = asked;
  const decideWithinMs = decideBy === null ? null : decideBy - at;
  const terms = {
    approvers,
    decideWithinMs,
    ...(stages === undefined ? {} : { stages }),
    ...(onTimeout === undefined ? {} : { onTimeout }),
  };
  const whole = wholeTime(terms);
  return { ...terms, executeWithinMs: executeBy === null ? null : executeBy - at - whole };
}

/** What people saw has moved: if the policy would not ask by now, those who were asked are asked again. */
export function askedAgain(review: Review, before: LiveApproval): Review {
  if (review.verdict !== "approve") return review;
  return { ...review, ...termsAgain(before), verdict: "escalate", rule: before.rule, reason: PREVIEW_MOVED };
}

export function askPeople(draft: Draft, ask: AskPeople): Need | undefined {
  const ref = approvalStream(ask.approval);
  const more = draft.need({ write: [ref] });
  if (more !== undefined) return more;
  const left = apartOf(draft, ask.review, ask.state);
  if (left.kind === "need") return left;
  const { tool, schema, effectClass, args, argsDigest, agent, requester, says } = ask.state;
  const { approvers, stages, onTimeout } = ask.review;
  const bound = {
    action: ask.action,
    tool,
    schema,
    effectClass,
    argsDigest,
    requester,
    policy: ask.versions.policy,
    approvers,
    nonce: ask.nonce,
    ...deadlines(draft.now, ask.review),
    ...(left.apart === undefined ? {} : { apart: left.apart }),
    ...(stages === undefined ? {} : { stages }),
    ...(onTimeout === undefined ? {} : { onTimeout }),
    ...keepPreview(draft, ask.preview),
    ...undoIn(ask.state),
  };
  const { reason, rule } = ask.review;
  const workflow = ask.state.within?.workflow ?? null;
  const said = { args, agent, says, reason, rule, ...ask.versions, workflow, ...riskIn(ask.review) };
  const body = { ...bound, ...said, binding: questionBinding(draft.tenant, bound) };
  if (ask.schemaText !== null) draft.attach({ hash: schema, bytes: Buffer.from(ask.schemaText) });
  draft.append(ref, [{ type: "approval.requested", tv: 1, body }]);
  return undefined;
}
