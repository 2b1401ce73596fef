/**
 * HTTP routes of policies, with their wire forms and schemas: versions that were in force, and texts to check, explain,
 * back-test and suggest. No route puts a policy in force.
 */
import { z } from "zod";
import { dropUndefined } from "../agents/creation-input.ts";
import { checkIsPerson } from "../api/authenticate.ts";
import { cacheRecent } from "../api/expensive-answers.ts";
import { createConcurrencyQuota } from "../api/guards/quotas.ts";
import { checkHasScopes, ok, type RouteRequest, route } from "../api/route.ts";
import type { TenantHost } from "../api/tenant-hosts.ts";
import { idParams, idSchema, json, moneyAsMicrosText, time, timeOrNull, timeSchema } from "../api/wire.ts";
import type { Json } from "../kernel/json.ts";
import { type ExplainedAction, explainAction, type WrittenAction } from "./backtest/explain-action.ts";
import { listRecordedTools, type RecordedTool } from "./backtest/recorded-tools.ts";
import {
  areStillFresh,
  type FreshSuggestions,
  freshSuggestions,
  type Suggestions,
} from "./backtest/suggest.ts";
import {
  GRANTED_DAYS,
  grantEffectText,
  headline,
  ruleEffectText,
  ruleLines,
  type SuggestedGrant,
  suggestedGrant,
} from "./backtest/suggestion-text.ts";
import type { ListedChange, TrialReport } from "./backtest/trial-report.ts";
import { beginTrial, getTrial, type Trial } from "./backtest/trials.ts";
import { type CheckedText, checkPolicyText } from "./read.ts";
import { RISK_LEVELS } from "./rules/verdict.ts";
import { getPolicy, listPolicies, type PolicyVersionSummary } from "./versions.ts";
import { policyYaml } from "./yaml.ts";

const versionSchema = z.object({
  name: z.string(),
  digest: z.string(),
  since: timeSchema,
  until: timeSchema.nullable().meta({ description: "null while it is in force, and where nobody knows" }),
  standing: z
    .enum(["used", "ended", "unused"])
    .meta({ description: "used while a program judges by it, ended when one did" }),
  by: z.string(),
  source: z.string(),
});

function versionOnWire({ name, digest, at, until, standing, by, source }: PolicyVersionSummary) {
  return { name, digest, since: time(at), until: timeOrNull(until), standing, by, source };
}

export const policyRoutes = [
  route({
    method: "GET",
    path: "/api/policies",
    summary: "Every version that was put in force, oldest first by policy",
    tag: "policies",
    scope: "policies:read",
    answers: { 200: z.object({ policies: z.array(versionSchema) }) },
    handle: async ({ runtime }) => ok({ policies: (await listPolicies(runtime)).map(versionOnWire) }),
  }),
  route({
    method: "GET",
    path: "/api/policies/{name}",
    summary: "A policy's document: the version put in force last, or by digest or its beginning that one",
    tag: "policies",
    scope: "policies:read",
    params: z.object({ name: idSchema }),
    answers: {
      200: versionSchema.extend({
        document: json,
        text: z.string().meta({ description: "the document as YAML, as people would write it" }),
      }),
    },
    async handle({ runtime, params }) {
      const { document, ...version } = await getPolicy(runtime, params.name);
      return ok({ ...versionOnWire(version), document, text: policyYaml(document) });
    },
  }),
];

function checkedOnWire({ read, unchecked }: CheckedText) {
  return {
    name: read.ok ? read.policy.name : null,
    digest: read.ok ? read.policy.digest : null,
    remarks: read.findings,
    is_all: read.ok || read.looked === "whole",
    unchecked,
  };
}

function explainedOnWire({ policy, final, risk, rules, recorded, notes }: ExplainedAction) {
  const { isChanged: changed, ...said } = final;
  return {
    policy: policy.name,
    digest: policy.digest,
    final: { ...said, changed },
    risk: risk && { level: risk.level, score: risk.score, conditions: risk.conditions },
    ...{ rules, recorded, notes },
  };
}

function changeOnWire({ action, people, at, ...facts }: ListedChange) {
  return {
    action_id: action,
    ...facts,
    at: time(at),
    // The wire format says `modified`, as for approvals.
    people: people === "edited" ? "modified" : people,
  };
}

