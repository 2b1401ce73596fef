/**
 * What an agent says takes back what it performs itself: a call of another tool, which it makes when its workflow goes back.
 *
 * V1. It is said with the proposal and never changes: people see it, and it is part of what they approve.
 * V2. It is an action of its own, reviewed as a proposal of that tool with those arguments would be. Only where there is no
 *     policy for it at all, and people agreed to it as it stands, it is let through like every other compensation.
 */

import type { UndoCall, UndoRecord, UndoSeen } from "../../approvals/state.ts";
import { digestOf } from "../../kernel/canonical-json.ts";
import type { Draft } from "../../kernel/transaction.ts";

import type { LiveAction } from "./state.ts";

type Has = { readonly undo?: UndoRecord };

export function keepUndo(draft: Draft, undo: UndoCall | undefined): Has {
  if (undo === undefined) return {};
  return { undo: { tool: undo.tool, args: draft.keep(undo.args), argsDigest: digestOf(undo.args) } };
}

export function isSameUndo({ undo }: Has, given: UndoCall | undefined): boolean {
  if (undo === undefined || given === undefined) return undo === given;
  return undo.tool === given.tool && undo.argsDigest === digestOf(given.args);
}

/** Where policy or people changed the arguments since, the undo was said of others. */
export function undoSeen(state: LiveAction): UndoSeen {
  const isApproved = "effect" in state && state.effect.grant.kind === "approval";
  return isApproved && state.argsDigest === state.proposedDigest ? "seen" : "unseen";
}
