/** What people decided on an intent that asks for their approval: it ends in the commit of their decision. */
import type { SubjectPort } from "../../approvals/rules/subject.ts";
import { joinNotes, type LiveApproval } from "../../approvals/state.ts";
import type { JsonObject } from "../../kernel/json.ts";
import { intentStream } from "../../kernel/stream.ts";

import { type EndEvent, endIntent } from "./end.ts";
import { isTheirsToCancel } from "./move.ts";
import { isOpen } from "./state.ts";

/** A rejection is an answer too: the intent is completed, and says that it was not approved. */
function dataOf(approval: LiveApproval, rationale: string): JsonObject {
  const { status, decided, args, edited } = approval;
  const by = [...(decided?.by ?? [])];
  const approved = status !== "rejected";
  return {
    approved,
    decision: status,
    rationale,
    modifications: approved && edited ? args : null,
    approved_by: approved ? by : [],
    decided_by: by,
    decided_at: new Date(decided?.at ?? 0).toISOString(),
  };
}

function eventOf(approval: LiveApproval, rationale: string): EndEvent {
  const by = approval.decided?.by[0] ?? "deadline";
  if (approval.status === "expired")
    return { type: "intent.timed_out", tv: 1, body: { deadline: approval.decideBy ?? 0 } };
  if (approval.status === "cancelled")
    return { type: "intent.cancelled", tv: 1, body: { by, reason: rationale } };
  return { type: "intent.completed", tv: 1, body: { by, data: dataOf(approval, rationale) } };
}

export const intentSubject: SubjectPort = {
  tell(draft, _approvalId, approval) {
    const ref = intentStream(approval.action);
    const more = draft.need({ write: [ref] });
    if (more !== undefined) return more;
    const state = draft.state(ref);
    if (state.status === "none" || !isOpen(state)) return undefined;
    return endIntent(draft, approval.action, eventOf(approval, joinNotes(approval)));
  },
  mayTakeBack(draft, approval, by) {
    const intent = draft.state(intentStream(approval.action));
    return intent.status !== "none" && isTheirsToCancel(draft, intent, by);
  },
  reviewEdit: null,
};
