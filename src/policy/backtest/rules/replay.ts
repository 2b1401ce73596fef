/**
 * Replays a journal with the folds of the runtime, and reports events of actions: proposals, reviews, human decisions,
 * starts.
 * - An action is reported as proposed, with what its policy could see at its first review, without later facts.
 * - A workflow's calls are the same, and in the same order, as a review passes to a policy.
 * - An event that cannot be reported because its body was erased is reported as lost. Nothing is skipped silently.
 * - An entry that cannot be folded (erased, or of a newer program) leaves its stream as it was, and marks a history that
 *   it belongs to as incomplete.
 * - Checkpoints and questions of workflows are not actions, and their approvals are skipped.
 * - Only what can still change is kept: open actions and approvals, and workflows that have not ended, with their calls.
 */
import {
  type ApprovalState,
  type LiveApproval,
  QUESTION_ENDS,
  type QuestionEnd,
} from "../../../approvals/state.ts";
import { approval } from "../../../approvals/stream.ts";
import {
  isCall,
  noteSettled,
  pastCall,
  type SettledCalls,
  startSettledCalls,
} from "../../../effects/rules/review.ts";
import type { ActionState, LiveAction, ReservedCost, ReviewFacts } from "../../../effects/state.ts";
import { action as actionKind } from "../../../effects/stream.ts";
import { copyJson } from "../../../kernel/canonical-json.ts";
import { HoldpointError } from "../../../kernel/errors.ts";
import type { Json, JsonObject } from "../../../kernel/json.ts";
import { isArtifactRef } from "../../../kernel/stored-value.ts";
import type { Fold, RecordedEvent } from "../../../kernel/stream.ts";
import type { Fork } from "../../../workflows/events.ts";
import type { WorkflowState } from "../../../workflows/state.ts";
import { workflow as flows } from "../../../workflows/stream.ts";
import type { ApprovalTerms } from "../../rules/stages.ts";
import { type CallKind, UNDO_NOT_NAMED } from "../../rules/tools.ts";
import type { PastCall, PolicyInput } from "../../rules/verdict.ts";
import type { PersonDecision } from "./answers.ts";

type ReplayEntry = Omit<RecordedEvent, "body"> & {
  readonly position: number;
  readonly kind: string;
  readonly id: string;
  /** JSON text; null if erased. Parsed only if needed: most of a journal is not. */
  readonly text: string | null;
};

const REPLAYED_KINDS: readonly string[] = ["action", "approval", "workflow"];

/** Undefined for an entry that a replay does not use. */
export function parseReplayEntry(
  entry: Omit<RecordedEvent, "body"> & {
    readonly stream: string;
    readonly position: number;
    readonly body: string | null;
  },
): ReplayEntry | undefined {
  const { stream, type, tv, at, seq } = entry;
  const slash = stream.indexOf("/");
  const kind = stream.slice(0, slash);
  if (!REPLAYED_KINDS.includes(kind)) return undefined;
  return { position: entry.position, kind, id: stream.slice(slash + 1), type, tv, at, seq, text: entry.body };
}

/** An action as it was proposed. */
export type RecordedAction = LiveAction & { readonly id: string };

/** The kind under which a policy judges it. An undo named by an agent is a call of that tool. */
export const callKindOfAction = ({ within }: Pick<RecordedAction, "within">): CallKind =>
  within === undefined || within.undoes === null || within.declared !== undefined ? "call" : "undo";

/** Rules that approved an undo about which the document said nothing. */
const LEFT_TO_THE_PROGRAM: readonly string[] = ["policy", UNDO_NOT_NAMED];

/**
 * For older journals: undos named by agents were once reviewed like compensations declared by a tool, and a document
 * could leave them to the program.
 */
export const mayBeLeftAlone = (
  { within }: Pick<RecordedAction, "within">,
  { verdict, rule }: Pick<RecordedReview, "verdict" | "rule">,
): boolean => within?.declared !== undefined && verdict === "approve" && LEFT_TO_THE_PROGRAM.includes(rule);

export type RecordedReview = ReviewFacts & { readonly revised: boolean; readonly argsDigest: string };

type About = { readonly action: RecordedAction };

