/** Verbs of actions, of effects in doubt and of receipts, with their routes and schemas. */
import { z } from "zod";
import { riskSchema, shadowSchema } from "../approvals/views.ts";
import type { ReceiptBundle } from "../journal/receipt-jws.ts";
import { contract, findVerb, listVerb, plainVerb, verb } from "../kernel/contract.ts";
import { REFUSALS, type RefusalCode } from "../kernel/refusals.ts";
import { actor, anyJson, channel, id, jsonValue, reason, timestamp } from "../kernel/values.ts";
import { EFFECT_CLASSES } from "../policy/rules/tool-rules.ts";

export const PHASES = [
  "open",
  "waiting",
  "running",
  "applied",
  "not_applied",
  "in_doubt",
  "refused",
] as const;
const phase = z.enum(PHASES);
const anyPhase = z.enum([...PHASES, "any"]).default("any");

const title = z
  .string()
  .describe("one line of visible text: the tool's title, or its name and two of the arguments");
const executedFrom = z.enum(["original", "supervisor_revised", "human_revised"]);
const principals = z.array(z.string()).readonly();
const texts = z.array(z.string()).readonly();
/** Money as the journal stores it. */
const storedMoney = { currency: z.string(), micros: z.string() };
const storedCost = z.object({ budget: z.string(), ...storedMoney });

const summary = z.object({
  id: id("action"),
  phase,
  title,
  tool: z.string(),
  effectClass: z.enum(EFFECT_CLASSES),
  agent: z.string(),
  requestId: z.string().nullable(),
  args: z.string().describe("the beginning of the arguments"),
  argsHash: z.string().describe("the first 12 digits of the arguments' digest"),
  verdict: z.string().nullable(),
  /** Code of the refusal, or of what holds the action. */
  code: z.string().nullable(),
  reason: z.string().nullable(),
  approval: id("approval").nullable(),
  effect: id("effect").nullable(),
  attempt: z.number().nullable(),
  proposedAt: timestamp,
  startedAt: timestamp.nullable(),
  reportBy: timestamp.nullable(),
  endedAt: timestamp.nullable(),
});

/** Why an action does not run, or does not run yet. */
export const refusalFields = {
  by: z.string(),
  code: z.enum(Object.keys(REFUSALS) as [RefusalCode, ...RefusalCode[]]),
  reason: z.string(),
  retry: z.boolean(),
  next: z.string(),
};
const refusal = z.object(refusalFields);

const origin = z.enum(["run", "usual"]);

const review = z.object({
  verdict: z.enum(["approve", "block", "escalate"]),
  rule: z.string(),
  reason: z.string(),
  policy: z.string(),
  documents: texts.describe("digests of the policy documents that were asked; empty if only code was"),
  risk: riskSchema.nullable().describe("the highest, if several policies score"),
  risks: z.array(riskSchema).readonly(),
  /** A limit of the supervised run blocked it, not a policy. */
  limitOf: origin.nullable(),
  /** A policy blocked it, and a limit of the supervised run would also have blocked it. */
  limitBehind: z.object({ of: origin, rule: z.string() }).nullable(),
  shadow: z.array(shadowSchema).readonly().describe("verdicts of rules on trial"),
  costs: z.array(storedCost).readonly().describe("the tool's estimate, if people have to approve"),
});

const permission = z
  .discriminatedUnion("kind", [
    z.object({ kind: z.literal("verdict"), rule: z.string(), policy: z.string(), nonce: z.string() }),
    z.object({ kind: z.literal("approval"), approval: id("approval"), by: principals, notes: texts }),
    z.object({
      kind: z.literal("standing"),
      grant: id("grant"),
      by: principals,
      amount: z.object(storedMoney).nullable(),
      nonce: z.string(),
    }),
  ])
  .describe("what permitted the effect to start");

const effect = z.object({
  id: id("effect"),
  attempt: z.number(),
  epoch: z.string().describe("the process that holds it, or the agent that performs it"),
  binding: z.string(),
  grant: permission,
  executeBy: timestamp.nullable(),
  costs: z.array(storedCost).readonly(),
  startedAt: timestamp,
  /** null: a process holds it. */
  reportBy: timestamp.nullable(),
  /** Set if an agent performs the effect itself. `holder` is a digest. */
  permit: z
    .object({
      holder: z.string().nullable(),
      isBegun: z.boolean(),
      handedOut: z.number(),
      ask: z.string().nullable(),
    })
    .nullable(),
  told: z
    .object({
      status: z.enum(["applied", "not_applied", "in_doubt"]),
      reason: z.string(),
      resultDigest: z.string().nullable(),
      isLate: z.boolean(),
    })
    .nullable()
    .describe("the first report of the agent that performs it"),
  late: z
    .array(
      z.object({
        epoch: z.string(),
        attempt: z.number(),
        status: z.string(),
        reason: z.string(),
        resultDigest: z.string().optional(),
      }),
    )
    .readonly()
    .describe("reports that came too late to count"),
  probe: z.object({ answer: z.string(), evidence: jsonValue }).nullable(),
});

const outcome = z.object({
  at: timestamp,
  seq: z.number(),
  by: z.string(),
  reason: z.string(),
  result: jsonValue,
  resultDigest: z.string().nullable(),
  evidence: jsonValue,
});

