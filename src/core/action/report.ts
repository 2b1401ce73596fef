/**
 * What became of an effect that the agent performs itself: its own word, once, by the time that it was given.
 *
 * A1. Only the agent that proposed it says what became of it. Its first word counts; the same again is answered alike, and
 *     another one is recorded and changes nothing.
 * A2. Nobody has said by then what became of it: in doubt, whatever is said afterwards. A read has no effect that one could
 *     be in doubt about.
 * A3. No process holds it: whoever gave the permit may die, close or be replaced, and the effect stays the agent's.
 */
import { digestOf } from "../../kernel/canonical-json.ts";
import { actionStream } from "../../kernel/stream.ts";
import type { Draft, Need } from "../../kernel/transaction.ts";

import { settleCall } from "../workflow/call.ts";
import { lockEffect, type Report, writeOutcome } from "./outcome.ts";
import type { ActionIn, LiveAction, Told } from "./state.ts";

export type ReportCommand = { readonly action: string; readonly agent: string; readonly report: Report };

export type ReportAnswer =
  | { readonly kind: "recorded" | "same"; readonly state: LiveAction }
  /** It is in doubt, or a person has ended that: kept as testimony. */
  | { readonly kind: "late"; readonly state: LiveAction }
  /** The agent has said something else before: kept as testimony. */
  | { readonly kind: "conflict"; readonly state: LiveAction; readonly told: Told }
  | { readonly kind: "not_started"; readonly state: LiveAction }
  | { readonly kind: "not_yours"; readonly agent: string };

const UNREPORTED = "nobody said in time what became of it";
/** Whose word it is that nobody has said anything. */
export const DEADLINE = "deadline";

const isOverdue = ({ effect }: ActionIn<"running">, now: number): boolean =>
  effect.reportBy !== undefined && now >= effect.reportBy;

function stateOf(draft: Draft, action: string): LiveAction {
  return draft.state(actionStream(action)) as LiveAction;
}

function passTime(draft: Draft, action: string, state: ActionIn<"running">): Need | undefined {
  const { effect, effectClass } = state;
  const { attempt } = effect;
  if (effectClass === "read") {
    const report = { status: "not_applied", reason: UNREPORTED } as const;
    writeOutcome(draft, { action, epoch: DEADLINE, attempt, report }, effect);
    return settleCall(draft, action);
  }
  const body = { attempt, reason: UNREPORTED, by: DEADLINE };
  draft.append(actionStream(action), [{ type: "effect.in_doubt", tv: 1, body }]);
  return settleCall(draft, action);
}

/** Puts an effect in doubt of which nobody has said anything in time. A sweep announces it; reports look by themselves. */
export function passReportTime(
  draft: Draft,
  action: string,
): Need | { readonly kind: "overdue" | "left"; readonly state: LiveAction } {
  const state = lockEffect(draft, action);
  if ("kind" in state) return state;
  if (state.phase !== "running" || !isOverdue(state, draft.now)) return { kind: "left", state };
  return passTime(draft, action, state) ?? { kind: "overdue", state: stateOf(draft, action) };
}

/** What is unknown of a read is that it did not give anything. */
function asSaid(report: Report, state: LiveAction): Report {
  if (report.status !== "in_doubt" || state.effectClass !== "read") return report;
  return { status: "not_applied", reason: report.reason };
}

type Word = Omit<Told, "isLate">;

function wordOf(report: Report): Word {
  return report.status === "applied"
    ? { status: "applied", reason: "", resultDigest: digestOf(report.result) }
    : { status: report.status, reason: report.reason, resultDigest: null };
}

const isAlike = (one: Word, other: Word): boolean =>
  one.status === other.status && one.reason === other.reason && one.resultDigest === other.resultDigest;

/** Whoever says something else each time does not grow the journal either. */
const MOST_TESTIMONIES = 20;

/** Kept once: whoever says it in a loop does not grow the journal. */
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
  draft.append(actionStream(action), [{ type: "effect.reported_late", tv: 1, body }]);
}

function afterwards(draft: Draft, command: ReportCommand, state: LiveAction): ReportAnswer {
  const { told } = "effect" in state ? state.effect : {};
  if (told !== undefined && isAlike(told, wordOf(command.report)))
    return { kind: told.isLate ? "late" : "same", state };
  testify(draft, command, state);
  const after = stateOf(draft, command.action);
  return told === undefined ? { kind: "late", state: after } : { kind: "conflict", state: after, told };
}

export function reportOutcome(draft: Draft, given: ReportCommand): Need | ReportAnswer {
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
  return settleCall(draft, action) ?? { kind: "recorded", state: stateOf(draft, action) };
}
