/** Receipts: the record of an effect's outcome, as it stands or signed. */
import { z } from "zod";
import type { Receipt } from "../../core/action/receipt.ts";
import { getReceipt, signedReceipt } from "../../engine/receipts.ts";
import { HoldpointError } from "../../kernel/errors.ts";
import { ok, route } from "../route.ts";
import { idParams, json, time, timeSchema } from "../wire.ts";

export const receiptSchema = z.object({
  action_id: z.string(),
  request_id: z.string().nullable(),
  effect_id: z.string(),
  attempt: z.number(),
  tool: z.string(),
  effect_class: z.string(),
  args_hash: z.string(),
  args_digest: z.string(),
  binding: z.string(),
  approval_id: z.string().nullable(),
  grant_id: z.string().nullable(),
  approved_by: z.array(z.string()),
  executed_from: z.string(),
  human_approved: z.boolean(),
  started_at: timeSchema,
  ended_at: timeSchema,
  status: z.enum(["applied", "not_applied", "in_doubt"]),
  result_digest: z.string().nullable(),
  by: z.string(),
  reason: z.string(),
  stream: z.string(),
  seq: z.number(),
});

export function receiptOnWire(receipt: Receipt) {
  const { attempt, tool, binding, status, by, reason, stream, seq } = receipt;
  return {
    action_id: receipt.action,
    request_id: receipt.requestId,
    effect_id: receipt.effect,
    attempt,
    tool,
    effect_class: receipt.effectClass,
    args_hash: receipt.argsHash,
    args_digest: receipt.argsDigest,
    binding,
    approval_id: receipt.approval,
    grant_id: receipt.grant ?? null,
    approved_by: receipt.approvedBy,
    executed_from: receipt.executedFrom,
    human_approved: receipt.humanApproved,
    started_at: time(receipt.startedAt),
    ended_at: time(receipt.endedAt),
    status,
    result_digest: receipt.resultDigest,
    ...{ by, reason, stream, seq },
  };
}

function outcomeOf<Found>(found: Found | undefined, id: string): Found {
  if (found !== undefined) return found;
  throw new HoldpointError("wrong_state", `There is no outcome of ${id} yet.`, {
    next: "Ask again when the effect has ended.",
  });
}

export const receiptRoutes = [
  route({
    method: "GET",
    path: "/api/receipts/{id}",
    summary: "The receipt of an action, by its id, its effect's, or the caller's request id",
    tag: "receipts",
    scope: "actions:read",
    params: idParams,
    answers: { 200: receiptSchema },
    handle: async ({ runtime, params }) =>
      ok(receiptOnWire(outcomeOf(await getReceipt(runtime, params.id), params.id))),
  }),
  route({
    method: "POST",
    path: "/api/receipts/{id}/sign",
    summary: "The receipt signed, with the proof that the journal which holds it was sealed",
    description: "Seals first. The answer is what `verifier/verify.mjs` takes.",
    tag: "receipts",
    scope: "actions:read",
    params: idParams,
    answers: { 200: z.object({ receipt: z.string() }).catchall(json) },
    whenLost: "repeat",
    handle: async ({ runtime, params }) => ok(outcomeOf(await signedReceipt(runtime, params.id), params.id)),
  }),
];
