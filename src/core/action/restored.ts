/**
 * What becomes of an action when the store was restored or copied: what happened to it later is forgotten.
 *
 * G1. Nothing that was started is sent again by itself, not even with its key: it is in doubt. Only a read may be repeated.
 * G2. Nothing that may start, by a verdict or an approval, starts by itself: it is refused, and its approval lapses.
 * G3. A question that nobody has answered stays: a person decides, and can look first whether it was done.
 */
import { lapse } from "../../approvals/rules/end.ts";
import { actionStream, approvalStream } from "../../kernel/stream.ts";
import type { Draft, Need } from "../../kernel/transaction.ts";

import { lockEffect } from "./outcome.ts";
import { refuse } from "./refuse.ts";
import type { ActionIn } from "./state.ts";

/** `asks`: it waits for people, as before. */
export type AfterRestore = { readonly kind: "in_doubt" | "refused" | "asks" | "left" };

const DONE_SINCE = "the store was restored, and it may have been done since the backup";

function refuseOpen(draft: Draft, action: string): AfterRestore {
  const why = { code: "lapsed", by: "restore", reason: DONE_SINCE } as const;
  refuse(draft, actionStream(action), why);
  return { kind: "refused" };
}

function afterWaiting(draft: Draft, action: string, state: ActionIn<"waiting">): Need | AfterRestore {
  const ref = approvalStream(state.approval);
  const more = draft.need({ write: [ref] });
  if (more !== undefined) return more;
  const { status } = draft.state(ref);
  if (status !== "approved" && status !== "modified") return { kind: "asks" };
  lapse(draft, state.approval, DONE_SINCE);
  return refuseOpen(draft, action);
}

export function afterRestore(draft: Draft, action: string): Need | AfterRestore {
  const state = lockEffect(draft, action);
  if ("kind" in state) return state;
  if (state.phase === "open") return refuseOpen(draft, action);
  if (state.phase === "waiting") return afterWaiting(draft, action, state);
  if (state.phase !== "running" || state.effectClass === "read") return { kind: "left" };
  const { attempt, reportBy } = state.effect;
  const reason = "the store was restored while it was under way; what became of it is not known";
  // Not the word of the agent that performs it itself: that may come yet.
  const by = reportBy === undefined ? {} : { by: "restore" };
  draft.append(actionStream(action), [{ type: "effect.in_doubt", tv: 1, body: { attempt, reason, ...by } }]);
  return { kind: "in_doubt" };
}
