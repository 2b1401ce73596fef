/**
 * Long polls until an approval, an action or a workflow has ended. Each waits briefly, so that nothing is lost if
 * either side goes away.
 */
import { z } from "zod";
import { loadCheckpointAccount } from "../agents/remote-workflow.ts";
import { workflowOnWire, workflowSchema } from "../agents/seed-forms.ts";
import { approvalWire } from "../approvals/card-schema.ts";
import type { Approval } from "../approvals/contract.ts";
import { getApproval } from "../approvals/read.ts";
import { expireIfDue, isApprovalOverdue } from "../approvals/rules/deadline.ts";
import { findAction, getAction } from "../effects/actions.ts";
import { type Action, actionSchema } from "../effects/contract.ts";
import { viewCodec } from "../kernel/codec.ts";
import type { Scope } from "../kernel/registry.ts";
import { actionStream, approvalStream, type StreamRef, workflowStream } from "../kernel/stream.ts";
import type { Runtime } from "../runtime/runtime.ts";
import { readStateAt, runCommand } from "../runtime/store-access.ts";
import type { WaitLimit } from "../runtime/waker.ts";
import { getWorkflow } from "../workflows/read.ts";
import type { WorkflowDetails } from "../workflows/views.ts";
import type { EventAudience } from "./events/listeners.ts";
import { ok, route, type Tag } from "./route.ts";
import { idParams } from "./wire.ts";

type WaitResult<State> = { readonly isOver: boolean; readonly state: State };
/** `dueInMs`: when to check again without an event. */
type WaitObservation<State> = WaitResult<State> & { readonly dueInMs: number | null };

async function waitUntilOver<State>(
  runtime: Runtime,
  stream: StreamRef,
  { holdMs, signal }: WaitLimit,
  look: () => Promise<WaitObservation<State>>,
): Promise<WaitResult<State>> {
  const { clock, waker, closing } = runtime;
  const until = clock.now() + holdMs;
  const watch = await waker.watch([stream]);
  const over = AbortSignal.any([signal, closing]);
  const stop = () => watch.close();
  over.addEventListener("abort", stop, { once: true });
  try {
    for (;;) {
      const { dueInMs, ...stood } = await look();
      const left = until - clock.now();
      if (stood.isOver || left <= 0 || over.aborted) return stood;
      await watch.moved(Math.min(left, Math.max(dueInMs ?? left, 1)));
    }
  } finally {
    over.removeEventListener("abort", stop);
    watch.close();
  }
}

/** Expires it if overdue. Returns how long it can still wait. */
async function timeLeft(runtime: Runtime, id: string): Promise<number | null> {
  for (;;) {
    const { state, now } = await readStateAt(runtime, approvalStream(id));
    if (state.status !== "pending" || state.decideBy === null) return null;
    if (!isApprovalOverdue(state, now)) return state.decideBy - now;
    await runCommand(runtime, { write: [approvalStream(id)] }, (draft) => expireIfDue(draft, id));
  }
}

/** Waits until people have decided, or the deadline has passed. */
function waitForApproval(runtime: Runtime, id: string, how: WaitLimit): Promise<WaitResult<Approval>> {
  return waitUntilOver(runtime, approvalStream(id), how, async () => {
    const found = await getApproval(runtime, id);
    if (found.status !== "pending") return { isOver: true, state: found, dueInMs: null };
    const dueInMs = await timeLeft(runtime, id);
    const state = dueInMs === null ? await getApproval(runtime, id) : found;
    return { isOver: state.status !== "pending", state, dueInMs };
  });
}

const UNDER_WAY = new Set<Action["phase"]>(["open", "waiting", "running"]);

/** Waits for an outcome or a refusal. */
async function waitForAction(runtime: Runtime, id: string, how: WaitLimit): Promise<WaitResult<Action>> {
  const action = await findAction(runtime, id);
  return waitUntilOver(runtime, actionStream(action), how, async () => {
    const state = await getAction(runtime, action);
    return { isOver: !UNDER_WAY.has(state.phase), state, dueInMs: null };
  });
}

/** Waits until it has ended. */
function waitForWorkflow(runtime: Runtime, id: string, how: WaitLimit): Promise<WaitResult<WorkflowDetails>> {
  return waitUntilOver(runtime, workflowStream(id), how, async () => {
    const state = await getWorkflow(runtime, id);
    return { isOver: state.end !== null, state, dueInMs: null };
  });
}

const MOST_HELD_SECONDS = 25;
const query = z.strictObject({ hold_seconds: z.coerce.number().min(0).max(MOST_HELD_SECONDS).default(0) });
const description = `At most ${MOST_HELD_SECONDS} seconds. While \`is_over\` is false it goes on: ask again.`;

type WaitContext = Pick<EventAudience, "holds">;

type WaitedFor<Path extends string, Field extends string, Schema extends z.ZodType, State> = {
  readonly path: Path;
  readonly what: string;
  readonly tag: Tag;
  readonly scope: Scope;
  /** The field of the answer, and its schema. */
  readonly field: Field;
  readonly schema: Schema;
  wait(runtime: Runtime, id: string, how: WaitLimit): Promise<WaitResult<State>>;
  onWire(runtime: Runtime, state: State): unknown;
};
type WaitAnswer<Field extends string, Schema extends z.ZodType> = { is_over: z.ZodBoolean } & {
  [Name in Field]: Schema;
};

function waitRoute<
  const Path extends `/${string}`,
  const Field extends string,
  Schema extends z.ZodType,
  State,
>(
  { holds }: WaitContext,
  { path, what, tag, scope, field, schema, wait, onWire }: WaitedFor<Path, Field, Schema, State>,
) {
  const answer = { is_over: z.boolean(), [field]: schema } as unknown as WaitAnswer<Field, Schema>;
  return route({
    method: "GET",
    path,
    summary: `${what}; waits a moment for it`,
    description,
    ...{ tag, scope, query },
    params: idParams,
    answers: { 200: z.object(answer) },
    async handle(asked) {
      const { runtime, params } = asked;
      const { isOver, state } = await holds.during(asked, asked.query.hold_seconds, (hold) =>
        wait(runtime, params.id, hold),
      );
      return ok({ is_over: isOver, [field]: await onWire(runtime, state) });
    },
  });
}

const actionOnWire = viewCodec(actionSchema);

export const waitRoutes = (audience: WaitContext) => [
  waitRoute(audience, {
    path: "/api/approvals/{id}/wait",
    what: "An approval, once people have decided or its deadline has passed",
    tag: "approvals",
    scope: "approvals:read",
    field: "approval",
    schema: approvalWire.wire,
    wait: waitForApproval,
    onWire: (_, state) => approvalWire.encode(state),
  }),
  waitRoute(audience, {
    path: "/api/actions/{id}/wait",
    what: "An action, once it has an outcome or was refused",
    tag: "actions",
    scope: "actions:read",
    field: "action",
    schema: actionOnWire.wire,
    wait: waitForAction,
    onWire: (_, state) => actionOnWire.encode(state),
  }),
  waitRoute(audience, {
    path: "/api/workflows/{id}/wait",
    what: "A workflow, once it has ended",
    tag: "workflows",
    scope: "workflows:read",
    field: "workflow",
    schema: workflowSchema,
    wait: waitForWorkflow,
    onWire: async (runtime, state) => workflowOnWire(state, await loadCheckpointAccount(runtime, state)),
  }),
];
