/** Workflows: where each stands, what happened to it, and what operators do about it. */
import { z } from "zod";
import { WORKFLOW_STATUSES } from "../../core/workflow/state.ts";
import {
  cancelById,
  getWorkflow,
  listWorkflows,
  rollBackById,
  snapshotOf,
  type WorkflowDetails,
  type WorkflowSummary,
} from "../../engine/workflow/operate-workflows.ts";
import { timelineOf } from "../../engine/workflow/timeline.ts";
import type { TimelineRow } from "../../engine/workflow/timeline-row.ts";
import { nextCursor, pageOf, pageQuery, sealCursor } from "../page.ts";
import { principalOf } from "../person.ts";
import { ok, route } from "../route.ts";
import { bySchema, idParams, idSchema, json, reasonSchema, time, timeOrNull, timeSchema } from "../wire.ts";

const status = z.enum(WORKFLOW_STATUSES);

const brief = {
  workflow_id: z.string(),
  name: z.string(),
  status,
  agent: z.string(),
  attempt: z.number(),
  current_checkpoint: z.number(),
  total_checkpoints: z.number(),
  started_at: timeSchema,
  completed_at: timeSchema.nullable(),
  error_message: z.string().nullable(),
};
const summary = z.object({ ...brief, checkpoint: z.string().nullable(), approval_id: z.string().nullable() });

const decision = z.object({
  checkpoint: z.string(),
  approval_id: z.string(),
  decision: z.string(),
  by: z.array(z.string()),
  reason: z.string(),
  at: timeSchema,
});
const wait = z.object({ kind: z.string(), on: z.string(), op: z.string() });

export const workflowSchema = z.object({
  ...brief,
  description: z.string(),
  version: z.string().nullable(),
  input: json,
  result: json,
  failure: z.object({ code: z.string(), by: z.string(), report: json }).nullable(),
  pending: z
    .object({ checkpoint: z.string(), approval_id: z.string(), can_rollback: z.boolean() })
    .nullable(),
  waits: z.array(wait),
  wake_at: timeSchema.nullable(),
  last_decision: decision.nullable(),
  parties: json,
  budget: z.string().nullable(),
  parent: json,
});

const row = z.object({
  seq: z.number(),
  at: timeSchema,
  kind: z.string(),
  name: z.string(),
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
});

const LIST = "workflows";

type Listed = {
  readonly [Field in "name" | "status" | "agent"]: string;
} & { readonly [Field in "attempt" | "passed" | "checkpoints" | "createdAt"]: number } & {
  readonly [Field in "checkpoint" | "approval" | "reason"]: string | null;
} & { readonly endedAt: number | null };

function summaryOnWire({ id, ...fields }: WorkflowSummary) {
  const listed = fields as unknown as Listed;
  const { name, agent, attempt, checkpoint, approval, passed } = listed;
  return {
    workflow_id: id,
    name,
    status: listed.status,
    agent,
    attempt,
    current_checkpoint: passed + (checkpoint === null ? 0 : 1),
    total_checkpoints: listed.checkpoints,
    started_at: time(listed.createdAt),
    completed_at: timeOrNull(listed.endedAt),
    error_message: listed.reason,
    checkpoint,
    approval_id: approval,
  };
}

function decisionOnWire(last: WorkflowDetails["lastDecision"]) {
  if (last === null) return null;
  const { checkpoint, approval, decision: said, by, reason, at } = last;
  return { checkpoint, approval_id: approval, decision: said, by, reason, at: time(at) };
}

function endOnWire({ end }: WorkflowDetails) {
  const failed = end?.status === "failed" ? end : null;
  return {
    completed_at: timeOrNull(end?.at),
    error_message: failed?.reason ?? null,
    result: end?.status === "completed" ? end.result : null,
    failure: failed && { code: failed.code, by: failed.by, report: failed.report },
  };
}

