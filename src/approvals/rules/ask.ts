/** Opens a durable question to people about an action as it stands now. */
import type { Versions } from "../../core/action/events.ts";
import { undoBinding, undoIn } from "../../core/action/keep-undo.ts";
import { keepPreview, PREVIEW_MOVED } from "../../core/action/preview.ts";
import type { LiveAction } from "../../core/action/state.ts";
import { canonicalJson } from "../../core/canonical-json.ts";
import { sha256 } from "../../core/digest.ts";
import type { Draft, Need } from "../../core/draft.ts";
import { isJsonObject } from "../../core/json.ts";
import type { Review } from "../../core/review.ts";
import { type ApprovalTerms, rulesOf, type Stage } from "../../core/stages.ts";
import { approvalStream, streamName, workflowStream } from "../../core/stream.ts";
import type { ApproverRule, StageRule, Verdict } from "../../core/verdict.ts";
import type { Parties } from "../../core/workflow/events.ts";
import { type Again, type ApprovalQuestion, aboutOf, type LiveApproval, type Preview } from "../state.ts";

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

/**
 * Separation of duties: whoever posted the work, or executes it, does not decide about it.
 *
 * U1. The requester never decides, with or without it. The supervisor of the work may: that is what they are there for.
 */

type Asking = { readonly approvers?: Partial<ApproverRule>; readonly stages?: readonly StageRule[] };
type Rules = Pick<ApprovalTerms, "approvers" | "stages">;

const asksForIt = (terms: Rules): boolean => rulesOf(terms).some(({ separate }) => separate === true);

const marked = <Rule>(rule: Rule): Rule =>
  rule === undefined || isJsonObject(rule) ? { ...rule, separate: true } : rule;

/** The same terms, under separation of duties. What is no rule is left to whoever checks it. */
export function keptApart<Terms extends Asking>(terms: Terms): Terms {
  const { stages, approvers } = terms;
  if (stages === undefined) return { ...terms, approvers: marked(approvers) };
  return Array.isArray(stages) ? { ...terms, stages: stages.map(marked<StageRule>) } : terms;
}

/** What is no verdict is left to the review. */
export const keepApart = (verdict: Verdict): Verdict =>
  verdict?.verdict === "escalate" ? keptApart(verdict) : verdict;

/** Whom these terms leave out, for the question; nothing where nobody has to be left out. */
export function apartIn(terms: Rules, parties: Parties | null): { readonly apart?: readonly string[] } {
  const { poster = null, executor = null } = parties ?? {};
  const apart = [...new Set([poster, executor])].filter((who) => who !== null);
  return asksForIt(terms) && apart.length > 0 ? { apart } : {};
}

/** Of an action: the parties are those of its workflow. */
export function apartOf(
  draft: Draft,
  terms: Rules,
  { within }: Pick<LiveAction, "within">,
): Need | { readonly kind: "apart"; readonly apart?: readonly string[] } {
  if (within === undefined || !asksForIt(terms)) return { kind: "apart" };
  const ref = workflowStream(within.workflow);
  const more = draft.need({ read: [ref] });
  if (more !== undefined) return more;
  const flow = draft.state(ref);
  return { kind: "apart", ...apartIn(terms, flow.status === "none" ? null : flow.parties) };
}

/** What a grant permits, as one digest. Change any of it and the grant no longer fits. */

export type BindingFacts = {
  readonly tenant: string;
  readonly stream: string;
  readonly action: string;
  readonly tool: string;
  readonly schema: string;
  /** SHA-256 over RFC 8785 JSON of the arguments. */
  readonly args: string;
  readonly effectClass: string;
  readonly policy: string;
  /** null for a grant that the policy gave by itself. */
  readonly approvers: ApproverRule | null;
  /** Only of an approval that has several. */
  readonly stages?: readonly Stage[];
  /** Only of one that does not just expire. */
  readonly onTimeout?: string;
  readonly requester: readonly string[];
  /** Only of an approval in which separation of duties leaves somebody out. */
  readonly apart?: readonly string[];
  readonly decideBy: number | null;
  readonly executeBy: number | null;
  readonly nonce: string;
  /** The standing grant that permits it, if one does. */
  readonly grant?: string;
  /** Digest of what the tool showed of it; absent where it shows nothing. */
  readonly preview?: string;
  /** Digest of how its agent says that it would take it back; absent where it says nothing. */
  readonly undo?: string;
};

/** RFC 8785 JSON of the facts and `"v":1`, its keys in the order that asks for. */
function bindingText(facts: BindingFacts): string {
  const { action, approvers, args, decideBy, effectClass, executeBy } = facts;
  const { grant, nonce, onTimeout, policy, preview, requester, schema, stages, stream, tenant, tool } = facts;
  const text = canonicalJson;
  const apart = facts.apart === undefined ? "" : `"apart":${text(facts.apart)},`;
  const standing = grant === undefined ? "" : `"grant":${text(grant)},`;
  const late = onTimeout === undefined ? "" : `"onTimeout":${text(onTimeout)},`;
  const shown = preview === undefined ? "" : `"preview":${text(preview)},`;
  const back = facts.undo === undefined ? "" : `"undo":${text(facts.undo)},`;
  const staged = stages === undefined ? "" : `"stages":${text(stages)},`;
  return (
    `{"action":${text(action)},${apart}"approvers":${text(approvers)},"args":${text(args)},"decideBy":${text(decideBy)},` +
    `"effectClass":${text(effectClass)},"executeBy":${text(executeBy)},${standing}"nonce":${text(nonce)},` +
    `${late}"policy":${text(policy)},${shown}"requester":${text(requester)},"schema":${text(schema)},${staged}"stream":${text(stream)},` +
    `"tenant":${text(tenant)},"tool":${text(tool)},${back}"v":1}`
  );
}

export function bindingOf(facts: BindingFacts): string {
  return sha256(bindingText(facts));
}
