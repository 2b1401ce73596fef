/** A workflow waits for an intent: it is told in the commit in which that is over, or at once where it is. */

import { intentStream } from "../../kernel/stream.ts";
import type { Draft, Need } from "../../kernel/transaction.ts";

import type { Lineage } from "../../workflows/events.ts";
import { notifyIntentWaiter } from "../../workflows/rules/calls.ts";

import { lockIntent } from "./end.ts";
import { isOpen } from "./state.ts";

/** The caller has locked the workflow. Said again, it is known. */
export function awaitIntent(
  draft: Draft,
  intent: string,
  waiter: Lineage,
): Need | { readonly kind: "unknown" | "open" | "over" } {
  const state = lockIntent(draft, intent);
  if (state === undefined) return { kind: "unknown" };
  if ("kind" in state) return state;
  if (!isOpen(state)) {
    notifyIntentWaiter(draft, intent, state, waiter);
    return { kind: "over" };
  }
  const isKnown = state.waiters.some(({ workflow, op }) => workflow === waiter.workflow && op === waiter.op);
  if (!isKnown) draft.append(intentStream(intent), [{ type: "intent.awaited", tv: 1, body: waiter }]);
  return { kind: "open" };
}
