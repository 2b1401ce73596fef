/** Every action, by phase: what waits, runs, is in doubt, was done or refused. */

import { previewOf } from "../approvals/stream.ts";
import type { ActionState, LiveAction } from "../core/action/state.ts";
import type { JsonObject } from "../kernel/json.ts";

const ACTIONS_VIEW = "actions";

/** What policy said last; what it changed and then approved is a verdict of its own. */
function verdictOf({ review, from }: LiveAction): string | null {
  if (review === null) return null;
  return review.verdict === "approve" && from === "supervisor_revised" ? "revise" : review.verdict;
}

function progress(action: LiveAction): JsonObject {
  switch (action.phase) {
    case "open":
      return { held: action.held?.code ?? null };
    case "waiting":
      return { approval: action.approval };
    case "refused":
      return { code: action.refusal.code, reason: action.refusal.reason };
    case "running":
      return {
        effect: action.effect.id,
        epoch: action.effect.epoch,
        attempt: action.effect.attempt,
        startedAt: action.effect.startedAt,
        ...(action.effect.reportBy === undefined ? {} : { reportBy: action.effect.reportBy }),
      };
    default:
      return {
        effect: action.effect.id,
        attempt: action.effect.attempt,
        reason: action.outcome.reason,
        endedAt: action.outcome.at,
      };
  }
}

export const actionsView = {
  view: ACTIONS_VIEW,
  kind: "action",
  version: 3,
  // Without a verdict: an action that is then counted among none.
  oldest: 2,
  row(_id: string, state: ActionState) {
    if (state.phase === "none") return undefined;
    const { tool, effectClass, agent, requestId, argsDigest } = state;
    const data = {
      tool,
      effectClass,
      agent,
      requestId,
      argsHash: argsDigest.slice(0, 12),
      args: previewOf(state.args),
      verdict: verdictOf(state),
      ...progress(state),
    };
    // A running one that nobody reports on is announced then.
    const due = state.phase === "running" ? (state.effect.reportBy ?? null) : null;
    return { bucket: state.phase, at: state.proposedAt, due, data };
  },
} as const;
