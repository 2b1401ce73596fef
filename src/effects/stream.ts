/** The fold of an action's stream, and the list of actions by phase: waiting, running, in doubt, done or refused. */

import { actionTitle } from "../approvals/rules/title.ts";
import { previewOf, titleForRow } from "../kernel/canonical-json.ts";
import { HoldpointError } from "../kernel/errors.ts";
import type { JsonObject } from "../kernel/json.ts";
import type { Fold, RecordedEvent } from "../kernel/stream.ts";
import type {
  ActionEvent,
  ActionEventOf,
  ActionIn,
  ActionState,
  Effect,
  LiveAction,
  PermitState,
  Testimony,
} from "./state.ts";

function wrongOrder(state: ActionState, type: string): HoldpointError {
  return new HoldpointError(
    "broken_rule",
    `The event "${type}" cannot follow an action that is ${state.phase}.`,
  );
}

function proposed(event: ActionEventOf<"action.proposed">, at: number): ActionState {
  const { argsDigest, ...facts } = event.body;
  return {
    ...facts,
    argsDigest,
    proposedDigest: argsDigest,
    from: "original",
    proposedAt: at,
    review: null,
    phase: "open",
    held: null,
  };
}

function reviewed(state: LiveAction, event: ActionEventOf<"action.reviewed">): ActionState {
  const { approval, ...review } = event.body;
  const facts = { ...state, review };
  return approval === null
    ? { ...facts, phase: "open", held: null }
    : { ...facts, phase: "waiting", approval, held: null };
}

function revised(state: LiveAction, event: ActionEventOf<"action.revised">): ActionState {
  const { by, args, argsDigest } = event.body;
  const person = by !== "policy";
  const from = person || state.from === "human_revised" ? "human_revised" : "supervisor_revised";
  return { ...state, args, argsDigest, from };
}

function started(state: LiveAction, event: ActionEventOf<"effect.started">, at: number): ActionState {
  const { effect, holder, ask, ...body } = event.body;
  const fresh = { id: effect, attempt: 1, startedAt: at, late: [], probe: null };
  const permit = { holder: holder ?? null, isBegun: holder === undefined, handedOut: 1, ask: ask ?? null };
  const issued = body.reportBy === undefined ? {} : { permit };
  return { ...state, phase: "running", effect: { ...body, ...fresh, ...issued } };
}

type HandingEvent = ActionEventOf<"effect.begun" | "effect.handed_out">;

function handedOut(state: ActionIn<"running">, permit: PermitState, event: HandingEvent): ActionState {
  const { ask } = event.body;
  const next =
    event.type === "effect.begun"
      ? { ...permit, isBegun: true, ask }
      : { ...permit, handedOut: event.body.times, ask };
  return { ...state, effect: { ...state.effect, permit: next } };
}

/** An agent that performs the effect itself has one report: the first is kept. */
function told(effect: Effect, said: Testimony): Effect {
  return effect.reportBy === undefined || effect.told !== undefined ? effect : { ...effect, told: said };
}

type OutcomeEvent = ActionEventOf<"effect.applied" | "effect.not_applied" | "effect.in_doubt">;

function ended(running: ActionIn<"running">, event: OutcomeEvent, when: RecordedEvent): ActionState {
  const state = { ...running, effect: wordOf(running.effect, event) };
  const said = {
    at: when.at,
    seq: when.seq,
    reason: "",
    result: null,
    resultDigest: null,
    by: state.effect.epoch,
    evidence: null,
  };
  switch (event.type) {
    case "effect.applied": {
      const { result, resultDigest } = event.body;
      return { ...state, phase: "applied", outcome: { ...said, result, resultDigest } };
    }
    case "effect.not_applied":
      return {
        ...state,
        phase: "not_applied",
        outcome: { ...said, reason: event.body.reason, by: event.body.epoch },
      };
    case "effect.in_doubt":
      return { ...state, phase: "in_doubt", outcome: { ...said, ...sayingOf(event.body) } };
  }
}

const sayingOf = ({ reason, by }: ActionEventOf<"effect.in_doubt">["body"]) =>
  by === undefined ? { reason } : { reason, by };

const WORD = { reason: "", resultDigest: null, isLate: false } as const;

function wordOf(effect: Effect, event: OutcomeEvent): Effect {
  switch (event.type) {
    case "effect.applied":
      return told(effect, { ...WORD, status: "applied", resultDigest: event.body.resultDigest });
    case "effect.not_applied":
      return event.body.epoch === effect.epoch
        ? told(effect, { ...WORD, status: "not_applied", reason: event.body.reason })
        : effect;
    case "effect.in_doubt":
      return event.body.by === undefined
        ? told(effect, { ...WORD, status: "in_doubt", reason: event.body.reason })
        : effect;
  }
}

