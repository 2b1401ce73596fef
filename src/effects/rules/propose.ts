/**
 * Proposing an action, and withdrawing one that has not started.
 * - A request id names one action in a tenant forever. The same action gets the original answer, another is refused.
 * - A business identity (`dedupe`) refuses the same operation under a new request id, within its window.
 * - An undo call declared by the agent comes with the proposal and never changes: people see and approve both together.
 * - The undo is an action of its own, reviewed like any proposal of that tool. It passes like other compensations only
 *   if no policy covers it and people approved it as it is.
 * - Cancelling withdraws the approval. An action held by a kill switch or budget may be given up; its workflow is
 *   notified.
 */
import type { UndoCall, UndoRecord, UndoSeen } from "../../approvals/state.ts";
import { digestOf } from "../../kernel/canonical-json.ts";
import type { Json } from "../../kernel/json.ts";
import { actionStream, type StreamRef } from "../../kernel/stream.ts";
import type { Draft, Need } from "../../kernel/transaction.ts";
import type { Executor, Load } from "../../policy/rules/tool-rules.ts";
import {
  checkNewPlacement,
  type Placement,
  placeCall,
  settleCall,
  type Turned,
} from "../../workflows/rules/calls.ts";
import type { ActionIn, LiveAction, Within } from "../state.ts";
import { appendActionEvent } from "../stream.ts";
import { type Advanced, advance } from "./advance.ts";
import { checkDedupe, refuseAction, withdrawPendingApproval } from "./start.ts";

type WithUndo = { readonly undo?: UndoRecord };

function keepUndo(draft: Draft, undo: UndoCall | undefined): WithUndo {
  if (undo === undefined) return {};
  return { undo: { tool: undo.tool, args: draft.keep(undo.args), argsDigest: digestOf(undo.args) } };
}

function isSameUndo({ undo }: WithUndo, given: UndoCall | undefined): boolean {
  if (undo === undefined || given === undefined) return undo === given;
  return undo.tool === given.tool && undo.argsDigest === digestOf(given.args);
}

/** `seen`: people approved the arguments as proposed. The undo was declared for those only. */
export function undoSeen(state: LiveAction): UndoSeen {
  const isApproved = "effect" in state && state.effect.grant.kind === "approval";
  return isApproved && state.argsDigest === state.proposedDigest ? "seen" : "unseen";
}

export type ActionProposal = {
  readonly action: string;
  readonly requestId: string | null;
  /** Validated arguments. */
  readonly args: Json;
  /** Digest of the arguments as the caller gave them, before schema validation. */
  readonly givenDigest?: string;
  readonly agent: string;
  /** The agent itself, and the principals that it acts for. */
  readonly requester: readonly string[];
  readonly says: string | null;
  /** The undo call, if the agent performs the effect itself and declares one. */
  readonly undo?: UndoCall;
  /** Position in a workflow, if any. */
  readonly placement?: Placement;
  readonly executor: Executor;
};

export type ProposeAnswer =
  | { readonly kind: "new"; readonly action: string; readonly answer: Advanced }
  | { readonly kind: "existing"; readonly action: string }
  | { readonly kind: "conflict"; readonly action: string }
  | (Turned & { readonly action: string });

export const requestName = (requestId: string): string => `request:${requestId}`;

/** An effect that an agent performs itself is its own: no other agent takes it up, and no process performs it. */
function isSameWay({ outside, agent, requester, within }: LiveAction, proposal: ActionProposal): boolean {
  if ((outside === true) !== (proposal.executor.outside !== undefined)) return false;
  if (outside !== true) return true;
  const isTheirs = agent === proposal.agent && digestOf(requester) === digestOf(proposal.requester);
  return isTheirs && within?.workflow === proposal.placement?.workflow;
}

function existing(draft: Draft, ref: StreamRef, proposal: ActionProposal): Need | ProposeAnswer {
  const stream = actionStream(ref.id);
  const more = draft.need({ write: [stream] });
  if (more !== undefined) return more;
  const state = draft.state(stream);
  const argsDigest = digestOf(proposal.args);
  const tool = proposal.executor.rules.name;
  const given = proposal.givenDigest ?? argsDigest;
  // The schema may have changed since, so the caller's input also identifies the action.
  const isSame = (action: LiveAction) => action.proposedDigest === argsDigest || action.givenDigest === given;
  const isIt = (action: LiveAction) =>
    action.tool === tool &&
    isSame(action) &&
    isSameWay(action, proposal) &&
    isSameUndo(action, proposal.undo);
  if (state.phase !== "none" && isIt(state)) return { kind: "existing", action: ref.id };
  appendActionEvent(draft, ref.id, "action.conflicted", { tool, argsDigest, by: proposal.agent });
  return { kind: "conflict", action: ref.id };
}

