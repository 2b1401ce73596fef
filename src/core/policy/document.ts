/**
 * What people write: the document of a policy, as YAML or as the same object in TypeScript. Keys are as in the file. What
 * is not here is a fault, never ignored: a misspelt limit would be no limit.
 */
import { z } from "zod";
import { durationMs } from "../../kernel/duration.ts";
import type { Json } from "../../kernel/json.ts";
import { MOST_STAGES } from "../stages.ts";
import { EFFECT_CLASSES } from "../tool-rules.ts";
import { MOST_QUORUM, RISK_LEVELS } from "../verdict.ts";

import type { Facts } from "./facts.ts";

/** In TypeScript a condition may also be a pure function of what an expression sees. */
export type Predicate = (facts: Facts) => boolean;

const MOST_RULES = 1_000;
const name = z.string().regex(/^[A-Za-z_][\w:.-]{0,99}$/, "is not a name (letters, digits, _ . : -)");
export const LONGEST_REASON = 2_000;
const words = z.string().min(1, "is empty").max(LONGEST_REASON);
const count = z.int().min(0).max(1_000_000);
const expression = z.string().regex(/\S/, "is empty");
/** As it is written, or what an expression makes of the call. */
const spoken = z.union([words, z.strictObject({ expr: expression })], "is not a text or { expr: … }");
const isCondition = (value: unknown): boolean =>
  typeof value === "boolean" ||
  typeof value === "function" ||
  (typeof value === "string" && /\S/.test(value));
/** A function stands as its text in a document that was stored. */
const isStored = (value: unknown): boolean =>
  typeof value === "object" && value !== null && "function" in value;
const condition = z.custom<string | boolean | Predicate>(isCondition, {
  error: ({ input }) =>
    isStored(input) ? "is a function of a program, which only that program can run" : "is not an expression",
});
const duration = z
  .string()
  .refine((text) => (durationMs(text) ?? 0) > 0, 'is not a length of time like "90s", "30m", "24h" or "7d"');
const json = z.custom<Json>((value) => value !== undefined, "is not a value");
const toolName = z.string().min(1, "is empty").max(200);
const toolPattern = z.union(
  [toolName, z.array(toolName).min(1, "names no tool").max(200).readonly()],
  "is not a tool's name, a pattern or a list of those",
);

const people = z.union(
  [
    z.string().transform((one): readonly string[] => [one]),
    z.array(z.string()).min(1, "names nobody").readonly(),
  ],
  "is not a list of people",
);
const approvers = z.strictObject({
  from: people.optional(),
  quorum: z.int().min(1).max(MOST_QUORUM).optional(),
  veto: z.boolean().optional(),
  at_half_time: z.strictObject({ also: people }).optional(),
  remind_every: duration.optional(),
  separation_of_duties: z.boolean().optional(),
});
const stage = z.strictObject({ ...approvers.shape, decide_by: duration.optional() });

const escalation = {
  approvers: approvers.optional(),
  stages: z.array(stage).min(1, "has no stage").max(MOST_STAGES).readonly().optional(),
  decide_by: duration.optional(),
  execute_by: duration.optional(),
  on_timeout: z.enum(["expire", "escalate", "extend"]).optional(),
};

/** A verdict without a condition: for a level of risk, or for everything that no rule speaks of. */
const terms = z.strictObject({
  verdict: z.enum(["approve", "block", "escalate"]),
  reason: words.optional(),
  ...escalation,
});
const outcome = z.union(
  [z.enum(["approve", "block", "escalate"]), terms],
  "is not approve, block, escalate or { verdict: … }",
);

const rule = z.strictObject({
  id: name,
  description: words.optional(),
  tool: toolPattern.optional(),
  when: condition.optional(),
  verdict: z.enum(["approve", "revise", "block", "escalate"]),
  reason: spoken.optional(),
  set: z.record(z.string().min(1), json).optional(),
  ...escalation,
  shadow: z.boolean().optional(),
});

const tool = z.strictObject({
  effect: z.enum(EFFECT_CLASSES).optional(),
  calls: count.optional(),
  repeats: count.optional(),
  description: words.optional(),
});

const total = z.strictObject({
  tool: toolPattern,
  when: expression.optional(),
  sum: expression.optional(),
  count: z.literal(true).optional(),
});

const riskCondition = z.strictObject({
  id: name,
  tool: toolPattern.optional(),
  when: condition,
  weight: z.number().min(-1_000_000).max(1_000_000),
});
const risk = z.strictObject({
  conditions: z.array(riskCondition).max(MOST_RULES).readonly(),
  levels: z
    .strictObject({
      medium: z.number().optional(),
      high: z.number().optional(),
      critical: z.number().optional(),
    })
    .optional(),
  routes: z.partialRecord(z.enum(RISK_LEVELS), outcome).optional(),
});

export const policySchema = z.strictObject({
  policy: name,
  description: words.optional(),
  default: outcome.optional(),
  limits: z
    .strictObject({
      steps: z.int().min(1).max(1_000_000).optional(),
      tool_calls: count.optional(),
      seconds: z.number().positive().max(1e9).optional(),
    })
    .optional(),
  tools: z
    .record(toolName, z.union([tool, z.null()]))
    .refine((tools) => Object.keys(tools).length <= MOST_RULES, `names over ${MOST_RULES} tools`)
    .optional(),
  totals: z
    .record(z.string().regex(/^[A-Za-z_]\w{0,99}$/, "is not a name (letters, digits, _)"), total)
    .optional(),
  risk: risk.optional(),
  rules: z.array(rule).max(MOST_RULES).readonly().optional(),
});

export type PolicyDocument = z.infer<typeof policySchema>;
/** As written: one person may stand without a list. */
export type PolicyText = z.input<typeof policySchema>;
export type PolicyRule = z.infer<typeof rule>;
export type PolicyTerms = z.infer<typeof terms>;
export type PolicyOutcome = z.infer<typeof outcome>;
export type PolicyTotal = z.infer<typeof total>;
export type PolicyApprovers = z.infer<typeof approvers>;
export type ToolPattern = z.infer<typeof toolPattern>;

const SHAPES: Readonly<Record<string, object>> = {
  limits: policySchema.shape.limits.unwrap().shape,
  rules: rule.shape,
  reason: { expr: expression },
  default: terms.shape,
  approvers: approvers.shape,
  at_half_time: approvers.shape.at_half_time.unwrap().shape,
  stages: stage.shape,
  conditions: riskCondition.shape,
  levels: risk.shape.levels.unwrap().shape,
  routes: terms.shape,
  risk: risk.shape,
};

/** The keys that may stand at a place, for whoever misspelt one. */
export function keysAt(path: readonly (string | number)[]): readonly string[] {
  const [first] = path;
  if (first === undefined) return Object.keys(policySchema.shape);
  if (first === "tools") return Object.keys(tool.shape);
  if (first === "totals") return Object.keys(total.shape);
  if (path.at(-1) === "routes") return RISK_LEVELS;
  const innermost = path.findLast((part) => typeof part === "string" && Object.hasOwn(SHAPES, part));
  return Object.keys(SHAPES[String(innermost)] ?? {});
}