function late(state: LiveAction & { effect: Effect }, event: ActionEventOf<"effect.reported_late">) {
  const { epoch, attempt, status, reason, resultDigest = null } = event.body;
  const effect = told(state.effect, { status, reason, resultDigest, isLate: true });
  const said = { epoch, attempt, status, reason, ...(resultDigest === null ? {} : { resultDigest }) };
  return { ...state, effect: { ...effect, late: [...effect.late, said] } };
}

function resolved(
  state: ActionIn<"in_doubt">,
  event: ActionEventOf<"effect.resolved">,
  when: RecordedEvent,
): ActionState {
  const { status, via: _, ...said } = event.body;
  return { ...state, phase: status, outcome: { ...said, at: when.at, seq: when.seq } };
}

function evolveEffect(state: LiveAction, event: ActionEvent, when: RecordedEvent): ActionState {
  switch (event.type) {
    case "effect.begun":
    case "effect.handed_out":
      if (state.phase !== "running" || state.effect.permit === undefined) break;
      return handedOut(state, state.effect.permit, event);
    case "effect.retried":
      if (state.phase !== "running") break;
      return {
        ...state,
        effect: { ...state.effect, epoch: event.body.epoch, attempt: state.effect.attempt + 1 },
      };
    case "effect.applied":
    case "effect.not_applied":
    case "effect.in_doubt":
      if (state.phase !== "running") break;
      return ended(state, event, when);
    case "effect.probed":
      if (state.phase !== "in_doubt") break;
      return { ...state, effect: { ...state.effect, probe: event.body } };
    case "effect.resolved":
      if (state.phase !== "in_doubt") break;
      return resolved(state, event, when);
    case "effect.reported_late":
      if (!("effect" in state)) break;
      return late(state, event);
  }
  throw wrongOrder(state, event.type);
}

function evolveOpen(state: LiveAction, event: ActionEvent, when: RecordedEvent): ActionState {
  const undecided = state.phase === "open" || state.phase === "waiting";
  switch (event.type) {
    case "action.conflicted":
      return state;
    case "action.revised":
      if (!undecided) break;
      return revised(state, event);
    case "action.reviewed":
      if (!undecided) break;
      return reviewed(state, event);
    case "action.held":
      if (!undecided) break;
      return { ...state, held: event.body };
    case "action.refused":
      if (!undecided) break;
      return {
        ...state,
        phase: "refused",
        refusal: event.body,
        at: when.at,
        approval: state.phase === "waiting" ? state.approval : null,
      };
    case "effect.started":
      if (!undecided) break;
      return started(state, event, when.at);
    default:
      return evolveEffect(state, event, when);
  }
  throw wrongOrder(state, event.type);
}

export const ACTION_EVENTS: readonly string[] = [
  "action.proposed",
  "action.revised",
  "action.reviewed",
  "action.held",
  "action.refused",
  "action.conflicted",
  "effect.started",
  "effect.begun",
  "effect.handed_out",
  "effect.retried",
  "effect.applied",
  "effect.not_applied",
  "effect.in_doubt",
  "effect.probed",
  "effect.resolved",
  "effect.reported_late",
] satisfies readonly ActionEvent["type"][];

const OVER: readonly ActionState["phase"][] = ["applied", "not_applied", "refused"];

export const actionFold: Fold<ActionState> = {
  version: 5,
  initial: { phase: "none" },
  isOver: (state) => OVER.includes(state.phase),
  evolve(state, recorded) {
    if (!ACTION_EVENTS.includes(recorded.type) || recorded.tv !== 1) {
      throw new HoldpointError(
        "unknown_event",
        `An action met the event "${recorded.type}" version ${recorded.tv}.`,
      );
    }
    if (recorded.body === null)
      throw new HoldpointError("body_erased", `The body of entry ${recorded.seq} is gone.`);
    const event = recorded as unknown as ActionEvent;
    if (state.phase === "none") {
      if (event.type === "action.proposed") return proposed(event, recorded.at);
      throw wrongOrder(state, event.type);
    }
    return evolveOpen(state, event, recorded);
  },
};

const ACTIONS_VIEW = "actions";

/** The latest policy verdict. A call that the policy changed and then approved counts as `revise`. */
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
  // Rows of version 2 have no verdict; such an action is counted under none.
  oldest: 2,
  row(_id: string, state: ActionState) {
    if (state.phase === "none") return undefined;
    const { tool, effectClass, agent, requestId, argsDigest, titleTemplate } = state;
    const args = previewOf(state.args);
    const data = {
      tool,
      effectClass,
      agent,
      requestId,
      argsHash: argsDigest.slice(0, 12),
      args,
      verdict: verdictOf(state),
      ...titleForRow(args, titleTemplate, () => actionTitle(tool, titleTemplate, state.args)),
      ...progress(state),
    };
    // A running effect without a report is announced at this time.
    const due = state.phase === "running" ? (state.effect.reportBy ?? null) : null;
    return { bucket: state.phase, at: state.proposedAt, due, data };
  },
} as const;
