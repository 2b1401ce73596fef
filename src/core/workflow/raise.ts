/**
 * A checkpoint that a monitor raises: the definition does not ask for it and is not told of it.
 *
 * M1. It stops a workflow that executes, between two operations: nothing new begins from its commit on; what has begun ends.
 * M2. It is no operation: it has no place in what a replay is answered from, and no rollback leads back to it.
 */

import type { JsonObject } from "../../kernel/json.ts";
import type { Artifact } from "../../kernel/stored-value.ts";
import { approvalStream, workflowStream } from "../../kernel/stream.ts";
import type { Draft, Need } from "../../kernel/transaction.ts";

import { ANY_ONE_PERSON } from "../../policy/rules/verdict.ts";
import { askAbout } from "./ask.ts";
import { checkpointId } from "./checkpoint-sets.ts";
import type { Irreversible, Snapshot } from "./events.ts";
import { lockWorkflow } from "./run.ts";
import type { WorkflowStatus } from "./state.ts";

export type RaisedCheckpoint = {
  readonly workflow: string;
  /** The last entry that whoever raises it has seen; null: it writes all the time, and is stopped wherever it is. */
  readonly seq: number | null;
  readonly name: string;
  readonly why: string;
  readonly monitor: string;
  readonly rule: string;
  readonly alert: string;
  readonly approval: string;
  readonly nonce: string;
  readonly snapshot: Snapshot;
  readonly artifact: Artifact;
  readonly irreversible: readonly Irreversible[];
};

export type RaiseAnswer =
  | { readonly kind: "raised" | "moved" }
  | { readonly kind: "not_now"; readonly status: WorkflowStatus | "none" };

const NOTHING: JsonObject = {};

const RAISED = /^[^/]*\/\d+\/monitor\/(.*)#\d+$/su;

/** The name of a checkpoint that a monitor raised, by its operation; undefined: the definition asks for it. */
export const raisedName = (op: string): string | undefined => RAISED.exec(op)?.[1];

export function raiseCheckpoint(draft: Draft, raise: RaisedCheckpoint): Need | RaiseAnswer {
  const state = lockWorkflow(draft, raise.workflow);
  if (state === undefined) return { kind: "not_now", status: "none" };
  if ("kind" in state) return state;
  if (state.status !== "executing") return { kind: "not_now", status: state.status };
  if (raise.seq !== null && state.seq !== raise.seq) return { kind: "moved" };
  const more = draft.need({ write: [approvalStream(raise.approval)] });
  if (more !== undefined) return more;
  const { workflow, name, why, monitor, rule, alert, approval, nonce, snapshot, irreversible } = raise;
  // Where no branch of a definition is.
  const op = `${workflow}/${state.generation}/monitor/${name}#${state.seq + 1}`;
  const checkpoint = checkpointId({ name });
  const facts = { op, name, checkpoint, snapshot, outputs: NOTHING, agent: null, why };
  const terms = { approval, canRollback: true, irreversible: [...state.irreversible, ...irreversible] };
  draft.attach(raise.artifact);
  draft.append(workflowStream(workflow), [
    { type: "checkpoint.raised", tv: 1, body: { ...facts, ...terms, monitor, rule, alert } },
  ]);
  askAbout(draft, workflow, state, {
    ...{ approval, nonce, kind: "checkpoint", op, name, args: NOTHING, about: snapshot.hash, says: null },
    ...{ reason: why, approvers: ANY_ONE_PERSON, decideWithinMs: null },
  });
  return { kind: "raised" };
}
