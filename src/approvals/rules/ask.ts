/**
 * Opens a durable question to people and binds it: one digest of everything that they agree to.
 *
 * - The binding is recomputed wherever it is relied on, never trusted. If any fact changes, it no longer matches.
 * - Separation of duties: the poster and the executor of the work do not decide about it. The requester never decides,
 *   with or without it. The supervisor of the work may: that is their task.
 */

import { canonicalJson, digestOf, sha256 } from "../../kernel/canonical-json.ts";
import { isJsonObject } from "../../kernel/json.ts";
import { streamName } from "../../kernel/stream.ts";
import type { Draft } from "../../kernel/transaction.ts";
import type { Review } from "../../policy/rules/review.ts";
import { type ApprovalTerms, listStageRules, type Stage } from "../../policy/rules/stages.ts";
import type { Executor, ToolRules } from "../../policy/rules/tool-rules.ts";
import type { ApproverRule, StageRule, Verdict } from "../../policy/rules/verdict.ts";
import {
  type ApprovalQuestion,
  aboutOf,
  type Deadlines,
  type LiveApproval,
  type Preview,
  type UndoRecord,
  type Versions,
} from "../state.ts";
import { appendApprovalEvent } from "./subject.ts";

/** What permits an effect to start. Facts that do not apply are absent or undefined. */
export type BindingFacts = Pick<
  ApprovalQuestion,
  "action" | "tool" | "schema" | "effectClass" | "policy" | "requester" | "decideBy" | "executeBy" | "nonce"
> & {
  readonly tenant: string;
  readonly stream: string;
  /** SHA-256 over RFC 8785 JSON of the arguments. */
  readonly args: string;
  /** null if the policy's verdict alone permits it. */
  readonly approvers: ApproverRule | null;
  /** Only if there are several. */
  readonly stages?: readonly Stage[] | undefined;
  /** Only if the deadline does something other than expire. */
  readonly onTimeout?: string | undefined;
  /** Only if separation of duties excludes people. */
  readonly apart?: readonly string[] | undefined;
  /** The standing grant, if one permits it. */
  readonly grant?: string;
  /** Digest of the tool's preview, if it has one. */
  readonly preview?: string | undefined;
  /** Digest of the undo call that the agent declares, if any. */
  readonly undo?: string | undefined;
};

/** In the order of RFC 8785. */
const BOUND_FIELDS =
  "action apart approvers args decideBy effectClass executeBy grant nonce onTimeout policy preview requester schema stages stream tenant tool undo";
const BOUND = BOUND_FIELDS.split(" ") as readonly (keyof BindingFacts)[];

/** Digest of the facts and `"v":1` as RFC 8785 JSON. Built field by field, since every start computes one. */
export function bindingOf(facts: BindingFacts): string {
  let text = "{";
  for (const field of BOUND) {
    const value = facts[field];
    if (value !== undefined) text += `"${field}":${canonicalJson(value)},`;
  }
  return sha256(`${text}"v":1}`);
}

/** For a binding. undefined: the agent declares none. */
export const undoDigest = ({ undo }: { readonly undo?: UndoRecord }): string | undefined =>
  undo === undefined ? undefined : digestOf({ args: undo.argsDigest, tool: undo.tool });

type BoundFields = Omit<
  ApprovalQuestion,
  "binding" | "says" | "reason" | "rule" | "args" | "agent" | "documents" | "risk" | "workflow"
>;

/** Other fields of a question are not bound. */
export function questionBinding(tenant: string, question: BoundFields): string {
  const stream = streamName(aboutOf(question));
  const action = question.subject?.op ?? question.action;
  const digests = {
    args: question.argsDigest,
    preview: question.preview?.digest,
    undo: undoDigest(question),
  };
  return bindingOf({ ...question, tenant, stream, action, ...digests });
}

/** The binding of an open approval: its original terms, with what an edit changes or a check found. */
export function bindingNow(tenant: string, approval: LiveApproval, found: Partial<BoundFields>): string {
  const { approvers, decideBy, executeBy } = approval.asked;
  return questionBinding(tenant, { ...approval, approvers, decideBy, executeBy, ...found });
}

/** The caller has locked the approval. */
export function openQuestion(draft: Draft, id: string, question: Omit<ApprovalQuestion, "binding">): void {
  const binding = questionBinding(draft.tenant, question);
  appendApprovalEvent(draft, id, "approval.requested", { ...question, binding });
}

/** Stages and deadline behaviour, if the terms define them. */
export const stagesIn = ({ stages, onTimeout }: Pick<ApprovalTerms, "stages" | "onTimeout">) => ({
  ...(stages === undefined ? {} : { stages }),
  ...(onTimeout === undefined ? {} : { onTimeout }),
});

function wholeTime({ stages, decideWithinMs }: Pick<ApprovalTerms, "stages" | "decideWithinMs">): number {
  return (stages ?? [{ decideWithinMs }]).reduce((sum, one) => sum + (one.decideWithinMs ?? 0), 0);
}