export const actionSchema = z.object({
  id: id("action"),
  phase,
  requestId: z.string().nullable(),
  title,
  /** As the tool declares it; null if it has none. */
  titleTemplate: z.string().nullable(),
  tool: z.string(),
  effectClass: z.enum(EFFECT_CLASSES),
  schema: z.string().describe("digest of the tool's input schema"),
  agent: z.string(),
  requester: principals,
  rationale: z.string().nullable().describe("the agent's own words"),
  args: jsonValue,
  argsHash: z.string().describe("the first 12 digits of args_digest"),
  argsDigest: z.string(),
  /** Of the arguments as first proposed. */
  proposedDigest: z.string(),
  /** Of the arguments as the caller gave them, before schema validation. */
  givenDigest: z.string(),
  executedFrom,
  workflow: id("workflow").nullable(),
  /** Position in its workflow. */
  within: z
    .object({
      workflow: id("workflow"),
      op: z.string(),
      undoes: z.string().nullable().describe("the action that it undoes"),
      goesOn: z.boolean(),
      declared: z.enum(["seen", "unseen"]).optional(),
    })
    .nullable(),
  /** The agent performs the effect itself and reports its outcome. */
  outside: z.boolean(),
  /** The undo call that the agent declares. */
  undo: z.object({ tool: z.string(), args: jsonValue, argsDigest: z.string() }).nullable(),
  approval: id("approval").nullable().describe("the approval that it waits for, or ran under"),
  proposedAt: timestamp,
  review: review.nullable(),
  held: refusal.nullable(),
  effect: effect.nullable(),
  outcome: outcome.nullable(),
  refusal: refusal.nullable(),
  refusedAt: timestamp.nullable(),
});

/** Resolves an effect in doubt by a person's statement. */
const statement = z.strictObject({
  status: z.enum(["applied", "not_applied"]),
  reason,
  evidence: reason
    .optional()
    .describe("what they found: the receiver's own number, an answer; kept in the journal"),
  by: actor,
  via: channel,
});

export const actions = contract({
  name: "actions",
  owner: "action",
  verbs: {
    list: listVerb({
      http: "GET /api/actions",
      summary: "Actions, newest first",
      noun: "page",
      filters: { phase: anyPhase, order: z.enum(["oldest", "newest"]).default("newest") },
      item: summary,
    }),
    /** By action id, effect id or request id. */
    get: plainVerb({
      http: "GET /api/actions/{id}",
      summary: "An action in full, by its own id, its effect's, or the caller's request id",
      output: actionSchema,
    }),
    resolve: verb({
      http: "POST /api/effects/{id}/resolve",
      scope: "effects:resolve",
      summary: "A person's word on an effect in doubt",
      noun: "statement",
      takes: "said",
      input: statement,
      output: actionSchema,
    }),
    // The next paths are not below /api/actions/, where each name can be a request id.
    count: verb({
      http: "GET /api/effects/count",
      summary: "Number of actions, of one phase or of all",
      noun: "count",
      takes: "phase",
      positional: "phase",
      input: z.strictObject({ phase: anyPhase }),
      output: z.number(),
      wrap: "count",
    }),
    find: findVerb({ http: "GET /api/effects/find", noun: "search" }),
    abandoned: plainVerb({
      http: "GET /api/effects/abandoned",
      summary: "Running effects whose process has ended; the next process that has the tool takes them over",
      output: z.array(summary).readonly(),
      wrap: "actions",
    }),
  },
});

export const receipt = z.object({
  v: z.literal(1),
  tenant: z.string(),
  action: id("action"),
  requestId: z.string().nullable(),
  effect: id("effect"),
  attempt: z.number(),
  tool: z.string(),
  effectClass: z.string(),
  argsHash: z.string(),
  argsDigest: z.string(),
  binding: z.string(),
  approval: id("approval").nullable().describe("the approval that was consumed"),
  grant: id("grant").optional().describe("the standing grant that was used"),
  approvedBy: principals,
  executedFrom: z.string(),
  humanApproved: z.boolean(),
  startedAt: timestamp,
  endedAt: timestamp,
  status: z.enum(["applied", "not_applied", "in_doubt"]),
  resultDigest: z.string().nullable(),
  by: z.string(),
  reason: z.string(),
  stream: z.string(),
  seq: z.number(),
});

export const receipts = contract({
  name: "receipts",
  owner: "receipt",
  verbs: {
    /** By action, effect or request id. An action without an outcome has none: `wrong_state`. */
    get: plainVerb({
      http: "GET /api/receipts/{id}",
      scope: "actions:read",
      summary: "The receipt of an action, by its id, its effect's, or the caller's request id",
      output: receipt,
    }),
    sign: plainVerb({
      http: "POST /api/receipts/{id}/sign",
      scope: "actions:read",
      summary: "The receipt signed, with the proof that the journal which holds it was sealed",
      description: "Seals first. The answer is what `verifier/verify.mjs` takes.",
      whenLost: "repeat",
      output: z.record(z.string(), anyJson) as unknown as z.ZodType<ReceiptBundle>,
    }),
  },
});

/** An action in full. */
export type Action = z.output<typeof actionSchema>;
export type ActionSummary = z.output<typeof summary>;
export type ActionPage = z.output<(typeof actions)["verbs"]["list"]["input"]>;
export type EffectStatement = z.output<typeof statement>;
