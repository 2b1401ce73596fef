/** What the journal keeps of a review: what the policy said, whatever came of it, and which versions of it were asked. */

import { versionsOf } from "../../approvals/rules/ask.ts";
import type { Review } from "../../policy/rules/review.ts";
import type { ToolRules } from "../../policy/rules/tool-rules.ts";

import { expectedCosts } from "./costs.ts";
import type { ReviewFacts } from "./events.ts";

/** What was remarked beside the verdict. */
export function remarksIn({ risk, risks, shadow }: Review): Pick<ReviewFacts, "risk" | "risks" | "shadow"> {
  return {
    ...(risk === null ? {} : { risk }),
    ...(risks.length === 0 ? {} : { risks }),
    ...(shadow.length === 0 ? {} : { shadow }),
  };
}

export function reviewFacts(answer: Review, rules: ToolRules): ReviewFacts {
  const { verdict, rule, reason } = answer;
  return { verdict, rule, reason, ...limitIn(answer), ...versionsOf(rules), ...remarksIn(answer) };
}

/** The same for those who are asked: what it would cost stands in it. What starts says what it reserves. */
export function askedFacts(answer: Review, rules: ToolRules): ReviewFacts {
  const costs = expectedCosts(rules, answer.args);
  return { ...reviewFacts(answer, rules), ...(costs.length === 0 ? {} : { costs }) };
}

function limitIn(answer: Review): Pick<ReviewFacts, "limitOf" | "limitBehind"> {
  if (answer.verdict !== "block") return {};
  const { limitOf, limitBehind } = answer;
  return {
    ...(limitOf === undefined ? {} : { limitOf }),
    ...(limitBehind === undefined ? {} : { limitBehind }),
  };
}

/**
 * Digests under which the documents of a recorded verdict are kept. Older entries name one, or have it as their policy; there,
 * and where only code was asked, it may be that none is kept.
 */
export function documentsNamed({
  documents,
  document,
  policy,
}: Pick<ReviewFacts, "documents" | "document" | "policy">): readonly string[] {
  return documents ?? [document ?? policy];
}
