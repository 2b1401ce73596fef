/** What the journal keeps of a review: what the policy said, whatever came of it. */
import type { Review } from "../review.ts";
import type { ToolRules } from "../tool-rules.ts";
import type { ReviewFacts } from "./events.ts";

export function reviewFacts(answer: Review, rules: ToolRules): ReviewFacts {
  const { verdict, rule, reason, risk, shadow } = answer;
  const { policyDigest: policy, documentDigest: document } = rules;
  const said = { verdict, rule, reason, policy, ...(document === undefined ? {} : { document }) };
  return { ...said, ...(risk === null ? {} : { risk }), ...(shadow.length === 0 ? {} : { shadow }) };
}
