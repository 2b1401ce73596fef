/** Approvals among people: a seat handed to somebody else and taken back, and several decided at once. */

import { z } from "zod";
import { getApproval } from "../../approvals/decide.ts";
import {
  type BatchAnswer,
  type BatchItem,
  decideAll,
  delegateApproval,
  takeBackApproval,
} from "../../approvals/verbs.ts";
import type { HoldpointError } from "../../core/errors.ts";
import { MOST_AT_ONCE } from "../../engine/limits.ts";
import { principalNamed } from "../agent.ts";
import { personOf } from "../person.ts";
import { problemOf } from "../problem.ts";
import { ok, route } from "../route.ts";
import { bySchema, idParams, idSchema, json, reasonSchema, sent, shownSchema } from "../wire.ts";
import { approvalOnWire, approvalSchema } from "./approvals.ts";

const BATCH = "/api/approvals/batch";

const decision = z.strictObject({
  request_id: idSchema,
  binding: z.string().max(200).meta({ description: "of what the person saw" }),
  decision: z.enum(["approve", "reject"]),
  note: z.string().max(10_000).optional().meta({ description: "a rejection needs one" }),
  edit: json.optional(),
  shown: shownSchema,
});

function itemOf({
  request_id: id,
  binding,
  decision: said,
  note,
  edit,
  shown,
}: z.output<typeof decision>): BatchItem {
  return { id, binding, decision: said, ...sent({ note, edit, shown }) };
}

const problemIn = (error: HoldpointError, requestId: string) =>
  problemOf(error, { instance: BATCH, requestId });

function answerOnWire(answer: BatchAnswer, requestId: string) {
  if (answer.ok) return { request_id: answer.id, ok: true, status: answer.decided.status, problem: null };
  return { request_id: answer.id, ok: false, status: null, problem: problemIn(answer.error, requestId) };
}

export const togetherRoutes = [
  route({
    method: "POST",
    path: "/api/approvals/{id}/delegate",
    summary: "Hand one's seat to somebody, who decides in one's place",
    tag: "approvals",
    scope: "approvals:decide",
    params: idParams,
    body: z.strictObject({ to: z.string().min(1).max(210), reason: reasonSchema, by: bySchema }),
    answers: { 200: approvalSchema },
    whenLost: "repeat",
    async handle({ runtime, who, params: { id }, body }) {
      const to = principalNamed("person", body.to, "to");
      const by = personOf(who, body.by);
      await delegateApproval(runtime, id, { by, to, reason: body.reason, via: who.via });
      return ok(await approvalOnWire({ runtime }, await getApproval(runtime, id)));
    },
  }),
  route({
    method: "POST",
    path: "/api/approvals/{id}/take-back",
    summary: "Take one's seat back, while nobody has decided with it",
    tag: "approvals",
    scope: "approvals:decide",
    params: idParams,
    body: z.strictObject({ reason: reasonSchema, by: bySchema }),
    answers: { 200: approvalSchema },
    whenLost: "repeat",
    async handle({ runtime, who, params: { id }, body }) {
      await takeBackApproval(runtime, id, {
        by: personOf(who, body.by),
        reason: body.reason,
        via: who.via,
      });
      return ok(await approvalOnWire({ runtime }, await getApproval(runtime, id)));
    },
  }),
  route({
    method: "POST",
    path: BATCH,
    summary: "Several decisions of one person, each on its own binding and with its own answer",
    tag: "approvals",
    scope: "approvals:decide",
    body: z.strictObject({
      decisions: z.array(decision).min(1).max(MOST_AT_ONCE),
      approved_by: bySchema,
    }),
    answers: {
      200: z.object({
        decisions: z.array(
          z.object({
            request_id: z.string(),
            ok: z.boolean(),
            status: z.string().nullable(),
            problem: json.meta({ description: "as it would have been answered alone; null where ok" }),
          }),
        ),
      }),
    },
    whenLost: "repeat",
    async handle({ runtime, who, body, requestId }) {
      const by = personOf(who, body.approved_by, "approved_by");
      const answers = await decideAll(runtime, body.decisions.map(itemOf), { by, via: who.via });
      return ok({ decisions: answers.map((answer) => answerOnWire(answer, requestId)) });
    },
  }),
];
