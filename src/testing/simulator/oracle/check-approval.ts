/** Invariants 5 and 7, and the deadlines of people (6). */

import type { ApprovalQuestion } from "../../../approvals/state.ts";
import { PREVIEW_MOVED } from "../../../core/action/preview.ts";
import type { Json } from "../../../kernel/json.ts";
import { count } from "../sim.ts";
import { checkExpired, isLate, STAGE_CHECKS } from "./check-stages.ts";
import { type Commit, type Event, expect, has, type SeenApproval, type SeenVote, text } from "./seen.ts";
import { isOpen, lacking, mayDecide, ruleNow, rulesOf, standing } from "./stages-seen.ts";

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
  const counted = standing(approval, commit.seen);
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
