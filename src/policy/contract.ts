/** Verbs of policies, with their routes and schemas. None of them puts a policy in force. */
import { z } from "zod";
import { contract, type Library, plainVerb, verb } from "../kernel/contract.ts";
import type { Json, JsonObject } from "../kernel/json.ts";
import {
  anyJson,
  duration,
  either,
  id,
  moneyAmount,
  moneyOnWire,
  progressListener,
  timestamp,
  whole,
} from "../kernel/values.ts";
import { DEFAULT_MIN_DECISIONS } from "../runtime/settings.ts";
import {
  type BacktestReport,
  backtestReport,
  statedRule,
  suggestedRule,
  suggestion,
} from "./backtest/rules/answers.ts";
import type { PolicyText } from "./rules/document.ts";
import { CALL_KINDS } from "./rules/tools.ts";
import { PAST_STATUSES, RISK_LEVELS, RUN_LIMITS } from "./rules/verdict.ts";

const json = anyJson as z.ZodType<Json>;
const count = z.int().min(0);
const texts = z.array(z.string()).readonly();
/** Parsing takes some milliseconds per thousand characters. */
const MOST_TEXT = 65_536;
const text = z.string().min(1).max(MOST_TEXT).describe("the policy's file, as YAML or JSON");

const adopted = z.object({
  name: z.string(),
  digest: z.string(),
  at: timestamp.describe("when it was put in force, by which program, and from which source"),
  by: z.string(),
  source: z.string(),
});
/** A version as it was put in force. */
export type AdoptedPolicyVersion = z.output<typeof adopted>;

const program = z.object({
  by: z.string().describe("the program's agent"),
  process: z.string().describe("host/pid"),
  epoch: id("epoch"),
  since: timestamp,
  until: timestamp.nullable().describe("null while it runs, and after a crash that is not detected yet"),
  runs: z.boolean(),
});
export type PolicyProgram = z.output<typeof program>;

const version = adopted.extend({
  standing: z
    .enum(["used", "ended", "unused"])
    .describe("used while a program judges by it, ended if one did, unused if the journal shows none"),
  until: timestamp.nullable().describe("when it was last in force; null while it is, or if unknown"),
  programs: z.array(program).readonly().describe("that judge or judged by it, newest first"),
});
export type PolicyVersionSummary = z.output<typeof version>;
export type PolicyUsage = PolicyVersionSummary["standing"];

const details = version.extend({
  document: json,
  text: z.string().describe("the document as YAML, as people would write it"),
});
export type PolicyVersionDetails = z.output<typeof details>;

const tool = z.object({
  name: z.string(),
  effectClass: z.string(),
  schema: (anyJson as z.ZodType<JsonObject>)
    .nullable()
    .describe(
      "JSON Schema of its arguments; null if the journal has none: it has those of approval requests",
    ),
});
export type RecordedTool = z.output<typeof tool>;

const pastCall = z.object({
  action: id("action"),
  tool: z.string(),
  args: json,
  status: z.enum(PAST_STATUSES),
  result: json,
  generation: z.int(),
  undone: z.boolean(),
  at: timestamp,
});

const policyInput = z.object({
  tool: z.string(),
  effectClass: z.string(),
  args: json,
  agent: z.string(),
  requester: texts,
  requestId: z.string().nullable(),
  workflow: z
    .object({
      id: id("workflow"),
      name: z.string(),
      generation: z.int(),
      poster: z.string().exactOptional(),
    })
    .nullable(),
  history: z.array(pastCall).readonly().describe("oldest first; empty outside a workflow"),
  now: timestamp,
});

const level = z.enum(RISK_LEVELS);
const risk = z.object({
  score: z.number(),
  level,
  conditions: texts,
  document: z.string().exactOptional(),
});
const limit = z.enum(RUN_LIMITS);

