/**
 * What became of an effect.
 *
 * T1. Only the epoch that holds the attempt, while it lives, writes its outcome; anything later is kept as testimony.
 * T2. Budgets are settled when it was applied, released when it certainly was not, and kept while it is in doubt. So is
 *     the use of a standing grant.
 * T3. Unknown is in doubt, never failed. That a later attempt did nothing says nothing about those before it.
 */

import { settleReservation } from "../../budgets/stream.ts";
import { grantsBehind, settleUse } from "../../grants/rules.ts";
import { digestOf } from "../../kernel/canonical-json.ts";
import type { Json } from "../../kernel/json.ts";
import { actionStream, budgetStream, epochStream, workflowStream } from "../../kernel/stream.ts";
import type { Draft, Need } from "../../kernel/transaction.ts";

import { settleCall } from "../workflow/call.ts";
import { actionOf } from "./start.ts";
import type { Effect, LiveAction } from "./state.ts";

export type Report =
  /** `spent`: the true amount by budget; a budget not named is settled at what was reserved. */
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
  readonly report: Report;
};

export type OutcomeAnswer = { readonly kind: "recorded" | "late"; readonly state: LiveAction };

export function settleCosts(
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
  if (!applied)
    settleUse(draft, "grant.returned", {
      action: actionOf(effect.id),
      effect: effect.id,
      grant: effect.grant,
    });
}

export function lockEffect(draft: Draft, action: string): Need | LiveAction {
  const ref = actionStream(action);
  const more = draft.need({ write: [ref] });
  if (more !== undefined) return more;
  const state = draft.state(ref);
  if (state.phase === "none") throw new TypeError(`the action ${action} does not exist`);
  if (!("effect" in state)) return state;
  const budgets = state.effect.costs.map((cost) => budgetStream(cost.budget));
  const place = state.within === undefined ? [] : [workflowStream(state.within.workflow)];
  const write = [...budgets, ...grantsBehind(state.effect.grant), ...place];
  const read = state.effect.reportBy === undefined ? [epochStream(state.effect.epoch)] : [];
  return draft.need({ write, read }) ?? state;
}

/** What a report proves of the effect as a whole: "nothing happened" only while there was one attempt. */
function proven(state: LiveAction, command: OutcomeCommand): OutcomeCommand {
  const { report, attempt } = command;
  if (report.status !== "not_applied" || attempt === 1 || state.effectClass === "read") return command;
  const reason = `${report.reason}; an attempt before this one may have been applied`;
  return { ...command, report: { status: "in_doubt", reason } };
}

export function writeOutcome(draft: Draft, command: OutcomeCommand, effect: Effect): void {
  const { report, epoch, attempt } = command;
  const ref = actionStream(command.action);
  switch (report.status) {
    case "applied": {
      const body = {
        epoch,
        attempt,
        result: draft.keep(report.result),
        resultDigest: digestOf(report.result),
      };
      draft.append(ref, [{ type: "effect.applied", tv: 1, body }]);
      settleCosts(draft, effect, true, report.spent);
      break;
    }
    case "not_applied":
      draft.append(ref, [
        { type: "effect.not_applied", tv: 1, body: { epoch, attempt, reason: report.reason } },
      ]);
      settleCosts(draft, effect, false, {});
      break;
    case "in_doubt":
      draft.append(ref, [{ type: "effect.in_doubt", tv: 1, body: { attempt, reason: report.reason } }]);
  }
}

/** The same executor said the same before: its commit had been answered with an error, or its call was repeated. */
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
  const current = () => draft.state(actionStream(command.action)) as LiveAction;
  if (state.phase === "running" && mayWrite(draft, state.effect, command)) {
    writeOutcome(draft, command, state.effect);
    const more = settleCall(draft, command.action);
    if (more !== undefined) return more;
    return { kind: "recorded", state: current() };
  }
  if ("effect" in state) {
    const { epoch, attempt, report } = reported;
    const reason = report.status === "applied" ? "" : report.reason;
    const known = state.effect.late.some(
      (late) => late.epoch === epoch && late.attempt === attempt && late.status === report.status,
    );
    const body = { epoch, attempt, status: report.status, reason };
    if (!known) draft.append(actionStream(command.action), [{ type: "effect.reported_late", tv: 1, body }]);
  }
  return { kind: "late", state: current() };
}

function mayWrite(draft: Draft, effect: Effect, command: OutcomeCommand): boolean {
  if (effect.epoch !== command.epoch || effect.attempt !== command.attempt) return false;
  return draft.state(epochStream(command.epoch)).life === "open";
}
