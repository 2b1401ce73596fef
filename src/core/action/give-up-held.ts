/** Refuses for good what the kill switch or a budget holds up, where whoever asked does not want to wait; its workflow hears of it. */
import { withdrawApproval } from "../../approvals/rules/end.ts";
import { actionStream, approvalStream } from "../../kernel/stream.ts";
import type { Draft, Need } from "../../kernel/transaction.ts";

import { settleCall } from "../workflow/call.ts";

export type GivenUp = { readonly kind: "given_up" | "left" };

const NEXT = "It was given up for now. Propose it again when what held it is out of the way.";

export function giveUpHeld(draft: Draft, action: string): Need | GivenUp {
  const ref = actionStream(action);
  const more = draft.need({ write: [ref] });
  if (more !== undefined) return more;
  const state = draft.state(ref);
  if ((state.phase !== "open" && state.phase !== "waiting") || state.held === null) return { kind: "left" };
  const { held } = state;
  if (state.phase === "waiting") {
    const missing = draft.need({ write: [approvalStream(state.approval)] });
    if (missing !== undefined) return missing;
    withdrawApproval(draft, state.approval, held);
  }
  draft.append(ref, [{ type: "action.refused", tv: 1, body: { ...held, retry: false, next: NEXT } }]);
  return settleCall(draft, action) ?? { kind: "given_up" };
}
