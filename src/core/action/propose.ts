/**
 * The proposal of an action.
 *
 * R1. A request id names one action in a tenant for ever: the same action gets the original answer, another is refused.
 * R2. A business identity (`dedupe`) stops the same thing under a new request id, inside its window.
 */
import { digestOf } from "../digest.ts";
import type { Draft, Need } from "../draft.ts";
import { errorText } from "../error-text.ts";
import type { Json } from "../json.ts";
import { actionStream, type StreamRef } from "../stream.ts";
import type { Dedupe } from "../tool-rules.ts";
import { type Advanced, advance } from "./advance.ts";
import { type Refused, refuse } from "./refuse.ts";
import type { Executor, Load } from "./start.ts";
import type { ActionState } from "./state.ts";

export type Proposal = {
  readonly action: string;
  readonly requestId: string | null;
  /** Validated arguments. */
  readonly args: Json;
  readonly agent: string;
  /** Who asks: the agent itself and whoever it acts for. */
  readonly requester: readonly string[];
  readonly says: string | null;
  readonly executor: Executor;
};

export type Proposed =
  | { readonly kind: "new"; readonly action: string; readonly answer: Advanced }
  | { readonly kind: "existing"; readonly action: string }
  | { readonly kind: "conflict"; readonly action: string };

export const requestName = (requestId: string): string => `request:${requestId}`;
const dedupeName = (tool: string, key: string): string => `dedupe:${tool}:${key}`;

function existing(draft: Draft, ref: StreamRef, proposal: Proposal): Need | Proposed {
  const stream = actionStream(ref.id);
  const more = draft.need({ write: [stream] });
  if (more !== undefined) return more;
  const state = draft.state(stream);
  const argsDigest = digestOf(proposal.args);
  const tool = proposal.executor.rules.name;
  if (state.phase !== "none" && state.tool === tool && state.proposedDigest === argsDigest)
    return { kind: "existing", action: ref.id };
  draft.append(stream, [
    { type: "action.conflicted", tv: 1, body: { tool, argsDigest, by: proposal.agent } },
  ]);
  return { kind: "conflict", action: ref.id };
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
    agent: proposal.agent,
    requester: proposal.requester,
    says: proposal.says,
  };
  const stream = actionStream(proposal.action);
  draft.append(stream, [{ type: "action.proposed", tv: 1, body }]);
  if (proposal.requestId !== null) draft.take(requestName(proposal.requestId), stream);
}

const GONE: readonly ActionState["phase"][] = ["none", "refused", "not_applied"];

/** As long as the first is under way or in doubt, and for the window after it was done. */
function standsInTheWay(first: ActionState, now: number, windowMs: number): boolean {
  if (GONE.includes(first.phase)) return false;
  return first.phase !== "applied" || now < first.outcome.at + windowMs;
}

function dedupeOf(proposal: Proposal): Dedupe | undefined | string {
  try {
    return proposal.executor.rules.dedupe(proposal.args);
  } catch (error) {
    return `the tool's dedupe failed: ${errorText(error)}`;
  }
}

/** Refuses what was done a moment ago; otherwise leads the business name to this action. */
function checkDedupe(draft: Draft, proposal: Proposal): Need | Refused | undefined {
  const ref = actionStream(proposal.action);
  const dedupe = dedupeOf(proposal);
  if (dedupe === undefined) return undefined;
  if (typeof dedupe === "string")
    return refuse(draft, ref, { code: "blocked", by: "policy", reason: dedupe });
  const before = draft.lookUp(dedupeName(proposal.executor.rules.name, dedupe.key));
  if (before !== undefined) {
    const state = draft.state(actionStream(before.id));
    if ("proposedAt" in state && standsInTheWay(state, draft.now, dedupe.windowMs)) {
      return refuse(draft, ref, {
        code: "duplicate",
        by: "dedupe",
        reason: `${before.id} is the same, from ${new Date(state.proposedAt).toISOString()}`,
      });
    }
  }
  draft.take(dedupeName(proposal.executor.rules.name, dedupe.key), ref);
  return undefined;
}

/** Everything that the proposal has to see before it writes a word. */
function gather(draft: Draft, proposal: Proposal): Need | undefined {
  const dedupe = dedupeOf(proposal);
  const business = typeof dedupe === "object" ? [dedupeName(proposal.executor.rules.name, dedupe.key)] : [];
  const request = proposal.requestId === null ? [] : [requestName(proposal.requestId)];
  const more = draft.need({ write: [actionStream(proposal.action)], names: [...request, ...business] });
  if (more !== undefined) return more;
  const before = business.flatMap((name) => draft.lookUp(name) ?? []);
  return draft.need({ read: before });
}

export function propose(draft: Draft, proposal: Proposal): Need | Load | Proposed {
  const more = gather(draft, proposal);
  if (more !== undefined) return more;
  const known = proposal.requestId === null ? undefined : draft.lookUp(requestName(proposal.requestId));
  if (known !== undefined) return existing(draft, known, proposal);
  record(draft, proposal);
  const duplicate = checkDedupe(draft, proposal);
  if (duplicate?.kind === "need") return duplicate;
  const answer = duplicate ?? advance(draft, proposal.action, proposal.executor, true);
  if (answer.kind === "need" || answer.kind === "load") return answer;
  return { kind: "new", action: proposal.action, answer };
}
