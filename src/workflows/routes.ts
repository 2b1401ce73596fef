/**
 * HTTP routes of workflows (their history, and what operators do to them) and of definitions (started by name at any
 * server), with their wire forms.
 */
import { z } from "zod";
import { principalNamed } from "../agents/identify-agent.ts";
import { loadCheckpointAccount } from "../agents/remote-workflow.ts";
import { workflowOnWire, workflowSchema, workflowStatus } from "../agents/seed-wire.ts";
import { actingEnder, actingPrincipal, actingSenderBack } from "../api/authenticate.ts";
import { ok, type RouteAnswer, route } from "../api/route.ts";
import {
  bySchema,
  idParams,
  idSchema,
  json,
  reasonSchema,
  time,
  timeOrNull,
  timeSchema,
} from "../api/wire.ts";
import type { Runtime } from "../runtime/runtime.ts";

import type { Irreversible } from "./events.ts";
import { cancelById, rollBackById } from "./methods.ts";
import {
  getWorkflow,
  type Job,
  type RollbackOutlook,
  readJobs,
  readSnapshot,
  rollbackOutlook,
  workflowState,
} from "./read.ts";
import { type Requested, requestByName } from "./start.ts";
import { readTimeline, type TimelineRow } from "./timeline.ts";

const calledSchema = z.object({ action_id: z.string(), tool: z.string() });
const calledOnWire = ({ action, tool }: Irreversible) => ({ action_id: action, tool });

const rowSchema = z.object({
  seq: z.number(),
  at: timeSchema,
  kind: z.string(),
  name: z.string(),
  title: z.string().nullable().meta({
    description:
      "of a call, and of the call that an undo is for: its tool's title, in visible text; null otherwise",
  }),
  attempt: z.number(),
  branch: z.array(z.number()),
  ref: z.string().nullable(),
  undoes: z.string().nullable(),
  status: z.string(),
  ended_at: timeSchema.nullable(),
  by: z.array(z.string()),
  reason: z.string(),
  is_back: z.boolean(),
  is_undone: z.boolean(),
  until: timeSchema.nullable(),
  checkpoint: z
    .object({
      snapshot_id: z.string(),
      can_rollback: z.boolean(),
      irreversible: z.array(calledSchema).meta({ description: "what a rejection could not take back" }),
    })
    .nullable(),
  report: z
    .object({
      undone: z.array(z.string()).meta({ description: "ids of actions" }),
      not_undone: z.array(z.object({ action_id: z.string(), reason: z.string() })),
      irreversible: z.array(calledSchema),
    })
    .nullable()
    .meta({ description: "of a rollback that has ended" }),
});

const jobSchema = z.object({
  job_id: z.string().meta({ description: "the first is that of x402_setup" }),
  kind: z.enum(["main", "approval", "settlement"]),
  name: z.string(),
  status: z.enum(["open", "completed", "failed", "rejected"]),
  opened_at: timeSchema,
  closed_at: timeSchema.nullable(),
  artifact_uri: z.string().nullable(),
  approval_id: z.string().nullable(),
  by: z.array(z.string()),
  reason: z.string(),
});

const outlookSchema = z.object({
  why_not: z.string().nullable().meta({ description: "null where it can be sent back now" }),
  targets: z
    .array(
      z.object({
        to: z.string().meta({ description: "what a rollback takes as `to`" }),
        checkpoint: z.string().nullable().meta({ description: "null for the start" }),
        at: timeSchema,
        calls: z.array(
          z.object({
            action_id: z.string(),
            tool: z.string(),
            phase: z.string(),
            at: timeSchema,
            undo: z
              .enum(["yes", "no", "nothing", "unknown"])
              .meta({ description: "unknown: only a process that has the tool can say" }),
          }),
        ),
      }),
    )
    .meta({ description: "nearest first; the calls in the order in which they would be undone" }),
});

function outlookOnWire({ whyNot, targets }: RollbackOutlook) {
  return {
    why_not: whyNot,
    targets: targets.map(({ calls, at, ...target }) => ({
      ...target,
      at: time(at),
      calls: calls.map(({ action, at: begun, ...call }) => ({
        action_id: action,
        ...call,
        at: time(begun),
      })),
    })),
  };
}

