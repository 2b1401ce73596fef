/**
 * The subject of an approval, as the rules of approvals see it, and what all of these rules begin and end with.
 *
 * - An approval and its subject are locked together.
 * - A consequence for an action, a workflow or an intent goes through its port, inside the same draft. No poller sees a
 *   decision of which the subject was not notified.
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
  /** `schema`: it does not match. `standing`: the editor may not decide. `block`, `revise`: the policy's verdict. */
  readonly fault: "schema" | "standing" | "block" | "revise";
  readonly rule: string;
  readonly reason: string;
  /** The policy's version, if it would change the edit. */
  readonly args?: Json;
};
export type EditAnswer = { readonly kind: "accepted"; readonly approval: string } | EditRefused;

/** Implemented by the capability that owns the kind of stream; `src/streams.ts` lists them. */
export type SubjectPort = {
  /** The approval was decided, has ended, or has an edit that waits for review. */
  tell(draft: Draft, id: string, approval: LiveApproval): Need | undefined;
  /** Whether they may withdraw the question. The approval is pending, and the roster is read. */
  mayCancel(draft: Draft, approval: LiveApproval, by: string): Need | boolean;
  /** null: there is no tool and no policy, so an edit is accepted as written. */
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

/** The refusal of an edit is not counted, because it decides something. */
type CountedRefusal = Exclude<Extract<keyof ApprovalBodies, `${string}_refused`>, "approval.edit_refused">;

/** Returns whether there was room to record it. */
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

/** Locks an approval and its subject together. */
export function withAction(draft: Draft, id: string): Need | ApprovalState {
  const ref = approvalStream(id);
  const more = draft.need({ write: [ref] });
  if (more !== undefined) return more;
  const state = draft.state(ref);
  if (state.status === "none") return state;
  return draft.need({ write: [aboutOf(state)] }) ?? state;
}

/** Call at the end of every command that may have changed an approval. */
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
