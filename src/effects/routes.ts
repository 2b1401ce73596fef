/**
 * Routes of actions (proposals, their outcomes, and a person's statement on an effect in doubt) and of receipts, plain
 * or signed.
 */

import { z } from "zod";
import { actingPerson } from "../api/authenticate.ts";
import { ok, route } from "../api/route.ts";
import {
  bySchema,
  idParams,
  json,
  nextCursor,
  pageOf,
  pageQuery,
  reasonSchema,
  sealCursor,
  time,
  timeSchema,
} from "../api/wire.ts";
import { HoldpointError } from "../kernel/errors.ts";
import { loadValue } from "../runtime/store-access.ts";
import type { TenantStore } from "../stores/store.ts";

import {
  type Action,
  type ActionSummary,
  getAction,
  getReceipt,
  pageOfActions,
  signedReceipt,
} from "./actions.ts";
import { resolveEffect } from "./resolve.ts";
import type { Receipt } from "./rules/receipt.ts";

const PHASES = ["open", "waiting", "running", "applied", "not_applied", "in_doubt", "refused"] as const;
const phase = z.enum(PHASES);

const title = z
  .string()
  .meta({ description: "one line of visible text: the tool's title, or its name and two of the arguments" });

const summary = z.object({
  action_id: z.string(),
  phase,
  title,
  tool: z.string(),
  effect_class: z.string(),
  agent: z.string(),
  request_id: z.string().nullable(),
  args: z.string().meta({ description: "the beginning of the arguments" }),
  args_hash: z.string(),
  reason: z.string().nullable(),
  approval_id: z.string().nullable(),
  effect_id: z.string().nullable(),
  proposed_at: timeSchema,
});

const refusal = z.object({
  by: z.string(),
  code: z.string(),
  reason: z.string(),
  retry: z.boolean(),
  next: z.string(),
});

export const actionSchema = z.object({
  action_id: z.string(),
  phase,
  request_id: z.string().nullable(),
  title,
  tool: z.string(),
  effect_class: z.string(),
  agent: z.string(),
  requester: z.array(z.string()),
  rationale: z.string().nullable(),
  args: json,
  args_hash: z.string(),
  executed_from: z.string(),
  workflow_id: z.string().nullable(),
  approval_id: z.string().nullable(),
  proposed_at: timeSchema,
  review: z
    .object({
      verdict: z.string(),
      rule: z.string(),
      reason: z.string(),
      policy: z.string(),
      documents: z.array(z.string()).meta({ description: "digests of the policy documents that were asked" }),
      risk: json,
    })
    .nullable(),
  effect: z.object({ effect_id: z.string(), attempt: z.number(), started_at: timeSchema }).nullable(),
  outcome: z.object({ at: timeSchema, by: z.string(), reason: z.string(), result: json }).nullable(),
  held: refusal.nullable(),
  refusal: refusal.nullable(),
});

const LIST = "actions";
const textOrNull = (value: unknown): string | null =>
  typeof value === "string" && value !== "" ? value : null;

function summaryOnWire({ id, phase: standing, ...row }: ActionSummary) {
  return {
    action_id: id,
    phase: standing,
    title: row["title"],
    tool: row["tool"],
    effect_class: row["effectClass"],
    agent: row["agent"],
    request_id: row["requestId"] ?? null,
    args: row["args"],
    args_hash: row["argsHash"],
    reason: textOrNull(row["reason"]),
    approval_id: textOrNull(row["approval"]),
    effect_id: textOrNull(row["effect"]),
    proposed_at: time(Number(row["at"])),
  };
}

function approvalOf(action: Action): string | null {
  if ("approval" in action) return action.approval;
  const grant = "effect" in action ? action.effect.grant : null;
  return grant?.kind === "approval" ? grant.approval : null;
}

async function outcomeOf(place: TenantStore, action: Action) {
  if (!("outcome" in action)) return null;
  const { at, by, reason, result } = action.outcome;
  return { at: time(at), by, reason, result: await loadValue(place, result) };
}

function effectOf(action: Action) {
  if (!("effect" in action)) return null;
  const { id, attempt, startedAt } = action.effect;
  return { effect_id: id, attempt, started_at: time(startedAt) };
}

function reviewOf({ review }: Action) {
  if (review === null) return null;
  const { verdict, rule, reason, policy, documents = [], risk } = review;
  return { verdict, rule, reason, policy, documents, risk: risk ?? null };
}

export async function actionOnWire(place: TenantStore, action: Action) {
  const { tool, agent, requester, rationale, args } = action;
  return {
    action_id: action.id,
    phase: action.phase,
    request_id: action.requestId,
    title: action.title,
    tool,
    effect_class: action.effectClass,
    ...{ agent, requester, rationale, args },
    args_hash: action.argsDigest.slice(0, 12),
    executed_from: action.from,
    workflow_id: action.within?.workflow ?? null,
    approval_id: approvalOf(action),
    proposed_at: time(action.proposedAt),
    review: reviewOf(action),
    effect: effectOf(action),
    outcome: await outcomeOf(place, action),
    held: "held" in action ? action.held : null,
    refusal: "refusal" in action ? action.refusal : null,
  };
}

export const actionRoutes = [
  route({
    method: "GET",
    path: "/api/actions",
    summary: "Actions, newest first",
    tag: "actions",
    scope: "actions:read",
    query: z.strictObject({
      phase: z.enum([...PHASES, "any"]).default("any"),
      order: z.enum(["oldest", "newest"]).default("newest"),
      ...pageQuery,
    }),
    answers: { 200: z.object({ actions: z.array(summary), next_cursor: nextCursor }) },
    async handle({ runtime, query }) {
      const { order } = query;
      const { items, next } = await pageOfActions(runtime, {
        phase: query.phase,
        order,
        ...pageOf(LIST, query),
      });
      return ok({ actions: items.map(summaryOnWire), next_cursor: sealCursor(LIST, next) });
    },
  }),
  route({
    method: "GET",
    path: "/api/actions/{id}",
    summary: "An action in full, by its own id, its effect's, or the caller's request id",
    tag: "actions",
    scope: "actions:read",
    params: idParams,
    answers: { 200: actionSchema },
    handle: async ({ runtime, params }) =>
      ok(await actionOnWire(runtime, await getAction(runtime, params.id))),
  }),
  route({
    method: "POST",
    path: "/api/effects/{id}/resolve",
    summary: "A person's word on an effect in doubt",
    tag: "actions",
    scope: "effects:resolve",
    params: idParams,
    body: z.strictObject({
      status: z.enum(["applied", "not_applied"]),
      reason: reasonSchema,
      evidence: reasonSchema
        .optional()
        .meta({ description: "what they found: the receiver's own number, an answer; kept in the journal" }),
      by: bySchema,
    }),
    answers: { 200: actionSchema },
    async handle({ runtime, who, params, body }) {
      const { status, reason, evidence } = body;
      const word = { status, reason, ...(evidence === undefined ? {} : { evidence }) };
      await resolveEffect(runtime, params.id, { ...word, by: actingPerson(who, body.by), via: who.via });
      return ok(await actionOnWire(runtime, await getAction(runtime, params.id)));
    },
  }),
];

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

function requireReceipt<Found>(found: Found | undefined, id: string): Found {
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
      ok(receiptOnWire(requireReceipt(await getReceipt(runtime, params.id), params.id))),
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
    handle: async ({ runtime, params }) =>
      ok(requireReceipt(await signedReceipt(runtime, params.id), params.id)),
  }),
];
