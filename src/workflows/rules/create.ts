/**
 * The creation of a workflow: by a program, as a child, by name (without having its definition), or as a fork.
 * A name (its request id, or the operation that spawns it) always leads to the same workflow: a repeated request
 * returns the existing one.
 * With another input, other terms or for other people, a request under the same id is a conflict. None is created in a
 * closed tenant.
 * A fork begins with another workflow's history up to a checkpoint. What it borrowed is not undone: a fork is refused
 * while the origin rolls back past that checkpoint, and a rollback past it is refused while a fork that has not failed
 * depends on it.
 */

import { digestOf } from "../../kernel/canonical-json.ts";
import type { Json } from "../../kernel/json.ts";
import { channelField, isPerson, type Via } from "../../kernel/principal.ts";
import { type NewEvent, workflowStream } from "../../kernel/stream.ts";
import type { Draft, Need } from "../../kernel/transaction.ts";
import { readOwnTenant } from "../../people/tenants/stream.ts";
import type { CreatedBody, Fork } from "../events.ts";
import type { LiveWorkflow } from "../state.ts";
import {
  lockOwnRun,
  lockWorkflow,
  type Recorded,
  type Runner,
  reportWritten,
  wasRecorded,
} from "./lifecycle.ts";

export type Creation = {
  readonly workflow: string;
  readonly requestId: string | null;
  /** The epoch of the creating process, if it runs the workflow at once. */
  readonly epoch: string | null;
  readonly body: Omit<CreatedBody, "input"> & { readonly input: Json };
  /** The input before the definition transformed it. Default: the same as `body.input`. */
  readonly given?: Json;
};

export type Created =
  | { readonly kind: "created" | "existing"; readonly workflow: string }
  | { readonly kind: "conflict"; readonly workflow: string };

export const workflowName = (requestId: string): string => `workflow:${requestId}`;

/** With other approval terms, another budget or another endpoint it is not the same workflow. */
function isSame(state: LiveWorkflow, { body, given = body.input }: Creation, draft: Draft): boolean {
  const input = digestOf(draft.keep(body.input));
  // The input may match as the caller sent it, or as the definition transformed it.
  const asked = digestOf(draft.keep(given));
  const isAsked = state.given === asked || state.requested?.given === asked;
  const isGiven = isAsked || digestOf(state.input) === input;
  const isNamed = state.name === body.name && isGiven;
  // An omitted term matches; a different one makes it another workflow.
  const keeps = (term: "approvalRequired" | "budget" | "notify") =>
    body[term] === undefined || body[term] === state[term];
  const isAlike = state.isOfOneRun === body.isOfOneRun && state.isOutside === body.isOutside;
  return isNamed && isAlike && keeps("approvalRequired") && keeps("budget") && keeps("notify");
}

/** A later request by name does not know how the definition transforms the input. */
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

/** A child is created in the commit in which its parent records it. */
export function spawnChild(
  draft: Draft,
  runner: Runner,
  spawn: {
    readonly op: string;
    readonly before: readonly NewEvent[];
    readonly creation: Creation;
    /** Digest of the input as the parent passed it: the child's schema may have changed it since. */
    readonly inputDigest: string;
  },
): Need | Recorded {
  const parent = lockOwnRun(draft, runner, "run");
  if ("kind" in parent) return parent;
  if (wasRecorded(parent, runner)) return reportWritten(draft, parent, runner.workflow, []);
  if (parent.status !== "executing") return { kind: "turned" };
  const made = createWorkflow(draft, spawn.creation);
  if (made.kind === "need") return made;
  const { op, creation, inputDigest } = spawn;
  const body = { op, child: made.workflow, name: creation.body.name, inputDigest };
  const events = [...spawn.before, { type: "child.spawned", tv: 1, body }];
  draft.append(workflowStream(runner.workflow), events);
  return reportWritten(draft, parent, runner.workflow, events);
}

type Requesting = Via & { readonly by: string };

/** People it runs for may not decide about it, so other people mean another workflow. Programs never decide. */
function isFor(draft: Draft, workflow: string, requester: readonly string[]): boolean {
  const state = draft.state(workflowStream(workflow)) as LiveWorkflow;
  return requester.filter(isPerson).every((who) => state.requester.includes(who));
}

export function requestWorkflow(
  draft: Draft,
  creation: Creation,
  asking: Requesting,
): Need | Created | { readonly kind: "closed" } {
  const more = draft.need({ read: [readOwnTenant(draft)] });
  if (more !== undefined) return more;
  if (draft.state(readOwnTenant(draft)).status === "closed") return { kind: "closed" };
  const made = createWorkflow(draft, creation);
  if (made.kind === "need" || made.kind === "conflict") return made;
  const { workflow } = made;
  if (made.kind === "existing")
    return isFor(draft, workflow, creation.body.requester) ? made : { kind: "conflict", workflow };
  const given = digestOf((draft.state(workflowStream(workflow)) as LiveWorkflow).input);
  const body = { by: asking.by, given, ...channelField(asking) };
  draft.append(workflowStream(workflow), [{ type: "workflow.requested", tv: 1, body }]);
  return made;
}

type Forked =
  | { readonly kind: "forked"; readonly workflow: string }
  /** Another entry was written in between. */
  | { readonly kind: "moved" }
  /** The origin is rolling back past that checkpoint. */
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

/** A fork, or a fork of one, that borrowed entries after `after` and has not failed. */
export function findBorrowingFork(
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
