/** What is written under a verdict, as the verdict that a review gets. */

import { durationMs } from "../../kernel/duration.ts";
import type { ApproverRule, Verdict } from "../verdict.ts";
import type { PolicyApprovers, PolicyOutcome, PolicyRule, PolicyTerms } from "./document.ts";

/** What a document says of an action, before a review makes it whole. */
export type Answer = Verdict;
type Asking = Extract<Verdict, { readonly verdict: "escalate" }>;

type Escalation = Omit<PolicyTerms, "verdict">;

export function approversOf(given: PolicyApprovers): Partial<ApproverRule> {
  const { from, quorum, veto, at_half_time, remind_every, separation_of_duties: separate } = given;
  return {
    ...(from === undefined ? {} : { from }),
    ...(quorum === undefined ? {} : { quorum }),
    ...(veto === undefined ? {} : { veto }),
    ...(at_half_time === undefined ? {} : { escalateAtHalf: at_half_time.also }),
    ...within("remindEveryMs", remind_every),
    ...(separate === undefined ? {} : { separate }),
  };
}

function within<Key extends string>(key: Key, text: string | undefined): { readonly [K in Key]?: number } {
  const ms = text === undefined ? undefined : durationMs(text);
  return ms === undefined ? {} : ({ [key]: ms } as { readonly [K in Key]?: number });
}

function escalation({
  approvers,
  stages,
  decide_by,
  execute_by,
  on_timeout,
}: Escalation): Omit<Asking, "verdict"> {
  return {
    ...(approvers === undefined ? {} : { approvers: approversOf(approvers) }),
    ...(stages === undefined
      ? {}
      : {
          stages: stages.map((one) => ({ ...approversOf(one), ...within("decideWithinMs", one.decide_by) })),
        }),
    ...within("decideWithinMs", decide_by),
    ...within("executeWithinMs", execute_by),
    ...(on_timeout === undefined ? {} : { onTimeout: on_timeout }),
  };
}

/** Of a rule that does not revise, of a route by risk, or of the default. */
export function answerOf(terms: PolicyTerms, rule: string, spoken: string): Answer {
  const { verdict, reason = spoken } = terms;
  if (verdict !== "escalate") return { verdict, rule, reason };
  return { verdict, rule, reason, ...escalation(terms) };
}

export const termsOf = (outcome: PolicyOutcome | undefined): PolicyTerms =>
  typeof outcome === "object" ? outcome : { verdict: outcome ?? "block" };

/** As it is written; one that depends on the call is put in its place when that is known. */
export function reasonIn({ id, reason }: PolicyRule): string {
  return typeof reason === "string" ? reason : `rule ${id}`;
}

export function ruleAnswer(rule: PolicyRule): Answer | null {
  const { verdict, id } = rule;
  const reason = reasonIn(rule);
  return verdict === "revise" ? null : answerOf({ ...rule, verdict, reason }, id, reason);
}
