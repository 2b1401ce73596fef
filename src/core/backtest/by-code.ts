/**
 * Where code in a program decided beside the documents. Code cannot be asked again, so its part stays as it was.
 *
 * C1. What was recorded is not what the documents of then say: that was code.
 * C2. A candidate that says what those documents say changes nothing. Of code and documents the stricter counts, as it did then:
 *     nor does a candidate that is no stricter than code was.
 */
import type { Review } from "../review.ts";
import type { RecordedReview } from "./heard.ts";
import type { Side, Spoken } from "./report.ts";

const STRENGTH: { readonly [verdict in Spoken]: number } = { approve: 0, escalate: 1, block: 2 };

const strengthOf = ({ verdict }: Pick<Side, "verdict">): number => STRENGTH[verdict];

type Said = { readonly review: Review; readonly digest: string };

const isAlike = (verdict: string, digest: string, said: Said): boolean =>
  verdict === said.review.verdict && (verdict === "block" || digest === said.digest);

export const isByCode = ({ verdict, argsDigest }: RecordedReview, before: Said): boolean =>
  !isAlike(verdict, argsDigest, before);

/** Undefined where what the candidate says is what would come of it. */
export function besideCodeOf(
  recorded: RecordedReview,
  before: Said,
  candidate: Said,
): { readonly to: Side; readonly digest: string } | undefined {
  const isSame = isAlike(candidate.review.verdict, candidate.digest, before);
  const strength = strengthOf(recorded as Side);
  const isCodeStricter = strength > strengthOf(before.review) && strength >= strengthOf(candidate.review);
  if (!isSame && !isCodeStricter) return undefined;
  const { verdict, rule, reason, revised, argsDigest } = recorded as RecordedReview & Side;
  const isRevisedAlike = isSame || candidate.digest === before.digest;
  const digest = isRevisedAlike ? argsDigest : candidate.digest;
  return { to: { verdict, rule, reason, revised: isRevisedAlike ? revised : true }, digest };
}
