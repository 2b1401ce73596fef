/** Stages follow one another, and time is given only by the rules (invariants 6 and 7). */
import { count } from "../sim.ts";
import { DESK_CHECKS } from "./check-desk.ts";
import { type Commit, type Event, expect, type SeenApproval, text } from "./seen.ts";
import { lengthOf, mayDecide, ruleNow, rulesOf, standingIn } from "./stages-seen.ts";

export function isLate({ deadline }: SeenApproval, at: number): boolean {
  return deadline !== null && at >= deadline;
}

function startAt(approval: SeenApproval, at: number): void {
  approval.since = at;
  approval.remindedAt = at;
}

function begin(commit: Commit, event: Event, approval: SeenApproval, from: number): void {
  const ended = approval.stage;
  expect(
    commit,
    event.body["stage"] === ended && ended < rulesOf(approval.question).length,
    "7",
    `${event.type} of stage ${event.body["stage"]} of ${event.id}, which is in ${ended}`,
  );
  approval.stage = ended + 1;
  startAt(approval, from);
  const length = lengthOf(approval, approval.stage);
  approval.deadline = length === null ? null : from + length;
  expect(
    commit,
    event.body["decideBy"] === approval.deadline,
    "6",
    `stage ${approval.stage} of ${event.id} has until ${event.body["decideBy"]} instead of ${approval.deadline}`,
  );
}

function checkMet(commit: Commit, event: Event, approval: SeenApproval): void {
  const counted = standingIn(approval, commit.seen, approval.stage);
  const { quorum } = ruleNow(approval);
  expect(
    commit,
    counted.size >= quorum,
    "7",
    `stage ${approval.stage} of ${event.id} is met by ${counted.size} of ${quorum}`,
  );
  expect(commit, !isLate(approval, event.at), "6", `a stage of ${event.id} was met after its deadline`);
  begin(commit, event, approval, event.at);
}

function checkEscalated(commit: Commit, event: Event, approval: SeenApproval): void {
  const { onTimeout } = approval.question;
  expect(commit, onTimeout === "escalate", "6", `${event.id} escalated and says ${onTimeout ?? "expire"}`);
  expect(commit, isLate(approval, event.at), "6", `${event.id} escalated early`);
  approval.handedOver.add(approval.stage);
  begin(commit, event, approval, approval.deadline ?? event.at);
}

function checkByItself(commit: Commit, event: Event, approval: SeenApproval): void {
  const { onTimeout } = approval.question;
  expect(commit, onTimeout === "extend", "6", `${event.id} was extended and says ${onTimeout ?? "expire"}`);
  expect(commit, isLate(approval, event.at), "6", `${event.id} was extended early`);
  expect(
    commit,
    !approval.extended.has(approval.stage),
    "6",
    `${event.id} was extended twice by itself in stage ${approval.stage}`,
  );
  approval.extended.add(approval.stage);
  const until = (approval.deadline ?? 0) + (lengthOf(approval, approval.stage) ?? 0);
  expect(commit, event.body["decideBy"] === until, "6", `${event.id} was extended by another length`);
  count(commit.sim, "extended by itself");
}

function checkExtended(commit: Commit, event: Event, approval: SeenApproval): void {
  const by = text(event.body["by"]);
  const until = Number(event.body["decideBy"]);
  expect(commit, event.body["from"] === approval.deadline, "6", `${event.id} was extended from another time`);
  if (by === "deadline") checkByItself(commit, event, approval);
  else {
    const may = mayDecide(approval, commit.seen, by);
    expect(commit, may, "7", `${by} extended ${event.id} and may not decide it`);
    expect(commit, !isLate(approval, event.at), "6", `${by} extended ${event.id} after its deadline`);
    expect(commit, until > (approval.deadline ?? 0), "6", `${by} took time from ${event.id}`);
    count(commit.sim, "extended by a person");
  }
  startAt(approval, by === "deadline" ? Number(event.body["from"]) : event.at);
  if (approval.executeBy !== null) approval.executeBy += until - (approval.deadline ?? until);
  approval.deadline = until;
}

export const STAGE_CHECKS: {
  readonly [type: string]: (commit: Commit, event: Event, approval: SeenApproval) => void;
} = {
  "approval.stage_met": checkMet,
  "approval.escalated": checkEscalated,
  "approval.extended": checkExtended,
  ...DESK_CHECKS,
};

/** It expired although its policy had something else in mind. */
export function checkExpired(commit: Commit, event: Event, approval: SeenApproval): void {
  const { question, stage, extended } = approval;
  expect(commit, isLate(approval, event.at), "6", `${event.id} expired early`);
  const isLast = stage >= rulesOf(question).length;
  expect(
    commit,
    question.onTimeout !== "escalate" || isLast,
    "6",
    `${event.id} expired in stage ${stage}, and another stage was to be asked`,
  );
  expect(
    commit,
    question.onTimeout !== "extend" || extended.has(stage),
    "6",
    `${event.id} expired without the time that it was to be given`,
  );
}
