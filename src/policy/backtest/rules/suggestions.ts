/**
 * Suggests rules and grants that people's decisions support.
 * - Decisions are collected by tool and agent. Each approval request counts for the arguments that it was about. One that
 *   a rule withdrew does not count, nor does one that was repeated for the same arguments. One that a person changed
 *   first counts as changed, even if another request replaced it. A revoked approval counts as a no.
 * - A suggestion covers every approval of one tool by one agent whose arguments can be read, and no action that a
 *   person rejected or changed; one with unreadable arguments counts as covered. It is based on at least `min` approvals,
 *   on two days or by two people.
 * - Amounts go from 0 to the highest that was approved. Another number that varied stays within the range that was
 *   approved. Another argument keeps its value, or is one of a few; texts and numbers that identify something are left
 *   open if there are too many to list. No other argument is let through.
 *   Nothing is suggested about other values that differ, or about names and values with hidden characters.
 * - The expression itself is evaluated. It yields, since there may be many decisions.
 * - An approve rule does not outrank a rule that escalates: that rule is narrowed as well.
 */

import { canonicalJson } from "../../../kernel/canonical-json.ts";
import { isJsonObject, type Json, type JsonObject } from "../../../kernel/json.ts";
import { isArtifactRef } from "../../../kernel/stored-value.ts";
import { visible } from "../../../kernel/text.ts";
import { compileOverArguments } from "../../expression/expression.ts";
import type { PolicyText } from "../../rules/document.ts";
import { patternsOf } from "../../rules/tools.ts";
import type { FieldCondition, Narrowing, PersonDecision, SuggestedRule, Suggestion } from "./answers.ts";
import type { RecordedAction, ReplayEvent } from "./replay.ts";

type Sample = {
  /** When the action was proposed. */
  readonly at: number;
  /** null: stored as an artifact, or not an object. The content is not read. */
  readonly args: JsonObject | null;
  readonly argsDigest: string;
  /** The rule that escalated. */
  readonly rule: string;
  /** The request needed several people, so one person cannot grant it. */
  readonly ofSeveral: boolean;
  /** When people decided; null while pending. */
  decidedAt: number | null;
  /** Outcome of the request; null while pending. */
  decision: PersonDecision | null;
  by: readonly string[];
  /** A person requested other arguments; it is not yet known whether the request ended that way. */
  isChanged: boolean;
};

type SampleGroup = { readonly tool: string; readonly agent: string; readonly samples: Sample[] };

type Samples = {
  readonly since: number | null;
  readonly groups: Map<string, SampleGroup>;
  readonly open: WeakMap<RecordedAction, Sample>;
  /** Approved requests by approval id. */
  readonly given: Map<string, Sample>;
  /** Number of erased bodies. */
  erased: number;
};

type EventOf<Kind extends ReplayEvent["kind"]> = Extract<ReplayEvent, { kind: Kind }>;

export function openSamples(since: number | null): Samples {
  return { since, groups: new Map(), open: new WeakMap(), given: new Map(), erased: 0 };
}

function groupOf({ groups }: Samples, { tool, agent }: RecordedAction): SampleGroup {
  const key = JSON.stringify([tool, agent]);
  const group = groups.get(key) ?? { tool, agent, samples: [] };
  groups.set(key, group);
  return group;
}

/** Another request follows: drops this one if it is undecided or about the same arguments. An edit stays. */
function replace({ samples }: SampleGroup, before: Sample | undefined, argsDigest: string): void {
  if (before === undefined) return;
  const isSame = before.argsDigest === argsDigest && before.decision !== "edited";
  if (before.decision !== null && !isSame) return;
  if (before.isChanged && before.decision === null) before.decision = "edited";
  else samples.splice(samples.lastIndexOf(before), 1);
}

function add(samples: Samples, { action, args, argsDigest, rule, ofSeveral }: EventOf<"asked">): void {
  const group = groupOf(samples, action);
  replace(group, samples.open.get(action), argsDigest);
  const looked = isJsonObject(args) && !isArtifactRef(args) ? args : null;
  const open = { decidedAt: null, decision: null, by: [], isChanged: false };
  const sample = { at: action.proposedAt, args: looked, argsDigest, rule, ofSeveral, ...open };
  group.samples.push(sample);
  samples.open.set(action, sample);
}

function decide(samples: Samples, heard: EventOf<"decided">): void {
  const sample = samples.open.get(heard.action);
  if (sample === undefined) return;
  const { decision, by, approval, editedDigest, now } = heard;
  const isOther = editedDigest !== null && editedDigest !== sample.argsDigest;
  sample.decision = decision === "approved" && isOther ? "edited" : decision;
  sample.by = by;
  sample.decidedAt = now;
  if (decision === "approved") samples.given.set(approval, sample);
}

