/**
 * Suggestions from a journal, each tried as a rule. A server runs one search at a time per instance, yielding to other
 * work. To try a rule, every action with an approval request that it covers is judged again by the documents of that
 * time with the rule added. If code or a risk escalated, a rule does not prevent the request; the result says who still
 * escalates. A document that was usable with the tools of `policy check` must stay usable with the rule.
 */

import { HoldpointError } from "../../kernel/errors.ts";
import { isJsonObject } from "../../kernel/json.ts";
import { isArtifactRef } from "../../kernel/stored-value.ts";
import { createYieldCheck, neverYield, runYielding } from "../../runtime/concurrency.ts";
import type { Runtime } from "../../runtime/runtime.ts";
import { DEFAULT_MIN_DECISIONS } from "../../runtime/settings.ts";
import type { Store, TenantStore } from "../../stores/store.ts";
import { argsType, compileOverArguments } from "../expression/expression.ts";
import { compilePolicy } from "../rules/compile.ts";
import type { PolicyText } from "../rules/document.ts";
import { reviewAction } from "../rules/review.ts";
import { type KnownTool, mergeNamedTools, namedTools } from "../rules/tools.ts";
import { loadPolicyNames, type PolicyNames } from "../versions.ts";
import {
  documentDigestsIn,
  type JudgeFunction,
  judgeTogether,
  loadKeptDocument,
} from "./candidate-policy.ts";
import { listRecordedTools, type Validators, validatorsOf } from "./recorded-tools.ts";
import { type ReplayOptions, type ReplayProgress, replayJournal } from "./replay-journal.ts";
import { collectSample, openSamples } from "./rules/decision-samples.ts";
import type { Replay } from "./rules/replay.ts";
import { callKindOfAction, type RecordedAction, type ReplayEvent } from "./rules/replay-state.ts";
import {
  type Narrowing,
  narrowingsIn,
  rulesFor,
  rulesNamed,
  type SuggestedRule,
  type Suggestion,
  suggestionsFrom,
  withRule,
} from "./rules/suggestions.ts";

type Reviewed = Extract<ReplayEvent, { kind: "reviewed" }>;

/** The effect of a suggestion as a rule. */
export type TriedRule = {
  readonly rule: SuggestedRule;
  /** The rules that escalated, in the document that escalated last. */
  readonly narrowings: readonly Narrowing[];
  /** Covered actions for which approval was requested. */
  readonly total: number;
  /** Of those, let through without approval. */
  readonly letThrough: number;
  /**
   * Who escalates the others: a rule, a risk route, `code`, `unknown` if a document cannot be evaluated, or `unusable`
   * if the document is invalid with the rule.
   */
  readonly stillAsked: readonly { readonly by: string; readonly count: number }[];
};

/** The documents of a verdict as they were, and with the rule added to each. */
type RuleTrial =
  | {
      readonly before: JudgeFunction;
      readonly after: JudgeFunction;
      readonly narrowings: readonly Narrowing[];
    }
  | "code"
  | "unknown"
  | "unusable";

type TrialContext = {
  readonly place: TenantStore;
  readonly names: PolicyNames;
  readonly tools: readonly KnownTool[];
  readonly validators: Validators;
  readonly replay: Replay;
};

type RunningTrial = {
  readonly rule: SuggestedRule;
  readonly suggestion: Suggestion;
  readonly covers: (args: unknown) => boolean;
  readonly trials: Map<string, RuleTrial>;
  readonly answers: WeakMap<RecordedAction, string | null>;
  readonly by: Map<string, number>;
  narrowings: readonly Narrowing[];
  total: number;
  letThrough: number;
};

function coversOf(when: string): RunningTrial["covers"] {
  const checked = compileOverArguments(when, "bool", null);
  return (args) => {
    if (!checked.ok || !isJsonObject(args) || isArtifactRef(args)) return false;
    try {
      return checked.evaluate(args) === true;
    } catch {
      return false;
    }
  };
}

function begin(suggestion: Suggestion, rule: SuggestedRule): RunningTrial {
  const none = { trials: new Map(), answers: new WeakMap(), by: new Map(), total: 0, letThrough: 0 };
  return { rule, suggestion, covers: coversOf(suggestion.when || "true"), narrowings: [], ...none };
}

