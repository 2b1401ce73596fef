/**
 * Suggestions: rules and grants that people's decisions support, and a document with such a rule in it.
 * A suggestion matches no action that a person rejected or changed; one whose arguments cannot be read may match. It rests
 * on at least `min` approvals, on two days or by two people, is as narrow as what was approved, and is judged by the
 * expression itself. What is printed to be pasted is what was tried.
 * An approve rule does not outrank a rule that asks: that one is narrowed. Arguments are read only of the suggestion's
 * own tool, since another may not have them; a rule for several tools is narrowed by a copy of it for that tool.
 */

import { visible } from "../../../kernel/text.ts";
import { ANY, type Type } from "../../expression/types.ts";
import type { PolicyText } from "../../rules/document.ts";
import { patternsOf } from "../../rules/tools.ts";
import type { Sample, SampleGroup, Samples } from "./decision-samples.ts";
import {
  countDays,
  decidersOf,
  decisionTime,
  type FieldCondition,
  filterInSteps,
  isNo,
  isYes,
  type MinedCondition,
  mineConditions,
  numberAt,
} from "./mine-conditions.ts";

export type Suggestion = {
  readonly tool: string;
  readonly agent: string;
  readonly conditions: readonly FieldCondition[];
  /** The conditions as an expression. */
  readonly when: string;
  /** Arguments of which it lets any value through: there were too many to be told. */
  readonly open: readonly string[];
  readonly approved: number;
  readonly people: readonly string[];
  readonly days: number;
  readonly first: number;
  readonly last: number;
  /** The rules that asked. An approve rule does not outrank them. */
  readonly askedBy: readonly string[];
  /** Played back: every question that it would have answered by itself. */
  readonly letThrough: {
    readonly total: number;
    /** Nobody had decided these: they wait, expired or were withdrawn. */
    readonly undecided: number;
    /** Asked of several people, by a quorum or in stages: what one person grants does not answer these. */
    readonly ofSeveral: number;
    /** Of the others, the most that people approved within seven days: how often somebody asks is no reason to grant more. */
    readonly weekly: number;
    /** Numbers that are bounded: their sum over all, and the most of what one person may grant within seven days. */
    readonly sums: readonly {
      readonly field: string;
      /** As an expression spells it. */
      readonly path: string;
      readonly sum: number;
      readonly weekly: number;
    }[];
  };
  /** People's noes that it keeps clear of. */
  readonly keptOut: number;
};

const WEEK_MS = 7 * 86_400_000;

/** The most of something within seven days: `of` gives what each counts for. */
function weekly(samples: readonly Sample[], of: (sample: Sample) => number): number {
  const inOrder = samples.toSorted((a, b) => a.at - b.at);
  let [most, sum, from] = [0, 0, 0];
  for (const sample of inOrder) {
    sum += of(sample);
    for (let oldest = inOrder[from]; oldest !== undefined && oldest.at <= sample.at - WEEK_MS; ) {
      sum -= of(oldest);
      oldest = inOrder[++from];
    }
    most = Math.max(most, sum);
  }
  return most;
}

function letThroughBy(met: readonly Sample[], { bounded }: MinedCondition): Suggestion["letThrough"] {
  const agreed = met.filter(isYes);
  const grantable = agreed.filter(({ ofSeveral }) => !ofSeveral);
  const sums = bounded.map((place) => {
    const of = (sample: Sample) => numberAt(sample, place) || 0;
    const sum = met.reduce((total, sample) => total + of(sample), 0);
    return { field: place.field, path: place.path, sum, weekly: weekly(grantable, of) };
  });
  const undecided = met.length - agreed.length;
  const ofSeveral = met.filter((sample) => sample.ofSeveral).length;
  return { total: met.length, undecided, ofSeveral, weekly: weekly(grantable, () => 1), sums };
}

function* suggestionOf(group: SampleGroup, found: MinedCondition): Generator<void, Suggestion> {
  const { tool, agent, samples } = group;
  const { yes, when, conditions, open } = found;
  const met = yield* filterInSteps(samples, found.covers);
  const letThrough = letThroughBy(met, found);
  yield;
  const times = yes.map(decisionTime);
  return {
    ...{ tool, agent, conditions, when, open },
    approved: yes.length,
    people: decidersOf(yes),
    days: countDays(yes),
    first: times.reduce((least, at) => Math.min(least, at), Number.POSITIVE_INFINITY),
    last: times.reduce((most, at) => Math.max(most, at), 0),
    askedBy: [...new Set(met.map(({ rule }) => rule))].sort(),
    letThrough,
    keptOut: samples.filter(isNo).length,
  };
}

const nameOf = ({ tool, agent, when }: Suggestion): string => JSON.stringify([tool, agent, when]);

/** Nothing is suggested about a name that cannot be seen as it is. */
const isSaid = ({ tool, agent }: SampleGroup): boolean => visible(tool + agent) === tool + agent;