export type ReplayEvent =
  | { readonly kind: "proposed"; readonly at: number }
  | { readonly kind: "lost"; readonly at: number; readonly what: "proposal" | "review" | "decision" }
  | { readonly kind: "forked"; readonly workflow: string; readonly fork: Fork; readonly position: number }
  | (About & { readonly kind: "reviewed"; readonly review: RecordedReview; readonly now: number })
  /** An approval was requested for these arguments. */
  | (About & {
      readonly kind: "asked";
      readonly args: Json;
      readonly argsDigest: string;
      readonly rule: string;
      readonly terms: ApprovalTerms;
      /** Several people have to approve, at once or in stages. */
      readonly ofSeveral: boolean;
    })
  /** A granted approval was revoked before it was used. */
  | {
      readonly kind: "revoked";
      readonly approval: string;
      readonly by: readonly string[];
      readonly reason: string;
    }
  | (About & { readonly kind: "edited"; readonly args: Json; readonly by: string; readonly now: number })
  | (About & {
      readonly kind: "decided";
      readonly approval: string;
      readonly decision: PersonDecision;
      readonly by: readonly string[];
      readonly reason: string;
      readonly now: number;
      /** Digest of the approved arguments, if a person changed them. */
      readonly editedDigest: string | null;
    })
  | (About & { readonly kind: "started"; readonly costs: readonly ReservedCost[] });

type Tracked<State> = { state: State; isWhole: boolean };

type TrackedAction = Tracked<ActionState> & {
  readonly action: RecordedAction;
  isReviewed: boolean;
  /** The last revision cannot be folded: what was reviewed is not known. */
  isRevisionLost: boolean;
  /** Digests of the arguments of the last request, and of the last edit by a person. */
  asked: string | null;
  edited: string | null;
  /** The last request was about a person's edit. */
  isEdit: boolean;
};

type TrackedApproval = Tracked<ApprovalState> & {
  readonly asker: TrackedAction;
  /** Set if it was requested for a person's edit. */
  readonly editedDigest: string | null;
};

type TrackedWorkflow = Tracked<WorkflowState> & {
  readonly settled: SettledCalls;
  /** Of a fork: the calls that its origin had settled by then. */
  began: readonly PastCall[];
  readonly actions: string[];
};

type ReplayState = {
  readonly actions: Map<string, TrackedAction>;
  readonly approvals: Map<string, TrackedApproval>;
  readonly workflows: Map<string, TrackedWorkflow>;
};

export function recordedEvent({ type, tv, at, seq, text }: ReplayEntry): RecordedEvent {
  return { type, tv, at, seq, body: text === null ? null : (JSON.parse(text) as JsonObject) };
}

/** The event; undefined if it cannot be folded: then the state stays as it was. */
function advance<State>(
  tracked: Tracked<State>,
  fold: Fold<State>,
  entry: ReplayEntry,
): RecordedEvent | undefined {
  const event = recordedEvent(entry);
  try {
    tracked.state = fold.evolve(tracked.state, event);
    return event;
  } catch (error) {
    if (!(error instanceof HoldpointError)) throw error;
    return undefined;
  }
}

function propose({ actions, workflows }: ReplayState, entry: ReplayEntry): ReplayEvent {
  const tracked = { state: actionKind.fold.initial, isWhole: true };
  advance(tracked, actionKind.fold, entry);
  const { state } = tracked;
  if (state.phase === "none") return { kind: "lost", at: entry.at, what: "proposal" };
  const asking = { isReviewed: false, isRevisionLost: false, asked: null, edited: null, isEdit: false };
  actions.set(entry.id, { ...tracked, action: { ...state, id: entry.id }, ...asking });
  if (state.within !== undefined) workflows.get(state.within.workflow)?.actions.push(entry.id);
  return { kind: "proposed", at: entry.at };
}

/** Equal to no arguments, so no answer counts as the same. */
const LOST_REVISION = { argsDigest: "", from: "supervisor_revised" };

function review(one: TrackedAction, before: ActionState, entry: ReplayEntry): ReplayEvent | undefined {
  const { action, state } = one;
  if (one.isReviewed || state.phase === "none" || before.phase === "none") return undefined;
  one.isReviewed = true;
  if (state.review === null) return { kind: "lost", at: action.proposedAt, what: "review" };
  const { argsDigest, from } = one.isRevisionLost ? LOST_REVISION : before;
  const said = { ...state.review, argsDigest, revised: from !== "original" };
  return { kind: "reviewed", action, review: said, now: entry.at };
}

function takeAction(replay: ReplayState, entry: ReplayEntry): ReplayEvent | undefined {
  const { id, type } = entry;
  if (type === "action.proposed") return propose(replay, entry);
  const one = replay.actions.get(id);
  if (one === undefined) return undefined;
  const { state: before, action } = one;
  const isFolded = advance(one, actionKind.fold, entry) !== undefined;
  one.isWhole &&= isFolded;
  if (type === "action.revised") one.isRevisionLost = !isFolded;
  // Outside a workflow nothing depends on its outcome.
  const isStarted = type === "effect.started" || type === "action.refused";
  if (isStarted && action.within === undefined) replay.actions.delete(id);
  if (type === "action.reviewed") return review(one, before, entry);
  if (type !== "effect.started") return undefined;
  return { kind: "started", action, costs: one.state.phase === "running" ? one.state.effect.costs : [] };
}

