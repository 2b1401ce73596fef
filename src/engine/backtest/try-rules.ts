/**
 * Suggested rules, tried: every action that people were asked about and that a suggestion covers, judged again by the
 * documents of that time with the rule in them.
 *
 * U1. Where code asked, or a risk, a rule does not keep people from being asked, and it is said who still asks them.
 */
import type { Heard, RecordedAction } from "../../core/backtest/heard.ts";
import { askedAs } from "../../core/backtest/heard.ts";
import type { Replay } from "../../core/backtest/replay.ts";
import type { Suggestion } from "../../core/backtest/suggest.ts";
import { rulesFor, rulesNamed, type SuggestedRule, withRule } from "../../core/backtest/suggested-rule.ts";
import { isJsonObject } from "../../core/json.ts";
import { compilePolicy } from "../../core/policy/compile.ts";
import { overArguments } from "../../core/policy/expression.ts";
import { reviewAction } from "../../core/review.ts";
import { isArtifactRef } from "../../core/stored-value.ts";
import type { Store } from "../../stores/store.ts";
import { type Judge, keptDocument, namedIn, together } from "./beside.ts";
import { type Validators, validatorsOf } from "./candidate.ts";
import { type PolicyNames, policyNames } from "./kept-policies.ts";
import { type Progress, playJournal } from "./play.ts";

type Place = { readonly store: Store; readonly tenant: string };
type Reviewed = Extract<Heard, { kind: "reviewed" }>;

/** What a suggestion does as a rule. */
export type TriedRule = {
  readonly rule: SuggestedRule;
  /** Actions that people were asked about and that it covers. */
  readonly total: number;
  /** Of those, let through without asking. */
  readonly letThrough: number;
  /** Who asks about the others: a rule, a route of the risk, `code`, or `unknown` where a document cannot be asked. */
  readonly stillAsked: readonly { readonly by: string; readonly count: number }[];
};

/** The documents of a verdict as they were, and with the rule in each. */
type Trial = { readonly before: Judge; readonly after: Judge } | "code" | "unknown";

type Ground = {
  readonly place: Place;
  readonly names: PolicyNames;
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
  return { rule, suggestion, covers: coversOf(suggestion.when || "true"), ...none };
}

async function trialOf(place: Place, rule: SuggestedRule, digests: readonly string[]): Promise<Trial> {
  if (digests.length === 0) return "code";
  const before: { judge: Judge }[] = [];
  const after: { judge: Judge }[] = [];
  for (const digest of digests) {
    const document = await keptDocument(place, digest);
    if (document === undefined) return "unknown";
    const made = [compilePolicy(document, null), compilePolicy(withRule(document, rule), null)] as const;
    if (!made[0].ok || !made[1].ok) return "unknown";
    before.push(made[0].policy);
    after.push(made[1].policy);
  }
  return { before: together(before), after: together(after) };
}

/** Null where nobody is asked any more; else who asks. */
async function answerOf(ground: Ground, running: Running, heard: Reviewed): Promise<string | null> {
  const digests = namedIn(heard.review, ground.names);
  const key = digests.join(" ");
  const trial = running.trials.get(key) ?? (await trialOf(ground.place, running.rule, digests));
  running.trials.set(key, trial);
  if (typeof trial === "string") return trial;
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

function triedBy({ rule, total, letThrough, by }: Running): TriedRule {
  const stillAsked = [...by].map(([who, number]) => ({ by: who, count: number }));
  return { rule, total, letThrough, stillAsked: stillAsked.toSorted((a, b) => b.count - a.count) };
}

const isAbout = ({ suggestion }: Running, { tool, agent }: RecordedAction): boolean =>
  suggestion.tool === tool && suggestion.agent === agent;

/** Of the rules of every document that is kept: what is pasted into one has to have another. */
async function idsIn(place: Place, names: PolicyNames): Promise<readonly string[]> {
  const documents = await Promise.all([...names.keys()].map((digest) => keptDocument(place, digest)));
  return documents.flatMap((document) => (document?.rules ?? []).map(({ id }) => id));
}

export async function tryRules(
  place: Place,
  suggestions: readonly Suggestion[],
  { since, progress }: { readonly since: number | null; readonly progress?: Progress },
): Promise<readonly TriedRule[]> {
  if (suggestions.length === 0) return [];
  const names = await policyNames(place);
  const rules = rulesFor(suggestions, await idsIn(place, names));
  const all = suggestions.map((one, index) => begin(one, rules[index] as SuggestedRule));
  const ground = { place, names, validators: validatorsOf(place) };
  const listen = async (heard: Heard, replay: Replay): Promise<void> => {
    if (heard.kind !== "reviewed" && heard.kind !== "asked") return;
    if (since !== null && heard.action.at < since) return;
    for (const running of all)
      if (isAbout(running, heard.action)) await hear({ ...ground, replay }, running, heard);
  };
  await playJournal(place, listen, progress);
  return all.map(triedBy);
}
