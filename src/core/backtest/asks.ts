/**
 * Whom an escalation asks: as it was recorded, as another policy would, and both in words.
 *
 * A1. The same people in another order are the same, and one stage is the same as none.
 * A2. What code in a program asked for is still asked for beside whatever a document says.
 */
import { digestOf } from "../../kernel/canonical-json.ts";
import type { JsonObject } from "../../kernel/json.ts";

import type { ApprovalTerms, Stage } from "../stages.ts";
import { approvalTerms } from "../stages.ts";
import { stricter } from "../stricter.ts";
import type { ApproverRule, Verdict } from "../verdict.ts";

type Escalation = Extract<Verdict, { verdict: "escalate" }>;
/** What was asked, and what would have been. */
export type AskedOthers = { readonly from: string; readonly to: string };

const stagesIn = ({ stages, approvers, decideWithinMs }: ApprovalTerms): readonly Stage[] =>
  stages ?? [{ ...approvers, decideWithinMs }];

const sorted = (from: readonly string[] | null) => (from === null ? null : [...new Set(from)].toSorted());

function keyOf(terms: ApprovalTerms): string {
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

/** `2 of person:ann, person:bob; within 24h, then 1 of role:admin (at the deadline: escalate)`. */
export function asksText(terms: ApprovalTerms): string {
  const { executeWithinMs, onTimeout } = terms;
  const more = [
    ...(onTimeout === undefined ? [] : [`at the deadline: ${onTimeout}`]),
    ...(executeWithinMs === null ? [] : [`to be started within ${lengthText(executeWithinMs)}`]),
  ];
  const asked = stagesIn(terms).map(stageText).join(", then ");
  return more.length === 0 ? asked : `${asked} (${more.join("; ")})`;
}

/** Undefined where the same people are asked on the same terms. */
export function asksOthers(from: ApprovalTerms, to: ApprovalTerms): AskedOthers | undefined {
  return keyOf(from) === keyOf(to) ? undefined : { from: asksText(from), to: asksText(to) };
}

/** The terms of a recorded question, from what its entry says and when it was written. */
export function termsAsked(body: JsonObject, at: number): ApprovalTerms {
  const { approvers, stages, onTimeout, decideBy, executeBy } = body as unknown as Pick<
    ApprovalTerms,
    "approvers" | "stages" | "onTimeout"
  > & { readonly decideBy: number | null; readonly executeBy: number | null };
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

/** What would be asked by a document, where code had asked for what was asked. */
export function besideCode(asked: ApprovalTerms, document: ApprovalTerms): ApprovalTerms {
  const both = stricter(verdictOf(document), verdictOf(asked));
  const terms = both.verdict === "escalate" ? approvalTerms(both) : asked;
  return typeof terms === "string" ? asked : terms;
}
