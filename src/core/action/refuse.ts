/** Refusals as events: `refused` is for good, `held` may have another answer later. */
import type { Draft } from "../draft.ts";
import { type Refusal, type RefusalCode, refusal } from "../refusal.ts";
import type { StreamRef } from "../stream.ts";

export type Refused = { readonly kind: "refused"; readonly refusal: Refusal };
export type Held = { readonly kind: "held"; readonly refusal: Refusal };
export type Why = { readonly code: RefusalCode; readonly by: string; readonly reason: string };

export function refuse(draft: Draft, action: StreamRef<"action">, why: Why): Refused {
  const said = refusal(why.code, why.by, why.reason);
  draft.append(action, [{ type: "action.refused", tv: 1, body: said }]);
  return { kind: "refused", refusal: said };
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