type Pair = { readonly before: { judge: JudgeFunction }; readonly after: { judge: JudgeFunction } };

/** The document as it was, and with the rule pasted in. */
function pairOf(
  document: PolicyText,
  after: PolicyText,
  tools: readonly KnownTool[],
): Pair | "unknown" | "unusable" {
  const isUsable = (one: PolicyText) => compilePolicy(one, mergeNamedTools(tools, namedTools(one))).ok;
  const made = [compilePolicy(document, null), compilePolicy(after, null)] as const;
  if (!made[0].ok) return "unknown";
  if (!made[1].ok || (isUsable(document) && !isUsable(after))) return "unusable";
  return { before: made[0].policy, after: made[1].policy };
}

async function trialOf(
  { place, tools }: TrialContext,
  rule: SuggestedRule,
  digests: readonly string[],
): Promise<RuleTrial> {
  if (digests.length === 0) return "code";
  const pairs: Pair[] = [];
  const narrowings: Narrowing[] = [];
  for (const digest of digests) {
    const document = await loadKeptDocument(place, digest);
    if (document === undefined) return "unknown";
    const pair = pairOf(document, withRule(document, rule), tools);
    if (typeof pair === "string") return pair;
    pairs.push(pair);
    narrowings.push(...narrowingsIn(document, rule));
  }
  const [before, after] = [pairs.map((one) => one.before), pairs.map((one) => one.after)];
  return { before: judgeTogether(before), after: judgeTogether(after), narrowings };
}

/** Null if no approval is needed any more; else who escalates. */
async function answerWithRule(
  ground: TrialContext,
  running: RunningTrial,
  heard: Reviewed,
): Promise<string | null> {
  const digests = documentDigestsIn(heard.review, ground.names);
  const key = digests.join(" ");
  const trial = running.trials.get(key) ?? (await trialOf(ground, running.rule, digests));
  running.trials.set(key, trial);
  if (typeof trial === "string") return trial;
  running.narrowings = trial.narrowings;
  const { input } = ground.replay.input(heard.action, { args: heard.action.args, now: heard.now });
  const asked = callKindOfAction(heard.action);
  const validate = await ground.validators(heard.action.schema);
  const by = (judge: JudgeFunction) => reviewAction({ policy: (one) => judge(one, asked), validate }, input);
  const [before, after] = [by(trial.before), by(trial.after)];
  const ofDocuments = before.verdict === "escalate" ? rulesNamed(before.rule) : [];
  const [other] = rulesNamed(heard.review.rule).filter((one) => !ofDocuments.includes(one));
  // A rule that no document names came from code, next to documents or alone.
  if (other !== undefined) return other === "approvalRequired" ? other : "code";
  return after.verdict === "approve" ? null : after.rule;
}

function count(running: RunningTrial, { action, args }: Extract<ReplayEvent, { kind: "asked" }>): void {
  const by = running.answers.get(action);
  if (by === undefined || !running.covers(args)) return;
  running.answers.delete(action);
  running.total += 1;
  if (by === null) running.letThrough += 1;
  else running.by.set(by, (running.by.get(by) ?? 0) + 1);
}

async function handleEvent(ground: TrialContext, running: RunningTrial, heard: ReplayEvent): Promise<void> {
  if (heard.kind === "asked") count(running, heard);
  if (heard.kind !== "reviewed" || heard.review.verdict !== "escalate") return;
  if (isArtifactRef(heard.action.args)) return;
  running.answers.set(heard.action, await answerWithRule(ground, running, heard));
}

function triedBy({ rule, narrowings, total, letThrough, by }: RunningTrial): TriedRule {
  const stillAsked = [...by].map(([who, number]) => ({ by: who, count: number }));
  return {
    rule,
    narrowings,
    total,
    letThrough,
    stillAsked: stillAsked.toSorted((a, b) => b.count - a.count),
  };
}

const isAbout = ({ suggestion }: RunningTrial, { tool, agent }: RecordedAction): boolean =>
  suggestion.tool === tool && suggestion.agent === agent;

