/**
 * The end of an intent.
 *
 * E1. Workflows that wait for it, and the one that sent it, hear of it in the same commit.
 * E2. Its deadline is looked at by whoever decides next, on the store's clock; a sweeper only announces what is already true.
 */

import { intentStream, workflowStream } from "../../kernel/stream.ts";
import type { Draft, Need } from "../../kernel/transaction.ts";

import { notifyIntentSender, notifyIntentWaiter } from "../../workflows/rules/calls.ts";
import type { IntentEvent } from "./events.ts";
import { isOverdue, type LiveIntent } from "./state.ts";

type EndType = "intent.completed" | "intent.failed" | "intent.timed_out" | "intent.cancelled";
export type EndEvent = Extract<IntentEvent, { type: EndType }>;

function lockFlows(draft: Draft, { waiters, within }: LiveIntent): Need | undefined {
  const ids = [...waiters, ...(within === null ? [] : [within])].map(({ workflow }) => workflow);
  return draft.need({ write: [...new Set(ids)].map(workflowStream) });
}

/** The caller has locked the intent and knows that it may end so. */
export function endIntent(draft: Draft, id: string, event: EndEvent): Need | undefined {
  const ref = intentStream(id);
  const more = lockFlows(draft, draft.state(ref) as LiveIntent);
  if (more !== undefined) return more;
  draft.append(ref, [event]);
  const state = draft.state(ref) as LiveIntent;
  for (const waiter of state.waiters) notifyIntentWaiter(draft, id, state, waiter);
  if (state.within !== null) notifyIntentSender(draft, id, state, state.within);
  return undefined;
}

/** The intent, brought up to the present time; undefined: there is none. */
export function lockIntent(draft: Draft, id: string): Need | LiveIntent | undefined {
  const ref = intentStream(id);
  const more = draft.need({ write: [ref] });
  if (more !== undefined) return more;
  const state = draft.state(ref);
  if (state.status === "none") return undefined;
  if (!isOverdue(state, draft.now)) return state;
  const body = { deadline: state.deadline ?? draft.now };
  const missing = endIntent(draft, id, { type: "intent.timed_out", tv: 1, body });
  return missing ?? (draft.state(ref) as LiveIntent);
}

/** What a sweeper says of an intent whose time may be over. */
export function passIntentTime(draft: Draft, id: string): Need | { readonly status: string } {
  const state = lockIntent(draft, id);
  if (state === undefined) return { status: "none" };
  return "kind" in state ? state : { status: state.status };
}