function withinOf({ placement }: ActionProposal): { within?: Within } {
  if (placement === undefined) return {};
  const { workflow, op, undoes, goesOn, declared } = placement;
  return { within: { workflow, op, undoes, goesOn, ...(declared && { declared }) } };
}

function recordProposal(draft: Draft, proposal: ActionProposal): void {
  const { action, requestId, agent, requester, says, placement, executor } = proposal;
  const { name: tool, effectClass, schemaDigest: schema, title } = executor.rules;
  const argsDigest = digestOf(proposal.args);
  const { givenDigest = argsDigest } = proposal;
  appendActionEvent(draft, action, "action.proposed", {
    requestId,
    tool,
    effectClass,
    schema,
    args: draft.keep(proposal.args),
    argsDigest,
    givenDigest,
    agent,
    requester,
    says,
    ...(title === undefined ? {} : { titleTemplate: title }),
    ...withinOf(proposal),
    ...(executor.outside === undefined ? {} : { outside: true }),
    ...keepUndo(draft, proposal.undo),
  });
  if (requestId !== null) draft.take(requestName(requestId), actionStream(action));
  if (placement !== undefined) placeCall(draft, placement, { action, tool, argsDigest: givenDigest });
}

/** Everything that the proposal must read before it writes. */
function gather(draft: Draft, proposal: ActionProposal): Need | undefined {
  const names = proposal.requestId === null ? [] : [requestName(proposal.requestId)];
  return draft.need({ write: [actionStream(proposal.action)], names });
}

export function propose(draft: Draft, proposal: ActionProposal): Need | Load | ProposeAnswer {
  const more = gather(draft, proposal);
  if (more !== undefined) return more;
  const known = proposal.requestId === null ? undefined : draft.lookUp(requestName(proposal.requestId));
  if (known !== undefined) return existing(draft, known, proposal);
  const place = proposal.placement;
  const elsewhere = place === undefined ? undefined : checkNewPlacement(draft, place, proposal.agent);
  if (elsewhere !== undefined)
    return elsewhere.kind === "need" ? elsewhere : { ...elsewhere, action: proposal.action };
  recordProposal(draft, proposal);
  const { rules } = proposal.executor;
  const duplicate = checkDedupe(draft, proposal.action, rules, proposal.args);
  if (duplicate?.kind === "need") return duplicate;
  const answer = duplicate ?? advance(draft, proposal.action, proposal.executor, true);
  if (answer.kind === "need" || answer.kind === "load") return answer;
  return { kind: "new", action: proposal.action, answer };
}

/** undefined: it has started or ended, or was never proposed. */
function lockUndecided(draft: Draft, action: string): Need | ActionIn<"open" | "waiting"> | undefined {
  const ref = actionStream(action);
  const more = draft.need({ write: [ref] });
  if (more !== undefined) return more;
  const state = draft.state(ref);
  return state.phase === "open" || state.phase === "waiting" ? state : undefined;
}

type CancelAnswer = { readonly kind: "cancelled" | "left" };

export function cancelAction(
  draft: Draft,
  { action, by, reason }: { readonly action: string; readonly by: string; readonly reason: string },
): Need | CancelAnswer {
  const state = lockUndecided(draft, action);
  if (state === undefined) return { kind: "left" };
  const more = "kind" in state ? state : withdrawPendingApproval(draft, state, { by, reason });
  if (more !== undefined) return more;
  refuseAction(draft, action, { code: "cancelled", by, reason });
  return { kind: "cancelled" };
}

type GiveUpAnswer = { readonly kind: "given_up" | "left" };

const GIVEN_UP_ADVICE = "It was given up for now. Propose it again when what held it is out of the way.";

export function giveUpHeld(draft: Draft, action: string): Need | GiveUpAnswer {
  const state = lockUndecided(draft, action);
  if (state === undefined || "kind" in state) return state ?? { kind: "left" };
  const { held } = state;
  if (held === null) return { kind: "left" };
  const more = withdrawPendingApproval(draft, state, held);
  if (more !== undefined) return more;
  appendActionEvent(draft, action, "action.refused", { ...held, retry: false, next: GIVEN_UP_ADVICE });
  return settleCall(draft, action) ?? { kind: "given_up" };
}