/** Every stage may take all of its time, and the time to start comes after that. */
function deadlines(now: number, terms: ApprovalTerms): Deadlines {
  const { decideWithinMs, executeWithinMs } = terms;
  return {
    decideBy: decideWithinMs === null ? null : now + decideWithinMs,
    executeBy: executeWithinMs === null ? null : now + wholeTime(terms) + executeWithinMs,
  };
}

/** An edit restarts the stages with their full time. An approval without stages keeps its deadlines. */
export function againAfterEdit({ stages, asked }: LiveApproval, now: number): { readonly again?: Deadlines } {
  if (stages === undefined) return {};
  const later = (at: number | null) => (at === null ? null : at + (now - asked.at));
  return { again: { decideBy: later(asked.decideBy), executeBy: later(asked.executeBy) } };
}

/** If the policy would no longer ask, the same people are asked again, with all of their time. */
export function askedAgain(review: Review, before: LiveApproval, reason: string): Review {
  if (review.verdict !== "approve") return review;
  const { approvers, at, decideBy, executeBy } = before.asked;
  const terms = { approvers, decideWithinMs: decideBy === null ? null : decideBy - at, ...stagesIn(before) };
  const executeWithinMs = executeBy === null ? null : executeBy - at - wholeTime(terms);
  return { ...review, ...terms, executeWithinMs, verdict: "escalate", rule: before.rule, reason };
}

export function versionsOf({ policyDigest: policy, documents = [] }: ToolRules): Versions {
  return documents.length === 0 ? { policy } : { policy, documents };
}

/** For lists and cards; no rule decides by it. */
export const riskIn = ({ risk }: Review): Pick<ApprovalQuestion, "risk"> =>
  risk === null ? {} : { risk: risk.level };

export function keepPreview(draft: Draft, preview: Preview | null): { readonly preview?: Preview } {
  return preview === null ? {} : { preview: { ...preview, value: draft.keep(preview.value) } };
}

export type EscalateReview = Extract<Review, { verdict: "escalate" }>;

type AskPeople = {
  readonly action: string;
  readonly state: Pick<
    ApprovalQuestion,
    | "tool"
    | "schema"
    | "effectClass"
    | "args"
    | "argsDigest"
    | "agent"
    | "requester"
    | "says"
    | "titleTemplate"
    | "undo"
  > & { readonly within?: { readonly workflow: string } };
  readonly review: EscalateReview;
  /** People excluded by separation of duties. */
  readonly apart: Pick<ApprovalQuestion, "apart">;
  /** The tool's preview; null if it has none. */
  readonly preview: Preview | null;
};

/** Asks people about an action in its current state. The caller has locked the approval. */
export function askPeople(draft: Draft, ask: AskPeople, { rules, ids }: Executor): void {
  const { action, state, review } = ask;
  const { tool, schema, effectClass, args, argsDigest, agent, requester, says, undo, within } = state;
  const { titleTemplate } = state;
  const { approvers, reason, rule } = review;
  // Stored with the question, so that any process can check an approver's edit.
  if (rules.schemaText !== null) draft.attach({ hash: schema, bytes: Buffer.from(rules.schemaText) });
  const call = { action, tool, schema, effectClass, args, argsDigest, agent, requester, says };
  openQuestion(draft, ids.approval, {
    ...call,
    ...(titleTemplate === undefined ? {} : { titleTemplate }),
    ...versionsOf(rules),
    approvers,
    reason,
    rule,
    nonce: ids.nonce,
    workflow: within?.workflow ?? null,
    ...deadlines(draft.now, review),
    ...ask.apart,
    ...stagesIn(review),
    ...keepPreview(draft, ask.preview),
    ...(undo === undefined ? {} : { undo }),
    ...riskIn(review),
  });
}

type Rules = Pick<ApprovalTerms, "approvers" | "stages">;
type Parties = { readonly poster: string | null; readonly executor: string | null };

export const asksForSeparation = (terms: Rules): boolean =>
  listStageRules(terms).some(({ separate }) => separate === true);

/** People whom these terms exclude, for the question. Empty if there are none. */
export function apartIn(terms: Rules, parties: Parties | null): Pick<ApprovalQuestion, "apart"> {
  const { poster = null, executor = null } = parties ?? {};
  const apart = [...new Set([poster, executor])].filter((who) => who !== null);
  return asksForSeparation(terms) && apart.length > 0 ? { apart } : {};
}

const marked = <Rule>(rule: Rule): Rule =>
  rule === undefined || isJsonObject(rule) ? { ...rule, separate: true } : rule;

type Asking = { readonly approvers?: Partial<ApproverRule>; readonly stages?: readonly StageRule[] };

/** The same terms with separation of duties. Invalid rules are left to the check of the verdict. */
export function keptApart<Terms extends Asking>(terms: Terms): Terms {
  const { stages, approvers } = terms;
  if (stages === undefined) return { ...terms, approvers: marked(approvers) };
  return Array.isArray(stages) ? { ...terms, stages: stages.map(marked<StageRule>) } : terms;
}

/** Invalid verdicts are left to the review. */
export const keepApart = (verdict: Verdict): Verdict =>
  verdict?.verdict === "escalate" ? keptApart(verdict) : verdict;
