/**
 * The outcome of an effect: reported by its executor, resolved by a probe or a person, or set after a restore.
 * - Only the epoch that holds the attempt, while it is open, writes the outcome. Anything later is kept as testimony.
 * - Budgets and standing-grant uses are settled if applied, released if certainly not applied, and kept while in doubt.
 * - Unknown is in doubt, never failed. That a later attempt did nothing says nothing about earlier ones.
 * - A probe's "not applied" counts only after the tool's finality and the attempt's end, and if no executor disagrees.
 * - Only a person in good standing resolves by statement, never the requester.
 * - After a restore, a started effect is in doubt (a read may be repeated). An action that may start is refused and its
 *   approval lapses. An unanswered question stays open.
 */
import { lapse } from "../../approvals/rules/withdraw.ts";
import { settleReservation } from "../../budgets/stream.ts";
import { settleUse } from "../../grants/rules.ts";
import { grant } from "../../grants/stream.ts";
import { digestOf } from "../../kernel/canonical-json.ts";
import type { Json } from "../../kernel/json.ts";
import { channelField, isPerson, type Via } from "../../kernel/principal.ts";
import {
  actionStream,
  approvalStream,
  budgetStream,
  epochStream,
  ROSTER,
  type StreamRef,
  workflowStream,
} from "../../kernel/stream.ts";
import type { Draft, Need } from "../../kernel/transaction.ts";
import { settleCall, wakeParents } from "../../workflows/rules/calls.ts";
import type { ActionIn, Effect, LiveAction, ReportedResult } from "../state.ts";
import { appendActionEvent, getLiveAction } from "../stream.ts";
import { actionIdOf, refuseAction } from "./start.ts";

export type EffectReport =
  /** `spent`: the true amount by budget. Default: the reserved amount. */
  | {
      readonly status: "applied";
      readonly result: Json;
      readonly spent: { readonly [budget: string]: bigint };
    }
  | { readonly status: "not_applied"; readonly reason: string }
  | { readonly status: "in_doubt"; readonly reason: string };

export type OutcomeCommand = {
  readonly action: string;
  readonly epoch: string;
  readonly attempt: number;
  readonly report: EffectReport;
};

export type OutcomeAnswer = { readonly kind: "recorded" | "late"; readonly state: LiveAction };

function settleCosts(
  draft: Draft,
  effect: Effect,
  applied: boolean,
  spent: { readonly [budget: string]: bigint },
): void {
  for (const cost of effect.costs) {
    const ref = budgetStream(cost.budget);
    const said = Object.hasOwn(spent, cost.budget) ? spent[cost.budget] : undefined;
    const amount = applied ? (said ?? BigInt(cost.micros)) : "released";
    draft.append(ref, settleReservation(draft.state(ref), effect.id, amount));
  }
  if (!applied && effect.grant.kind === "standing")
    settleUse(draft, "grant.returned", { action: actionIdOf(effect.id), effect: effect.id }, effect.grant);
}

/** What an outcome settles beside the action: the effect's budgets, and the standing grant that permitted it. */
export function settledStreams(effect: Effect): readonly StreamRef[] {
  const budgets = effect.costs.map((cost) => budgetStream(cost.budget));
  return effect.grant.kind === "standing" ? [...budgets, grant.ref(effect.grant.grant)] : budgets;
}

export function lockEffect(draft: Draft, action: string): Need | LiveAction {
  const ref = actionStream(action);
  const more = draft.need({ write: [ref] });
  if (more !== undefined) return more;
  const state = draft.state(ref);
  if (state.phase === "none") throw new TypeError(`the action ${action} does not exist`);
  if (!("effect" in state)) return state;
  const place = state.within === undefined ? [] : [workflowStream(state.within.workflow)];
  const write = [...settledStreams(state.effect), ...place];
  const read = state.effect.reportBy === undefined ? [epochStream(state.effect.epoch)] : [];
  return draft.need({ write, read }) ?? state;
}

/** What a report proves about the whole effect: "nothing happened" only if there was one attempt. */
function proven(state: LiveAction, command: OutcomeCommand): OutcomeCommand {
  const { report, attempt } = command;
  if (report.status !== "not_applied" || attempt === 1 || state.effectClass === "read") return command;
  const reason = `${report.reason}; an attempt before this one may have been applied`;
  return { ...command, report: { status: "in_doubt", reason } };
}

export function writeOutcome(draft: Draft, command: OutcomeCommand, effect: Effect): void {
  const { action, report, epoch, attempt } = command;
  switch (report.status) {
    case "applied": {
      const kept = { result: draft.keep(report.result), resultDigest: digestOf(report.result) };
      appendActionEvent(draft, action, "effect.applied", { epoch, attempt, ...kept });
      settleCosts(draft, effect, true, report.spent);
      break;
    }
    case "not_applied":
      appendActionEvent(draft, action, "effect.not_applied", { epoch, attempt, reason: report.reason });
      settleCosts(draft, effect, false, {});
      break;
    case "in_doubt":
      appendActionEvent(draft, action, "effect.in_doubt", { attempt, reason: report.reason });
  }
}

/** The same executor reported the same before: its commit returned an error, or its call was repeated. */
function alreadySaid(state: LiveAction, command: OutcomeCommand): boolean {
  if (state.phase === "running" || !("effect" in state)) return false;
  const own = state.effect.epoch === command.epoch && state.effect.attempt === command.attempt;
  return own && state.phase === command.report.status;
}