/** What was said of an action at its first review. Absent fields did not apply. */
const recordedReview = z.object({
  verdict: z.enum(["approve", "block", "escalate"]),
  rule: z.string(),
  reason: z.string(),
  policy: z.string().describe("digest of everything that reviewed it, including code"),
  documents: texts.exactOptional(),
  document: z.string().exactOptional(),
  limitOf: limit.exactOptional(),
  limitBehind: z.object({ of: limit, rule: z.string() }).exactOptional(),
  risk: risk.exactOptional(),
  risks: z.array(risk).readonly().exactOptional(),
  shadow: z
    .array(
      z.object({
        rule: z.string(),
        verdict: z.string(),
        reason: z.string(),
        document: z.string().exactOptional(),
      }),
    )
    .readonly()
    .exactOptional(),
  costs: z
    .array(moneyOnWire.extend({ budget: z.string() }))
    .readonly()
    .exactOptional(),
  revised: z.boolean(),
  argsDigest: z.string(),
});

const firstReview = z.object({
  action: id("action"),
  input: policyInput,
  said: recordedReview,
  schema: z.string().describe("digest of the input schema"),
  isWhole: z.boolean().describe("false if part of the workflow's history was erased"),
  asked: z.enum(CALL_KINDS).describe("of an undo, only rules that match it count"),
});
export type ReplayResult = z.output<typeof firstReview>;

const remark = z.object({
  severity: z.enum(["fault", "warning"]),
  line: count,
  column: count,
  message: z.string(),
});
export type PolicyFinding = z.output<typeof remark>;

const checkedText = z.object({
  name: z.string().nullable(),
  digest: z.string().nullable(),
  remarks: z.array(remark).readonly(),
  isAll: z.boolean().describe("false where there may be more behind what is wrong"),
  unchecked: texts.describe("tools that it names and whose arguments were not checked: no schema is known"),
});
export type CheckedText = z.output<typeof checkedText>;

const spoken = z.object({ verdict: z.string(), rule: z.string(), reason: z.string() });
const explanation = z.object({
  policy: z.string(),
  digest: z.string(),
  final: spoken.extend({ args: json.describe("as they would run"), changed: z.boolean() }),
  risk: z.object({ score: z.number(), level, conditions: texts }).nullable(),
  rules: z.array(statedRule).readonly(),
  recorded: spoken.nullable().describe("what was said then, of an action that was recorded"),
  notes: texts.describe("what it must not be taken for"),
});
export type ExplainedAction = z.output<typeof explanation>;

const writtenAction = z.strictObject({
  tool: z.string().min(1).max(200),
  args: json,
  agent: z.string().min(1).max(200).optional(),
});
export type WrittenAction = z.output<typeof writtenAction>;

const toExplain = either(
  z.strictObject({
    text: text.optional(),
    id: id("action", z.string().min(1).max(600))
      .optional()
      .describe("of a recorded action, by any of its ids"),
    action: writtenAction.optional().describe("one that nobody proposed"),
  }),
  ["id", "action"],
  "An explanation is either of a recorded action, by id, or of an action.",
);
export type ExplainRequest = z.output<typeof toExplain>;

const amount = z
  .string()
  .min(1)
  .max(200)
  .optional()
  .describe("an argument to sum up: its name, or a path such as order.total");
const since = timestamp
  .refine(Number.isFinite, { error: "since is a time in milliseconds since 1970." })
  .optional()
  .describe("only actions proposed at or after this time");

const LIMIT = "A back-test's limit is a whole number of at least 0.";
/** A back-test in the library. Over HTTP it is a trial. */
export const backtestOptions = z.strictObject({
  since,
  amount,
  limit: z.int({ error: LIMIT }).min(0, { error: LIMIT }).optional(),
  progress: progressListener,
});
export type BacktestOptions = z.input<typeof backtestOptions>;

const terms = z.strictObject({ text, since, amount });
export type TrialTerms = z.output<typeof terms>;
const trial = z.object({
  id: id("trial"),
  state: z.enum(["running", "done", "failed"]),
  read: count.describe("entries of the journal that were read"),
  of: count,
  fault: z.string().nullable(),
  report: backtestReport.nullable(),
});
export type Trial = z.output<typeof trial>;

