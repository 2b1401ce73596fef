/**
 * What an approval is about, as the rules of approvals see it, and what all of them begin and end with.
 *
 * B1. An approval and what it is about are locked together.
 * B2. A consequence for an action, a workflow or an intent goes through its port, inside the same draft: no poller sees a
 *     decision that what it is about has not heard of.
 */
import type { Json } from "../../kernel/json.ts";
import { hasRoomForRefusal } from "../../kernel/refusals.ts";
import { approvalStream } from "../../kernel/stream.ts";
import type { Draft, Need } from "../../kernel/transaction.ts";
import type { Executor, Load } from "../../policy/rules/tool-rules.ts";
import { type ApprovalState, aboutOf, isGiven, type LiveApproval } from "../state.ts";
import { type ApprovalBodies, approval as stream } from "../stream.ts";

export type EditRefused = {
  readonly kind: "edit_refused";
  /** `schema`: it does not fit; `standing`: it is not theirs; `block`, `revise`: what policy says of it. */
  readonly fault: "schema" | "standing" | "block" | "revise";
  readonly rule: string;
  readonly reason: string;
  /** As the policy would have it, where it would change it. */
  readonly args?: Json;
};
export type EditAnswer = { readonly kind: "accepted"; readonly approval: string } | EditRefused;

/** What a capability above implements for its kind of stream; `core/streams.ts` lists them. */
export type SubjectPort = {
  /** The approval was decided, has ended, or has an edit that waits for its review. */
  tell(draft: Draft, id: string, approval: LiveApproval): Need | undefined;
  /** Whether they take the question back. The approval is pending, and the roster is read. */
  mayTakeBack(draft: Draft, approval: LiveApproval, by: string): Need | boolean;
  /** Null: there is no tool and no policy, so an edit holds as it was written. */
  readonly reviewEdit: ((draft: Draft, id: string, executor: Executor) => Need | Load | EditAnswer) | null;
};

export const getSubjectPort = (draft: Draft, approval: LiveApproval): SubjectPort =>
  draft.port(aboutOf(approval).kind) as SubjectPort;

/** The state of an approval that was requested. */
export const getLiveApproval = (draft: Draft, id: string): LiveApproval =>
  draft.state(approvalStream(id)) as LiveApproval;

export function appendApprovalEvent<Type extends keyof ApprovalBodies>(
  draft: Draft,
  id: string,
  type: Type,
  body: ApprovalBodies[Type],
): void {
  draft.append(approvalStream(id), [stream.event(type, body)]);
}

/** The refusal of an edit is not counted: it decides something. */
type CountedRefusal = Exclude<Extract<keyof ApprovalBodies, `${string}_refused`>, "approval.edit_refused">;

/** Answers whether there was room for it. */
export function appendApprovalRefusal<Type extends CountedRefusal>(
  draft: Draft,
  id: string,
  type: Type,
  body: ApprovalBodies[Type],
): boolean {
  const isRecorded = hasRoomForRefusal(getLiveApproval(draft, id), body.by);
  if (isRecorded) appendApprovalEvent(draft, id, type, body);
  return isRecorded;
}

/** Locks an approval and what it is about together. */
export function withAction(draft: Draft, id: string): Need | ApprovalState {
  const ref = approvalStream(id);
  const more = draft.need({ write: [ref] });
  if (more !== undefined) return more;
  const state = draft.state(ref);
  if (state.status === "none") return state;
  return draft.need({ write: [aboutOf(state)] }) ?? state;
}

/** To be called at the end of every command that may have moved an approval. */
export function tellSubject(draft: Draft, id: string): Need | undefined {
  const approval = getLiveApproval(draft, id);
  const isReviewed = approval.edit === null || approval.subject !== undefined;
  if (approval.status === "pending" && isReviewed) return undefined;
  const more = getSubjectPort(draft, approval).tell(draft, id, approval);
  // A workflow or an intent uses the decision at once. An action does so when it starts.
  if (more !== undefined || approval.subject === undefined || !isGiven(approval)) return more;
  appendApprovalEvent(draft, id, "approval.consumed", { effect: approval.subject.op });
  return undefined;
}
