/**
 * Invariants 5 and 7, and the deadlines of people (6). Stages follow one another, and time is given only by the rules.
 * Reminders decide nothing, half time comes when it is time, and a seat has one holder.
 */

import type { ApprovalQuestion } from "../../../src/approvals/state.ts";
import { PREVIEW_MOVED } from "../../../src/effects/rules/review.ts";
import type { Json } from "../../../src/kernel/json.ts";
import { count } from "../sim.ts";
import {
  approversInStage,
  approversStanding,
  type Commit,
  type Event,
  expect,
  has,
  isBarred,
  isOpen,
  lacking,
  lengthOf,
  mayDecide,
  ruleNow,
  rulesOf,
  type SeenApproval,
  type SeenVote,
  text,
} from "./seen.ts";

type DeskCheck = (commit: Commit, event: Event, approval: SeenApproval) => void;

const SEAT_ENDS = /^approval\.(approved|modified|rejected|stage_met)$/;

const checkReminded: DeskCheck = (commit, event, approval) => {
  const due = Number(event.body["due"]);
  expect(
    commit,
    approval.status === "pending",
    "5",
    `${event.id} is ${approval.status}, and people are reminded`,
  );
  expect(commit, due <= event.at && due > approval.remindedAt, "6", `${event.id} was reminded of again`);
  const isAlone = !commit.events.some(({ stream, type }) => stream === event.stream && SEAT_ENDS.test(type));
  expect(commit, isAlone, "5", `${event.id} was decided by a reminder`);
  approval.remindedAt = due;
};

const checkWidened: DeskCheck = (commit, event, approval) => {
  const { since, deadline, stage, widened } = approval;
  const half = since + Math.floor(((deadline ?? since) - since) / 2);
  const also = JSON.stringify(ruleNow(approval).escalateAtHalf ?? []);
  expect(
    commit,
    deadline !== null && event.at >= half,
    "6",
    `more people were asked early about ${event.id}`,
  );
  expect(commit, !widened.has(stage), "7", `${event.id} was widened twice in stage ${stage}`);
  expect(commit, JSON.stringify(event.body["also"]) === also, "7", `${event.id} was widened to others`);
  widened.add(stage);
};

function originsOf({ hands, stage }: SeenApproval, person: string): readonly string[] {
  const before = hands.filter((one) => one.stage === stage && one.to === person);
  return before.flatMap(({ by }) => [
    by,
    ...originsOf({ hands: hands.filter((one) => one.by !== by), stage } as SeenApproval, by),
  ]);
}

const checkDelegated: DeskCheck = (commit, event, approval) => {
  const [by, to] = [text(event.body["by"]), text(event.body["to"])];
  const { votes, stage } = approval;
  const hasVoted = (who: string) => votes.some((vote) => vote.by === who);
  const origins = originsOf(approval, by);
  const holds = (isSo: boolean, what: string) =>
    expect(commit, isSo, "7", `${by} to ${to} in ${event.id}: ${what}`);
  holds(approval.status === "pending", `it is ${approval.status}`);
  holds(mayDecide(approval, commit.seen, by), "the giver has no seat");
  holds(!isBarred(approval, commit.seen, to), "the holder may never decide");
  holds(!hasVoted(by) && !hasVoted(to), "one of them has voted");
  holds(to !== by && !origins.includes(to), "in a circle");
  holds(!isLong(approval, by), "over more than three");
  approval.hands.push({ by, to, stage });
};

/** Three steps lie behind this person already. */
function isLong({ hands, stage }: SeenApproval, person: string): boolean {
  const steps = (who: string, left: number): boolean =>
    left === 0 || hands.some((one) => one.stage === stage && one.to === who && steps(one.by, left - 1));
  return steps(person, 3);
}

const checkWithdrawn: DeskCheck = (commit, event, approval) => {
  const [of, to] = [text(event.body["of"]), text(event.body["to"])];
  const { hands, stage, votes } = approval;
  const hand = hands.find((one) => one.by === of && one.to === to && one.stage === stage);
  expect(commit, hand !== undefined, "7", `${of} took back from ${to} in ${event.id} what ${to} has not`);
  const isUsed = votes.some((vote) => vote.by === to && vote.cast === stage);
  expect(commit, !isUsed, "7", `${of} took back in ${event.id} what ${to} has decided with`);
  approval.hands = hands.filter((one) => one !== hand);
};