function takeBack({ given }: Samples, { approval }: EventOf<"revoked">): void {
  const sample = given.get(approval);
  if (sample !== undefined) sample.decision = "rejected";
}

export function collectSample(samples: Samples, heard: ReplayEvent): void {
  const isCounted = (at: number) => samples.since === null || at >= samples.since;
  switch (heard.kind) {
    case "lost":
      if (isCounted(heard.at)) samples.erased += 1;
      return;
    case "asked":
      if (isCounted(heard.action.proposedAt)) add(samples, heard);
      return;
    case "edited": {
      const sample = samples.open.get(heard.action);
      if (sample !== undefined) sample.isChanged = true;
      return;
    }
    case "decided":
      decide(samples, heard);
      return;
    case "revoked":
      takeBack(samples, heard);
  }
}

const DAY_MS = 86_400_000;
const WEEK_MS = 7 * DAY_MS;

type ReadableSample = Sample & { readonly args: JsonObject };
const isReadable = (sample: Sample): sample is ReadableSample => sample.args !== null;
const isYes = ({ decision }: Sample): boolean => decision === "approved";
const isNo = ({ decision }: Sample): boolean => decision === "rejected" || decision === "edited";

/** The time of the decision, not of the request, shows people's habits. */
const decisionTime = ({ at, decidedAt }: Sample): number => decidedAt ?? at;
const countDays = (samples: readonly Sample[]): number =>
  new Set(samples.map((sample) => Math.floor(decisionTime(sample) / DAY_MS))).size;
const decidersOf = (samples: readonly Sample[]): readonly string[] =>
  [...new Set(samples.flatMap(({ by }) => by))].sort();

const isEnough = (samples: readonly Sample[], min: number): boolean =>
  samples.length >= min && (countDays(samples) >= 2 || decidersOf(samples).length >= 2);

const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;
/** A reserved word cannot follow a dot. */
const isWord = (name: string): boolean =>
  NAME.test(name) && compileOverArguments(`has(args.${name})`, "bool", null).ok;
const pathOf = (name: string): string => (isWord(name) ? `args.${name}` : `args[${JSON.stringify(name)}]`);
const presenceOf = (name: string): string =>
  isWord(name) ? `has(args.${name})` : `${JSON.stringify(name)} in args`;

const MOST_LISTED_VALUES = 20;
const MOST_CHARACTERS = 64;
/** A number that identifies something is not an amount and has no bounds. */
const IDENTIFIES = /(^|_)id$|[a-z]Id$/;
export const CURRENCY = /_(usd|eur|gbp|chf|jpy)$/;
const AMOUNT = /(^|_)(amount|total|sum|price|cost|fee)(_|$)|[a-z](Amount|Total|Sum|Price|Cost|Fee)$/;
const LOWER_BOUND = /^min(imum)?(_|[A-Z])|_min(imum)?(_|$)/;

/** By its name. Those who approve an amount approve a lower one. A lower bound is less strict if it is lower. */
const isAmount = (field: string): boolean =>
  (CURRENCY.test(field) || AMOUNT.test(field)) && !LOWER_BOUND.test(field);

/** From 0 for an amount. Undefined for another number that never varied: that keeps its value. */
function numberRange(field: string, numbers: readonly number[]): readonly FieldCondition[] | undefined {
  const [least, most] = numbers.reduce<readonly [number, number]>(
    ([a, b], one) => [Math.min(a, one), Math.max(b, one)],
    [isAmount(field) ? 0 : Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY],
  );
  if (least === most && !isAmount(field)) return undefined;
  return [
    { kind: "least", field, value: least },
    { kind: "most", field, value: most },
  ];
}

/** A condition is only written for values that are displayed as they are. */
function isPlain(value: Json): boolean {
  const text = typeof value === "string" ? value : canonicalJson(value);
  return text.length <= MOST_CHARACTERS && visible(text) === text;
}