const reportOnWire = ({ listed, ...report }: TrialReport) => ({
  ...report,
  listed: listed.map(changeOnWire),
});

function trialOnWire({ id, state, read, of, fault, report }: Trial) {
  return { trial_id: id, state, read, of, fault, report: report && reportOnWire(report) };
}

/** Body of `POST /api/grants`. */
function offerOnWire({ tool, agent, when, uses, limit, reason }: SuggestedGrant) {
  return {
    tool,
    agent,
    ...(when === "" ? {} : { when }),
    uses,
    for_seconds: GRANTED_DAYS * 86_400,
    ...(limit === null ? {} : { total: moneyAsMicrosText(limit.total), amount: limit.amount }),
    reason,
  };
}

function suggestionOnWire(suggestion: Suggestions["suggestions"][number]) {
  const { tool, agent, when, approved, people, days, letThrough, keptOut, open, asRule } = suggestion;
  const grant = suggestedGrant(suggestion);
  return {
    headline: headline(suggestion),
    ...{ tool, agent, when, approved, people, days },
    let_through: letThrough.total,
    kept_out: keptOut,
    open,
    rule: `${ruleLines(suggestion, asRule).join("\n")}\n`,
    as_rule: ruleEffectText(asRule),
    grant: grant && offerOnWire(grant),
    as_grant: `${grantEffectText(suggestion)}${grant === null ? "" : "."}`,
  };
}

const count = z.number().int().min(0);
/** Parsing takes some milliseconds per thousand characters. */
const MOST_TEXT = 65_536;
const text = z.string().min(1).max(MOST_TEXT).meta({ description: "the policy's file, as YAML or JSON" });

const remark = z.object({
  severity: z.enum(["fault", "warning"]),
  line: count.nullable(),
  column: count.nullable(),
  message: z.string(),
});

const spoken = z.object({ verdict: z.string(), rule: z.string(), reason: z.string() });

const explanation = z.object({
  policy: z.string(),
  digest: z.string(),
  final: spoken.extend({ args: json.meta({ description: "as they would run" }), changed: z.boolean() }),
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
  recorded: spoken.nullable().meta({ description: "what was said then, of an action that was recorded" }),
  notes: z.array(z.string()).meta({ description: "what it must not be taken for" }),
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
  args: z
    .object({
      text: z.string().meta({ description: "as JSON, short fields first: the beginning of it" }),
      characters: count.meta({ description: "of the whole" }),
    })
    .nullable()
    .meta({ description: "what it was proposed with; null where that was erased or is gone" }),
});

const trialSchema = z.object({
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
      dangers: count.meta({
        description: "of those, what people rejected or changed and it would let through without asking",
      }),
      changes: z.array(z.object({ from: z.string(), to: z.string(), count, sums: z.array(z.string()) })),
      listed: z.array(changed).meta({
        description: "the first of them; those that people had rejected or changed before any other",
      }),
      unknown: count.meta({
        description: "the others of the actions: erased, or never before a policy",
      }),
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
  open: z.array(z.string()).meta({ description: "arguments of which it lets any value through" }),
  rule: z.string().meta({ description: "as YAML, to be pasted" }),
  as_rule: z.string().meta({ description: "what the rule does, in words" }),
  grant: json.meta({ description: "a body for POST /api/grants; null where no grant answers it" }),
  as_grant: z.string().meta({ description: "what a grant does for it, in words" }),
});

const writtenSchema = z.strictObject({
  tool: z.string().min(1).max(200),
  args: json,
  agent: z.string().min(1).max(200).optional(),
});

/** The schema guarantees an action if there is no id. */
const writtenOf = ({ tool, args, agent }: Partial<z.output<typeof writtenSchema>> = {}): WrittenAction =>
  dropUndefined({ tool: tool ?? "", args: (args ?? {}) as Json, agent }) as WrittenAction;

/** Reading a text and evaluating every rule block the event loop, so concurrent requests are limited. */
const withinQuota = createConcurrencyQuota({ each: 2, all: 4 });
const quotaKey = ({ who }: Pick<RouteRequest, "who">): string => `${who.tenant} ${who.principal}`;

