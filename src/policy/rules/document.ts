/**
 * The policy document as people write it, in YAML or as the same object in TypeScript. Keys are as in the file.
 * - An unknown key is a fault and never ignored: a misspelt limit would be no limit.
 * - Facts that a condition can read: expressions name them; a condition in TypeScript receives them as its argument.
 * - Faults carry their path and a suggested key. `offset` counts characters into the expression at `path`.
 */
import { z } from "zod";
import { canonicalJson } from "../../kernel/canonical-json.ts";
import { durationMs } from "../../kernel/duration.ts";
import type { Json } from "../../kernel/json.ts";
import { didYouMean } from "../../kernel/spelling.ts";
import { errorText } from "../../kernel/text.ts";
import { MOST_STAGES } from "./stages.ts";
import { EFFECT_CLASSES } from "./tool-rules.ts";
import { MOST_QUORUM, type PastCall, RISK_LEVELS, type RiskLevel } from "./verdict.ts";

export type Facts = {
  readonly args: Json;
  readonly tool: { readonly name: string; readonly effect: string };
  readonly agent: string;
  /** Outside a workflow: id, name and poster are empty and the generation is 0. */
  readonly workflow: {
    readonly id: string;
    readonly name: string;
    readonly generation: number;
    readonly poster: string;
  };
  /** Oldest first. */
  readonly history: readonly PastCall[];
  readonly totals: Readonly<Record<string, number>>;
  readonly risk: { readonly score: number; readonly level: RiskLevel };
  /** Milliseconds since 1970. In expressions: a timestamp. */
  readonly now: number;
};

export const NO_WORKFLOW: Facts["workflow"] = { id: "", name: "", generation: 0, poster: "" };

/** A condition in TypeScript: a pure function of the facts that an expression sees. */
export type Predicate = (facts: Facts) => boolean;

const MOST_RULES = 1_000;
const name = z.string().regex(/^[A-Za-z_][\w:.-]{0,99}$/, "is not a name (letters, digits, _ . : -)");
export const LONGEST_REASON = 2_000;
const words = z.string().min(1, "is empty").max(LONGEST_REASON);
const count = z.int().min(0).max(1_000_000);
const expression = z.string().regex(/\S/, "is empty");
/** Literal text, or an expression over the call. */
const spoken = z.union([words, z.strictObject({ expr: expression })], "is not a text or { expr: … }");
const isCondition = (value: unknown): boolean =>
  typeof value === "boolean" ||
  typeof value === "function" ||
  (typeof value === "string" && /\S/.test(value));
/** A stored document contains the text of a function. */
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
    z.array(z.string()).min(1, "names no person").readonly(),
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

/** A verdict without a condition: for a risk level, or the default for calls that no rule matches. */
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