export function workflowOnWire(workflow: WorkflowDetails) {
  const { name, description, version, agent, attempt, input, pending, parties, parent } = workflow;
  return {
    workflow_id: workflow.id,
    ...{ name, description, version, agent, attempt },
    status: workflow.status,
    current_checkpoint: workflow.passed.length + (pending === null ? 0 : 1),
    total_checkpoints: workflow.checkpoints.length,
    started_at: time(workflow.createdAt),
    ...endOnWire(workflow),
    input,
    pending: pending && {
      checkpoint: pending.name,
      approval_id: pending.approval,
      can_rollback: pending.canRollback,
    },
    waits: workflow.waits.map(({ kind, on, op }) => ({ kind, on, op })),
    wake_at: timeOrNull(workflow.wakeAt),
    last_decision: decisionOnWire(workflow.lastDecision),
    parties,
    budget: workflow.budget ?? null,
    parent,
  };
}

function rowOnWire(line: TimelineRow) {
  const { seq, kind, name, attempt, branch, ref, undoes, by, reason, isBack, isUndone } = line;
  return {
    ...{ seq, kind, name, attempt, branch, ref, undoes, by, reason },
    status: line.status,
    at: time(line.at),
    ended_at: timeOrNull(line.endedAt),
    is_back: isBack,
    is_undone: isUndone,
    until: timeOrNull(line.until),
  };
}

export const workflowRoutes = [
  route({
    method: "GET",
    path: "/api/workflows",
    summary: "Workflows, newest first",
    tag: "workflows",
    scope: "workflows:read",
    query: z.strictObject({
      status: z.enum([...WORKFLOW_STATUSES, "any"]).default("any"),
      order: z.enum(["oldest", "newest"]).default("newest"),
      ...pageQuery,
    }),
    answers: {
      200: z.object({ workflows: z.array(summary), total: z.number(), next_cursor: nextCursor }),
    },
    async handle({ runtime, query }) {
      const { store, tenant } = runtime;
      const wanted = query.status === "any" ? WORKFLOW_STATUSES : [query.status];
      const page = { status: query.status, order: query.order, ...pageOf(LIST, query) };
      const { items, next } = await listWorkflows(runtime, page);
      const counts = await Promise.all(wanted.map((bucket) => store.count(tenant, LIST, bucket)));
      const total = counts.reduce((sum, count) => sum + count, 0);
      return ok({ workflows: items.map(summaryOnWire), total, next_cursor: sealCursor(LIST, next) });
    },
  }),
  route({
    method: "GET",
    path: "/api/workflows/{id}",
    summary: "A workflow in full: where it stands, what it waits for, the last decision",
    tag: "workflows",
    scope: "workflows:read",
    params: idParams,
    answers: { 200: workflowSchema },
    handle: async ({ runtime, params }) => ok(workflowOnWire(await getWorkflow(runtime, params.id))),
  }),
  route({
    method: "GET",
    path: "/api/workflows/{id}/timeline",
    summary: "What happened to it, in order",
    tag: "workflows",
    scope: "workflows:read",
    params: idParams,
    answers: { 200: z.object({ rows: z.array(row) }) },
    handle: async ({ runtime, params }) =>
      ok({ rows: (await timelineOf(runtime, params.id)).map(rowOnWire) }),
  }),
  route({
    method: "GET",
    path: "/api/workflows/{id}/checkpoints/{checkpoint}",
    summary: "What a checkpoint captured, by its name or its snapshot's id",
    tag: "workflows",
    scope: "workflows:read",
    params: z.object({ id: idSchema, checkpoint: idSchema }),
    answers: { 200: json },
    handle: async ({ runtime, params }) => ok(await snapshotOf(runtime, params.id, params.checkpoint)),
  }),
  route({
    method: "POST",
    path: "/api/workflows/{id}/cancel",
    summary: "End it; what was done stays done",
    tag: "workflows",
    scope: "workflows:write",
    params: idParams,
    body: z.strictObject({ reason: reasonSchema, by: bySchema }),
    answers: { 200: workflowSchema },
    async handle({ runtime, who, params, body }) {
      await cancelById(runtime, params.id, { by: principalOf(who, body.by), reason: body.reason });
      return ok(workflowOnWire(await getWorkflow(runtime, params.id)));
    },
  }),
  route({
    method: "POST",
    path: "/api/workflows/{id}/rollback",
    summary: "Undo what was done since a checkpoint, newest first; then try again, or fail",
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
        by: principalOf(who, body.by),
        reason,
        ...(to === undefined ? {} : { to }),
        ...(after === undefined ? {} : { after }),
      });
      office.wake();
      return ok(workflowOnWire(await getWorkflow(runtime, params.id)));
    },
  }),
];
