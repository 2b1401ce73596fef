/**
 * Who takes a question back that nobody has decided yet.
 *
 * B1. Where there is a list of people, it is whoever asks: the requester and whomever it acts for, the poster and the executor
 *     of the workflow; or somebody who may decide now, or an admin. Taking it back ends it, so nobody else does.
 * B2. Of an intent, whoever may take the intent back. Where nobody is listed, anybody in good standing.
 */
import type { Draft, Need } from "../../core/draft.ts";
import { isTheirsToCancel } from "../../core/intent/move.ts";
import { isPerson } from "../../core/principal.ts";
import type { RosterState } from "../../core/roster.ts";
import { actionStream, intentStream, ROSTER, workflowStream } from "../../core/stream.ts";
import type { LiveApproval } from "../state.ts";
import { actOn, cancel, type EndAnswer, type Withdrawal } from "./end.ts";
import { isEligible } from "./seats.ts";

export type TakenBack = EndAnswer | { readonly kind: "not_theirs"; readonly reason: string };

function isAskerOrDecider(approval: LiveApproval, roster: RosterState, by: string): boolean {
  const { members } = roster;
  if (members.size === 0 || approval.requester.includes(by)) return true;
  return members.get(by)?.roles.includes("admin") === true || isEligible(approval, roster, by);
}

function workflowOf(draft: Draft, { subject, action }: LiveApproval): string | undefined {
  if (subject !== undefined) return subject.kind === "intent" ? undefined : subject.workflow;
  const state = draft.state(actionStream(action));
  return state.phase === "none" ? undefined : state.within?.workflow;
}

function isParty(draft: Draft, workflow: string, by: string): Need | boolean {
  const ref = workflowStream(workflow);
  const more = draft.need({ read: [ref] });
  if (more !== undefined) return more;
  const flow = draft.state(ref);
  return flow.status !== "none" && (flow.parties.poster === by || flow.parties.executor === by);
}

function isTheirs(draft: Draft, approval: LiveApproval, by: string): Need | boolean {
  const { subject } = approval;
  if (subject?.kind === "intent") {
    const intent = draft.state(intentStream(subject.intent));
    return intent.status !== "none" && isTheirsToCancel(draft, intent, by);
  }
  if (isAskerOrDecider(approval, draft.state(ROSTER), by)) return true;
  const workflow = workflowOf(draft, approval);
  return workflow !== undefined && isParty(draft, workflow, by);
}

const isSuspended = (draft: Draft, by: string): boolean =>
  isPerson(by) && draft.state(ROSTER).suspended.includes(by);

/** Whether they could take it back now. The caller has locked the approval and read the roster. */
export function mayTakeBack(draft: Draft, approval: LiveApproval, by: string): Need | boolean {
  return approval.status === "pending" && !isSuspended(draft, by) && isTheirs(draft, approval, by);
}

function take(draft: Draft, approval: LiveApproval, command: Withdrawal): Need | TakenBack {
  if (approval.status !== "pending") return cancel(draft, command);
  const { by } = command;
  if (isSuspended(draft, by)) return { kind: "not_theirs", reason: `${by} is not in good standing` };
  const theirs = isTheirs(draft, approval, by);
  if (typeof theirs === "object") return theirs;
  return theirs
    ? cancel(draft, command)
    : { kind: "not_theirs", reason: `${by} neither asks nor may decide` };
}

export function takeBack(draft: Draft, command: Withdrawal): Need | TakenBack {
  const answer = actOn(draft, command.approval, (approval) => take(draft, approval, command));
  return answer.kind === "unknown" ? { kind: "not_possible", status: "none" } : answer;
}
