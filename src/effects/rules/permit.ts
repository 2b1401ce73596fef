/**
 * Permits: effects that an agent performs itself. Issued to a holder, begun once, performed, reported by a deadline.
 * - A permit not yet begun is handed out only to its holder. Without a holder it counts as begun when issued.
 * - A begun permit may have been performed. It is handed out again (recorded) only if the effect class allows a second
 *   performance, else the effect is in doubt. A holder that did not begin it never causes doubt before `reportBy`.
 * - Only the proposing agent reports. Its first report counts; a repeat gets the same answer, another changes nothing.
 * - Without a report in time the effect is in doubt, despite later reports (a read has no effect to doubt).
 * - No process holds it: if the process that issued the permit dies or is replaced, the effect stays the agent's.
 */

import { digestOf } from "../../kernel/canonical-json.ts";
import { type Refusal, refusal } from "../../kernel/refusals.ts";
import type { Draft, Need } from "../../kernel/transaction.ts";
import { checkKillSwitches, type SwitchCheck } from "../../kill-switch/rules.ts";
import type { PermitAsker } from "../../policy/rules/tool-rules.ts";
import { settleCall } from "../../workflows/rules/calls.ts";
import type { ActionIn, LiveAction, PermitState, Testimony } from "../state.ts";
import { appendActionEvent, getLiveAction } from "../stream.ts";
import { type EffectReport, lockEffect, writeOutcome } from "./outcome.ts";
import { isForgotten, isSentAgain } from "./recover.ts";
import { isTooLate, TOO_LATE } from "./start.ts";

export type ReportCommand = {
  readonly action: string;
  readonly agent: string;
  readonly report: EffectReport;
};

export type ReportAnswer =
  | { readonly kind: "recorded" | "same"; readonly state: LiveAction }
  /** The effect is in doubt, or a person has resolved it: kept as testimony. */
  | { readonly kind: "late"; readonly state: LiveAction }
  /** The agent reported something else before: kept as testimony. */
  | { readonly kind: "conflict"; readonly state: LiveAction; readonly told: Testimony }
  | { readonly kind: "not_started"; readonly state: LiveAction }
  | { readonly kind: "not_yours"; readonly agent: string };

const UNREPORTED = "no outcome was reported in time";
/** `by` of an outcome that was set because no report came in time. */
const DEADLINE = "deadline";

const isOverdue = ({ effect }: ActionIn<"running">, now: number): boolean =>
  effect.reportBy !== undefined && now >= effect.reportBy;

function passTime(draft: Draft, action: string, state: ActionIn<"running">): Need | undefined {
  const { effect, effectClass } = state;
  const { attempt } = effect;
  if (effectClass === "read") {
    const report = { status: "not_applied", reason: UNREPORTED } as const;
    writeOutcome(draft, { action, epoch: DEADLINE, attempt, report }, effect);
    return settleCall(draft, action);
  }
  appendActionEvent(draft, action, "effect.in_doubt", { attempt, reason: UNREPORTED, by: DEADLINE });
  return settleCall(draft, action);
}

/** Puts an effect in doubt whose report is overdue. A sweep announces it; reports check the deadline themselves. */
export function passReportTime(
  draft: Draft,
  action: string,
): Need | { readonly kind: "overdue" | "left"; readonly state: LiveAction } {
  const state = lockEffect(draft, action);
  if ("kind" in state) return state;
  if (state.phase !== "running" || !isOverdue(state, draft.now)) return { kind: "left", state };
  return passTime(draft, action, state) ?? { kind: "overdue", state: getLiveAction(draft, action) };
}

/** A read of unknown outcome returned nothing, so it counts as not applied. */
function asSaid(report: EffectReport, state: LiveAction): EffectReport {
  if (report.status !== "in_doubt" || state.effectClass !== "read") return report;
  return { status: "not_applied", reason: report.reason };
}

type Word = Omit<Testimony, "isLate">;

function wordOf(report: EffectReport): Word {
  return report.status === "applied"
    ? { status: "applied", reason: "", resultDigest: digestOf(report.result) }
    : { status: report.status, reason: report.reason, resultDigest: null };
}

const isAlike = (one: Word, other: Word): boolean =>
  one.status === other.status && one.reason === other.reason && one.resultDigest === other.resultDigest;

/** Limit, so that an agent that reports something else each time does not grow the journal. */
const MOST_TESTIMONIES = 20;

/** Recorded once, so that an agent that repeats it in a loop does not grow the journal. */
function testify(draft: Draft, { action, agent, report }: ReportCommand, state: LiveAction): void {
  if (!("effect" in state)) return;
  const { status, reason, resultDigest } = wordOf(report);
  const { attempt, late } = state.effect;
  const isKnown = late.some(
    (one) => one.status === status && one.reason === reason && (one.resultDigest ?? null) === resultDigest,
  );
  if (isKnown || late.length >= MOST_TESTIMONIES) return;
  const said = { epoch: agent, attempt, status, reason };
  const body =
    report.status === "applied" ? { ...said, result: draft.keep(report.result), resultDigest } : said;
  appendActionEvent(draft, action, "effect.reported_late", body);
}

