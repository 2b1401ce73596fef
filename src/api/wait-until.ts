/**
 * Long polls until an approval, an action or a workflow has ended. Each waits briefly, so that nothing is lost if
 * either side goes away.
 */
import { z } from "zod";
import { loadCheckpointAccount } from "../agents/remote-workflow.ts";
import { workflowOnWire, workflowSchema } from "../agents/seed-forms.ts";
import type { Approval } from "../approvals/contract.ts";
import { getApproval } from "../approvals/read.ts";
import { approvalWire } from "../approvals/routes.ts";
import { expireIfDue, isApprovalOverdue } from "../approvals/rules/deadline.ts";
import { findAction, getAction } from "../effects/actions.ts";
import { type Action, action } from "../effects/contract.ts";
import { viewCodec } from "../kernel/codec.ts";
import { actionStream, approvalStream, type StreamRef, workflowStream } from "../kernel/stream.ts";
import type { Runtime } from "../runtime/runtime.ts";
import { readStateAt, runCommand } from "../runtime/store-access.ts";
import type { WaitLimit } from "../runtime/waker.ts";
import { getWorkflow } from "../workflows/read.ts";
import type { WorkflowDetails } from "../workflows/views.ts";
import type { EventAudience } from "./events/listeners.ts";
import { ok, route } from "./route.ts";
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
const is_over = z.boolean();

type WaitContext = Pick<EventAudience, "holds">;

const approvalWait = ({ holds }: WaitContext) =>
  route({
    method: "GET",
    path: "/api/approvals/{id}/wait",
    summary: "An approval, once people have decided or their time is over; waits a moment for it",
    description,
    tag: "approvals",
    scope: "approvals:read",
    params: idParams,
    query,
    answers: { 200: z.object({ is_over, approval: approvalWire.wire }) },
    async handle(asked) {
      const {
        runtime,
        params,
        query: { hold_seconds },
      } = asked;
      const { isOver, state } = await holds.during(asked, hold_seconds, (hold) =>
        waitForApproval(runtime, params.id, hold),
      );
      return ok({ is_over: isOver, approval: approvalWire.encode(state) });
    },
  });

const actionOnWire = viewCodec(action);

const actionWait = ({ holds }: WaitContext) =>
  route({
    method: "GET",
    path: "/api/actions/{id}/wait",
    summary: "An action, once it has an outcome or was refused; waits a moment for it",
    description,
    tag: "actions",
    scope: "actions:read",
    params: idParams,
    query,
    answers: { 200: z.object({ is_over, action: actionOnWire.wire }) },
    async handle(asked) {
      const {
        runtime,
        params,
        query: { hold_seconds },
      } = asked;
      const { isOver, state } = await holds.during(asked, hold_seconds, (hold) =>
        waitForAction(runtime, params.id, hold),
      );
      return ok({ is_over: isOver, action: actionOnWire.encode(state) });
    },
  });

const workflowWait = ({ holds }: WaitContext) =>
  route({
    method: "GET",
    path: "/api/workflows/{id}/wait",
    summary: "A workflow, once it has ended; waits a moment for it",
    description,
    tag: "workflows",
    scope: "workflows:read",
    params: idParams,
    query,
    answers: { 200: z.object({ is_over, workflow: workflowSchema }) },
    async handle(asked) {
      const {
        runtime,
        params,
        query: { hold_seconds },
      } = asked;
      const { isOver, state } = await holds.during(asked, hold_seconds, (hold) =>
        waitForWorkflow(runtime, params.id, hold),
      );
      return ok({
        is_over: isOver,
        workflow: workflowOnWire(state, await loadCheckpointAccount(runtime, state)),
      });
    },
  });

export const waitRoutes = (audience: WaitContext) => [
  approvalWait(audience),
  actionWait(audience),
  workflowWait(audience),
];
