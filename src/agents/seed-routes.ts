/**
 * HTTP routes of the seed's REST surface, whose clients work unchanged: a workflow created, listed and read; its
 * pending approvals and their decisions; figures. Also the answers that routes of verbs give in its forms.
 */

import { z } from "zod";
import { readTenantStats } from "../api/activity/routes.ts";
import { actingPerson, type Who } from "../api/authenticate.ts";
import { ok, route } from "../api/route.ts";
import {
  bySchema,
  dropUndefinedFields,
  idParams,
  idSchema,
  json,
  nextCursor,
  pageOf,
  pageQuery,
  sealCursor,
  shownSchema,
} from "../api/wire.ts";
import type { Approval } from "../approvals/contract.ts";
import { approveApproval, rejectApproval } from "../approvals/decide.ts";
import { waitingIds } from "../approvals/lists.ts";
import { getApproval } from "../approvals/read.ts";
import { HoldpointError, isHoldpointError } from "../kernel/errors.ts";
import { isJsonObject, type Json, type JsonObject } from "../kernel/json.ts";
import { fillPage, skipUnreadable } from "../runtime/lists.ts";
import type { Runtime } from "../runtime/runtime.ts";
import type { TenantStore } from "../stores/store.ts";

import { getWorkflow, listWorkflows, type WorkflowSummary, workflowState } from "../workflows/read.ts";
import { openSnapshot } from "../workflows/snapshots.ts";
import { WORKFLOW_STATUSES } from "../workflows/state.ts";
import { workflowStatus } from "../workflows/views.ts";
import type { RemoteCheckpointResult } from "./contract.ts";
import { creationSchema, readCreation } from "./creation-input.ts";
import { createRemoteWorkflowNow } from "./remote-workflow.ts";
import {
  readSeedWorkflow,
  SEED_DECISIONS,
  seedCreatedOnWire,
  seedCreatedSchema,
  seedPendingOnWire,
  seedPendingSchema,
  seedSubmittedOnWire,
  seedSubmittedSchema,
  seedWorkflowListSchema,
  seedWorkflowOnWire,
  statsSchema,
  workflowSchema,
} from "./seed-forms.ts";

const seedBallotSchema = z.strictObject({
  request_id: idSchema.meta({ description: "the approval's id" }),
  decision: z.enum(SEED_DECISIONS),
  rationale: z.string().max(10_000).nullish().meta({ description: "a rejection needs one" }),
  approved_by: bySchema,
  modifications: z.record(z.string(), json).nullish().meta({ description: "only with MODIFIED" }),
  binding: z.string().max(200).optional().meta({
    description: "of what the person saw; a decision on anything else is refused",
  }),
  shown: shownSchema,
});
type SeedBallot = z.output<typeof seedBallotSchema>;

const wrong = (what: string): never => {
  throw new HoldpointError("invalid_input", what);
};

/** undefined: no change. */
function editOf({ decision, modifications }: SeedBallot) {
  const changes = modifications ?? {};
  if (decision === "MODIFIED")
    return modifications == null ? wrong("MODIFIED needs modifications.") : changes;
  return Object.keys(changes).length === 0 ? undefined : wrong(`${decision} has no modifications.`);
}

async function submitSeedDecision(runtime: Runtime, who: Who, ballot: SeedBallot): Promise<void> {
  const { request_id: id, decision, rationale, binding, shown } = ballot;
  const edit = editOf(ballot);
  const said = {
    by: actingPerson(who, ballot.approved_by, "approved_by"),
    via: who.via,
    ...dropUndefinedFields({ binding, shown }),
  };
  const words = rationale?.trim() ?? "";
  if (decision === "REJECTED") {
    const reason = words === "" ? wrong("A rejection needs a rationale.") : words;
    await rejectApproval(runtime, id, { ...said, reason });
    return;
  }
  const note = words === "" ? {} : { note: words };
  await approveApproval(runtime, id, { ...said, ...note, ...(edit === undefined ? {} : { edit }) });
}

const WORKFLOWS = "workflows";
const PENDING = "pending approvals";

const objectOf = (value: Json): JsonObject => {
  if (isJsonObject(value)) return value;
  return value === null ? {} : { value };
};