function afterwards(draft: Draft, command: ReportCommand, state: LiveAction): ReportAnswer {
  const { told } = "effect" in state ? state.effect : {};
  if (told !== undefined && isAlike(told, wordOf(command.report)))
    return { kind: told.isLate ? "late" : "same", state };
  testify(draft, command, state);
  const after = getLiveAction(draft, command.action);
  return told === undefined ? { kind: "late", state: after } : { kind: "conflict", state: after, told };
}

export function recordReport(draft: Draft, given: ReportCommand): Need | ReportAnswer {
  const first = lockEffect(draft, given.action);
  if ("kind" in first) return first;
  if (first.agent !== given.agent) return { kind: "not_yours", agent: first.agent };
  if (!("effect" in first) || first.effect.reportBy === undefined)
    return { kind: "not_started", state: first };
  const passed = passReportTime(draft, given.action);
  if (passed.kind === "need") return passed;
  const { state } = passed;
  const command = { ...given, report: asSaid(given.report, state) };
  if (state.phase !== "running") return afterwards(draft, command, state);
  const { action, agent, report } = command;
  const { effect } = state;
  writeOutcome(draft, { action, epoch: agent, attempt: effect.attempt, report }, effect);
  return settleCall(draft, action) ?? { kind: "recorded", state: getLiveAction(draft, action) };
}

export type PermitAsk = PermitAsker & {
  readonly action: string;
  /** How long the receiver remembers the idempotency key (class `keyed`). */
  readonly keyRetentionMs: number;
};

export type PermitLook =
  | { readonly kind: "permitted"; readonly state: ActionIn<"running"> }
  /** Another holder has it; nothing was changed. */
  | { readonly kind: "pending"; readonly reportBy: number }
  /** It was permitted, but may not be begun or performed now. */
  | { readonly kind: "held"; readonly refusal: Refusal }
  /** This request has put the effect in doubt. */
  | { readonly kind: "doubted"; readonly state: ActionIn<"in_doubt"> }
  | { readonly kind: "settled"; readonly state: LiveAction };

/** `by` of an outcome that a permit request put in doubt. */
const PERMIT = "permit";
const ASKED_AGAIN = "its permit was asked for again after it was begun, so it may have been performed";
const NOT_NOW =
  "If it was not performed, leave it and report not_applied. If it was, report the outcome. If you cannot tell, report unknown.";

/** A permit in an older journal has no holder and counts as begun. */
const NO_HOLDER: PermitState = { holder: null, isBegun: true, handedOut: 1, ask: null };

export const permitState = ({ effect }: ActionIn<"running">): PermitState => effect.permit ?? NO_HOLDER;

function whyNotNow({ now }: Draft, state: ActionIn<"running">, { on }: SwitchCheck): Refusal | undefined {
  if (isTooLate(state, now)) return { ...refusal("lapsed", "execute_by", TOO_LATE), next: NOT_NOW };
  if (on === undefined) return undefined;
  return { ...refusal("stopped", `kill switch (${on.scope})`, `${on.by}: ${on.reason}`), next: NOT_NOW };
}

/** Why a second performance is not allowed. undefined: the class allows it. */
function whyNotAgain(state: ActionIn<"running">, now: number, keyRetentionMs: number): string | undefined {
  const { effectClass } = state;
  if (!isSentAgain(effectClass)) return `a tool of class ${effectClass} is not performed twice`;
  return isForgotten(state, now, keyRetentionMs) ? "the receiver may have forgotten the key" : undefined;
}

function isAnothers({ holder, isBegun }: PermitState, asker: PermitAsker): boolean {
  if (asker.holder === holder) return false;
  return !isBegun || asker.holder !== null;
}

const running = (draft: Draft, action: string) => getLiveAction(draft, action) as ActionIn<"running">;

function begin(draft: Draft, { action, holder, begin: isBegun, ask }: PermitAsk): PermitLook {
  if (isBegun && holder !== null) appendActionEvent(draft, action, "effect.begun", { holder, ask });
  return { kind: "permitted", state: running(draft, action) };
}

function handOut(draft: Draft, { action, holder, ask }: PermitAsk): PermitLook {
  const times = permitState(running(draft, action)).handedOut + 1;
  const body = { times, ...(holder === null ? {} : { holder }), ask };
  appendActionEvent(draft, action, "effect.handed_out", body);
  return { kind: "permitted", state: running(draft, action) };
}

function doubt(draft: Draft, action: string, why: string): Need | PermitLook {
  const { attempt } = running(draft, action).effect;
  const body = { attempt, reason: `${ASKED_AGAIN}; ${why}`, by: PERMIT };
  appendActionEvent(draft, action, "effect.in_doubt", body);
  const more = settleCall(draft, action);
  return more ?? { kind: "doubted", state: getLiveAction(draft, action) as ActionIn<"in_doubt"> };
}

/** An agent requests the permit, or to begin it, while the effect has no outcome. */
export function askForPermit(draft: Draft, asked: PermitAsk): Need | PermitLook {
  const passed = passReportTime(draft, asked.action);
  if (passed.kind === "need") return passed;
  const { state } = passed;
  if (state.phase !== "running") return { kind: "settled", state };
  const permit = permitState(state);
  // The commit of this same request was written but returned an error.
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
