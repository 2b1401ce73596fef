/**
 * Separation of duties: whoever posted the work, or executes it, does not decide about it.
 *
 * U1. The requester never decides, with or without it. The supervisor of the work may: that is what they are there for.
 */
import type { LiveAction } from "../action/state.ts";
import type { Draft, Need } from "../draft.ts";
import { isJsonObject } from "../json.ts";
import { type ApprovalTerms, rulesOf } from "../stages.ts";
import { workflowStream } from "../stream.ts";
import type { ApproverRule, StageRule, Verdict } from "../verdict.ts";
import type { Parties } from "../workflow/events.ts";

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
