/**
 * The narrowest condition that all approvals of one tool by one agent meet, as an expression of the policy language.
 * It accepts nothing outside the approved arguments: no other argument, no number outside the range, no other boolean,
 * list or text. Only texts and numbers that identify something are left open if there are too many to list. There is
 * no condition for lists or kinds that differ, for names and values with hidden characters, or if a rejection or change
 * meets it. Runs in steps, since there may be many decisions.
 */

import { canonicalJson } from "../../../kernel/canonical-json.ts";
import { isJsonObject, type Json, type JsonObject } from "../../../kernel/json.ts";
import { visible } from "../../../kernel/text.ts";
import { compileOverArguments } from "../../expression/expression.ts";
import { ANY, type Type } from "../../expression/types.ts";
import type { FieldCondition } from "./answers.ts";
import type { Sample, SampleGroup } from "./decision-samples.ts";

type ArgumentPath = {
  /** `args.to.iban`, or `args["to whom"]`. */
  readonly path: string;
  /** `to.iban`. */
  readonly field: string;
  readonly name: string;
  readonly steps: readonly string[];
};

const ARGS_PATH: ArgumentPath = { path: "args", field: "", name: "", steps: [] };

const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;
/** Reserved words, which cannot follow a dot. */
const WORDS: ReadonlySet<string> = new Set(
  "as break const continue else false for function if import in let loop namespace null package return true var void while".split(
    " ",
  ),
);

const isWord = (name: string): boolean => NAME.test(name) && !WORDS.has(name);

function memberPath({ path, field, steps }: ArgumentPath, name: string): ArgumentPath {
  const spelled = isWord(name) ? `${path}.${name}` : `${path}[${JSON.stringify(name)}]`;
  return { path: spelled, field: field === "" ? name : `${field}.${name}`, name, steps: [...steps, name] };
}

/** An expression that is true if the argument exists. Its parent has to exist. */
function presenceTest({ path, name }: ArgumentPath): string {
  if (isWord(name)) return `has(${path})`;
  const written = JSON.stringify(name);
  return `${written} in ${path.slice(0, -written.length - 2)}`;
}

function valueAt(args: Json, { steps }: ArgumentPath): Json | undefined {
  let value: Json | undefined = args;
  for (const step of steps)
    value =
      value !== undefined && isJsonObject(value) && Object.hasOwn(value, step) ? value[step] : undefined;
  return value;
}

type NarrowCondition = {
  readonly texts: readonly string[];
  readonly conditions: readonly FieldCondition[];
  /** Fields for which any value is accepted. */
  readonly open: readonly string[];
  /** Numbers between bounds. */
  readonly bounded: readonly ArgumentPath[];
};

/** Yields, since there may be many arguments. */
type Steps = Generator<void, NarrowCondition | undefined>;

const MOST_LISTED_VALUES = 20;
const MOST_CHARACTERS = 64;
const NOTHING: NarrowCondition = { texts: [], conditions: [], open: [], bounded: [] };
/** A number that identifies something is not an amount and has no range. */
const IDENTIFIES = /(^|_)id$|[a-z]Id$/;

const singleCondition = (text: string, condition: FieldCondition): NarrowCondition => ({
  ...NOTHING,
  texts: [text],
  conditions: [condition],
});

/** A condition is only written for values that are displayed as they are. */
function isPlain(value: Json): boolean {
  const text = typeof value === "string" ? value : canonicalJson(value);
  return text.length <= MOST_CHARACTERS && visible(text) === text;
}

function between(numbers: readonly number[], place: ArgumentPath): NarrowCondition {
  const { path, field } = place;
  const least = numbers.reduce((a, b) => Math.min(a, b));
  const most = numbers.reduce((a, b) => Math.max(a, b));
  const text = least === most ? `${path} == ${most}` : `${path} >= ${least} && ${path} <= ${most}`;
  const conditions: readonly FieldCondition[] = [
    { kind: "least", field, value: least },
    { kind: "most", field, value: most },
  ];
  return { ...NOTHING, texts: [text], conditions, bounded: [place] };
}

function among(values: readonly Json[], { path, field }: ArgumentPath): NarrowCondition | undefined {
  const all = [...new Map(values.map((value) => [canonicalJson(value), value])).values()];
  const [value = null, ...rest] = all;
  const isToldApart = all.length <= MOST_LISTED_VALUES && all.every(isPlain);
  if (isToldApart && rest.length === 0)
    return singleCondition(`${path} == ${JSON.stringify(value)}`, { kind: "is", field, value });
  if (isToldApart) {
    const list = all.map((one) => JSON.stringify(one)).join(", ");
    return singleCondition(`${path} in [${list}]`, { kind: "one_of", field, values: all });
  }
  const isNaming = values.every((one) => typeof one === typeof value && typeof one !== "object");
  const differs = all.length > MOST_LISTED_VALUES || all.length * 2 > values.length;
  return isNaming && differs ? { ...NOTHING, open: [field] } : undefined;
}

type Member = {
  readonly name: string;
  readonly place: ArgumentPath;
  readonly type: Type;
  readonly mayLack: boolean;
};

/** From the schema, if one is known. */
function memberOf(of: Type, name: string): Pick<Member, "type" | "mayLack"> {
  if (of.kind !== "object") return { type: ANY, mayLack: false };
  const field = of.fields.get(name);
  return { type: field?.type ?? of.rest ?? ANY, mayLack: field?.required !== true };
}

