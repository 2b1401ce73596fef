/**
 * Suggested rules, tried: every action that people were asked about and that a suggestion covers, judged again by the
 * documents of that time with the rule in them.
 *
 * U1. Where code asked, or a risk, a rule does not keep people from being asked, and it is said who still asks them.
 * U2. A document with the rule in it has to be usable by the tools that `policy check` would check it against, where it was
 *     without the rule.
 */
import type { Heard, RecordedAction } from "../../core/backtest/heard.ts";
import { askedAs } from "../../core/backtest/heard.ts";
import type { Replay } from "../../core/backtest/replay.ts";
import type { Suggestion } from "../../core/backtest/suggest.ts";
import {
  type Narrowing,
  narrowingsIn,
  rulesFor,
  rulesNamed,
  type SuggestedRule,
  withRule,
} from "../../core/backtest/suggested-rule.ts";
import { compilePolicy } from "../../core/policy/compile.ts";
import type { PolicyText } from "../../core/policy/document.ts";
import { overArguments } from "../../core/policy/expression.ts";
import type { KnownTool } from "../../core/policy/known-tool.ts";
import { namedTools, withNamed } from "../../core/policy/named-tools.ts";
import { reviewAction } from "../../core/review.ts";
import { isJsonObject } from "../../kernel/json.ts";
import { isArtifactRef } from "../../kernel/stored-value.ts";

import type { Store } from "../../stores/store.ts";
import { type Judge, keptDocument, namedIn, together } from "./beside.ts";
import { type Validators, validatorsOf } from "./candidate.ts";
import { type PolicyNames, policyNames } from "./kept-policies.ts";
import { type Playing, playJournal } from "./play.ts";

type Place = { readonly store: Store; readonly tenant: string };
type Reviewed = Extract<Heard, { kind: "reviewed" }>;

/** What a suggestion does as a rule. */
export type TriedRule = {
  readonly rule: SuggestedRule;
  /** The rules that asked, in the document that asked last. */
  readonly narrowings: readonly Narrowing[];
  /** Actions that people were asked about and that it covers. */
  readonly total: number;
  /** Of those, let through without asking. */
  readonly letThrough: number;
  /**
   * Who asks about the others: a rule, a route of the risk, `code`, `unknown` where a document cannot be asked, or `unusable`
   * where it is none with the rule in it.
   */
  readonly stillAsked: readonly { readonly by: string; readonly count: number }[];
};

/** The documents of a verdict as they were, and with the rule in each. */
type Trial =
  | { readonly before: Judge; readonly after: Judge; readonly narrowings: readonly Narrowing[] }
  | "code"
  | "unknown"
  | "unusable";

type Ground = {
  readonly place: Place;
  readonly names: PolicyNames;
  readonly tools: readonly KnownTool[];
  readonly validators: Validators;
  readonly replay: Replay;
};

type Running = {
  readonly rule: SuggestedRule;
  readonly suggestion: Suggestion;
  readonly covers: (args: unknown) => boolean;
  readonly trials: Map<string, Trial>;
  readonly answers: WeakMap<RecordedAction, string | null>;
  readonly by: Map<string, number>;
  narrowings: readonly Narrowing[];
  total: number;
  letThrough: number;
};

function coversOf(when: string): Running["covers"] {
  const checked = overArguments(when, "bool", null);
  return (args) => {
    if (!checked.ok || !isJsonObject(args) || isArtifactRef(args)) return false;
    try {
      return checked.evaluate(args) === true;
    } catch {
      return false;
    }
  };
}

function begin(suggestion: Suggestion, rule: SuggestedRule): Running {
  const none = { trials: new Map(), answers: new WeakMap(), by: new Map(), total: 0, letThrough: 0 };
  return { rule, suggestion, covers: coversOf(suggestion.when || "true"), narrowings: [], ...none };
}

type Pair = { readonly before: { judge: Judge }; readonly after: { judge: Judge } };

/** The document as it was, and as it would be pasted together. */
function pairOf(
  document: PolicyText,
  after: PolicyText,
  tools: readonly KnownTool[],
): Pair | "unknown" | "unusable" {
  const isUsable = (one: PolicyText) => compilePolicy(one, withNamed(tools, namedTools(one))).ok;
  const made = [compilePolicy(document, null), compilePolicy(after, null)] as const;
  if (!made[0].ok) return "unknown";
  if (!made[1].ok || (isUsable(document) && !isUsable(after))) return "unusable";
  return { before: made[0].policy, after: made[1].policy };
}