/** The terms of a recorded approval request. */
function recordedTerms(question: LiveApproval): ApprovalTerms {
  const { approvers, stages, onTimeout, decideBy, executeBy, requestedAt: at } = question;
  const decideWithinMs = decideBy === null ? null : decideBy - at;
  const whole = (stages ?? [{ decideWithinMs }]).reduce((sum, one) => sum + (one.decideWithinMs ?? 0), 0);
  return {
    approvers,
    decideWithinMs,
    executeWithinMs: executeBy === null ? null : executeBy - at - whole,
    ...(stages === undefined ? {} : { stages }),
    ...(onTimeout === undefined ? {} : { onTimeout }),
  };
}

function ask({ actions, approvals }: ReplayState, entry: ReplayEntry): ReplayEvent | undefined {
  const tracked = { state: approval.fold.initial, isWhole: true };
  advance(tracked, approval.fold, entry);
  const { state } = tracked;
  if (state.status === "none") return { kind: "lost", at: entry.at, what: "decision" };
  const asker = actions.get(state.action);
  if (asker === undefined || state.subject !== undefined) return undefined;
  const { args, argsDigest, rule } = state;
  // Requested again for a person's edit: another rule requires approval for it.
  const isEdit = asker.edited === argsDigest && (asker.asked !== argsDigest || asker.isEdit);
  Object.assign(asker, { asked: argsDigest, isEdit });
  approvals.set(entry.id, { ...tracked, asker, editedDigest: isEdit ? argsDigest : null });
  const ofSeveral = state.stages !== undefined || state.approvers.quorum !== 1;
  const { action } = asker;
  return { kind: "asked", action, args, argsDigest, rule, terms: recordedTerms(state), ofSeveral };
}

function takeApproval(replay: ReplayState, entry: ReplayEntry): ReplayEvent | undefined {
  const { id, type, at } = entry;
  if (type === "approval.requested") return ask(replay, entry);
  const one = replay.approvals.get(id);
  if (one === undefined) return undefined;
  const isFolded = advance(one, approval.fold, entry) !== undefined;
  const end = QUESTION_ENDS[type.slice("approval.".length) as QuestionEnd] as
    | (typeof QUESTION_ENDS)[QuestionEnd]
    | undefined;
  if (end !== undefined) return decide(replay, entry, one, end.countsAs);
  const { state, asker } = one;
  const { by = [], reason = "" } = state.status === "none" ? {} : (state.ended ?? {});
  switch (type) {
    case "approval.edited":
    case "approval.revised":
      if (!isFolded) return { kind: "lost", at, what: "decision" };
      if (state.status === "none" || state.edit === null) return undefined;
      asker.edited = state.edit.argsDigest;
      return { kind: "edited", action: asker.action, args: state.edit.args, by: state.edit.by, now: at };
    case "approval.revoked":
      replay.approvals.delete(id);
      return { kind: "revoked", approval: id, by, reason };
    case "approval.consumed":
    case "approval.lapsed":
      replay.approvals.delete(id);
  }
  return undefined;
}

function decide(
  { approvals }: ReplayState,
  { id, at }: ReplayEntry,
  { state, asker, editedDigest }: TrackedApproval,
  end: (typeof QUESTION_ENDS)[QuestionEnd]["countsAs"],
): ReplayEvent | undefined {
  const decision = end === "modified" ? "edited" : end;
  if (end !== "approved" && end !== "modified") approvals.delete(id);
  const { decided, edited, argsDigest } = state.status === "none" ? NOT_READ : state;
  const by = decided?.by ?? [];
  // Withdrawn by a rule: another request replaces it.
  if (decision === "cancelled" && by.includes("policy")) return undefined;
  const said = { decision, by, reason: decided?.reason ?? "", now: at } as const;
  const changed = edited ? argsDigest : editedDigest;
  return { kind: "decided", action: asker.action, editedDigest: changed, approval: id, ...said };
}

const NOT_READ = { decided: null, edited: false, argsDigest: null } as const;

/** Entries that belong to what a policy sees of a workflow. */
const IN_HISTORY = /^(?:workflow\.created|call\.|compensation\.|rollback\.ended)/;

