/**
 * A permit is issued to a holder, begun once, and then performed.
 *
 * H1. A permit that was issued and not begun is handed out to its holder alone. Every other asker is told to wait, and
 *     nothing changes.
 * H2. A permit without a holder counts as begun when it is issued.
 * H3. A permit that was begun may have been performed. It is handed out again only where the effect class allows a second
 *     performance; each time is recorded. Otherwise the effect is in doubt from that commit on.
 * H4. A holder that did not begin the permit never puts the effect in doubt: the one that began it is presumed at work until
 *     `reportBy`.
 */

import { type Refusal, refusal } from "../../kernel/refusals.ts";
import { actionStream } from "../../kernel/stream.ts";
import type { Draft, Need } from "../../kernel/transaction.ts";
import { checkKillSwitches, type SwitchCheck } from "../../kill-switch/rules.ts";
import type { PermitAsker } from "../../policy/rules/tool-rules.ts";
import { settleCall } from "../workflow/call.ts";
import { isForgotten, isSentAgain, isTooLate, TOO_LATE } from "./recover.ts";
import { passReportTime } from "./report.ts";
import type { ActionIn, LiveAction, PermitState } from "./state.ts";

export type PermitAsk = PermitAsker & {
  readonly action: string;
  /** How long the receiver remembers the key (class `keyed`). */
  readonly keyRetentionMs: number;
};

export type PermitLook =
  | { readonly kind: "permitted"; readonly state: ActionIn<"running"> }
  /** Another holder has it; nothing was changed. */
  | { readonly kind: "pending"; readonly reportBy: number }
  /** It was permitted, and may not be begun or performed now. */
  | { readonly kind: "held"; readonly refusal: Refusal }
  /** This request has put the effect in doubt. */
  | { readonly kind: "doubted"; readonly state: ActionIn<"in_doubt"> }
  | { readonly kind: "settled"; readonly state: LiveAction };

/** What put the effect in doubt, in the outcome's `by`. */
const PERMIT = "permit";
const ASKED_AGAIN = "its permit was asked for again after it was begun, so it may have been performed";
const NOT_NOW =
  "If it was not performed, leave it and report not_applied. If it was, report the outcome. If you cannot tell, report unknown.";

/** A permit of an older journal has no holder: it counts as begun. */
const NO_HOLDER: PermitState = { holder: null, isBegun: true, handedOut: 1, ask: null };

export const permitState = ({ effect }: ActionIn<"running">): PermitState => effect.permit ?? NO_HOLDER;

function whyNotNow({ now }: Draft, state: ActionIn<"running">, { on }: SwitchCheck): Refusal | undefined {
  if (isTooLate(state, now)) return { ...refusal("lapsed", "execute_by", TOO_LATE), next: NOT_NOW };
  if (on === undefined) return undefined;
  return { ...refusal("stopped", `kill switch (${on.scope})`, `${on.by}: ${on.reason}`), next: NOT_NOW };
}

/** Why a second performance cannot be allowed; undefined where the class allows it. */
function whyNotAgain(state: ActionIn<"running">, now: number, keyRetentionMs: number): string | undefined {
  const { effectClass } = state;
  if (!isSentAgain(effectClass)) return `a tool of class ${effectClass} is not performed twice`;
  return isForgotten(state, now, keyRetentionMs) ? "the receiver may have forgotten the key" : undefined;
}

function isAnothers({ holder, isBegun }: PermitState, asker: PermitAsker): boolean {
  if (asker.holder === holder) return false;
  return !isBegun || asker.holder !== null;
}

const running = (draft: Draft, action: string) => draft.state(actionStream(action)) as ActionIn<"running">;

function begin(draft: Draft, { action, holder, begin: isBegun, ask }: PermitAsk): PermitLook {
  if (isBegun && holder !== null)
    draft.append(actionStream(action), [{ type: "effect.begun", tv: 1, body: { holder, ask } }]);
  return { kind: "permitted", state: running(draft, action) };
}

function handOut(draft: Draft, { action, holder, ask }: PermitAsk): PermitLook {
  const times = permitState(running(draft, action)).handedOut + 1;
  const body = { times, ...(holder === null ? {} : { holder }), ask };
  draft.append(actionStream(action), [{ type: "effect.handed_out", tv: 1, body }]);
  return { kind: "permitted", state: running(draft, action) };
}

function doubt(draft: Draft, action: string, why: string): Need | PermitLook {
  const ref = actionStream(action);
  const { attempt } = running(draft, action).effect;
  const body = { attempt, reason: `${ASKED_AGAIN}; ${why}`, by: PERMIT };
  draft.append(ref, [{ type: "effect.in_doubt", tv: 1, body }]);
  const more = settleCall(draft, action);
  return more ?? { kind: "doubted", state: draft.state(ref) as ActionIn<"in_doubt"> };
}

/** An agent asks for the permit, or to begin it, while the effect has no outcome yet. */
export function askForPermit(draft: Draft, asked: PermitAsk): Need | PermitLook {
  const passed = passReportTime(draft, asked.action);
  if (passed.kind === "need") return passed;
  const { state } = passed;
  if (state.phase !== "running") return { kind: "settled", state };
  const permit = permitState(state);
  // The commit of this very request had been answered with an error.
  if (permit.ask === asked.ask) return { kind: "permitted", state };
  const why = permit.isBegun ? whyNotAgain(state, draft.now, asked.keyRetentionMs) : undefined;
  const mayRepeat = permit.isBegun && why === undefined;
  if (!mayRepeat && isAnothers(permit, asked))
    return { kind: "pending", reportBy: state.effect.reportBy ?? 0 };
  const look = checkKillSwitches(draft, state);
  if (look.kind === "need") return look;
  const notNow = whyNotNow(draft, state, look);
  if (notNow !== undefined) return { kind: "held", refusal: notNow };
  if (!permit.isBegun) return begin(draft, asked);
  return why === undefined ? handOut(draft, asked) : doubt(draft, asked.action, why);
}
