/**
 * Test cases next to a policy: given this history, when this call is made, then this verdict. A case goes through the
 * same review as an action, with all rounds of revision.
 */
import { z } from "zod";
import { canonicalJson } from "../../kernel/canonical-json.ts";
import type { Json } from "../../kernel/json.ts";
import type { CompiledPolicy } from "./compile.ts";
import { type Review, reviewAction } from "./review.ts";
import { EFFECT_CLASSES, type EffectClass, type ToolRules, type Validation } from "./tool-rules.ts";
import { callKindOfTool, FINAL, type KnownTool } from "./tools.ts";
import { PAST_STATUSES, type PastCall, type PolicyInput, RISK_LEVELS } from "./verdict.ts";

const json = z.custom<Json>((value) => value !== undefined, "is missing");
const time = z.iso.datetime({ offset: true });

const pastCall = z.strictObject({
  tool: z.string(),
  args: json.optional(),
  status: z.enum(PAST_STATUSES).optional(),
  result: json.optional(),
  generation: z.int().min(1).optional(),
  undone: z.boolean().optional(),
  at: time.optional(),
});

const given = z.strictObject({
  history: z.array(pastCall).readonly().optional(),
  workflow: z
    .strictObject({
      id: z.string().optional(),
      name: z.string().optional(),
      generation: z.int().min(1).optional(),
      poster: z.string().optional(),
    })
    .nullable()
    .optional(),
  agent: z.string().optional(),
  now: time.optional(),
});

const risk = z.union([
  z.enum(RISK_LEVELS),
  z.strictObject({
    level: z.enum(RISK_LEVELS).optional(),
    score: z.number().optional(),
    conditions: z.array(z.string()).readonly().optional(),
  }),
]);

const then = z.strictObject({
  verdict: z.enum(["approve", "block", "escalate"]),
  rule: z.string().optional(),
  reason: z.string().optional(),
  /** After all revisions. */
  args: json.optional(),
  /** Ids of the rules that revised, in order. */
  revised_by: z.array(z.string()).readonly().optional(),
  risk: risk.optional(),
  /** Shadow rules that would have matched. */
  shadow: z.array(z.string()).readonly().optional(),
});

const policyCase = z.strictObject({
  name: z.string().min(1),
  given: given.optional(),
  when: z.strictObject({
    tool: z.string(),
    args: json.optional(),
    effect: z.enum(EFFECT_CLASSES).optional(),
  }),
  then,
});

export const casesSchema = z.strictObject({
  /** The policy's file, next to this one. Default: the file of the same name. */
  policy: z.string().optional(),
  cases: z.array(policyCase).min(1).readonly(),
});

const SHAPES: ReadonlyMap<string | number | undefined, object> = new Map<string, object>([
  ["cases", policyCase.shape],
  ["given", given.shape],
  ["history", pastCall.shape],
  ["when", policyCase.shape.when.shape],
  ["then", then.shape],
]);

/** Keys allowed at a path, to suggest one for a misspelt key. */
export function caseKeysAt(path: readonly (string | number)[]): readonly string[] {
  if (path.length === 0) return Object.keys(casesSchema.shape);
  return Object.keys(SHAPES.get(path.findLast((part) => typeof part === "string")) ?? {});
}

export type PolicyCase = z.infer<typeof policyCase>;
export type PolicyCases = z.infer<typeof casesSchema>;

export type CaseResult = {
  readonly name: string;
  /** Empty if the case passes. */
  readonly differences: readonly string[];
  readonly review: Review;
};

/** Default time of a case, a Monday. */
const USUAL_NOW = Date.UTC(2026, 0, 5, 12);
const USUAL_AGENT = "agent:test";
const momentOf = (text: string | undefined): number =>
  text === undefined ? USUAL_NOW : new Date(text).getTime();

function pastOf({ given: { history = [], workflow } = {} }: PolicyCase): readonly PastCall[] {
  return history.map(({ tool, args = {}, status = "applied", result = null, ...call }, index) => ({
    action: `act_${index + 1}`,
    tool,
    args,
    status,
    result: status === "applied" ? result : null,
    generation: call.generation ?? workflow?.generation ?? 1,
    undone: call.undone ?? false,
    at: momentOf(call.at),
  }));
}