const DESK_CHECKS: { readonly [type: string]: DeskCheck } = {
  "approval.reminded": checkReminded,
  "approval.widened": checkWidened,
  "approval.delegated": checkDelegated,
  "approval.delegation_withdrawn": checkWithdrawn,
};

function isLate({ deadline }: SeenApproval, at: number): boolean {
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
  const counted = approversInStage(approval, commit.seen, approval.stage);
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

const STAGE_CHECKS: {
  readonly [type: string]: (commit: Commit, event: Event, approval: SeenApproval) => void;
} = {
  "approval.stage_met": checkMet,
  "approval.escalated": checkEscalated,
  "approval.extended": checkExtended,
  ...DESK_CHECKS,
};

/** It expired although its policy had something else in mind. */
function checkExpired(commit: Commit, event: Event, approval: SeenApproval): void {
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

const ENDS = ["approved", "modified", "rejected", "expired", "cancelled", "superseded"];

function checkVote(commit: Commit, event: Event, approval: SeenApproval): void {
  const { seen } = commit;
  const by = text(event.body["by"]);
  const { binding } = approval.question;
  const rule = ruleNow(approval);
  expect(
    commit,
    approval.status === "pending",
    "5",
    `${by} voted on ${event.id}, which is ${approval.status}`,
  );
  expect(commit, mayDecide(approval, seen, by), "7", `${by} is not eligible and voted on ${event.id}`);
  expect(commit, !approval.votes.some((vote) => vote.by === by), "7", `${by} voted twice on ${event.id}`);
  expect(commit, !isLate(approval, event.at), "6", `${by} voted on ${event.id} after its deadline`);
  expect(
    commit,
    event.body["binding"] === binding,
    "1",
    `${by}'s vote on ${event.id} is for another binding`,
  );
  if (approval.deadline !== null && Math.abs(approval.deadline - event.at) <= 1)
    count(commit.sim, "decision within 1 ms of the deadline");
  const named = approval.question.stages === undefined ? undefined : approval.stage;
  expect(commit, event.body["stage"] === named, "7", `${by}'s vote on ${event.id} is of another stage`);
  approval.votes.push({ ...(event.body as unknown as SeenVote), cast: approval.stage });
  if (event.body["decision"] === "reject" && rule.veto)
    expect(
      commit,
      has(commit, "approval.rejected", event.stream) !== undefined,
      "5",
      `${by}'s veto on ${event.id} did not end it`,
    );
}

function checkGiven(commit: Commit, event: Event, approval: SeenApproval): void {
  const counted = approversStanding(approval, commit.seen);
  const by = event.body["by"] as readonly string[];
  const alone = event.type === "approval.modified" && approval.edited && by.length === 1;
  const short = alone ? undefined : lacking(approval, commit.seen);
  expect(
    commit,
    short === undefined && counted.size > 0,
    "7",
    `${event.id} was given and stage ${short} of it has no quorum`,
  );
  const isLast = approval.stage === rulesOf(approval.question).length;
  expect(commit, alone || isLast, "7", `${event.id} was given in stage ${approval.stage}`);
  expect(
    commit,
    by.every((person) => counted.has(person)),
    "7",
    `${event.id} counts people who may not be counted`,
  );
  expect(commit, new Set(by).size === by.length, "7", `${event.id} counts somebody twice`);
  expect(commit, !isLate(approval, event.at), "6", `${event.id} was given after its deadline`);
}

function checkEnd(commit: Commit, event: Event, approval: SeenApproval): void {
  approval.decisions++;
  approval.decidedAt = commit.sim.scheduler.now();
  expect(commit, approval.decisions === 1, "5", `${event.id} was decided again: ${event.type}`);
  const status = event.type.slice("approval.".length);
  if (status === "approved" || status === "modified") checkGiven(commit, event, approval);
  if (status === "expired") checkExpired(commit, event, approval);
  if (status === "rejected" || status === "cancelled" || status === "superseded")
    expect(commit, !isLate(approval, event.at), "6", `${event.id} was ${status} after its deadline`);
  approval.status = status;
}

function checkUse(commit: Commit, event: Event, approval: SeenApproval): void {
  const given = approval.status === "approved" || approval.status === "modified";
  expect(commit, given, "5", `${event.type} met ${event.id}, which is ${approval.status}`);
  approval.status = event.type.slice("approval.".length);
  if (event.body["reason"] === PREVIEW_MOVED) count(commit.sim, "preview moved");
  if (event.type !== "approval.consumed") return;
  const { subject } = approval.question;
  if (subject?.kind === "intent") {
    const told = has(commit, "intent.completed", `intent/${subject.intent}`);
    expect(commit, told !== undefined, "5", `${event.id} was consumed and nobody was told`);
    return;
  }
  if (subject !== undefined) {
    const answer = subject.kind === "checkpoint" ? "checkpoint.decided" : "question.answered";
    const told = has(commit, answer, `workflow/${subject.workflow}`)?.body["op"];
    expect(commit, told === event.body["effect"], "5", `${event.id} was consumed and nobody was told`);
    return;
  }
  const start = has(commit, "effect.started", `action/${approval.question.action}`);
  expect(
    commit,
    start?.body["effect"] === event.body["effect"],
    "5",
    `${event.id} was consumed without its effect`,
  );
}

/** Stages begin again with the first, unless the editor's word is enough. */
function checkRevision(commit: Commit, event: Event, approval: SeenApproval): void {
  const { by: _editor, again, ...change } = event.body;
  const isEnough = has(commit, "approval.modified", event.stream) !== undefined;
  const asks = (again ?? {}) as Pick<ApprovalQuestion, "decideBy" | "executeBy">;
  const { preview: _ofBefore, ...question } = approval.question;
  approval.question = { ...question, ...(change as { [key: string]: Json }), ...asks };
  approval.votes = [];
  approval.edited = true;
  const isStaged = approval.question.stages !== undefined;
  expect(
    commit,
    (again !== undefined) === (isStaged && !isEnough),
    "7",
    `the stages of ${event.id} did not begin again after an edit`,
  );
  if (again !== undefined) Object.assign(approval, beginning(approval.question, event.at));
}

const beginning = ({ decideBy, executeBy }: ApprovalQuestion, at: number) => ({
  begunAt: at,
  stage: 1,
  deadline: decideBy,
  executeBy,
  handedOver: new Set<number>(),
  extended: new Set<number>(),
  since: at,
  remindedAt: at,
  widened: new Set<number>(),
});

export function checkApproval(commit: Commit, event: Event): void {
  const { seen } = commit;
  const approval = seen.approvals.get(event.id);
  if (event.type === "approval.requested") {
    expect(commit, approval === undefined, "5", `${event.id} was requested twice`);
    const question = event.body as unknown as ApprovalQuestion;
    const fresh = {
      question,
      status: "pending",
      votes: [],
      hands: [],
      edited: false,
      decisions: 0,
      decidedAt: 0,
    };
    seen.approvals.set(event.id, { ...fresh, ...beginning(question, event.at) });
    return;
  }
  if (approval === undefined) {
    expect(commit, false, "8", `${event.type} before ${event.id} was requested`);
    return;
  }
  const status = event.type.slice("approval.".length);
  if (event.type === "approval.voted") checkVote(commit, event, approval);
  else if (event.type === "approval.revised") checkRevision(commit, event, approval);
  else if (ENDS.includes(status)) checkEnd(commit, event, approval);
  else if (["consumed", "lapsed", "revoked"].includes(status)) checkUse(commit, event, approval);
  else STAGE_CHECKS[event.type]?.(commit, event, approval);
}

/** At the end of a commit: a quorum that is met has decided. */
export function checkQuorum(commit: Commit, event: Event): void {
  if (event.type !== "approval.voted" || event.body["decision"] !== "approve") return;
  const approval = commit.seen.approvals.get(event.id);
  if (approval?.status !== "pending") return;
  expect(commit, isOpen(approval, commit.seen), "7", `${event.id} has its quorum and still waits`);
}