const MIN = "The number of approvals that a suggestion takes is a whole number of at least 1.";
const MOST_MIN = 1_000_000;
const toSuggest = z.strictObject({
  since,
  min: whole(MOST_MIN, MIN)
    .default(DEFAULT_MIN_DECISIONS)
    .describe("least number of approvals behind a suggestion"),
  progress: progressListener,
});
export type SuggestOptions = z.input<typeof toSuggest>;

const GRANT_MS = 90 * 86_400_000;
const suggestedGrant = z.object({
  tool: z.string(),
  agent: z.string(),
  when: z.string().exactOptional(),
  uses: count,
  forMs: duration(GRANT_MS, "A grant ends after at most 90 days."),
  total: moneyAmount.exactOptional(),
  amount: z.string().exactOptional(),
  reason: z.string(),
});
export type SuggestedGrant = z.output<typeof suggestedGrant>;

const described = suggestion.extend({
  headline: z.string(),
  asRule: suggestedRule.extend({
    text: z.string().describe("as YAML, to be pasted"),
    summary: z.string().describe("what the rule does, in words"),
  }),
  asGrant: z.object({
    offer: suggestedGrant.nullable().describe("input of grants.give; null where no grant answers it"),
    summary: z.string().describe("what a grant does for it, in words"),
  }),
});
export type DescribedSuggestion = z.output<typeof described>;

const suggested = z.object({
  suggestions: z.array(described).readonly(),
  asked: count.describe("actions for which approval was requested"),
  erased: count.describe("erased bodies: what people decided about them is unknown"),
});
export type Suggestions = z.output<typeof suggested>;

const READ = "policies:read";

export const policies = contract({
  name: "policies",
  owner: "policy",
  door: "admin",
  verbs: {
    list: plainVerb({
      http: "GET /api/policies",
      summary:
        "Every version that was put in force, oldest first by policy, with the programs that judge by it",
      output: z.array(version).readonly(),
      wrap: "policies",
    }),
    versions: plainVerb({
      http: "GET /api/policy-versions",
      summary: "Versions that were put in force, without looking for their programs",
      output: z.array(adopted).readonly(),
      wrap: "versions",
    }),
    get: plainVerb({
      http: "GET /api/policies/{name}",
      summary: "A policy's document: the version put in force last, or by digest or its beginning that one",
      output: details,
    }),
    tools: plainVerb({
      http: "GET /api/policy-tools",
      summary: "Tools that the journal knows, with the schemas that it kept",
      output: z.array(tool).readonly(),
      wrap: "tools",
    }),
    told: plainVerb({
      http: "GET /api/actions/{id}/first-review",
      scope: "actions:read",
      summary: "What the policy of a recorded action was told at its first review, and what it said",
      output: firstReview,
    }),
    check: verb({
      http: "POST /api/policies/check",
      scope: READ,
      summary: "What is wrong with a policy's text, with line and column; nothing is put in force",
      input: z.strictObject({ text }),
      output: checkedText,
      whenLost: "none",
      repeatable: true,
    }),
    explain: verb({
      http: "POST /api/policies/explain",
      scope: READ,
      summary: "What the policies in force, or one that is given, say of an action, rule by rule",
      input: toExplain,
      output: z.array(explanation).readonly(),
      wrap: "explanations",
      whenLost: "none",
      repeatable: true,
    }),
    beginTrial: verb({
      http: "POST /api/policies/trials",
      scope: READ,
      summary: "Begin a back-test of a policy over the recorded actions; one at a time",
      input: terms,
      output: trial,
      status: 202,
      takes: "terms",
      whenLost: "none",
    }),
    trial: plainVerb({
      http: "GET /api/policies/trials/{id}",
      summary: "How far a back-test is, and what it found",
      output: trial,
    }),
    suggest: verb({
      http: "GET /api/policies/suggestions",
      summary: "Rules and standing grants that people's decisions support, each with its back-test",
      input: toSuggest,
      output: suggested,
      takes: "options",
    }),
  },
});

export type Policies = Library<typeof policies> & {
  /** Every recorded action whose verdict another policy would change. Writes nothing. */
  backtest(document: PolicyText, options?: BacktestOptions): Promise<BacktestReport>;
};
