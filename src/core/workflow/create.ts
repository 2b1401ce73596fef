/**
 * The creation of a workflow.
 *
 * B1. A name (its request id, or the operation that spawns it) leads to one workflow for ever: asking again answers the same.
 */
import { digestOf } from "../../kernel/canonical-json.ts";
import type { Json } from "../../kernel/json.ts";
import { type NewEvent, workflowStream } from "../../kernel/stream.ts";
import type { Draft, Need } from "../../kernel/transaction.ts";

import type { CreatedBody } from "./events.ts";
import { heldBy, type Recorded, type Runner, wasRecorded, written } from "./run.ts";
import type { LiveWorkflow } from "./state.ts";

export type Creation = {
  readonly workflow: string;
  readonly requestId: string | null;
  /** Taken at once by the process that creates it. */
  readonly epoch: string | null;
  readonly body: Omit<CreatedBody, "input"> & { readonly input: Json };
  /** The input as it was given, before the definition made its own of it; the same unless set. */
  readonly given?: Json;
};

export type Created =
  | { readonly kind: "created" | "existing"; readonly workflow: string }
  | { readonly kind: "conflict"; readonly workflow: string };

export const workflowName = (requestId: string): string => `workflow:${requestId}`;

/** A workflow that people are not asked about, or that spends elsewhere, is not the one that was meant. */
function isSame(state: LiveWorkflow, { body, given = body.input }: Creation, draft: Draft): boolean {
  const input = digestOf(draft.keep(body.input));
  // What its definition made of it is the same, and so is what it was asked for with.
  const asked = digestOf(draft.keep(given));
  const isAsked = state.given === asked || state.requested?.given === asked;
  const isGiven = isAsked || digestOf(state.input) === input;
  const isNamed = state.name === body.name && isGiven;
  // What is not said stands as it was; other terms would be another workflow.
  const keeps = (term: "approvalRequired" | "budget") =>
    body[term] === undefined || body[term] === state[term];
  const isAlike = state.isOfOneRun === body.isOfOneRun && state.isOutside === body.isOutside;
  return isNamed && isAlike && keeps("approvalRequired") && keeps("budget");
}

/** Whoever asks for it by its name later does not know what the definition makes of the input. */
function givenIn({ body, given = body.input }: Creation, draft: Draft): Pick<CreatedBody, "given"> {
  return digestOf(given) === digestOf(body.input) ? {} : { given: digestOf(draft.keep(given)) };
}

export function createWorkflow(draft: Draft, creation: Creation): Need | Created {
  const { workflow, requestId, epoch, body } = creation;
  const ref = workflowStream(workflow);
  const names = requestId === null ? [] : [workflowName(requestId)];
  const more = draft.need({ write: [ref], names });
  if (more !== undefined) return more;
  const known = requestId === null ? undefined : draft.lookUp(workflowName(requestId));
  if (known !== undefined && known.id !== workflow) {
    const other = workflowStream(known.id);
    const missing = draft.need({ read: [other] });
    if (missing !== undefined) return missing;
    const state = draft.state(other);
    const kind = state.status !== "none" && isSame(state, creation, draft) ? "existing" : "conflict";
    return { kind, workflow: known.id };
  }
  if (draft.state(ref).status !== "none") return { kind: "existing", workflow };
  const input = draft.keep(body.input);
  const made = { ...body, input, ...givenIn(creation, draft) };
  draft.append(ref, [{ type: "workflow.created", tv: 1, body: made }]);
  if (epoch !== null) draft.append(ref, [{ type: "workflow.started", tv: 1, body: { epoch } }]);
  if (requestId !== null) draft.take(workflowName(requestId), ref);
  return { kind: "created", workflow };
}

/** A child is created in the commit in which its parent says so. */
export function spawnChild(
  draft: Draft,
  runner: Runner,
  spawn: {
    readonly op: string;
    readonly before: readonly NewEvent[];
    readonly creation: Creation;
    /** Of the input as the parent gave it: the child's schema may have changed it since. */
    readonly inputDigest: string;
  },
): Need | Recorded {
  const parent = heldBy(draft, runner, "run");
  if ("kind" in parent) return parent;
  if (wasRecorded(parent, runner)) return written(draft, parent, runner.workflow, []);
  if (parent.status !== "executing") return { kind: "turned" };
  const made = createWorkflow(draft, spawn.creation);
  if (made.kind === "need") return made;
  const { op, creation, inputDigest } = spawn;
  const body = { op, child: made.workflow, name: creation.body.name, inputDigest };
  const events = [...spawn.before, { type: "child.spawned", tv: 1, body }];
  draft.append(workflowStream(runner.workflow), events);
  return written(draft, parent, runner.workflow, events);
}
