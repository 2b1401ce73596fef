/** Approvals: what waits for people, and what they say. */
import { z } from "zod";
import {
  type Approval,
  approveApproval,
  cancelApproval,
  getApproval,
  rejectApproval,
  revokeApproval,
} from "../../approvals/decide.ts";
import { listApprovals } from "../../approvals/lists.ts";
import { APPROVAL_ORDERS, type ApprovalOrder, LISTED_STATUSES } from "../../approvals/state.ts";
import { extendApproval } from "../../approvals/verbs.ts";
import type { Json } from "../../core/json.ts";
import { MOST_SCANNED } from "../../engine/row-pages.ts";
import { aboutSchema, idsOf, statusSchema, summaryOnWire, summarySchema } from "../approval-rows.ts";
import { approversOnWire, approversSchema } from "../asking.ts";
import { nextCursor, pageOf, pageQuery, sealCursor } from "../page.ts";
import { personOf } from "../person.ts";
import { type Asked, ok, route } from "../route.ts";
import { stagesFields, stagesOnWire } from "../stages-wire.ts";
import {
  bySchema,
  idParams,
  json,
  reasonSchema,
  sent,
  shownSchema,
  time,
  timeOrNull,
  timeSchema,
  undoOnWire,
  undoSchema,
} from "../wire.ts";

const vote = z.object({
  by: z.string(),
  decision: z.enum(["approve", "reject"]),
  note: z.string().nullable(),
  via: z.string(),
  stage: z.number(),
  shown: z
    .string()
    .nullable()
    .meta({ description: "digest of the card, or of the row of a list, that the person saw" }),
  at: timeSchema,
});
const comment = z.object({ by: z.string(), text: z.string(), via: z.string(), at: timeSchema });
const ending = z.object({ at: timeSchema, by: z.array(z.string()), reason: z.string() }).nullable();

export const approvalSchema = z.object({
  request_id: z.string(),
  status: statusSchema,
  about: aboutSchema,
  action_id: z.string().nullable(),
  workflow_id: z.string().nullable(),
  intent_id: z.string().nullable(),
  name: z.string(),
  effect_class: z.string(),
  args: json,
  args_hash: z.string(),
  answer_schema: json,
  preview: json.meta({ description: "what the tool shows of it; null where it has no preview" }),
  preview_failed: z
    .boolean()
    .meta({ description: "`preview` is the text of a failure: nothing is known about what it would do" }),
  undo: undoSchema,
  agent: z.string(),
  requester: z.array(z.string()),
  says: z.string().nullable().meta({ description: "what the agent says about it; not to be trusted" }),
  reason: z.string(),
  rule: z.string(),
  policy: z.string(),
  documents: z.array(z.string()).meta({ description: "digests of the policy documents that were asked" }),
  binding: z.string(),
  approvers: approversSchema,
  stage: z.number(),
  stages: z.number(),
  ...stagesFields,
  votes: z.array(vote),
  comments: z.array(comment).meta({ description: "what was asked and answered before it was decided" }),
  edited: z.boolean(),
  created_at: timeSchema,
  decide_by: timeSchema.nullable(),
  execute_by: timeSchema.nullable(),
  decided: ending,
  ended: ending,
});

/** A cursor of one order is none of another. */
const LISTS: { readonly [order in ApprovalOrder]: string } = {
  oldest: "approvals",
  newest: "approvals",
  deadline: "approvals by deadline",
  decided: "approvals by decision",
};

type Place = Pick<Asked, "runtime">;

const endingOnWire = (end: Approval["ended"]) => end && { ...end, at: time(end.at) };

