/** What became of an intent reaches the workflows that wait for it, and the one that sent it, in the same commit. */

import { workflowStream } from "../../kernel/stream.ts";
import type { Draft } from "../../kernel/transaction.ts";
import type { LiveIntent } from "../intent/state.ts";

import type { Lineage } from "./events.ts";

/** The caller has locked the workflow, and the intent is over. */
export function tellWaiter(draft: Draft, intent: string, { end }: LiveIntent, waiter: Lineage): void {
  const ref = workflowStream(waiter.workflow);
  const flow = draft.state(ref);
  if (end === null || flow.status === "none" || flow.end !== null) return;
  const said =
    end.status === "completed" ? { data: end.data, reason: "" } : { data: null, reason: end.reason };
  const body = { op: waiter.op, intent, status: end.status, ...said };
  draft.append(ref, [{ type: "wait.ended", tv: 1, body }]);
}

/** It has one thing less that is open. */
export function tellSender(draft: Draft, intent: string, { end }: LiveIntent, sender: Lineage): void {
  const ref = workflowStream(sender.workflow);
  const flow = draft.state(ref);
  if (end === null || flow.status === "none" || !flow.open.includes(intent)) return;
  draft.append(ref, [{ type: "send.ended", tv: 1, body: { op: sender.op, intent, status: end.status } }]);
}