export function recordOutcome(draft: Draft, reported: OutcomeCommand): Need | OutcomeAnswer {
  const state = lockEffect(draft, reported.action);
  if ("kind" in state) return state;
  const command = proven(state, reported);
  if (alreadySaid(state, command)) return { kind: "recorded", state };
  const { action } = command;
  if (state.phase === "running" && mayWrite(draft, state.effect, command)) {
    writeOutcome(draft, command, state.effect);
    const more = state.within === undefined ? undefined : settleCall(draft, action);
    if (more !== undefined) return more;
    return { kind: "recorded", state: getLiveAction(draft, action) };
  }
  if ("effect" in state) {
    const { epoch, attempt, report } = reported;
    const reason = report.status === "applied" ? "" : report.reason;
    const known = state.effect.late.some(
      (late) => late.epoch === epoch && late.attempt === attempt && late.status === report.status,
    );
    const body = { epoch, attempt, status: report.status, reason };
    if (!known) appendActionEvent(draft, action, "effect.reported_late", body);
  }
  return { kind: "late", state: getLiveAction(draft, action) };
}

function mayWrite(draft: Draft, effect: Effect, command: OutcomeCommand): boolean {
  if (effect.epoch !== command.epoch || effect.attempt !== command.attempt) return false;
  return draft.state(epochStream(command.epoch)).life === "open";
}

export type ProbeAnswer = {
  readonly answer: "applied" | "not_applied" | "unknown";
  readonly evidence: Json;
  readonly result: Json;
};

export type ResolveAnswer =
  | { readonly kind: "resolved" | "unresolved" | "not_in_doubt"; readonly state: LiveAction }
  | { readonly kind: "not_allowed"; readonly reason: string };

type DoubtEnding = Via &
  Omit<ReportedResult, "resultDigest"> & { readonly status: "applied" | "not_applied" };

function endDoubt(
  draft: Draft,
  action: string,
  state: ActionIn<"in_doubt">,
  ending: DoubtEnding,
): Need | ResolveAnswer {
  const { result, evidence, ...said } = ending;
  appendActionEvent(draft, action, "effect.resolved", {
    ...said,
    result: draft.keep(result),
    resultDigest: result === null ? null : digestOf(result),
    evidence: draft.keep(evidence),
  });
  settleCosts(draft, state.effect, ending.status === "applied", {});
  const more = settleCall(draft, action) ?? wakeParents(draft, action);
  return more ?? { kind: "resolved", state: getLiveAction(draft, action) };
}

export function recordProbe(
  draft: Draft,
  command: {
    readonly action: string;
    readonly probe: ProbeAnswer;
    /** The store's time before the probe was called. Its answer may be recorded much later. */
    readonly askedAt: number;
    /** Whether the attempt had ended before the probe was called: it had returned, or its process was dead. */
    readonly isOver: boolean;
    readonly finalityMs: number;
  },
): Need | ResolveAnswer {
  const { action } = command;
  const state = lockEffect(draft, action);
  if ("kind" in state) return state;
  if (state.phase !== "in_doubt") return { kind: "not_in_doubt", state };
  const { answer, evidence, result } = command.probe;
  const final = command.askedAt >= state.outcome.at + command.finalityMs;
  const isDenied = state.effect.late.some(({ status }) => status === "applied");
  if (answer === "applied" || (answer === "not_applied" && final && command.isOver && !isDenied)) {
    const said = { status: answer, by: "probe", reason: "the tool's verify said so" };
    return endDoubt(draft, action, state, { ...said, result, evidence });
  }
  // The same answer again is not news, even with new evidence: probing for days does not grow the journal.
  if (state.effect.probe?.answer !== answer)
    appendActionEvent(draft, action, "effect.probed", { answer, evidence: draft.keep(evidence) });
  return { kind: "unresolved", state: getLiveAction(draft, action) };
}

export function resolveByPerson(
  draft: Draft,
  command: Via & {
    readonly action: string;
    readonly status: "applied" | "not_applied";
    readonly by: string;
    readonly reason: string;
    /** The person's findings, in their words. Default: null. */
    readonly evidence?: string | null;
  },
): Need | ResolveAnswer {
  const state = lockEffect(draft, command.action);
  if ("kind" in state) return state;
  const more = draft.need({ read: [ROSTER] });
  if (more !== undefined) return more;
  const isOut = state.requester.includes(command.by) || draft.state(ROSTER).suspended.includes(command.by);
  if (!isPerson(command.by) || isOut)
    return { kind: "not_allowed", reason: `${command.by} may not resolve this` };
  if (state.phase !== "in_doubt") return { kind: "not_in_doubt", state };
  const { status, by, reason, evidence = null } = command;
  const said = { status, by, reason, ...channelField(command) };
  return endDoubt(draft, command.action, state, { ...said, result: null, evidence });
}

/** `asks`: it still waits for people. */
type AfterRestore = { readonly kind: "in_doubt" | "refused" | "asks" | "left" };

const DONE_SINCE = "the store was restored, and it may have been done since the backup";

function refuseOpen(draft: Draft, action: string): AfterRestore {
  refuseAction(draft, action, { code: "lapsed", by: "restore", reason: DONE_SINCE });
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

export function settleAfterRestore(draft: Draft, action: string): Need | AfterRestore {
  const state = lockEffect(draft, action);
  if ("kind" in state) return state;
  if (state.phase === "open") return refuseOpen(draft, action);
  if (state.phase === "waiting") return afterWaiting(draft, action, state);
  if (state.phase !== "running" || state.effectClass === "read") return { kind: "left" };
  const { attempt, reportBy } = state.effect;
  const reason = "the store was restored while it was under way; its outcome is not known";
  // Not the report of the agent that performs it itself: that may still come.
  const by = reportBy === undefined ? {} : { by: "restore" };
  appendActionEvent(draft, action, "effect.in_doubt", { attempt, reason, ...by });
  return { kind: "in_doubt" };
}
