/** An action's state: the fold of its stream. */

import type { UndoRecord } from "../../approvals/state.ts";
import { HoldpointError } from "../../kernel/errors.ts";
import type { Json } from "../../kernel/json.ts";
import type { Refusal } from "../../kernel/refusals.ts";
import type { Fold, RecordedEvent } from "../../kernel/stream.ts";

import type { EffectClass } from "../../policy/rules/tool-rules.ts";
import type { ActionEvent, ActionEventOf, ExecutedFrom, Grant, ReservedCost, ReviewFacts } from "./events.ts";
import type { Within } from "./within.ts";

export type ActionFacts = {
  readonly requestId: string | null;
  readonly tool: string;
  readonly effectClass: EffectClass;
  readonly schema: string;
  readonly agent: string;
  readonly requester: readonly string[];
  /** What the agent says about it: untrusted text. */
  readonly says: string | null;
  /** Its place in a workflow, if it has one. */
  readonly within?: Within;
  /** The agent performs it itself, and says what became of it. */
  readonly outside?: true;
  /** How the agent says that it would take it back. */
  readonly undo?: UndoRecord;
  /** Digest of the arguments as first proposed; `argsDigest` is of those that would run now. */
  readonly proposedDigest: string;
  /** Digest of the arguments as the caller gave them, before the schema. */
  readonly givenDigest: string;
  readonly args: Json;
  readonly argsDigest: string;
  readonly from: ExecutedFrom;
  readonly proposedAt: number;
  readonly review: ReviewFacts | null;
};

export type Effect = {
  readonly id: string;
  readonly attempt: number;
  /** Who holds it: the epoch of a process, or the agent that performs it itself. */
  readonly epoch: string;
  readonly binding: string;
  readonly grant: Grant;
  readonly executeBy: number | null;
  readonly costs: readonly ReservedCost[];
  readonly startedAt: number;
  /** Until then the agent that holds it may say what became of it; absent where a process holds it. */
  readonly reportBy?: number;
  /** Of what an agent performs itself; absent where a process holds it. */
  readonly permit?: PermitState;
  /** What the agent that holds it said first. */
  readonly told?: Told;
  /** What executors that had been given up for dead said afterwards. */
  readonly late: readonly {
    readonly epoch: string;
    readonly attempt: number;
    readonly status: string;
    readonly reason: string;
    readonly resultDigest?: string;
  }[];
  /** What the latest probe said that did not end the doubt. */
  readonly probe: { readonly answer: string; readonly evidence: Json } | null;
};

/** Who was handed the permit, and whether it may have been performed. */
export type PermitState = {
  /** The digest of the holder that it was issued to; null where the agent sent none. */
  readonly holder: string | null;
  readonly isBegun: boolean;
  readonly handedOut: number;
  /** The request that it was handed out or begun for last; null in older entries. */
  readonly ask: string | null;
};

export type Told = {
  readonly status: "applied" | "not_applied" | "in_doubt";
  readonly reason: string;
  readonly resultDigest: string | null;
  /** Too late to count. */
  readonly isLate: boolean;
};

export type Outcome = {
  readonly at: number;
  readonly seq: number;
  readonly reason: string;
  readonly result: Json;
  readonly resultDigest: string | null;
  /** The epoch, probe or person that said so. */
  readonly by: string;
  readonly evidence: Json;
};

export type ActionPhase =
  | { readonly phase: "open"; readonly held: Refusal | null }
  | { readonly phase: "waiting"; readonly held: Refusal | null; readonly approval: string }
  | { readonly phase: "running"; readonly effect: Effect }
  | { readonly phase: "applied"; readonly effect: Effect; readonly outcome: Outcome }
  | { readonly phase: "not_applied"; readonly effect: Effect; readonly outcome: Outcome }
  | { readonly phase: "in_doubt"; readonly effect: Effect; readonly outcome: Outcome }
  | {
      readonly phase: "refused";
      readonly refusal: Refusal;
      readonly at: number;
      readonly approval: string | null;
    };

export type LiveAction = ActionFacts & ActionPhase;
export type ActionState = { readonly phase: "none" } | LiveAction;
export type ActionIn<Phase extends ActionPhase["phase"]> = ActionFacts &
  Extract<ActionPhase, { phase: Phase }>;

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

/** Of what an agent performs itself, its first word is kept: it has one. */
function told(effect: Effect, said: Told): Effect {
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
