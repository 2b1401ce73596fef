/**
 * Compares the record of a review with a candidate policy's answer: what would take effect, and the approvers of each.
 * - The order of people does not matter, and one stage equals none. Approvals that code required are still required
 *   next to those of a document: code cannot be run again, so its part stays as recorded.
 * - If the record differs from the documents of that time, code decided. A candidate that agrees with those documents
 *   changes nothing. Neither does one that is no stricter than code was.
 * - A run's own limits, approvals that a workflow requires, and compensations that no rule names stay as recorded.
 */

import { digestOf } from "../../../kernel/canonical-json.ts";
import { stricterVerdict } from "../../rules/combine-verdicts.ts";
import type { Review } from "../../rules/review.ts";
import { type ApprovalTerms, approvalTerms, type Stage } from "../../rules/stages.ts";
import { UNDO_NOT_NAMED } from "../../rules/tools.ts";
import type { ApproverRule, LimitBehind, Verdict } from "../../rules/verdict.ts";
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

/** A review, and the digest of the arguments that it would have let run. */
export type DigestedReview = { readonly review: Review; readonly digest: string };

export type CandidateAnswer = DigestedReview & {
  /** By the documents of that time: "code" if there were none, null if they cannot be evaluated any more. */
  readonly before: DigestedReview | "code" | null;
  /** The candidate has its own limits for the tool. */
  readonly countsCalls: boolean;
  /** The candidate limits the total calls of a run. */
  readonly limitsRun: boolean;
};

const sideOf = ({ verdict, rule, reason }: PolicySide, revised: boolean): PolicySide => ({
  ...{ verdict, rule, reason, revised },
});

export const candidateSide = (review: Review): PolicySide =>
  sideOf({ ...review, revised: false }, review.revisions.length > 0);

export const recordedSide = (recorded: RecordedReview): PolicySide =>
  sideOf(recorded as PolicySide, recorded.revised);

type InPlace = { readonly to: PolicySide; readonly digest: string };

const asRecorded = (recorded: RecordedReview): InPlace => ({
  to: recordedSide(recorded),
  digest: recorded.argsDigest,
});

/** A limit behind a policy's block applies once the policy no longer blocks. */
function limitIn({ limitOf, limitBehind, rule }: RecordedReview, candidate: Review): LimitBehind | undefined {
  if (limitOf !== undefined) return { of: limitOf, rule };
  return candidate.verdict === "block" ? undefined : limitBehind;
}

/** A run's own limits refuse regardless of the policy. Default limits do too, unless the policy replaces them. */
function isLimited(recorded: RecordedReview, { review, countsCalls, limitsRun }: CandidateAnswer): boolean {
  const limit = limitIn(recorded, review);
  const isReplaced = limit?.rule === "limit:tool_calls" ? limitsRun : countsCalls;
  return limit?.of === "run" || (limit?.of === "usual" && !isReplaced);
}

/** Rules of the program, not of a document. */
const OF_CODE: readonly string[] = ["policy", "approvalRequired"];

/** A compensation that no candidate rule matches stays as the program decided, not as another document did. */
const isLeftAlone = ({ rule }: RecordedReview, candidate: Review): boolean =>
  candidate.rule === UNDO_NOT_NAMED && candidate.revisions.length === 0 && OF_CODE.includes(rule);

const isSameAnswer = (verdict: string, digest: string, said: DigestedReview): boolean =>
  verdict === said.review.verdict && (verdict === "block" || digest === said.digest);

/** Undefined if documents or a limit decided, or if the documents' answer of that time is unknown. */
function codeDecisionIn(recorded: RecordedReview, answer: CandidateAnswer): InPlace | undefined {
  const { review, digest, before } = answer;
  if (before === null || before === "code" || limitIn(recorded, review) !== undefined) return undefined;
  if (isSameAnswer(recorded.verdict, recorded.argsDigest, before)) return undefined;
  const isSame = isSameAnswer(review.verdict, digest, before);
  const strength = STRENGTH[recorded.verdict as FinalVerdict];
  const isCodeStricter = strength > STRENGTH[before.review.verdict] && strength >= STRENGTH[review.verdict];
  if (!isSame && !isCodeStricter) return undefined;
  if (isSame || digest === before.digest) return asRecorded(recorded);
  return { to: sideOf(recorded as PolicySide, true), digest };
}

/** The effective result of the answer, and whether it is a limit of the run or code that decides. */
export function effectOf(
  recorded: RecordedReview,
  answer: CandidateAnswer,
): InPlace & { readonly isLimited: boolean; readonly isByCode: boolean } {
  const { review, digest } = answer;
  const limited = isLimited(recorded, answer);
  const none = { isLimited: limited, isByCode: false };
  if (limited || isLeftAlone(recorded, review)) return { ...asRecorded(recorded), ...none };
  // A workflow can require approval for a call even if a policy would let it through.
  if (review.verdict === "approve" && recorded.rule === "approvalRequired") {
    const { rule, reason } = recorded;
    return { to: { ...candidateSide(review), verdict: "escalate", rule, reason }, digest, ...none };
  }
  const byCode = codeDecisionIn(recorded, answer);
  return { ...(byCode ?? { to: candidateSide(review), digest }), ...none, isByCode: byCode !== undefined };
}

/** The approvers of both sides, if both escalate: known now if documents escalated, with the request if code did. */
export function asksIn(
  recorded: RecordedReview,
  { review, before }: CandidateAnswer,
  to: PolicySide,
): { readonly others: ApproverDiff } | { readonly would: ApprovalTerms } | null {
  if (recorded.verdict !== "escalate" || review.verdict !== "escalate") return null;
  const earlier = before === "code" ? undefined : before?.review;
  const isByCode = earlier !== undefined && earlier.verdict !== "escalate";
  if (to.rule !== review.rule && !isByCode) return null;
  if (before === "code" || isByCode) return { would: review };
  const others = earlier?.verdict === "escalate" ? diffApprovers(earlier, review) : undefined;
  return others === undefined ? null : { others };
}