/** Rule ids of all stored documents: a pasted rule needs a different id. */
async function idsIn(place: TenantStore, names: PolicyNames): Promise<readonly string[]> {
  const documents = await Promise.all([...names.keys()].map((digest) => loadKeptDocument(place, digest)));
  return documents.flatMap((document) => (document?.rules ?? []).map(({ id }) => id));
}

type TryRulesOptions = ReplayOptions & {
  readonly since: number | null;
  /** The tools in the journal. */
  readonly tools: readonly KnownTool[];
};

async function tryRules(
  place: TenantStore,
  suggestions: readonly Suggestion[],
  { since, tools, ...playing }: TryRulesOptions,
): Promise<readonly TriedRule[]> {
  if (suggestions.length === 0) return [];
  const names = await loadPolicyNames(place);
  const rules = rulesFor(suggestions, await idsIn(place, names));
  const all = suggestions.map((one, index) => begin(one, rules[index] as SuggestedRule));
  const ground = { place, names, tools, validators: validatorsOf(place) };
  const listen = async (heard: ReplayEvent, replay: Replay): Promise<void> => {
    if (heard.kind !== "reviewed" && heard.kind !== "asked") return;
    if (since !== null && heard.action.at < since) return;
    for (const running of all)
      if (isAbout(running, heard.action)) await handleEvent({ ...ground, replay }, running, heard);
  };
  await replayJournal(place, listen, playing);
  return all.map(triedBy);
}

export type SuggestOptions = {
  /** Only actions proposed at or after this time, in milliseconds since 1970. Default: all. */
  readonly since?: number;
  /** Minimum number of approvals behind a suggestion. Default: 20. */
  readonly min?: number;
  readonly progress?: ReplayProgress;
};

export type Suggestions = {
  /** Each with its effect as a rule. */
  readonly suggestions: readonly (Suggestion & { readonly asRule: TriedRule })[];
  /** Actions for which approval was requested. */
  readonly asked: number;
  /** Erased bodies: the human decisions about them are unknown. */
  readonly erased: number;
};

export async function suggestRules(
  place: { readonly store: Store; readonly tenant: string },
  { since, min = DEFAULT_MIN_DECISIONS, ...playing }: SuggestOptions & ReplayOptions = {},
): Promise<Suggestions> {
  const samples = openSamples(since ?? null);
  await replayJournal(place, (heard) => collectSample(samples, heard), playing);
  const asked = [...samples.groups.values()].reduce((sum, group) => sum + group.samples.length, 0);
  const tools = await listRecordedTools(place);
  const schemas = new Map(tools.map(({ name, schema }) => [name, schema]));
  const steps = suggestionsFrom(samples, min, (tool) => argsType(schemas.get(tool) ?? null));
  const found = await runYielding(steps, playing.pace ?? neverYield);
  const tried = await tryRules(place, found, { since: since ?? null, tools, ...playing });
  const suggestions = found.flatMap((one, index) => {
    const asRule = tried[index];
    return asRule === undefined ? [] : [{ ...one, asRule }];
  });
  return { suggestions, asked, erased: samples.erased };
}

export type FreshSuggestions = Suggestions & {
  /** Position of the journal when the search started. */
  readonly position: number;
};

/** One percent more journal may change the result. */
const MOVED_SHARE = 100;
const LOOK_AGAIN_SECONDS = 5;

const searching = new WeakSet<Runtime>();

export async function freshSuggestions(runtime: Runtime, min: number): Promise<FreshSuggestions> {
  if (searching.has(runtime))
    throw new HoldpointError("rate_limited", "Suggestions are being looked for already.", {
      details: { retry_after: LOOK_AGAIN_SECONDS },
    });
  searching.add(runtime);
  try {
    const position = await runtime.store.position();
    return { ...(await suggestRules(runtime, { min, pace: createYieldCheck(runtime) })), position };
  } finally {
    searching.delete(runtime);
  }
}

export async function areStillFresh(
  { store }: { readonly store: Pick<Store, "position"> },
  { position }: Pick<FreshSuggestions, "position">,
): Promise<boolean> {
  const moved = (await store.position()) - position;
  return moved * MOVED_SHARE <= position;
}