/** A checkpoint's `context` if the agent gave one; otherwise the value to be approved. */
async function contextOf(place: TenantStore, { about, schema, args }: Approval): Promise<JsonObject> {
  if (about !== "checkpoint") return objectOf(args);
  // An erased or broken snapshot must not hide the pending approval.
  const snapshot = await openSnapshot(place, schema).catch((error: unknown) => {
    if (isHoldpointError(error)) return {} as JsonObject;
    throw error;
  });
  const shown = snapshot["approval_interface"];
  const context = isJsonObject(shown) ? shown["context"] : undefined;
  return isJsonObject(context) ? context : objectOf(args);
}

async function* approvalsWithContext(
  runtime: Runtime,
  items: Awaited<ReturnType<typeof waitingIds>>["items"],
) {
  for (const { id } of items) {
    // An approval written by a newer server is skipped; that server shows it.
    const approval = await skipUnreadable(getApproval(runtime, id));
    if (approval === undefined) continue;
    yield seedPendingOnWire(approval, await contextOf(runtime, approval));
  }
}

const reachedSchema = z.object({
  workflow_id: z.string(),
  checkpoint_name: z.string(),
  result: z.enum(["waiting", "passed", "decided"]).meta({
    description:
      "waiting: people are asked; passed: the agent may go on; decided: not approved, see the workflow's last_decision",
  }),
  approval_id: z.string().nullable(),
  snapshot_id: z.string().nullable(),
  artifact_uri: z.string().nullable(),
  status: workflowStatus,
  attempt: z.number(),
  message: z.string(),
});

const REACHED: { readonly [kind in RemoteCheckpointResult["kind"]]: string } = {
  waiting: "Checkpoint reached - people are asked",
  passed: "Checkpoint passed - go on",
  decided: "Checkpoint decided - people have not agreed",
};

function reachedOnWire(id: string, { kind, snapshot, ...reached }: RemoteCheckpointResult) {
  return {
    workflow_id: id,
    checkpoint_name: reached.checkpoint,
    result: kind,
    approval_id: reached.approval,
    snapshot_id: snapshot?.id ?? null,
    artifact_uri: snapshot?.uri ?? null,
    ...{ status: reached.status, attempt: reached.attempt },
    message: REACHED[kind],
  };
}

const inFull = { schema: workflowSchema, answer: readSeedWorkflow };

/** Verbs of agents that drive a workflow, by route: clients read these answers in the seed's form. */
export const SEED_ANSWERS = {
  "POST /api/workflows/{id}/start": inFull,
  "POST /api/workflows/{id}/checkpoints": {
    schema: reachedSchema,
    answer: async (_runtime: Runtime, id: string, reached: unknown) =>
      reachedOnWire(id, reached as RemoteCheckpointResult),
  },
  "POST /api/workflows/{id}/complete": inFull,
  "POST /api/workflows/{id}/fail": inFull,
} as const;

const AT_WORK: readonly unknown[] = ["executing", "rolling_back"];

/** Only workflows at work have waits to show. One written by a newer server is shown by that server. */
async function waitsOfWorkflow(runtime: Runtime, { id, status }: WorkflowSummary) {
  if (!AT_WORK.includes(status)) return [];
  return (await skipUnreadable(workflowState(runtime, id)))?.waits ?? [];
}