/** A condition on one member for the objects that have it. It must exist if no object lacks it. */
function* member(
  of: readonly JsonObject[],
  seen: readonly Json[],
  { name, place, type, mayLack }: Member,
): Steps {
  const has = (one: Json) => isJsonObject(one) && Object.hasOwn(one, name);
  const having = of.filter(has);
  const values = having.map((one) => one[name] ?? null);
  yield;
  const found = yield* narrowAt(
    values,
    seen.filter(has).map((one) => (one as JsonObject)[name] ?? null),
    place,
    type,
  );
  if (found === undefined || found.texts.length === 0) return found;
  const presence = presenceTest(place);
  const all = found.texts.join(" && ");
  if (having.length < of.length) return { ...found, texts: [`(!${presence} || (${all}))`] };
  return seen.every(has) && !mayLack ? found : { ...found, texts: [presence, ...found.texts] };
}

function* inObject(of: readonly JsonObject[], seen: readonly Json[], place: ArgumentPath, type: Type): Steps {
  const names = [...new Set(of.flatMap((one) => Object.keys(one)))].sort();
  if (!names.every(isPlain)) return undefined;
  const known: NarrowCondition[] = [];
  for (const name of names) {
    const found = yield* member(of, seen, { name, place: memberPath(place, name), ...memberOf(type, name) });
    if (found === undefined) return undefined;
    known.push(found);
  }
  const list = names.map((name) => JSON.stringify(name)).join(", ");
  const only = singleCondition(`${place.path}.all(name, name in [${list}])`, {
    kind: "only",
    field: place.field,
    names,
  });
  const parts = [...known, only];
  return {
    texts: parts.flatMap(({ texts }) => texts),
    conditions: parts.flatMap(({ conditions }) => conditions),
    open: parts.flatMap(({ open }) => open),
    bounded: parts.flatMap(({ bounded }) => bounded),
  };
}

/**
 * `seen`: all arguments of all requests. `type`: the tool's arguments by its schema. A field that some arguments lack,
 * or that may be missing by `type`, is guarded first: a missing field would block.
 */
function* narrowAt(values: readonly Json[], seen: readonly Json[], place: ArgumentPath, type: Type): Steps {
  yield;
  if (values.every(isJsonObject)) return yield* inObject(values, seen, place, type);
  const numbers = values.filter((one) => typeof one === "number");
  const isAmount = numbers.length === values.length && !IDENTIFIES.test(place.name);
  return isAmount ? between(numbers, place) : among(values, place);
}

const DAY_MS = 86_400_000;

export const isYes = ({ decision }: Sample): boolean => decision === "approved";
export const isNo = ({ decision }: Sample): boolean => decision === "rejected" || decision === "edited";

/** The time of the decision, not of the request, shows people's habits. */
export const decisionTime = ({ at, decidedAt: decided }: Sample): number => decided ?? at;

export function countDays(samples: readonly Sample[]): number {
  return new Set(samples.map((sample) => Math.floor(decisionTime(sample) / DAY_MS))).size;
}

export function decidersOf(samples: readonly Sample[]): readonly string[] {
  return [...new Set(samples.flatMap(({ by }) => by))].sort();
}

function isEnough(samples: readonly Sample[], min: number): boolean {
  return samples.length >= min && (countDays(samples) >= 2 || decidersOf(samples).length >= 2);
}

type ReadableSample = Sample & { readonly args: JsonObject };
type Covers = (sample: Sample) => boolean;
export type ApprovedCondition = NarrowCondition & {
  readonly yes: readonly ReadableSample[];
  readonly when: string;
  readonly covers: Covers;
};

const isLookedAt = (sample: Sample): sample is ReadableSample => sample.args !== null;

/** Evaluated as a policy or grant would: an error means not covered. */
function coverageTest(when: string): Covers | undefined {
  const checked = compileOverArguments(when, "bool", null);
  if (!checked.ok) return undefined;
  const holds = (args: Json): boolean => {
    try {
      return checked.evaluate(args) === true;
    } catch {
      return false;
    }
  };
  return (sample) => isLookedAt(sample) && holds(sample.args);
}

/** `args`: type of the tool's arguments. */
type TypedGroup = SampleGroup & { readonly args: Type };

export const numberAt = ({ args }: Sample, place: ArgumentPath): number =>
  args === null ? Number.NaN : Number(valueAt(args, place) ?? Number.NaN);

const AT_A_TIME = 200;

/** Yields between batches: evaluating an expression takes time. */
export function* filterInSteps<One>(
  all: readonly One[],
  holds: (one: One) => boolean,
): Generator<void, readonly One[]> {
  const found: One[] = [];
  for (const [index, one] of all.entries()) {
    if (holds(one)) found.push(one);
    if (index % AT_A_TIME === 0) yield;
  }
  return found;
}

/** Undefined if there are too few approvals, or a rejection or change meets their condition. */
export function* approvedCondition(
  { samples, args: type }: TypedGroup,
  min: number,
): Generator<void, ApprovedCondition | undefined> {
  const looked = samples.filter(isLookedAt);
  const yes = looked.filter(isYes);
  if (!isEnough(yes, min)) return undefined;
  const argsIn = (some: readonly ReadableSample[]) => some.map(({ args }) => args);
  const narrow = yield* narrowAt(argsIn(yes), argsIn(looked), ARGS_PATH, type);
  const when = narrow?.texts.join(" && ") ?? "";
  const covers = coverageTest(when);
  if (narrow === undefined || covers === undefined) return undefined;
  const met = yield* filterInSteps(samples.filter(isNo), (sample) => !isLookedAt(sample) || covers(sample));
  return met.length === 0 ? { ...narrow, yes, when, covers } : undefined;
}