/** Undefined if there is none that the values can be told by; empty if any value is let through. */
function conditionsOf(field: string, values: readonly Json[]): readonly FieldCondition[] | undefined {
  const numbers = values.filter((one) => typeof one === "number");
  const isNumber = numbers.length === values.length && !IDENTIFIES.test(field);
  const range = isNumber ? numberRange(field, numbers) : undefined;
  if (range !== undefined) return range;
  const all = [...new Map(values.map((value) => [canonicalJson(value), value])).values()];
  const [value = null, ...rest] = all;
  if (all.length <= MOST_LISTED_VALUES && all.every(isPlain))
    return [rest.length === 0 ? { kind: "is", field, value } : { kind: "one_of", field, values: all }];
  const isNaming = values.every((one) => typeof one === typeof value && typeof one !== "object");
  const differs = all.length > MOST_LISTED_VALUES || all.length * 2 > values.length;
  return isNaming && differs ? [] : undefined;
}

const listText = (values: readonly Json[]): string =>
  `[${values.map((one) => JSON.stringify(one)).join(", ")}]`;

function conditionText(condition: FieldCondition): string {
  const path = pathOf(condition.field);
  switch (condition.kind) {
    case "least":
      return `${path} >= ${condition.value}`;
    case "most":
      return `${path} <= ${condition.value}`;
    case "is":
      return `${path} == ${JSON.stringify(condition.value)}`;
    case "one_of":
      return `${path} in ${listText(condition.values)}`;
    case "only":
      return `args.all(name, name in ${listText(condition.names)})`;
  }
}

/** What is known of one tool and agent, and the JSON Schema of the tool's arguments, if known. */
type ToolCalls = {
  readonly yes: readonly JsonObject[];
  readonly all: readonly JsonObject[];
  readonly schema: JsonObject | null;
};

/** A field that some arguments lack, or may lack by the schema, is guarded: a missing field would block. */
function guarded(
  name: string,
  conditions: readonly FieldCondition[],
  { yes, all, schema }: ToolCalls,
): readonly string[] {
  if (conditions.length === 0) return [];
  const has = (args: JsonObject) => Object.hasOwn(args, name);
  const text = conditions.map(conditionText).join(" && ");
  if (!yes.every(has)) return [`(!${presenceOf(name)} || (${text}))`];
  const required = schema?.["required"];
  const isRequired = schema === null || (Array.isArray(required) && required.includes(name));
  return all.every(has) && isRequired ? [text] : [presenceOf(name), text];
}

type Narrowed = Pick<Suggestion, "conditions" | "when" | "open">;

function narrowedTo(known: ToolCalls): Narrowed | undefined {
  const names = [...new Set(known.yes.flatMap((args) => Object.keys(args)))].sort();
  if (!names.every(isPlain)) return undefined;
  const conditions: FieldCondition[] = [];
  const texts: string[] = [];
  const open: string[] = [];
  for (const name of names) {
    const found = conditionsOf(
      name,
      known.yes.flatMap((args) => (Object.hasOwn(args, name) ? [args[name] ?? null] : [])),
    );
    if (found === undefined) return undefined;
    if (found.length === 0) open.push(name);
    conditions.push(...found);
    texts.push(...guarded(name, found, known));
  }
  const only: FieldCondition = { kind: "only", field: "", names };
  return { conditions: [...conditions, only], when: [...texts, conditionText(only)].join(" && "), open };
}

type Covers = (sample: Sample) => boolean;

/** Evaluated as a policy or grant would: an error means not covered. */
function coverageOf(when: string): Covers | undefined {
  const checked = compileOverArguments(when, "bool", null);
  if (!checked.ok) return undefined;
  return (sample) => {
    try {
      return isReadable(sample) && checked.evaluate(sample.args) === true;
    } catch {
      return false;
    }
  };
}

const AT_A_TIME = 200;

/** Yields between batches: evaluating an expression takes time. */
function* filterInSteps(all: readonly Sample[], holds: Covers): Generator<void, readonly Sample[]> {
  const found: Sample[] = [];
  for (const [index, one] of all.entries()) {
    if (holds(one)) found.push(one);
    if (index % AT_A_TIME === 0) yield;
  }
  return found;
}

/** The highest sum within seven days. `of` returns the amount of each sample. */
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

function letThroughBy(met: readonly Sample[], { conditions }: Narrowed): Suggestion["letThrough"] {
  const agreed = met.filter(isYes);
  const grantable = agreed.filter(({ ofSeveral }) => !ofSeveral);
  const amounts = conditions.flatMap(({ kind, field }) => (kind === "most" ? [field] : []));
  const sums = amounts.map((field) => {
    // A call that lacks it is let through only if some of the approved lack it too.
    const of = ({ args }: Sample) => (args !== null && Object.hasOwn(args, field) ? Number(args[field]) : 0);
    const sum = met.reduce((total, sample) => total + of(sample), 0);
    return { field, path: pathOf(field), sum, weekly: weekly(grantable, of) };
  });
  const undecided = met.length - agreed.length;
  const ofSeveral = met.filter((sample) => sample.ofSeveral).length;
  return { total: met.length, undecided, ofSeveral, weekly: weekly(grantable, () => 1), sums };
}

