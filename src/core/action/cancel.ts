/** Withdraws an action that has not started: nobody is asked about it any more. */
import { withdrawApproval } from "../approval/withdraw.ts";
import type { Draft, Need } from "../draft.ts";
import { type Refusal, refusal } from "../refusal.ts";
import { actionStream, approvalStream } from "../stream.ts";

export type Cancelled = { readonly kind: "cancelled" | "left" };

/** Ends an action that has not started, and whatever people were asked or have said about it. */
function withdraw(draft: Draft, action: string, why: Refusal): Need | Cancelled {
  const ref = actionStream(action);
  const more = draft.need({ write: [ref] });
  if (more !== undefined) return more;
  const state = draft.state(ref);
  if (state.phase !== "open" && state.phase !== "waiting") return { kind: "left" };
  const { by, reason } = why;
  if (state.phase === "waiting") {
    const approval = approvalStream(state.approval);
    const missing = draft.need({ write: [approval] });
    if (missing !== undefined) return missing;
    const { status } = draft.state(approval);
    withdrawApproval(draft, state.approval, { by, reason });
    if (status === "approved" || status === "modified")
      draft.append(approval, [{ type: "approval.lapsed", tv: 1, body: { reason } }]);
  }
  draft.append(ref, [{ type: "action.refused", tv: 1, body: why }]);
  return { kind: "cancelled" };
}

export function cancelAction(
  draft: Draft,
  { action, by, reason }: { readonly action: string; readonly by: string; readonly reason: string },
): Need | Cancelled {
  return withdraw(draft, action, refusal("cancelled", by, reason));
}

const GIVEN_UP =
  "It was not waited for. Propose it again when the switch is released or the budget has room.";

/** Somebody who will not come back to an action that is held: from held it becomes refused, for the same reason. */
export function giveUpHeld(draft: Draft, action: string): Need | Cancelled {
  const more = draft.need({ write: [actionStream(action)] });
  if (more !== undefined) return more;
  const state = draft.state(actionStream(action));
  if (!("held" in state) || state.held === null) return { kind: "left" };
  return withdraw(draft, action, { ...state.held, retry: false, next: GIVEN_UP });
}
