/**
 * The proposal of an action.
 *
 * R1. A request id names one action in a tenant for ever: the same action gets the original answer, another is refused.
 * R2. A business identity (`dedupe`) stops the same thing under a new request id, inside its window.
 */

import type { UndoCall } from "../../approvals/state.ts";
import { digestOf } from "../../kernel/canonical-json.ts";
import type { Json } from "../../kernel/json.ts";
import { actionStream, type StreamRef } from "../../kernel/stream.ts";
import type { Draft, Need } from "../../kernel/transaction.ts";

import type { Executor, Load } from "../../policy/rules/tool-rules.ts";

import { checkNewPlace, type Placement, placeCall, type Turned } from "../workflow/call.ts";
import { type Advanced, advance } from "./advance.ts";
import { checkDedupe } from "./dedupe.ts";
import { isSameUndo, keepUndo } from "./keep-undo.ts";
import type { LiveAction } from "./state.ts";
import type { Within } from "./within.ts";

export type Proposal = {
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

export type Proposed =
  | { readonly kind: "new"; readonly action: string; readonly answer: Advanced }
  | { readonly kind: "existing"; readonly action: string }
  | { readonly kind: "conflict"; readonly action: string }
  | (Turned & { readonly action: string });

export const requestName = (requestId: string): string => `request:${requestId}`;

/** What an agent performs itself is its own: nobody else takes it up, and no process performs it. */
function isSameWay({ outside, agent, requester, within }: LiveAction, proposal: Proposal): boolean {
  if ((outside === true) !== (proposal.executor.outside !== undefined)) return false;
  if (outside !== true) return true;
  const isTheirs = agent === proposal.agent && digestOf(requester) === digestOf(proposal.requester);
  return isTheirs && within?.workflow === proposal.placement?.workflow;
}

function existing(draft: Draft, ref: StreamRef, proposal: Proposal): Need | Proposed {
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

function withinOf({ placement }: Proposal): { within?: Within } {
  if (placement === undefined) return {};
  const { workflow, op, undoes, goesOn, declared } = placement;
  const within = { workflow, op, undoes, goesOn };
  return { within: declared === undefined ? within : { ...within, declared } };
}

function record(draft: Draft, proposal: Proposal): void {
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
function gather(draft: Draft, proposal: Proposal): Need | undefined {
  const names = proposal.requestId === null ? [] : [requestName(proposal.requestId)];
  return draft.need({ write: [actionStream(proposal.action)], names });
}

export function propose(draft: Draft, proposal: Proposal): Need | Load | Proposed {
  const more = gather(draft, proposal);
  if (more !== undefined) return more;
  const known = proposal.requestId === null ? undefined : draft.lookUp(requestName(proposal.requestId));
  if (known !== undefined) return existing(draft, known, proposal);
  const place = proposal.placement;
  const elsewhere = place === undefined ? undefined : checkNewPlace(draft, place, proposal.agent);
  if (elsewhere !== undefined)
    return elsewhere.kind === "need" ? elsewhere : { ...elsewhere, action: proposal.action };
  record(draft, proposal);
  const { rules } = proposal.executor;
  const duplicate = checkDedupe(draft, proposal.action, rules, proposal.args);
  if (duplicate?.kind === "need") return duplicate;
  const answer = duplicate ?? advance(draft, proposal.action, proposal.executor, true);
  if (answer.kind === "need" || answer.kind === "load") return answer;
  return { kind: "new", action: proposal.action, answer };
}
