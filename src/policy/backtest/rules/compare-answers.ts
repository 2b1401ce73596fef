/**
 * Compares the record with a candidate policy's answer: the approvers of each, and where code in a program decided.
 * - The order of people does not matter, and one stage equals none. Approvals that code required are still required
 *   next to those of a document: code cannot be run again, so its part stays as recorded.
 * - If the record differs from the documents of that time, code decided. A candidate that agrees with those documents
 *   changes nothing. Neither does one that is no stricter than code was.
 */

import type { LiveApproval } from "../../../approvals/state.ts";
import { digestOf } from "../../../kernel/canonical-json.ts";
import { stricterVerdict } from "../../rules/combine-verdicts.ts";
import type { Review } from "../../rules/review.ts";
import { type ApprovalTerms, approvalTerms, type Stage } from "../../rules/stages.ts";
import type { ApproverRule, Verdict } from "../../rules/verdict.ts";
import type { FinalVerdict, PolicySide } from "./answers.ts";
import type { RecordedReview } from "./replay.ts";

type Escalation = Extract<Verdict, { verdict: "escalate" }>;
/** The recorded approvers, and those of the candidate. */
export type ApproverDiff = { readonly from: string; readonly to: string };

const stagesIn = ({ stages, approvers, decideWithinMs }: ApprovalTerms): readonly Stage[] =>
  stages ?? [{ ...approvers, decideWithinMs }];

const sorted = (from: readonly string[] | null) => (from === null ? null : [...new Set(from)].toSorted());

function termsKey(terms: ApprovalTerms): string {
  const stages = stagesIn(terms).map((stage) => ({ ...stage, from: sorted(stage.from) }));
  return digestOf({ stages, executeWithinMs: terms.executeWithinMs, onTimeout: terms.onTimeout ?? "expire" });
}

const UNITS = [
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["m", 60_000],
  ["s", 1_000],
] as const;

function lengthText(ms: number): string {
  const [unit, size] = UNITS.find(([, one]) => ms >= one && ms % one === 0) ?? ["ms", 1];
  return `${ms / size}${unit}`;
}

function ruleText({ quorum, from, veto, escalateAtHalf: also, remindEveryMs, separate }: ApproverRule) {
  return [
    `${quorum} of ${from === null ? "anybody" : from.join(", ")}`,
    ...(veto ? [] : ["no veto"]),
    ...(also === undefined ? [] : [`at half time also ${also.join(", ")}`]),
    ...(remindEveryMs === undefined ? [] : [`reminded every ${lengthText(remindEveryMs)}`]),
    ...(separate === true ? ["duties apart"] : []),
  ].join("; ");
}

const stageText = ({ decideWithinMs, ...rule }: Stage): string =>
  decideWithinMs === null ? ruleText(rule) : `${ruleText(rule)}; within ${lengthText(decideWithinMs)}`;

/** For example `2 of person:ann, person:bob; within 24h, then 1 of role:admin (at the deadline: escalate)`. */
function approversText(terms: ApprovalTerms): string {
  const { executeWithinMs, onTimeout } = terms;
  const more = [
    ...(onTimeout === undefined ? [] : [`at the deadline: ${onTimeout}`]),
    ...(executeWithinMs === null ? [] : [`to be started within ${lengthText(executeWithinMs)}`]),
  ];
  const asked = stagesIn(terms).map(stageText).join(", then ");
  return more.length === 0 ? asked : `${asked} (${more.join("; ")})`;
}

/** Undefined if the approvers and terms are the same. */
export function diffApprovers(from: ApprovalTerms, to: ApprovalTerms): ApproverDiff | undefined {
  return termsKey(from) === termsKey(to) ? undefined : { from: approversText(from), to: approversText(to) };
}

/** The terms of a recorded approval request. */
export function recordedTerms(question: LiveApproval): ApprovalTerms {
  const { approvers, stages, onTimeout, decideBy, executeBy, requestedAt: at } = question;
  const decideWithinMs = decideBy === null ? null : decideBy - at;
  const whole = (stages ?? [{ decideWithinMs }]).reduce((sum, one) => sum + (one.decideWithinMs ?? 0), 0);
  return {
    approvers,
    decideWithinMs,
    executeWithinMs: executeBy === null ? null : executeBy - at - whole,
    ...(stages === undefined ? {} : { stages }),
    ...(onTimeout === undefined ? {} : { onTimeout }),
  };
}

function verdictOf(terms: ApprovalTerms): Escalation {
  const { executeWithinMs, onTimeout } = terms;
  return {
    verdict: "escalate",
    stages: stagesIn(terms).map(({ decideWithinMs, ...rule }) =>
      decideWithinMs === null ? rule : { ...rule, decideWithinMs },
    ),
    ...(executeWithinMs === null ? {} : { executeWithinMs }),
    ...(onTimeout === undefined ? {} : { onTimeout }),
  };
}

/** Terms with a document, given those that code had requested. */
export function combineWithCodeTerms(asked: ApprovalTerms, document: ApprovalTerms): ApprovalTerms {
  const both = stricterVerdict(verdictOf(document), verdictOf(asked));
  const terms = both.verdict === "escalate" ? approvalTerms(both) : asked;
  return typeof terms === "string" ? asked : terms;
}

const STRENGTH: { readonly [verdict in FinalVerdict]: number } = { approve: 0, escalate: 1, block: 2 };

const strengthOf = ({ verdict }: Pick<PolicySide, "verdict">): number => STRENGTH[verdict];

type ReviewedBy = { readonly review: Review; readonly digest: string };

const isSameAnswer = (verdict: string, digest: string, said: ReviewedBy): boolean =>
  verdict === said.review.verdict && (verdict === "block" || digest === said.digest);

export const wasDecidedByCode = ({ verdict, argsDigest }: RecordedReview, before: ReviewedBy): boolean =>
  !isSameAnswer(verdict, argsDigest, before);

/** Undefined if the candidate's answer takes effect as it is. */
export function combineWithCode(
  recorded: RecordedReview,
  before: ReviewedBy,
  candidate: ReviewedBy,
): { readonly to: PolicySide; readonly digest: string } | undefined {
  const isSame = isSameAnswer(candidate.review.verdict, candidate.digest, before);
  const strength = strengthOf(recorded as PolicySide);
  const isCodeStricter = strength > strengthOf(before.review) && strength >= strengthOf(candidate.review);
  if (!isSame && !isCodeStricter) return undefined;
  const { verdict, rule, reason, revised, argsDigest } = recorded as RecordedReview & PolicySide;
  const isRevisedAlike = isSame || candidate.digest === before.digest;
  const digest = isRevisedAlike ? argsDigest : candidate.digest;
  return { to: { verdict, rule, reason, revised: isRevisedAlike ? revised : true }, digest };
}
