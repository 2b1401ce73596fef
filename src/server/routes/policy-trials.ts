/** Policies on trial: checked, explained, back-tested and suggested. Nothing here puts one in force. */
import { z } from "zod";
import { HoldpointError } from "../../core/errors.ts";
import { RISK_LEVELS } from "../../core/verdict.ts";
import { route } from "../route.ts";
import { idParams, json, timeSchema } from "../wire.ts";

const count = z.number().int().min(0);
const MOST_TEXT = 200_000;
const text = z.string().min(1).max(MOST_TEXT).meta({ description: "the policy's file, as YAML or JSON" });

const remark = z.object({
  severity: z.enum(["fault", "warning"]),
  line: count.nullable(),
  column: count.nullable(),
  message: z.string(),
});

const said = z.object({ verdict: z.string(), rule: z.string(), reason: z.string() });

const explanation = z.object({
  policy: z.string(),
  digest: z.string(),
  final: said.extend({ args: json.meta({ description: "as they would run" }), changed: z.boolean() }),
  risk: z
    .object({ level: z.enum(RISK_LEVELS), score: z.number(), conditions: z.array(z.string()) })
    .nullable(),
  rules: z.array(
    z.object({
      id: z.string(),
      verdict: z.string(),
      state: z.enum(["decided", "matched", "did_not_match", "other_tool", "shadow", "failed"]),
      note: z.string(),
    }),
  ),
  recorded: said.nullable().meta({ description: "what was said then, of an action that was recorded" }),
});

const changed = z.object({
  action_id: z.string(),
  tool: z.string(),
  agent: z.string(),
  at: timeSchema,
  from: z.string(),
  to: z.string(),
  rule: z.string(),
  reason: z.string(),
  people: z
    .enum(["approved", "modified", "rejected", "expired", "cancelled"])
    .nullable()
    .meta({ description: "what people had said of it" }),
});

export const trialSchema = z.object({
  trial_id: z.string(),
  state: z.enum(["running", "done", "failed"]),
  read: count.meta({ description: "entries of the journal that were read" }),
  of: count,
  fault: z.string().nullable(),
  report: z
    .object({
      actions: count,
      same: count,
      changed: count,
      changes: z.array(z.object({ from: z.string(), to: z.string(), count, sums: z.array(z.string()) })),
      listed: z.array(changed).meta({ description: "those that people had changed or rejected first" }),
      unknown: count.meta({ description: "actions that could not be judged" }),
    })
    .nullable(),
});

const suggestion = z.object({
  headline: z.string(),
  tool: z.string(),
  agent: z.string(),
  when: z.string().meta({ description: "in CEL; empty where the tool alone says it" }),
  approved: count,
  people: z.array(z.string()),
  days: count,
  let_through: count.meta({ description: "recorded actions that would not have been asked about" }),
  kept_out: count.meta({ description: "what people rejected or changed and it does not let through" }),
  rule: z.string().meta({ description: "as YAML, to be pasted" }),
  grant: json.meta({ description: "a body for POST /api/grants; null where no grant answers it" }),
});

const open = async (): Promise<never> => {
  throw new HoldpointError("unknown_route", "This is not there yet.");
};

export const policyTrialRoutes = [
  route({
    method: "POST",
    path: "/api/policies/check",
    summary: "What is wrong with a policy's text, with line and column; nothing is put in force",
    tag: "policies",
    scope: "policies:read",
    body: z.strictObject({ text }),
    answers: {
      200: z.object({ name: z.string().nullable(), digest: z.string().nullable(), remarks: z.array(remark) }),
    },
    whenLost: "none",
    handle: open,
  }),
  route({
    method: "POST",
    path: "/api/policies/explain",
    summary: "What the policies in force, or one that is given, say of an action, rule by rule",
    tag: "policies",
    scope: "policies:read",
    body: z.strictObject({
      text: text.optional(),
      action_id: z.string().min(1).max(600).optional(),
      action: z
        .strictObject({ tool: z.string().min(1).max(200), args: json, agent: z.string().max(200).optional() })
        .optional(),
    }),
    answers: { 200: z.object({ explanations: z.array(explanation) }) },
    whenLost: "none",
    handle: open,
  }),
  route({
    method: "POST",
    path: "/api/policies/trials",
    summary: "Begin a back-test of a policy over the recorded actions; one at a time",
    tag: "policies",
    scope: "policies:read",
    body: z.strictObject({
      text,
      since: timeSchema.optional(),
      amount: z.string().min(1).max(200).optional().meta({ description: "an argument to sum up" }),
    }),
    answers: { 202: trialSchema },
    whenLost: "none",
    handle: open,
  }),
  route({
    method: "GET",
    path: "/api/policies/trials/{id}",
    summary: "How far a back-test is, and what it found",
    tag: "policies",
    scope: "policies:read",
    params: idParams,
    answers: { 200: trialSchema },
    handle: open,
  }),
  route({
    method: "GET",
    path: "/api/policies/suggestions",
    summary: "Rules and standing grants that people's decisions support, each with its back-test",
    tag: "policies",
    scope: "policies:read",
    query: z.strictObject({ min: z.coerce.number().int().min(2).max(10_000).default(20) }),
    answers: { 200: z.object({ suggestions: z.array(suggestion), asked: count }) },
    handle: open,
  }),
];