const NEEDED = ["policies:read", "actions:read"] as const;

/** The dashboard queries this while a person types. */
const KEPT_MS = 10_000;
const toolsKnown = cacheRecent<readonly RecordedTool[]>(KEPT_MS);
const SUGGESTED_MS = 60_000;
const suggested = cacheRecent<FreshSuggestions>(SUGGESTED_MS);

const toolsOf = (office: TenantHost): Promise<readonly RecordedTool[]> =>
  toolsKnown(office, "tools", { make: () => listRecordedTools(office.runtime) });

export const policyTrialRoutes = [
  route({
    method: "POST",
    path: "/api/policies/check",
    summary: "What is wrong with a policy's text, with line and column; nothing is put in force",
    tag: "policies",
    scope: "policies:read",
    body: z.strictObject({ text }),
    answers: {
      200: z.object({
        name: z.string().nullable(),
        digest: z.string().nullable(),
        remarks: z.array(remark),
        is_all: z.boolean().meta({ description: "false where there may be more behind what is wrong" }),
        unchecked: z.array(z.string()).meta({
          description: "tools that it names and whose arguments were not checked: no schema is known",
        }),
      }),
    },
    whenLost: "none",
    async handle({ office, runtime, who, body }) {
      checkHasScopes({ who }, NEEDED);
      checkIsPerson(who);
      return withinQuota(quotaKey({ who }), async () =>
        ok(checkedOnWire(await checkPolicyText(runtime, body.text, await toolsOf(office)))),
      );
    },
  }),
  route({
    method: "POST",
    path: "/api/policies/explain",
    summary: "What the policies in force, or one that is given, say of an action, rule by rule",
    tag: "policies",
    scope: "policies:read",
    body: z
      .strictObject({
        text: text.optional(),
        action_id: idSchema.optional().meta({ description: "of a recorded action, by any of its ids" }),
        action: writtenSchema.optional().meta({ description: "one that nobody proposed" }),
      })
      .refine(
        ({ action_id, action }) => (action_id === undefined) !== (action === undefined),
        "give either action_id or action",
      ),
    answers: { 200: z.object({ explanations: z.array(explanation) }) },
    whenLost: "none",
    async handle({ office, runtime, who, body: { text, action_id, action } }) {
      checkHasScopes({ who }, NEEDED);
      if (text !== undefined) checkIsPerson(who);
      const about = action_id ?? writtenOf(action);
      return withinQuota(quotaKey({ who }), async () => {
        const asked = dropUndefined({ about, text, tools: await toolsOf(office) });
        return ok({ explanations: (await explainAction(runtime, asked)).map(explainedOnWire) });
      });
    },
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
    async handle({ runtime, who, body: { text, since, amount } }) {
      checkHasScopes({ who }, NEEDED);
      checkIsPerson(who);
      const from = since === undefined ? undefined : Date.parse(since);
      const trial = await beginTrial(runtime, dropUndefined({ text, amount, since: from }));
      return { status: 202, body: trialOnWire(trial) };
    },
  }),
  route({
    method: "GET",
    path: "/api/policies/trials/{id}",
    summary: "How far a back-test is, and what it found",
    tag: "policies",
    scope: "policies:read",
    params: idParams,
    answers: { 200: trialSchema },
    async handle({ runtime, who, params }) {
      checkHasScopes({ who }, NEEDED);
      return ok(trialOnWire(getTrial(runtime, params.id)));
    },
  }),
  route({
    method: "GET",
    path: "/api/policies/suggestions",
    summary: "Rules and standing grants that people's decisions support, each with its back-test",
    tag: "policies",
    scope: "policies:read",
    query: z.strictObject({ min: z.coerce.number().int().min(2).max(10_000).default(20) }),
    answers: { 200: z.object({ suggestions: z.array(suggestion), asked: count }) },
    async handle({ office, runtime, who, query: { min } }) {
      checkHasScopes({ who }, NEEDED);
      const { suggestions, asked } = await suggested(office, String(min), {
        make: () => freshSuggestions(runtime, min),
        isStill: (found) => areStillFresh(runtime, found),
      });
      return ok({ suggestions: suggestions.map(suggestionOnWire), asked });
    },
  }),
];
