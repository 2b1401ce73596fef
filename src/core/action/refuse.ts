/** Refusals as events: `refused` is for good, `held` may have another answer later. */
import type { LiveApproval } from "../../approvals/state.ts";
import { type Refusal, type RefusalCode, refusal } from "../../kernel/refusals.ts";
import { actionStream, type StreamRef } from "../../kernel/stream.ts";
import type { Draft } from "../../kernel/transaction.ts";

export type Refused = { readonly kind: "refused"; readonly refusal: Refusal };
export type Held = { readonly kind: "held"; readonly refusal: Refusal };
type Why = { readonly code: RefusalCode; readonly by: string; readonly reason: string };

export function refuse(draft: Draft, action: StreamRef<"action">, why: Why): Refused {
  const said = refusal(why.code, why.by, why.reason);
  draft.append(action, [{ type: "action.refused", tv: 1, body: said }]);
  return { kind: "refused", refusal: said };
}

/** Ends of an approval by which the action that waits for it is refused. */
const REFUSES = ["rejected", "expired", "cancelled", "revoked"] as const;

/** Where an edit has put another question in its place, the action waits for that one. */
export function refuseEnded(draft: Draft, approvalId: string, approval: LiveApproval): void {
  const ref = actionStream(approval.action);
  const action = draft.state(ref);
  const code = REFUSES.find((status) => status === approval.status);
  const end = approval.ended ?? approval.decided;
  if (code === undefined || end === null || action.phase !== "waiting" || action.approval !== approvalId)
    return;
  refuse(draft, ref, { code, by: end.by[0] ?? "deadline", reason: end.reason });
}

/** Held again for the same reason is not news: calling in a loop does not grow the journal. */
export function hold(draft: Draft, action: StreamRef<"action">, why: Why): Held {
  const said = refusal(why.code, why.by, why.reason);
  const state = draft.state(action);
  const before = "held" in state ? state.held : null;
  if (before?.code !== said.code || before.by !== said.by) {
    draft.append(action, [{ type: "action.held", tv: 1, body: said }]);
  }
  return { kind: "held", refusal: said };
}