const policySchema = z.strictObject({
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
/** As written: a single person needs no list. */
export type PolicyText = z.input<typeof policySchema>;
export type PolicyRule = z.infer<typeof rule>;
export type PolicyTerms = z.infer<typeof terms>;
export type PolicyOutcome = z.infer<typeof outcome>;
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

/** Keys allowed at a path, to suggest one for a misspelt key. */
export function keysAt(path: readonly (string | number)[]): readonly string[] {
  const [first] = path;
  if (first === undefined) return Object.keys(policySchema.shape);
  if (first === "tools") return Object.keys(tool.shape);
  if (first === "totals") return Object.keys(total.shape);
  if (path.at(-1) === "routes") return RISK_LEVELS;
  const innermost = path.findLast((part) => typeof part === "string" && Object.hasOwn(SHAPES, part));
  return Object.keys(SHAPES[String(innermost)] ?? {});
}

/** A fault or a warning in a policy's text. `offset` counts characters into the expression at `path`. */
export type PolicyFault = {
  readonly path: readonly (string | number)[];
  readonly message: string;
  readonly offset?: number;
};

/** Collected findings. A policy with faults cannot be used; one with warnings can. */
export type FaultReport = { readonly faults: PolicyFault[]; readonly warnings: PolicyFault[] };

export const emptyFaultReport = (): FaultReport => ({ faults: [], warnings: [] });

type Issue = z.core.$ZodIssue;
type Path = readonly (string | number)[];

const MOST_FAULTS = 50;

const pathOf = (issue: Issue): Path =>
  issue.path.map((part) => (typeof part === "number" ? part : String(part)));

/** Issues of the union branch that the value came closest to. */
function closest(branches: readonly (readonly Issue[])[]): readonly Issue[] {
  const depth = (issues: readonly Issue[]) =>
    Math.max(...issues.map(({ path, code }) => path.length + (code === "unrecognized_keys" ? 1 : 0)));
  const [best] = branches.filter((issues) => issues.length > 0 && depth(issues) > 0);
  return best ?? [];
}

type Keys = (path: Path) => readonly string[];

function faultsOf(issue: Issue, before: Path, keys: Keys): readonly PolicyFault[] {
  const path = [...before, ...pathOf(issue)];
  if (issue.code === "unrecognized_keys")
    return issue.keys.map((key) => ({
      path: [...path, key],
      message: `${key} is not a key here${didYouMean(key, keys(path))}`,
    }));
  if (issue.code === "invalid_union") {
    const inner = closest(issue.errors).flatMap((one) => faultsOf(one, path, keys));
    if (inner.length > 0) return inner;
  }
  return [{ path, message: issueMessage(issue, path) }];
}

type Values = Extract<Issue, { code: "invalid_value" }>;

function valueWords({ values, input }: Values, what: string): string {
  const list = values.map(String);
  if (input === undefined) return `${what} is missing: one of ${list.join(", ")}`;
  return `${what} is not one of ${list.join(", ")}${typeof input === "string" ? didYouMean(input, list) : ""}`;
}

/** The literal values that a branch would accept. */
const choicesIn = ({ errors }: Extract<Issue, { code: "invalid_union" }>): readonly string[] =>
  errors.flat().flatMap((one) => (one.code === "invalid_value" ? one.values.map(String) : []));

function issueMessage(issue: Issue, path: Path): string {
  const what = path.at(-1) ?? "the policy";
  if (issue.code === "invalid_type" && issue.input === undefined) return `${what} is missing`;
  if (issue.code === "invalid_type") return `${what} is not ${article(issue.expected)}`;
  if (issue.code === "invalid_value") return valueWords(issue, String(what));
  if (issue.code === "too_big") return `${what} is over ${issue.maximum}`;
  if (issue.code === "too_small" && issue.origin !== "string" && issue.origin !== "array")
    return `${what} is under ${issue.minimum}`;
  if (issue.code === "invalid_union" && typeof issue.input === "string")
    return `${what} ${issue.message}${didYouMean(issue.input, choicesIn(issue))}`;
  return issue.message.startsWith("is ") || /^(has|names) /.test(issue.message)
    ? `${what} ${issue.message}`
    : `${what}: ${issue.message}`;
}

const WORDS: Readonly<Record<string, string>> = {
  string: "text",
  boolean: "true or false",
  array: "a list",
  int: "a whole number",
  number: "a number",
};
const article = (type: string): string => WORDS[type] ?? "an object";

/** Functions are stored as their text, so that a different function makes a different policy. */
export function storedDocument(value: unknown): unknown {
  if (typeof value === "function") return { function: String(value) };
  if (Array.isArray(value)) return value.map(storedDocument);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, storedDocument(part)]));
}

/** Faults in the terms of the file. */
export function issueFaults(issues: readonly Issue[], keys: Keys = () => []): readonly PolicyFault[] {
  return issues.flatMap((one) => faultsOf(one, [], keys)).slice(0, MOST_FAULTS);
}

type ParsedDocument =
  | { readonly ok: true; readonly document: PolicyDocument }
  | { readonly ok: false; readonly faults: readonly PolicyFault[] };

export function parseDocument(given: unknown): ParsedDocument {
  try {
    // First of all, because anything but plain data could return different values on each read.
    canonicalJson(storedDocument(given));
  } catch (error) {
    return { ok: false, faults: [{ path: [], message: errorText(error) }] };
  }
  const parsed = policySchema.safeParse(given, { reportInput: true });
  if (parsed.success) return { ok: true, document: parsed.data };
  return { ok: false, faults: issueFaults(parsed.error.issues, keysAt) };
}