/** The best supported first; the same journal gives the same list. `argsOf`: what is known of a tool's arguments. */
export function* suggestionsFrom(
  { groups }: Samples,
  min: number,
  argsOf: (tool: string) => Type = () => ANY,
): Generator<void, readonly Suggestion[]> {
  const unique = new Map<string, Suggestion>();
  for (const group of [...groups.values()].filter(isSaid))
    for (const found of yield* mineConditions({ ...group, args: argsOf(group.tool) }, min)) {
      const one = yield* suggestionOf(group, found);
      unique.set(nameOf(one), one);
    }
  return [...unique.values()].sort((a, b) => b.approved - a.approved || (nameOf(a) < nameOf(b) ? -1 : 1));
}

export type SuggestedRule = {
  readonly id: string;
  readonly tool: string;
  /** The rules that asked are narrowed by it: `!(…)` of this. */
  readonly when: string;
  /** Ids of those rules; some of them may stand in no document. */
  readonly askedBy: readonly string[];
};

type Rule = NonNullable<PolicyText["rules"]>[number];

/** Where several policies ask at once, each names its rule. */
export const rulesNamed = (rule: string): readonly string[] => rule.split("; ");

/** What has to be done to a rule that asked. */
export type Narrowing = {
  readonly rule: string;
  /** It speaks of other tools too: the id of its copy for this one. */
  readonly copy: string | null;
};

const LONGEST_ID = 60;

const plain = (id: string): string => id.replace(/[^A-Za-z0-9_]+/g, "_").slice(0, LONGEST_ID);

const idOf = ({ tool, agent }: Suggestion): string =>
  plain(`suggested_${tool}_${agent.replace(/^agent:/, "")}`);

function freeId(id: string, taken: ReadonlySet<string>, number = 1): string {
  const tried = number === 1 ? id : `${id}_${number}`;
  return taken.has(tried) ? freeId(id, taken, number + 1) : tried;
}

/** Of all suggestions, in their order: no two have the same id, and none has one of `used`, which documents have. */
export function rulesFor(
  suggestions: readonly Suggestion[],
  used: Iterable<string> = [],
): readonly SuggestedRule[] {
  const taken = new Set(used);
  return suggestions.map((suggestion) => {
    const { tool, agent, when, askedBy } = suggestion;
    const id = freeId(idOf(suggestion), taken);
    taken.add(id);
    const who = `agent == ${JSON.stringify(agent)}`;
    const own = when === "" ? who : `${who} && ${when}`;
    return { id, tool, when: own, askedBy: [...new Set(askedBy.flatMap(rulesNamed))] };
  });
}

/** A rule whose condition is code cannot be narrowed here. */
const isNarrowed = (rule: Rule, { askedBy }: SuggestedRule): boolean =>
  rule.shadow !== true &&
  rule.verdict === "escalate" &&
  askedBy.includes(rule.id) &&
  typeof rule.when !== "function";

const isOfOne = ({ tool }: Rule, name: string): boolean => {
  const patterns = patternsOf(tool);
  return patterns.every((pattern) => pattern === name);
};

/** `args.a > 1` becomes `(args.a > 1) && …`. */
const and = (when: Rule["when"], more: string): string =>
  typeof when === "string" ? `(${when}) && ${more}` : more;

export const otherTools = (tool: string): string => `tool.name != ${JSON.stringify(tool)}`;

/** In the order of the document. */
export function narrowingsIn(document: PolicyText, suggested: SuggestedRule): readonly Narrowing[] {
  const { rules = [] } = document;
  const taken = new Set([...rules.map(({ id }) => id), suggested.id]);
  return rules
    .filter((rule) => isNarrowed(rule, suggested))
    .map((rule) => {
      if (isOfOne(rule, suggested.tool)) return { rule: rule.id, copy: null };
      const copy = freeId(plain(`${rule.id}_${suggested.tool}`), taken);
      taken.add(copy);
      return { rule: rule.id, copy };
    });
}

function narrowed(rule: Rule, { tool, when }: SuggestedRule, { copy }: Narrowing): readonly Rule[] {
  const own = { ...rule, when: and(rule.when, `!(${when})`) };
  if (copy === null) return [own];
  return [
    { ...rule, when: and(rule.when, otherTools(tool)) },
    { ...own, id: copy, tool },
  ];
}

/** Of one rule of its own, and nothing else changed. */
export function withRule(document: PolicyText, suggested: SuggestedRule): PolicyText {
  const { id, tool, when } = suggested;
  const narrowings = new Map(narrowingsIn(document, suggested).map((one) => [one.rule, one]));
  const rules = (document.rules ?? []).flatMap((rule) => {
    const narrowing = isNarrowed(rule, suggested) ? narrowings.get(rule.id) : undefined;
    return narrowing === undefined ? [rule] : narrowed(rule, suggested, narrowing);
  });
  return { ...document, rules: [...rules, { id: unusedId(rules, id), tool, when, verdict: "approve" }] };
}

const unusedId = (rules: readonly Rule[], id: string): string =>
  rules.some((one) => one.id === id) ? unusedId(rules, `${id}_`) : id;
