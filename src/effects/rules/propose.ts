/**
 * Proposing an action, and withdrawing one that has not started.
 * A request id names one action in a tenant for ever: the same action gets the original answer, another is refused.
 * A business identity (`dedupe`) stops the same thing under a new request id, inside its window.
 * The undo call that an agent declares is given with the proposal and never changes: people see it and approve it with
 * the action.
 * The undo is an action of its own, reviewed like any proposal of that tool. Only where no policy covers it, and people
 * agreed to it as it is, it passes like every other compensation.
 * A cancelled action asks nobody any more. One held by a kill switch or budget may be given up; its workflow is told.
 */
import { withdrawApproval } from "../../approvals/rules/end.ts";
import type { UndoCall, UndoRecord, UndoSeen } from "../../approvals/state.ts";
import { digestOf } from "../../kernel/canonical-json.ts";
import type { Json } from "../../kernel/json.ts";
import { actionStream, approvalStream, type StreamRef } from "../../kernel/stream.ts";
import type { Draft, Need } from "../../kernel/transaction.ts";
import type { Executor, Load } from "../../policy/rules/tool-rules.ts";
import {
  checkNewPlacement,
  type Placement,
  placeCall,
  settleCall,
  type Turned,
} from "../../workflows/rules/calls.ts";
import type { LiveAction, Within } from "../state.ts";
import { type Advanced, advance } from "./advance.ts";
import { checkDedupe, refuseAction } from "./start.ts";

type WithUndo = { readonly undo?: UndoRecord };

function keepUndo(draft: Draft, undo: UndoCall | undefined): WithUndo {
  if (undo === undefined) return {};
  return { undo: { tool: undo.tool, args: draft.keep(undo.args), argsDigest: digestOf(undo.args) } };
}

function isSameUndo({ undo }: WithUndo, given: UndoCall | undefined): boolean {
  if (undo === undefined || given === undefined) return undo === given;
  return undo.tool === given.tool && undo.argsDigest === digestOf(given.args);
}

/** Where policy or people changed the arguments since, the undo was said of others. */
export function undoSeen(state: LiveAction): UndoSeen {
  const isApproved = "effect" in state && state.effect.grant.kind === "approval";
  return isApproved && state.argsDigest === state.proposedDigest ? "seen" : "unseen";
}

export type ActionProposal = {
  readonly action: string;
  readonly requestId: string | null;
  /** Validated arguments. */
  readonly args: Json;
  /** Digest of the arguments as the caller gave them, before a schema made something of them. */
  readonly givenDigest?: string;
  readonly agent: string;
  /** Who asks: the agent itself and whoever it acts for. */
  readonly requester: readonly string[];
  readonly says: string | null;
  /** How the agent would take it back, where it performs it itself and says so. */
  readonly undo?: UndoCall;
  /** Where a workflow makes it, if one does. */
  readonly placement?: Placement;
  readonly executor: Executor;
};

export type ProposeAnswer =
  | { readonly kind: "new"; readonly action: string; readonly answer: Advanced }
  | { readonly kind: "existing"; readonly action: string }
  | { readonly kind: "conflict"; readonly action: string }
  | (Turned & { readonly action: string });

export const requestName = (requestId: string): string => `request:${requestId}`;

/** What an agent performs itself is its own: nobody else takes it up, and no process performs it. */
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
  // The schema may have changed since: what the caller says is what tells one action from another.
  const isSame = (action: LiveAction) => action.proposedDigest === argsDigest || action.givenDigest === given;
  const isIt = (action: LiveAction) =>
    action.tool === tool &&
    isSame(action) &&
    isSameWay(action, proposal) &&
    isSameUndo(action, proposal.undo);
  if (state.phase !== "none" && isIt(state)) return { kind: "existing", action: ref.id };
  draft.append(stream, [
    { type: "action.conflicted", tv: 1, body: { tool, argsDigest, by: proposal.agent } },
  ]);
  return { kind: "conflict", action: ref.id };
}

function withinOf({ placement }: ActionProposal): { within?: Within } {
  if (placement === undefined) return {};
  const { workflow, op, undoes, goesOn, declared } = placement;
  const within = { workflow, op, undoes, goesOn };
  return { within: declared === undefined ? within : { ...within, declared } };
}

function recordProposal(draft: Draft, proposal: ActionProposal): void {
  const { rules } = proposal.executor;
  const body = {
    requestId: proposal.requestId,
    tool: rules.name,
    effectClass: rules.effectClass,
    schema: rules.schemaDigest,
    args: draft.keep(proposal.args),
    argsDigest: digestOf(proposal.args),
    givenDigest: proposal.givenDigest ?? digestOf(proposal.args),
    agent: proposal.agent,
    requester: proposal.requester,
    says: proposal.says,
    ...withinOf(proposal),
    ...(proposal.executor.outside === undefined ? {} : { outside: true }),
    ...keepUndo(draft, proposal.undo),
  };
  const stream = actionStream(proposal.action);
  draft.append(stream, [{ type: "action.proposed", tv: 1, body }]);
  if (proposal.requestId !== null) draft.take(requestName(proposal.requestId), stream);
  if (proposal.placement !== undefined)
    placeCall(draft, proposal.placement, {
      action: proposal.action,
      tool: rules.name,
      argsDigest: body.givenDigest,
    });
}

/** Everything that the proposal has to see before it writes a word. */
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

type CancelAnswer = { readonly kind: "cancelled" | "left" };

export function cancelAction(
  draft: Draft,
  { action, by, reason }: { readonly action: string; readonly by: string; readonly reason: string },
): Need | CancelAnswer {
  const ref = actionStream(action);
  const more = draft.need({ write: [ref] });
  if (more !== undefined) return more;
  const state = draft.state(ref);
  if (state.phase !== "open" && state.phase !== "waiting") return { kind: "left" };
  if (state.phase === "waiting") {
    const missing = draft.need({ write: [approvalStream(state.approval)] });
    if (missing !== undefined) return missing;
    withdrawApproval(draft, state.approval, { by, reason });
  }
  refuseAction(draft, ref, { code: "cancelled", by, reason });
  return { kind: "cancelled" };
}

type GiveUpAnswer = { readonly kind: "given_up" | "left" };

const GIVEN_UP_ADVICE = "It was given up for now. Propose it again when what held it is out of the way.";

export function giveUpHeld(draft: Draft, action: string): Need | GiveUpAnswer {
  const ref = actionStream(action);
  const more = draft.need({ write: [ref] });
  if (more !== undefined) return more;
  const state = draft.state(ref);
  if ((state.phase !== "open" && state.phase !== "waiting") || state.held === null) return { kind: "left" };
  const { held } = state;
  if (state.phase === "waiting") {
    const missing = draft.need({ write: [approvalStream(state.approval)] });
    if (missing !== undefined) return missing;
    withdrawApproval(draft, state.approval, held);
  }
  draft.append(ref, [
    { type: "action.refused", tv: 1, body: { ...held, retry: false, next: GIVEN_UP_ADVICE } },
  ]);
  return settleCall(draft, action) ?? { kind: "given_up" };
}