/** A case runs inside a workflow unless it sets `workflow: null`. */
function inputOf(one: PolicyCase, effectClass: string): PolicyInput {
  const { given: { workflow, agent = USUAL_AGENT, now } = {}, when } = one;
  const { id = "wf_test", name = "test", generation = 1, poster = "" } = workflow ?? {};
  return {
    tool: when.tool,
    effectClass,
    args: when.args ?? {},
    agent,
    requester: [agent],
    requestId: null,
    workflow: workflow === null ? null : { id, name, generation, poster },
    history: workflow === null ? [] : pastOf(one),
    now: momentOf(now),
  };
}

function validator(tool: KnownTool | undefined): (args: Json) => Validation {
  if (tool?.schema == null) return (value) => ({ ok: true, value });
  const schema = z.fromJSONSchema(tool.schema as Parameters<typeof z.fromJSONSchema>[0]);
  return (value) => {
    const parsed = schema.safeParse(value);
    if (parsed.success) return { ok: true, value };
    return {
      ok: false,
      issues: parsed.error.issues.map(({ path, message }) => `${path.join(".")}: ${message}`).join("; "),
    };
  };
}

/** A tool with only a policy and a schema. */
function toolFor(policy: CompiledPolicy, one: PolicyCase, tools: readonly KnownTool[] | null): ToolRules {
  const known = tools?.find(({ name }) => name === one.when.tool);
  const usual = one.when.tool === FINAL ? "read" : "once";
  const effectClass = (one.when.effect ?? known?.effectClass ?? usual) as EffectClass;
  return {
    name: one.when.tool,
    effectClass,
    schemaDigest: "",
    schemaText: null,
    policyDigest: policy.digest,
    keyRetentionMs: 0,
    finalityMs: 0,
    validate: validator(known),
    policy: (input) => policy.judge(input, callKindOfTool(input.tool)),
    costs: () => [],
    dedupe: () => undefined,
  };
}

const shown = (value: unknown): string => (typeof value === "string" ? value : canonicalJson(value));

function compare(what: string, wanted: unknown, got: unknown): readonly string[] {
  if (wanted === undefined || canonicalJson(wanted) === canonicalJson(got)) return [];
  return [`${what} is ${shown(got)}, and should be ${shown(wanted)}`];
}

function compareRisk(wanted: z.infer<typeof risk> | undefined, got: Review["risk"]): readonly string[] {
  if (wanted === undefined) return [];
  if (got === null) return ["there is no risk: the policy does not score it"];
  const { level, score, conditions } = typeof wanted === "string" ? { level: wanted } : wanted;
  return [
    ...compare("the risk's level", level, got.level),
    ...compare("the risk's score", score, got.score),
    ...compare("what the risk comes from", conditions, got.conditions),
  ];
}

function differences({ then: wanted }: PolicyCase, review: Review): readonly string[] {
  const said = compare("the verdict", wanted.verdict, review.verdict);
  const why =
    said.length > 0 && wanted.reason === undefined ? [`it said: ${review.rule}, ${review.reason}`] : [];
  return [
    ...said,
    ...compare("the rule", wanted.rule, review.rule),
    ...compare("the reason", wanted.reason, review.reason),
    ...compare("args", wanted.args, review.args),
    ...compare(
      "revised_by",
      wanted.revised_by,
      review.revisions.map(({ rule }) => rule),
    ),
    ...compareRisk(wanted.risk, review.risk),
    ...compare(
      "shadow",
      wanted.shadow,
      review.shadow.map(({ rule }) => rule),
    ),
    ...why,
  ];
}

export function runCase(
  policy: CompiledPolicy,
  one: PolicyCase,
  tools: readonly KnownTool[] | null,
): CaseResult {
  const rules = toolFor(policy, one, tools);
  const review = reviewAction(rules, inputOf(one, rules.effectClass));
  return { name: one.name, differences: differences(one, review), review };
}

/** For people: one line per case, differences below. */
export function caseText({ name, differences: found }: CaseResult): string {
  return [
    `${found.length === 0 ? "ok    " : "FAILED"}  ${name}`,
    ...found.map((line) => `        ${line}`),
  ].join("\n");
}