function jobOnWire({ id, openedAt, closedAt, artifact, approval, ...same }: Job) {
  return {
    job_id: id,
    ...same,
    opened_at: time(openedAt),
    closed_at: timeOrNull(closedAt),
    artifact_uri: artifact,
    approval_id: approval,
  };
}

/** The workflow's state after a change. */
export async function readWorkflowAnswer(runtime: Runtime, id: string): Promise<RouteAnswer> {
  const workflow = await getWorkflow(runtime, id);
  return ok(workflowOnWire(workflow, await loadCheckpointAccount(runtime, workflow)));
}

function checkpointOnWire({ checkpoint }: TimelineRow) {
  if (checkpoint === null) return null;
  const { snapshot, canRollback, irreversible } = checkpoint;
  return {
    snapshot_id: snapshot.id,
    can_rollback: canRollback,
    irreversible: irreversible.map(calledOnWire),
  };
}

function reportOnWire({ report }: TimelineRow) {
  if (report === null) return null;
  const not_undone = report.notUndone.map(({ action, reason }) => ({ action_id: action, reason }));
  return { undone: report.undone, not_undone, irreversible: report.irreversible.map(calledOnWire) };
}

function rowOnWire(line: TimelineRow) {
  const { seq, kind, name, title, attempt, branch, ref, undoes, by, reason, isBack, isUndone } = line;
  return {
    ...{ seq, kind, name, title, attempt, branch, ref, undoes, by, reason },
    status: line.status,
    at: time(line.at),
    ended_at: timeOrNull(line.endedAt),
    is_back: isBack,
    is_undone: isUndone,
    until: timeOrNull(line.until),
    checkpoint: checkpointOnWire(line),
    report: reportOnWire(line),
  };
}

export const workflowRoutes = [
  route({
    method: "GET",
    path: "/api/workflows/{id}/timeline",
    summary: "What happened to it, in order",
    tag: "workflows",
    scope: "workflows:read",
    params: idParams,
    answers: { 200: z.object({ rows: z.array(rowSchema) }) },
    handle: async ({ runtime, params }) =>
      ok({ rows: (await readTimeline(runtime, params.id)).map(rowOnWire) }),
  }),
  route({
    method: "GET",
    path: "/api/workflows/{id}/jobs",
    summary: "The same as jobs: one for the whole, one for each checkpoint, a settlement at the end",
    tag: "workflows",
    scope: "workflows:read",
    params: idParams,
    answers: { 200: z.object({ jobs: z.array(jobSchema) }) },
    handle: async ({ runtime, params }) => ok({ jobs: (await readJobs(runtime, params.id)).map(jobOnWire) }),
  }),
  route({
    method: "GET",
    path: "/api/workflows/{id}/checkpoints/{checkpoint}",
    summary: "What a checkpoint captured, by its name or its snapshot's id",
    tag: "workflows",
    scope: "workflows:read",
    params: z.object({ id: idSchema, checkpoint: idSchema }),
    answers: { 200: json },
    handle: async ({ runtime, params }) => ok(await readSnapshot(runtime, params.id, params.checkpoint)),
  }),
  route({
    method: "POST",
    path: "/api/workflows/{id}/cancel",
    summary: "End it; what was done stays done",
    description:
      "Of programs, those that posted or execute it. Of people, these too, and every admin and supervisor.",
    tag: "workflows",
    scope: "workflows:write",
    // An agent that drives workflows may end its own: `enderOf` says which these are.
    orScope: "workflows:drive",
    params: idParams,
    body: z.strictObject({ reason: reasonSchema, by: bySchema }),
    answers: { 200: workflowSchema },
    async handle({ runtime, who, params, body }) {
      const by = actingEnder(who, body.by, await workflowState(runtime, params.id));
      await cancelById(runtime, params.id, { by, reason: body.reason, via: who.via });
      return readWorkflowAnswer(runtime, params.id);
    },
  }),
  route({
    method: "GET",
    path: "/api/workflows/{id}/rollback",
    summary: "Where it could be sent back to, and what that would do to each of its calls",
    tag: "workflows",
    scope: "workflows:read",
    params: idParams,
    answers: { 200: outlookSchema },
    handle: async ({ runtime, params }) => ok(outlookOnWire(await rollbackOutlook(runtime, params.id))),
  }),
  route({
    method: "POST",
    path: "/api/workflows/{id}/rollback",
    summary: "Undo what was done since a checkpoint, newest first; then try again, or fail",
    description: "People only: those who posted or execute it, admins and supervisors.",
    tag: "workflows",
    scope: "workflows:write",
    params: idParams,
    body: z.strictObject({
      reason: reasonSchema,
      by: bySchema,
      to: z.string().min(1).max(200).optional(),
      after: z.enum(["again", "fail"]).optional(),
    }),
    answers: { 200: workflowSchema },
    async handle({ runtime, who, params, body, office }) {
      const { reason, to, after } = body;
      await rollBackById(runtime, params.id, {
        by: actingSenderBack(who, body.by, await workflowState(runtime, params.id)),
        reason,
        via: who.via,
        ...(to === undefined ? {} : { to }),
        ...(after === undefined ? {} : { after }),
      });
      office.wake();
      return readWorkflowAnswer(runtime, params.id);
    },
  }),
];