export const seedRoutes = [
  route({
    method: "POST",
    path: "/api/workflows",
    summary: "Create a workflow that an agent drives from outside, with its checkpoints",
    description:
      "With `workflows:write` for any agent; with `workflows:drive` alone an agent creates only what it drives itself. `checkpoint_names` or, in full, `checkpoints`. `escrow_amount` is recorded, in dollars unless `escrow_currency` says otherwise; nothing is locked.",
    tag: "workflows",
    scope: "workflows:write",
    orScope: "workflows:drive",
    body: creationSchema,
    answers: { 200: seedCreatedSchema },
    async handle({ runtime, who, body }) {
      const id = await createRemoteWorkflowNow(runtime, readCreation(who, body));
      return ok(seedCreatedOnWire(await getWorkflow(runtime, id)));
    },
  }),
  route({
    method: "GET",
    path: "/api/workflows",
    summary: "Workflows, newest first",
    tag: "workflows",
    scope: "workflows:read",
    query: z.strictObject({
      status: z.enum([...WORKFLOW_STATUSES, "any"]).default("any"),
      order: z.enum(["oldest", "newest"]).default("newest"),
      agent: z.string().min(1).max(200).optional().meta({ description: "only those of one agent" }),
      q: z
        .string()
        .trim()
        .min(1)
        .max(200)
        .optional()
        .meta({ description: "text in the id, name, agent, checkpoint or reason; `total` counts all" }),
      waits: z.literal("true").optional().meta({ description: "with what each waits for; it takes longer" }),
      ...pageQuery,
    }),
    answers: {
      200: z.object({
        workflows: z.array(seedWorkflowListSchema),
        total: z.number(),
        next_cursor: nextCursor,
      }),
    },
    async handle({ runtime, query }) {
      const { store, tenant } = runtime;
      const wanted = query.status === "any" ? WORKFLOW_STATUSES : [query.status];
      const { status, order, agent, q: text } = query;
      const only = { ...(agent === undefined ? {} : { agent }), ...(text === undefined ? {} : { text }) };
      const page = { status, order, ...only, ...pageOf(WORKFLOWS, query) };
      const { items, next } = await listWorkflows(runtime, page);
      const counts = await Promise.all(wanted.map((bucket) => store.count(tenant, WORKFLOWS, bucket)));
      const total = counts.reduce((sum, count) => sum + count, 0);
      const waits = await Promise.all(
        items.map((item) => (query.waits === undefined ? null : waitsOfWorkflow(runtime, item))),
      );
      const workflows = items.map((item, index) => seedWorkflowOnWire(item, waits[index] ?? null));
      return ok({ workflows, total, next_cursor: sealCursor(WORKFLOWS, next) });
    },
  }),
  route({
    method: "GET",
    path: "/api/workflows/{id}",
    summary: "A workflow in full: its status, what it waits for, the last decision",
    tag: "workflows",
    scope: "workflows:read",
    params: idParams,
    answers: { 200: workflowSchema },
    handle: async ({ runtime, params }) => ok(await readSeedWorkflow(runtime, params.id)),
  }),
  route({
    method: "GET",
    path: "/api/approvals/pending",
    summary: "What waits for people, oldest first, with what the agent gave for them to look at",
    tag: "approvals",
    scope: "approvals:read",
    query: z.strictObject(pageQuery),
    answers: {
      200: z.object({
        pending_approvals: z.array(seedPendingSchema),
        total: z.number(),
        next_cursor: nextCursor,
      }),
    },
    async handle({ runtime, query }) {
      const { items, next } = await waitingIds(runtime, pageOf(PENDING, query));
      const { rows, isCut } = await fillPage(approvalsWithContext(runtime, items), query.limit);
      const total = await runtime.store.count(runtime.tenant, "approvals", "pending");
      const on = isCut ? (items[rows.length - 1]?.cursor ?? null) : next;
      return ok({ pending_approvals: rows, total, next_cursor: sealCursor(PENDING, on) });
    },
  }),
  route({
    method: "POST",
    path: "/api/approvals/submit",
    summary:
      "APPROVED, MODIFIED with the fields that change, or REJECTED, as the person whose credential it is",
    tag: "approvals",
    scope: "approvals:decide",
    body: seedBallotSchema,
    answers: { 200: seedSubmittedSchema },
    whenLost: "repeat",
    async handle({ runtime, who, body }) {
      await submitSeedDecision(runtime, who, body);
      const approval = await getApproval(runtime, body.request_id);
      const { workflow } = approval;
      const concerned = workflow === null ? null : await getWorkflow(runtime, workflow);
      return ok(seedSubmittedOnWire(body.decision, { approval, workflow: concerned }));
    },
  }),
  route({
    method: "GET",
    path: "/api/stats",
    summary: "How many workflows there are by status, and how many approvals",
    tag: "workflows",
    scope: "workflows:read",
    answers: { 200: statsSchema },
    handle: async ({ runtime }) => ok(await readTenantStats(runtime)),
  }),
];
