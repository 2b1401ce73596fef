/** The stages of an approval in words: which one is asked, what became of the others, what happens at the deadline. */

import type { Approval } from "../approvals/contract.ts";
import { nextAtDeadline } from "../approvals/rules/time.ts";
import type { ApproverRule } from "../core/verdict.ts";
import { ago } from "./times.ts";

/** "2 of 3"; undefined where there are no stages. */
export function stageCount({ stages, stage }: Approval): string | undefined {
  return stages === undefined ? undefined : `${stage} of ${stages.length}`;
}

export const needsText = ({ quorum, from }: ApproverRule): string =>
  `${quorum} of: ${from === null ? "any person" : from.join(", ")}`;

/** What a rule has beside who and how many. */
export function moreLines({ approvers, apart = [], widened, stage }: Approval): readonly string[] {
  const { escalateAtHalf: also = [], remindEveryMs, separate } = approvers;
  const isWide = widened.includes(stage);
  return [
    ...(also.length === 0 || isWide ? [] : [`from half time on also ${also.join(", ")}`]),
    ...(isWide ? ["half time is over: more people may decide than were asked first"] : []),
    ...(remindEveryMs === undefined
      ? []
      : [`people are reminded every ${Math.round(remindEveryMs / 60_000)} min`]),
    ...(separate === true
      ? [`duties are kept apart: never ${["the editor alone", ...apart].join(", ")}`]
      : []),
  ];
}

export function handedLines({ delegations }: Approval, now: number): readonly string[] {
  return delegations.map(
    ({ by, to, reason, at }) => `${to} in the place of ${by}, ${ago(at, now)}: ${reason}`,
  );
}

const vetoText = ({ veto }: ApproverRule): string => (veto ? "" : "; one rejection alone does not end it");

function stateOf({ stage, handedOver, status, votes }: Approval, number: number): string {
  const by = votes
    .filter((vote) => vote.stage === number && vote.decision === "approve")
    .map((vote) => vote.by);
  if (handedOver.includes(number)) return "its time was up";
  if (number < stage) return `met by ${by.join(", ")}`;
  if (number > stage) return status === "pending" ? "asked later" : "not asked";
  return status === "pending" ? "asked now" : status;
}

/** One line for each stage. */
export function stageLines(approval: Approval): readonly string[] {
  const { stages = [] } = approval;
  return stages.map((rule, index) => {
    const mark = approval.status === "pending" && index + 1 === approval.stage ? "→" : " ";
    return `${mark} ${index + 1}. ${stateOf(approval, index + 1)}: ${needsText(rule)}${vetoText(rule)}`;
  });
}

/** What the deadline brings about, if nobody decides; undefined where there is none. */
export function atDeadline(approval: Approval): string | undefined {
  const { status, decideBy, stages, stage } = approval;
  if (status !== "pending" || decideBy === null) return undefined;
  const next = stages?.[stage];
  const then = nextAtDeadline(approval);
  if (then === "extend") return "there is as much time again, once";
  if (then === "expire" || next === undefined) return "it expires";
  return `stage ${stage + 1} is asked instead: ${needsText(next)}`;
}

export function extensionLines({ extensions }: Approval, now: number): readonly string[] {
  return extensions.map(({ by, at, from, decideBy }) => {
    const who = by === "deadline" ? "by itself" : `by ${by}, ${ago(at, now)}`;
    return `${who}: from ${new Date(from).toISOString()} to ${new Date(decideBy).toISOString()}`;
  });
}