const startSchema = z.strictObject({
  input: json.optional().meta({ description: "what the workflow is given; {} unless set" }),
  request_id: z.string().min(1).max(500).nullish().meta({ description: "names it for ever" }),
  on_behalf_of: z
    .array(z.string().min(1).max(210))
    .max(100)
    .nullish()
    .meta({ description: "principals for whom it is done; none of them decides about it" }),
  approval_required: z.boolean().optional().meta({ description: "people are asked about every call" }),
  budget: z.string().min(1).max(200).optional(),
  by: z
    .string()
    .min(1)
    .max(210)
    .optional()
    .meta({ description: "who asks; taken from the credential, and refused if it is somebody else" }),
});

const startedSchema = z.object({
  workflow_id: z.string(),
  name: z.string(),
  status: workflowStatus,
  is_new: z.boolean().meta({ description: "false where the request_id had led to it before" }),
  nodes: z
    .number()
    .int()
    .nullable()
    .meta({ description: "how many that are there now have the definition; null where some do not say" }),
  message: z.string(),
});

function startedMessage({ isNew, nodes }: Requested, status: z.output<typeof workflowStatus>): string {
  if (!isNew) return `The request id names this workflow already; it is ${status.replaceAll("_", " ")}`;
  if (status !== "initialized") return "Workflow started";
  if (nodes === null) return "Workflow created; it waits for a node that has its definition";
  return nodes > 0
    ? "Workflow created; a node that has its definition takes it up"
    : "Workflow created; no node that is there now says that it has its definition, and it waits for one";
}

export const definitionRoutes = [
  route({
    method: "POST",
    path: "/api/definitions/{name}/start",
    summary: "Start a workflow by its definition's name; whichever node has that runs it",
    description:
      "This server need not have it. The same `request_id` with the same input answers the same workflow, for ever. The input is checked by the node that takes it up: one that does not fit ends the workflow as failed, with the reason.",
    tag: "workflows",
    scope: "workflows:write",
    params: z.object({ name: idSchema }),
    body: startSchema,
    answers: { 200: startedSchema },
    async handle({ runtime, who, params: { name }, body: given, office }) {
      const { request_id, on_behalf_of, approval_required, budget } = given;
      const made = await requestByName(runtime, name, given.input ?? {}, {
        by: actingPrincipal(who, given.by),
        via: who.via,
        ...(request_id == null ? {} : { requestId: request_id }),
        ...(on_behalf_of == null
          ? {}
          : { onBehalfOf: on_behalf_of.map((one) => principalNamed("person", one, "on_behalf_of")) }),
        ...(approval_required === undefined ? {} : { approvalRequired: approval_required }),
        ...(budget === undefined ? {} : { budget }),
      });
      office.wake();
      const { status } = await workflowState(runtime, made.id);
      const { id: workflow_id, isNew: is_new, nodes } = made;
      return ok({ workflow_id, name, status, is_new, nodes, message: startedMessage(made, status) });
    },
  }),
];
