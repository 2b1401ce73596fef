/** Invariants 5 and 7, and the deadlines of people (6). */
import { PREVIEW_MOVED } from "../../../core/action/preview.ts";
import type { ApprovalQuestion } from "../../../core/approval/events.ts";
import type { Json } from "../../../core/json.ts";
import { count } from "../sim.ts";
import {
  type Commit,
  type Event,
  expect,
  has,
  type SeenApproval,
  type SeenTenant,
  type SeenVote,
  text,
} from "./seen.ts";

const ENDS = ["approved", "modified", "rejected", "expired", "cancelled"];

function isEligible({ question }: SeenApproval, seen: SeenTenant, person: string): boolean {
  if (!person.startsWith("person:") || question.requester.includes(person)) return false;
  if (seen.suspended.has(person)) return false;
  return question.approvers.from === null || question.approvers.from.includes(person);
}

/** Distinct eligible people who approved exactly what the binding says. */
export function standing(approval: SeenApproval, seen: SeenTenant): ReadonlySet<string> {
  const { binding } = approval.question;
  const yes = approval.votes.filter((vote) => vote.decision === "approve" && vote.binding === binding);
  return new Set(yes.map((vote) => vote.by).filter((person) => isEligible(approval, seen, person)));
}

function isLate(approval: SeenApproval, at: number): boolean {
  return approval.question.decideBy !== null && at >= approval.question.decideBy;
}

function checkVote(commit: Commit, event: Event, approval: SeenApproval): void {
  const { seen } = commit;
  const by = text(event.body["by"]);
  const { binding, decideBy } = approval.question;
  expect(
    commit,
    approval.status === "pending",
    "5",
    `${by} voted on ${event.id}, which is ${approval.status}`,
  );
  expect(commit, isEligible(approval, seen, by), "7", `${by} is not eligible and voted on ${event.id}`);
  expect(commit, !approval.votes.some((vote) => vote.by === by), "7", `${by} voted twice on ${event.id}`);
  expect(commit, !isLate(approval, event.at), "6", `${by} voted on ${event.id} after its deadline`);
  expect(
    commit,
    event.body["binding"] === binding,
    "1",
    `${by}'s vote on ${event.id} is for another binding`,
  );
  if (decideBy !== null && Math.abs(decideBy - event.at) <= 1)
    count(commit.sim, "decision within 1 ms of the deadline");
  approval.votes.push(event.body as unknown as SeenVote);
  if (event.body["decision"] === "reject" && approval.question.approvers.veto)
    expect(
      commit,
      has(commit, "approval.rejected", event.stream) !== undefined,
      "5",
      `${by}'s veto on ${event.id} did not end it`,
    );
}

function checkGiven(commit: Commit, event: Event, approval: SeenApproval): void {
  const counted = standing(approval, commit.seen);
  const { approvers } = approval.question;
  const by = event.body["by"] as readonly string[];
  const alone = event.type === "approval.modified" && approval.edited && by.length === 1;
  const least = alone ? 1 : approvers.quorum;
  expect(
    commit,
    counted.size >= least,
    "7",
    `${event.id} has ${counted.size} of ${least} votes and was given`,
  );
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
  if (status === "expired") expect(commit, isLate(approval, event.at), "6", `${event.id} expired early`);
  if (status === "rejected" || status === "cancelled")
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

function checkRevision(event: Event, approval: SeenApproval): void {
  const { by: _editor, ...change } = event.body;
  const { preview: _ofBefore, ...question } = approval.question;
  approval.question = { ...question, ...(change as { [key: string]: Json }) };
  approval.votes = [];
  approval.edited = true;
}

export function checkApproval(commit: Commit, event: Event): void {
  const { seen } = commit;
  const approval = seen.approvals.get(event.id);
  if (event.type === "approval.requested") {
    expect(commit, approval === undefined, "5", `${event.id} was requested twice`);
    const question = event.body as unknown as ApprovalQuestion;
    seen.approvals.set(event.id, {
      question,
      status: "pending",
      votes: [],
      edited: false,
      decisions: 0,
      decidedAt: 0,
    });
    return;
  }
  if (approval === undefined) {
    expect(commit, false, "8", `${event.type} before ${event.id} was requested`);
    return;
  }
  const status = event.type.slice("approval.".length);
  if (event.type === "approval.voted") checkVote(commit, event, approval);
  else if (event.type === "approval.revised") checkRevision(event, approval);
  else if (ENDS.includes(status)) checkEnd(commit, event, approval);
  else if (["consumed", "lapsed", "revoked"].includes(status)) checkUse(commit, event, approval);
}

/** At the end of a commit: a quorum that is met has decided. */
export function checkQuorum(commit: Commit, event: Event): void {
  if (event.type !== "approval.voted" || event.body["decision"] !== "approve") return;
  const approval = commit.seen.approvals.get(event.id);
  if (approval?.status !== "pending") return;
  const counted = standing(approval, commit.seen).size;
  expect(
    commit,
    counted < approval.question.approvers.quorum,
    "7",
    `${event.id} has its quorum and still waits`,
  );
}