/** Undefined if there are too few approvals, or a rejection or change meets their condition. */
function* suggestionOf(
  { tool, agent, samples }: SampleGroup,
  min: number,
  schema: JsonObject | null,
): Generator<void, Suggestion | undefined> {
  const all = samples.filter(isReadable);
  const yes = all.filter(isYes);
  if (!isEnough(yes, min)) return undefined;
  const argsIn = (some: readonly ReadableSample[]) => some.map(({ args }) => args);
  const narrowed = narrowedTo({ yes: argsIn(yes), all: argsIn(all), schema });
  const covers = narrowed === undefined ? undefined : coverageOf(narrowed.when);
  if (narrowed === undefined || covers === undefined) return undefined;
  const noes = samples.filter(isNo);
  const wrong = yield* filterInSteps(noes, (sample) => !isReadable(sample) || covers(sample));
  if (wrong.length > 0) return undefined;
  const met = yield* filterInSteps(samples, covers);
  const times = yes.map(decisionTime).sort((a, b) => a - b);
  return {
    ...{ tool, agent, ...narrowed },
    approved: yes.length,
    people: decidersOf(yes),
    days: countDays(yes),
    first: times[0] ?? 0,
    last: times.at(-1) ?? 0,
    askedBy: [...new Set(met.map(({ rule }) => rule))].sort(),
    letThrough: letThroughBy(met, narrowed),
    keptOut: noes.length,
  };
}

/** False for a name with hidden characters: nothing is suggested about it. */
const isVisible = ({ tool, agent }: SampleGroup): boolean => visible(tool + agent) === tool + agent;

/** Best supported first; the same journal gives the same list. `schemaOf` returns the JSON Schema of a tool's arguments. */
export function* suggestionsFrom(
  { groups }: Samples,
  min: number,
  schemaOf: (tool: string) => JsonObject | null = () => null,
): Generator<void, readonly Suggestion[]> {
  const suggestions: Suggestion[] = [];
  for (const group of [...groups.values()].filter(isVisible)) {
    yield;
    const found = yield* suggestionOf(group, min, schemaOf(group.tool));
    if (found !== undefined) suggestions.push(found);
  }
  const name = ({ tool, agent }: Suggestion) => JSON.stringify([tool, agent]);
  return suggestions.sort((a, b) => b.approved - a.approved || (name(a) < name(b) ? -1 : 1));
}

type StoredRule = Pick<NonNullable<PolicyText["rules"]>[number], "id" | "tool" | "verdict" | "shadow">;

const LONGEST_ID = 60;

/** An id that is not taken, and is taken from then on. */
function takeId(text: string, taken: Set<string>): string {
  const id = text.replace(/[^A-Za-z0-9_]+/g, "_").slice(0, LONGEST_ID);
  let [free, number] = [id, 1];
  while (taken.has(free)) free = `${id}_${++number}`;
  taken.add(free);
  return free;
}

function narrowingOf({ id, tool }: StoredRule, name: string, taken: Set<string>): Narrowing {
  const isOfOne = patternsOf(tool).every((pattern) => pattern === name);
  return { rule: id, copy: isOfOne ? null : takeId(`${id}_${name}`, taken) };
}

/** Rules for all suggestions, in order, with ids that no stored rule has. */
export function rulesFor(
  suggestions: readonly Suggestion[],
  stored: readonly StoredRule[],
): readonly SuggestedRule[] {
  const taken = new Set(stored.map(({ id }) => id));
  const escalating = stored.filter(({ verdict, shadow }) => verdict === "escalate" && shadow !== true);
  const byId = new Map(escalating.map((rule) => [rule.id, rule]));
  return suggestions.map(({ tool, agent, when, askedBy }) => {
    const id = takeId(`suggested_${tool}_${agent.replace(/^agent:/, "")}`, taken);
    // If several policies escalate, each names its rule.
    const asked = [...new Set(askedBy.flatMap((rule) => rule.split("; ")))];
    return {
      rule: { id, tool, when: `agent == ${JSON.stringify(agent)} && ${when}` },
      narrowings: asked.flatMap((rule) => {
        const found = byId.get(rule);
        return found === undefined ? [] : [narrowingOf(found, tool, taken)];
      }),
      stillAskedBy: asked.filter((rule) => rule !== "default" && !byId.has(rule)),
    };
  });
}