async function trialOf(
  { place, tools }: Ground,
  rule: SuggestedRule,
  digests: readonly string[],
): Promise<Trial> {
  if (digests.length === 0) return "code";
  const pairs: Pair[] = [];
  const narrowings: Narrowing[] = [];
  for (const digest of digests) {
    const document = await keptDocument(place, digest);
    if (document === undefined) return "unknown";
    const pair = pairOf(document, withRule(document, rule), tools);
    if (typeof pair === "string") return pair;
    pairs.push(pair);
    narrowings.push(...narrowingsIn(document, rule));
  }
  const [before, after] = [pairs.map((one) => one.before), pairs.map((one) => one.after)];
  return { before: together(before), after: together(after), narrowings };
}

/** Null where nobody is asked any more; else who asks. */
async function answerOf(ground: Ground, running: Running, heard: Reviewed): Promise<string | null> {
  const digests = namedIn(heard.review, ground.names);
  const key = digests.join(" ");
  const trial = running.trials.get(key) ?? (await trialOf(ground, running.rule, digests));
  running.trials.set(key, trial);
  if (typeof trial === "string") return trial;
  running.narrowings = trial.narrowings;
  const { input } = ground.replay.input(heard.action, { args: heard.action.args, now: heard.now });
  const asked = askedAs(heard.action);
  const validate = await ground.validators(heard.action.schema);
  const by = (judge: Judge) => reviewAction({ policy: (one) => judge(one, asked), validate }, input);
  const [before, after] = [by(trial.before), by(trial.after)];
  const ofDocuments = before.verdict === "escalate" ? rulesNamed(before.rule) : [];
  const [other] = rulesNamed(heard.review.rule).filter((one) => !ofDocuments.includes(one));
  // What no document says was said by code, beside them or alone.
  if (other !== undefined) return other === "approvalRequired" ? other : "code";
  return after.verdict === "approve" ? null : after.rule;
}

function count(running: Running, { action, args }: Extract<Heard, { kind: "asked" }>): void {
  const by = running.answers.get(action);
  if (by === undefined || !running.covers(args)) return;
  running.answers.delete(action);
  running.total += 1;
  if (by === null) running.letThrough += 1;
  else running.by.set(by, (running.by.get(by) ?? 0) + 1);
}

async function hear(ground: Ground, running: Running, heard: Heard): Promise<void> {
  if (heard.kind === "asked") count(running, heard);
  if (heard.kind !== "reviewed" || heard.review.verdict !== "escalate") return;
  if (isArtifactRef(heard.action.args)) return;
  running.answers.set(heard.action, await answerOf(ground, running, heard));
}

function triedBy({ rule, narrowings, total, letThrough, by }: Running): TriedRule {
  const stillAsked = [...by].map(([who, number]) => ({ by: who, count: number }));
  return {
    rule,
    narrowings,
    total,
    letThrough,
    stillAsked: stillAsked.toSorted((a, b) => b.count - a.count),
  };
}

const isAbout = ({ suggestion }: Running, { tool, agent }: RecordedAction): boolean =>
  suggestion.tool === tool && suggestion.agent === agent;

/** Of the rules of every document that is kept: what is pasted into one has to have another. */
async function idsIn(place: Place, names: PolicyNames): Promise<readonly string[]> {
  const documents = await Promise.all([...names.keys()].map((digest) => keptDocument(place, digest)));
  return documents.flatMap((document) => (document?.rules ?? []).map(({ id }) => id));
}

export type TrialOptions = Playing & {
  readonly since: number | null;
  /** Those that the journal knows. */
  readonly tools: readonly KnownTool[];
};

export async function tryRules(
  place: Place,
  suggestions: readonly Suggestion[],
  { since, tools, ...playing }: TrialOptions,
): Promise<readonly TriedRule[]> {
  if (suggestions.length === 0) return [];
  const names = await policyNames(place);
  const rules = rulesFor(suggestions, await idsIn(place, names));
  const all = suggestions.map((one, index) => begin(one, rules[index] as SuggestedRule));
  const ground = { place, names, tools, validators: validatorsOf(place) };
  const listen = async (heard: Heard, replay: Replay): Promise<void> => {
    if (heard.kind !== "reviewed" && heard.kind !== "asked") return;
    if (since !== null && heard.action.at < since) return;
    for (const running of all)
      if (isAbout(running, heard.action)) await hear({ ...ground, replay }, running, heard);
  };
  await playJournal(place, listen, playing);
  return all.map(triedBy);
}
