/**
 * The narrowest condition that all of some arguments meet, as an expression of the policy language.
 *
 * N1. What was in none of them is not let through: no other argument, no number below the lowest or above the highest, no
 *     other truth value, list or text.
 * N2. Only texts and numbers that name something are left open, where there are too many of them to be told; which ones
 *     is said.
 * N3. Nothing at all is said of what has no such condition: lists that differ, kinds that differ, names and values that
 *     people would not see as they are.
 */
import { canonicalJson } from "../../kernel/canonical-json.ts";
import { isJsonObject, type Json, type JsonObject } from "../../kernel/json.ts";
import { visible } from "../../kernel/text.ts";

import { ANY, type Type } from "../policy/expression/types.ts";

import { ARGS, inside, type Place, presenceOf } from "./place.ts";

export type Condition =
  | { readonly kind: "least" | "most"; readonly field: string; readonly value: number }
  | { readonly kind: "is"; readonly field: string; readonly value: Json }
  | { readonly kind: "one_of"; readonly field: string; readonly values: readonly Json[] }
  /** An object, or the arguments themselves where `field` is empty, with no other names than these. */
  | { readonly kind: "only"; readonly field: string; readonly names: readonly string[] };

export type Narrow = {
  readonly texts: readonly string[];
  readonly conditions: readonly Condition[];
  /** Fields of which any value is let through. */
  readonly open: readonly string[];
  /** Numbers between bounds, which can be lowered. */
  readonly bounded: readonly Place[];
};

/** There may be many arguments to look at. */
type Steps = Generator<void, Narrow | undefined>;

export const MOST_VALUES = 20;
const MOST_CHARACTERS = 64;
const NOTHING: Narrow = { texts: [], conditions: [], open: [], bounded: [] };
/** A number that names something is no amount: there is no more or less of it. */
const IDENTIFIES = /(^|_)id$|[a-z]Id$/;

const said = (text: string, condition: Condition): Narrow => ({
  ...NOTHING,
  texts: [text],
  conditions: [condition],
});

/** A condition is only written about what a person can see as it is. */
function isPlain(value: Json): boolean {
  const text = typeof value === "string" ? value : canonicalJson(value);
  return text.length <= MOST_CHARACTERS && visible(text) === text;
}

function between(numbers: readonly number[], place: Place): Narrow {
  const { path, field } = place;
  const least = numbers.reduce((a, b) => Math.min(a, b));
  const most = numbers.reduce((a, b) => Math.max(a, b));
  const text = least === most ? `${path} == ${most}` : `${path} >= ${least} && ${path} <= ${most}`;
  const conditions: readonly Condition[] = [
    { kind: "least", field, value: least },
    { kind: "most", field, value: most },
  ];
  return { ...NOTHING, texts: [text], conditions, bounded: [place] };
}

function among(values: readonly Json[], { path, field }: Place): Narrow | undefined {
  const all = [...new Map(values.map((value) => [canonicalJson(value), value])).values()];
  const [value = null, ...rest] = all;
  const isToldApart = all.length <= MOST_VALUES && all.every(isPlain);
  if (isToldApart && rest.length === 0)
    return said(`${path} == ${JSON.stringify(value)}`, { kind: "is", field, value });
  if (isToldApart) {
    const list = all.map((one) => JSON.stringify(one)).join(", ");
    return said(`${path} in [${list}]`, { kind: "one_of", field, values: all });
  }
  const isNaming = values.every((one) => typeof one === typeof value && typeof one !== "object");
  const differs = all.length > MOST_VALUES || all.length * 2 > values.length;
  return isNaming && differs ? { ...NOTHING, open: [field] } : undefined;
}

type Member = {
  readonly name: string;
  readonly place: Place;
  readonly type: Type;
  readonly mayLack: boolean;
};

/** By the schema, where one is known. */
function memberOf(of: Type, name: string): Pick<Member, "type" | "mayLack"> {
  if (of.kind !== "object") return { type: ANY, mayLack: false };
  const field = of.fields.get(name);
  return { type: field?.type ?? of.rest ?? ANY, mayLack: field?.required !== true };
}

/** Of one member: those that have it meet its condition; where none may lack it, it has to be there. */
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
  const presence = presenceOf(place);
  const all = found.texts.join(" && ");
  if (having.length < of.length) return { ...found, texts: [`(!${presence} || (${all}))`] };
  return seen.every(has) && !mayLack ? found : { ...found, texts: [presence, ...found.texts] };
}

function* inObject(of: readonly JsonObject[], seen: readonly Json[], place: Place, type: Type): Steps {
  const names = [...new Set(of.flatMap((one) => Object.keys(one)))].sort();
  if (!names.every(isPlain)) return undefined;
  const known: Narrow[] = [];
  for (const name of names) {
    const found = yield* member(of, seen, { name, place: inside(place, name), ...memberOf(type, name) });
    if (found === undefined) return undefined;
    known.push(found);
  }
  const list = names.map((name) => JSON.stringify(name)).join(", ");
  const only = said(`${place.path}.all(name, name in [${list}])`, {
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

function* narrowAt(values: readonly Json[], seen: readonly Json[], place: Place, type: Type): Steps {
  yield;
  if (values.every(isJsonObject)) return yield* inObject(values, seen, place, type);
  const numbers = values.filter((one) => typeof one === "number");
  const isAmount = numbers.length === values.length && !IDENTIFIES.test(place.name);
  return isAmount ? between(numbers, place) : among(values, place);
}

/**
 * `seen`: all arguments that were ever asked about. A field that some lack, or that may be missing by `type`, which is what the
 * tool's schema says of its arguments, is asked for first: a missing one would block.
 */
export const narrowest = (of: readonly JsonObject[], seen: readonly JsonObject[], type: Type = ANY): Steps =>
  narrowAt(of, seen, ARGS, type);
