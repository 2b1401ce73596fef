/** Withdraws an action that has not started: nobody is asked about it any more. */
import { withdrawApproval } from "../../approvals/rules/end.ts";
import { actionStream, approvalStream } from "../../kernel/stream.ts";
import type { Draft, Need } from "../../kernel/transaction.ts";

import { refuse } from "./refuse.ts";

export type Cancelled = { readonly kind: "cancelled" | "left" };

export function cancelAction(
  draft: Draft,
  { action, by, reason }: { readonly action: string; readonly by: string; readonly reason: string },
): Need | Cancelled {
  const ref = actionStream(action);
  const more = draft.need({ write: [ref] });
  if (more !== undefined) return more;
  const state = draft.state(ref);
  if (state.phase !== "open" && state.phase !== "waiting") return { kind: "left" };
  if (state.phase === "waiting") {
    const missing = draft.need({ write: [approvalStream(state.approval)] });
    if (missing !== undefined) return missing;
    withdrawApproval(draft, state.approval, { by, reason });
  }
  refuse(draft, ref, { code: "cancelled", by, reason });
  return { kind: "cancelled" };
}
