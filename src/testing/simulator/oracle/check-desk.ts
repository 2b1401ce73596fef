/** Reminders decide nothing, half time comes when it is time, and a seat has one holder (invariants 6 and 7). */
import { type Commit, type Event, expect, type SeenApproval, text } from "./seen.ts";
import { isBarred, mayDecide, ruleNow } from "./stages-seen.ts";

type Check = (commit: Commit, event: Event, approval: SeenApproval) => void;

const ENDS = /^approval\.(approved|modified|rejected|stage_met)$/;

const checkReminded: Check = (commit, event, approval) => {
  const due = Number(event.body["due"]);
  expect(
    commit,
    approval.status === "pending",
    "5",
    `${event.id} is ${approval.status}, and people are reminded`,
  );
  expect(commit, due <= event.at && due > approval.remindedAt, "6", `${event.id} was reminded of again`);
  const isAlone = !commit.events.some(({ stream, type }) => stream === event.stream && ENDS.test(type));
  expect(commit, isAlone, "5", `${event.id} was decided by a reminder`);
  approval.remindedAt = due;
};

const checkWidened: Check = (commit, event, approval) => {
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

const checkDelegated: Check = (commit, event, approval) => {
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

const checkWithdrawn: Check = (commit, event, approval) => {
  const [of, to] = [text(event.body["of"]), text(event.body["to"])];
  const { hands, stage, votes } = approval;
  const hand = hands.find((one) => one.by === of && one.to === to && one.stage === stage);
  expect(commit, hand !== undefined, "7", `${of} took back from ${to} in ${event.id} what ${to} has not`);
  const isUsed = votes.some((vote) => vote.by === to && vote.cast === stage);
  expect(commit, !isUsed, "7", `${of} took back in ${event.id} what ${to} has decided with`);
  approval.hands = hands.filter((one) => one !== hand);
};

export const DESK_CHECKS: { readonly [type: string]: Check } = {
  "approval.reminded": checkReminded,
  "approval.widened": checkWidened,
  "approval.delegated": checkDelegated,
  "approval.delegation_withdrawn": checkWithdrawn,
};