export async function approvalOnWire(place: Place, approval: Approval) {
  const kind = approval.subject?.kind ?? "action";
  const { id, stage, edited, rule, policy, binding, agent, requester, says, reason } = approval;
  return {
    request_id: id,
    status: approval.status,
    about: kind,
    ...(await idsOf(place, { about: kind, id: approval.action }, approval.workflow)),
    name: approval.tool,
    effect_class: approval.effectClass,
    args: approval.args,
    args_hash: approval.argsDigest.slice(0, 12),
    answer_schema: approval.answerSchema ?? null,
    preview: (approval.preview?.value ?? null) as Json,
    preview_failed: approval.preview?.failed ?? false,
    undo: undoOnWire(approval),
    ...{ agent, requester, says, reason, rule, policy, binding },
    documents: approval.documents ?? [],
    approvers: approversOnWire(approval.approvers),
    stage,
    stages: approval.stages?.length ?? 1,
    ...stagesOnWire(approval),
    votes: approval.votes.map(({ by, decision, note, via, at, stage: of, shown: card }) => ({
      ...{ by, decision, note, via },
      stage: of ?? 1,
      shown: card ?? null,
      at: time(at),
    })),
    comments: approval.comments.map((one) => ({ ...one, at: time(one.at) })),
    edited,
    created_at: time(approval.requestedAt),
    decide_by: timeOrNull(approval.decideBy),
    execute_by: timeOrNull(approval.executeBy),
    decided: endingOnWire(approval.decided),
    ended: endingOnWire(approval.ended),
  };
}

/** As it stands after whatever was just done to it. */
export const standing = async ({ runtime }: Place, id: string) =>
  ok(await approvalOnWire({ runtime }, await getApproval(runtime, id)));

const binding = z.string().max(200).optional().meta({
  description: "of what the person saw; a decision on anything else is refused",
});
const approvedBy = bySchema;

const ballot = z.discriminatedUnion("decision", [
  z.strictObject({
    decision: z.literal("approve"),
    note: z.string().max(10_000).optional(),
    edit: json.optional().meta({ description: "fields of what was proposed, replaced" }),
    binding,
    shown: shownSchema,
    approved_by: approvedBy,
  }),
  z.strictObject({
    decision: z.literal("reject"),
    reason: reasonSchema,
    final: z.boolean().optional(),
    binding,
    shown: shownSchema,
    approved_by: approvedBy,
  }),
]);
const word = z.strictObject({ reason: reasonSchema, by: bySchema });

async function cast(
  { runtime, who, body }: Pick<Asked, "runtime" | "who"> & { body: z.output<typeof ballot> },
  id: string,
) {
  const by = personOf(who, body.approved_by, "approved_by");
  const { binding: seen, shown } = body;
  const said = { by, via: who.via, ...sent({ binding: seen, shown }) };
  if (body.decision === "reject") {
    const { reason, final } = body;
    return rejectApproval(runtime, id, { ...said, reason, ...sent({ final }) });
  }
  const { note, edit } = body;
  return approveApproval(runtime, id, { ...said, ...sent({ note, edit }) });
}