function takeWorkflow(replay: ReplayState, entry: ReplayEntry): ReplayEvent | undefined {
  const { id, type, position } = entry;
  const isNew = type === "workflow.created";
  const one = isNew
    ? { state: flows.fold.initial, isWhole: true, settled: startSettledCalls(), began: [], actions: [] }
    : replay.workflows.get(id);
  if (one === undefined) return undefined;
  if (isNew) replay.workflows.set(id, one);
  const event = advance(one, flows.fold, entry);
  if (event === undefined) one.isWhole &&= !IN_HISTORY.test(type);
  else noteSettled(one.settled, { ...event, body: event.body ?? {} });
  const { state } = one;
  if (state.status === "none") return undefined;
  if (state.end !== null && state.open.length === 0) drop(replay, id, one);
  return isNew && state.fork !== null
    ? { kind: "forked", workflow: id, fork: state.fork, position }
    : undefined;
}

function drop({ actions, workflows }: ReplayState, workflow: string, one: TrackedWorkflow): void {
  for (const id of one.actions) actions.delete(id);
  workflows.delete(workflow);
}

type History = { readonly calls: readonly PastCall[]; readonly isWhole: boolean };
const NO_HISTORY: History = { calls: [], isWhole: false };

const isPartly = ({ args, result }: PastCall): boolean => isArtifactRef(args) || isArtifactRef(result);

function historyOf({ actions, workflows }: ReplayState, workflow: string, except: string): History {
  const one = workflows.get(workflow);
  if (one === undefined) return NO_HISTORY;
  const { state, settled, began } = one;
  const open =
    state.status === "none" ? [] : state.open.filter((id) => id.startsWith("act_") && id !== except);
  const known = [...settled.settled, ...open].map((id) => [id, actions.get(id)] as const);
  const own = known.flatMap(([id, call]) =>
    call !== undefined && isCall(call.state) ? pastCall(id, call.state, settled.undone.has(id)) : [],
  );
  const before = began.map((call) => ({ ...call, undone: call.undone || settled.undone.has(call.action) }));
  const calls = [...before, ...own].sort((a, b) => a.at - b.at);
  const isWhole = one.isWhole && known.every(([, call]) => call?.isWhole === true) && !calls.some(isPartly);
  return { calls, isWhole };
}

type ReplayedArgs = { readonly args: Json; readonly now: number };
/** `isWhole` is false if the history was read and part of it was erased, or is stored as an artifact. */
type ReplayedInput = { readonly input: PolicyInput; readonly isWhole: () => boolean };

/** The history is built when a policy reads it, at this point of the replay. */
function inputOf(replay: ReplayState, action: RecordedAction, { args, now }: ReplayedArgs): ReplayedInput {
  const { id, tool, effectClass, agent, requester, requestId, within } = action;
  const known = { tool, effectClass, args, agent, requester, requestId, now };
  if (within === undefined) return { input: { ...known, workflow: null, history: [] }, isWhole: () => true };
  const state = replay.workflows.get(within.workflow)?.state;
  const isKnown = state !== undefined && state.status !== "none";
  const { name, generation, parties } = isKnown
    ? state
    : { name: "", generation: Number(within.op.split("/")[1] ?? 1), parties: undefined };
  let history: History | undefined;
  const input = {
    ...known,
    workflow: { id: within.workflow, name, generation, poster: parties?.poster ?? "" },
    get history() {
      history ??= historyOf(replay, within.workflow, id);
      // A copy, so that a policy cannot change the original.
      return copyJson(history.calls as unknown as Json) as unknown as readonly PastCall[];
    },
  };
  return { input, isWhole: () => history?.isWhole !== false };
}

export type Replay = {
  take(entry: ReplayEntry): ReplayEvent | undefined;
  /** The initial calls of a forked workflow; null if they are no longer available. */
  begin(workflow: string, calls: readonly PastCall[] | null): void;
  /** The input that a policy would receive for an action at this point of the replay. */
  input(action: RecordedAction, told: ReplayedArgs): ReplayedInput;
};

export function startReplay(): Replay {
  const replay: ReplayState = { actions: new Map(), approvals: new Map(), workflows: new Map() };
  return {
    take(entry) {
      if (entry.kind === "action") return takeAction(replay, entry);
      return entry.kind === "approval" ? takeApproval(replay, entry) : takeWorkflow(replay, entry);
    },
    begin(workflow, calls) {
      const one = replay.workflows.get(workflow);
      if (one === undefined) return;
      one.began = calls ?? [];
      one.isWhole &&= calls !== null;
    },
    input: (action, told) => inputOf(replay, action, told),
  };
}
