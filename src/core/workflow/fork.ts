/**
 * A workflow that begins with what another had done up to a checkpoint.
 *
 * F1. What a fork has borrowed is not undone behind its back: nobody forks over a rollback, and nobody rolls back over a
 *     fork that has not failed.
 */

import { workflowStream } from "../../kernel/stream.ts";
import type { Draft, Need } from "../../kernel/transaction.ts";

import { type Creation, createWorkflow } from "./create.ts";
import type { Fork } from "./events.ts";
import { lockWorkflow } from "./run.ts";
import type { LiveWorkflow } from "./state.ts";

export type Forked =
  | { readonly kind: "forked"; readonly workflow: string }
  /** Something was written in between. */
  | { readonly kind: "moved" }
  /** It goes back past that checkpoint. */
  | { readonly kind: "going_back" };

/** `fork.upTo` is the last entry of the origin that the caller has seen. */
export function forkWorkflow(draft: Draft, creation: Creation, fork: Fork): Need | Forked {
  const origin = lockWorkflow(draft, fork.workflow);
  if (origin !== undefined && "kind" in origin) return origin;
  if (origin?.seq !== fork.upTo) return { kind: "moved" };
  if (isGoingBack(origin, fork.seq)) return { kind: "going_back" };
  const made = createWorkflow(draft, creation);
  if (made.kind === "need") return made;
  const { seq, checkpoint } = fork;
  const body = { fork: made.workflow, seq, checkpoint };
  draft.append(workflowStream(fork.workflow), [{ type: "workflow.forked", tv: 1, body }]);
  return { kind: "forked", workflow: made.workflow };
}

function isGoingBack(origin: LiveWorkflow | undefined, seq: number): boolean {
  const rollback = origin?.rollback ?? null;
  return rollback !== null && rollback.toSeq < seq;
}

/** A fork, or a fork of one, that has borrowed something after that entry and has not failed. */
export function borrowerOf(
  draft: Draft,
  { forks }: LiveWorkflow,
  after: number,
): Need | { readonly fork: string } | undefined {
  let level = forks.filter(({ seq }) => seq > after);
  while (level.length > 0) {
    // All forks of a level at once: a decision has few rounds.
    const refs = level.map(({ workflow }) => workflowStream(workflow));
    const more = draft.need({ read: refs });
    if (more !== undefined) return more;
    const states = refs.map((ref) => draft.state(ref));
    const at = states.findIndex(({ status }) => status !== "none" && status !== "failed");
    if (at >= 0) return { fork: level[at]?.workflow ?? "" };
    level = states.flatMap((state) => (state.status === "none" ? [] : state.forks));
  }
  return undefined;
}