export const approvalRoutes = [
  route({
    method: "GET",
    path: "/api/approvals",
    summary: "Approvals, oldest first; those that wait unless another status is asked for",
    description: `A request looks at ${MOST_SCANNED} approvals at most: with filters a page may be short, or empty, and \`next_cursor\` goes on from there.`,
    tag: "approvals",
    scope: "approvals:read",
    query: z.strictObject({
      status: z.enum(LISTED_STATUSES).default("pending"),
      order: z.enum(APPROVAL_ORDERS).default("oldest").meta({
        description:
          "deadline: the soonest first, and last what has none; only of what is pending. decided: what was decided last first; only of what is not",
      }),
      mine: z
        .literal("true")
        .optional()
        .meta({ description: "only what whoever asks may decide, and has not" }),
      q: z
        .string()
        .min(1)
        .max(200)
        .optional()
        .meta({ description: "text in the id, name, agent, arguments or reason" }),
      about: aboutSchema.optional(),
      agent: z.string().min(1).max(200).optional(),
      name: z.string().min(1).max(200).optional(),
      ...pageQuery,
    }),
    answers: { 200: z.object({ approvals: z.array(summarySchema), next_cursor: nextCursor }) },
    async handle({ runtime, who, query }) {
      const { mine, q: text, limit: _, cursor: __, ...asked } = query;
      const filters = { ...sent({ text, ...asked }), mine: mine !== undefined, person: who.principal };
      const list = LISTS[query.order];
      const { items, next } = await listApprovals(runtime, { ...filters, ...pageOf(list, query) });
      const approvals = await Promise.all(items.map((item) => summaryOnWire({ runtime }, item)));
      return ok({ approvals, next_cursor: sealCursor(list, next) });
    },
  }),
  route({
    method: "GET",
    path: "/api/approvals/{id}",
    summary: "An approval in full: what is asked, of whom, and what became of it",
    tag: "approvals",
    scope: "approvals:read",
    params: idParams,
    answers: { 200: approvalSchema },
    handle: (asked) => standing(asked, asked.params.id),
  }),
  route({
    method: "POST",
    path: "/api/approvals/{id}/votes",
    summary: "Approve, approve with an edit, or reject, as the person whose credential it is",
    tag: "approvals",
    scope: "approvals:decide",
    params: idParams,
    body: ballot,
    answers: {
      200: approvalSchema.extend({
        vote: z.object({
          kind: z.enum(["recorded", "same", "edit_open"]).meta({
            description:
              "same: it was cast before; edit_open: whoever has the tool has yet to review the edit",
          }),
          request_id: z.string().meta({ description: "the approval that it counts for" }),
        }),
      }),
    },
    whenLost: "repeat",
    async handle(asked) {
      const { id } = asked.params;
      const { kind, approval } = await cast(asked, id);
      const stands = await approvalOnWire(asked, await getApproval(asked.runtime, id));
      return ok({ ...stands, vote: { kind, request_id: approval } });
    },
  }),
  route({
    method: "POST",
    path: "/api/approvals/{id}/extend",
    summary: "Give people more time, by seconds or until a moment",
    tag: "approvals",
    scope: "approvals:decide",
    params: idParams,
    body: z
      .strictObject({
        by_seconds: z.number().int().min(1).max(1_000_000_000).optional(),
        until: timeSchema.optional(),
        by: bySchema,
      })
      .refine(
        ({ by_seconds, until }) => (by_seconds === undefined) !== (until === undefined),
        "give either by_seconds or until",
      ),
    answers: { 200: approvalSchema },
    async handle({ runtime, who, params, body }) {
      const { by_seconds, until } = body;
      await extendApproval(runtime, params.id, {
        by: personOf(who, body.by),
        via: who.via,
        ...(by_seconds === undefined ? {} : { byMs: by_seconds * 1_000 }),
        ...(until === undefined ? {} : { until: Date.parse(until) }),
      });
      return standing({ runtime }, params.id);
    },
  }),
  route({
    method: "POST",
    path: "/api/approvals/{id}/revoke",
    summary: "Take a decision back that was not used yet",
    tag: "approvals",
    scope: "approvals:decide",
    params: idParams,
    body: word,
    answers: { 200: approvalSchema },
    async handle({ runtime, who, params, body }) {
      const by = personOf(who, body.by);
      await revokeApproval(runtime, { approval: params.id, by, reason: body.reason, via: who.via });
      return standing({ runtime }, params.id);
    },
  }),
  route({
    method: "POST",
    path: "/api/approvals/{id}/cancel",
    summary: "Take a question back that nobody has answered yet",
    tag: "approvals",
    scope: "approvals:decide",
    params: idParams,
    body: word,
    answers: { 200: approvalSchema },
    async handle({ runtime, who, params, body }) {
      const by = personOf(who, body.by);
      await cancelApproval(runtime, { approval: params.id, by, reason: body.reason, via: who.via });
      return standing({ runtime }, params.id);
    },
  }),
];
