/** Which of people's approvals have a condition in common that meets none of their noes; found step by step, since there may be many. */
import type { Json, JsonObject } from "../../kernel/json.ts";
import type { Type } from "../policy/expression/types.ts";
import { overArguments } from "../policy/expression.ts";
import { MOST_VALUES, type Narrow, narrowest } from "./narrow.ts";
import { ARGS, inside, type Place, valueAt } from "./place.ts";
import type { Group, Sample } from "./samples.ts";

const DAY_MS = 86_400_000;
const MOST_ROUNDS = 20;

export const isYes = ({ decision }: Sample): boolean => decision === "approved";
export const isNo = ({ decision }: Sample): boolean => decision === "rejected" || decision === "edited";

/** When people said so; when they were asked is no habit of theirs. */
export const decidedAt = ({ at, decidedAt: decided }: Sample): number => decided ?? at;

export function daysOf(samples: readonly Sample[]): number {
  return new Set(samples.map((sample) => Math.floor(decidedAt(sample) / DAY_MS))).size;
}

export function peopleOf(samples: readonly Sample[]): readonly string[] {
  return [...new Set(samples.flatMap(({ by }) => by))].sort();
}

function isEnough(samples: readonly Sample[], min: number): boolean {
  return samples.length >= min && (daysOf(samples) >= 2 || peopleOf(samples).length >= 2);
}

type Looked = Sample & { readonly args: JsonObject };
type Covers = (sample: Sample) => boolean;
export type Found = Narrow & {
  readonly yes: readonly Looked[];
  readonly when: string;
  readonly covers: Covers;
};

const isLookedAt = (sample: Sample): sample is Looked => sample.args !== null;

/** As whoever uses it would judge it: what errs is not covered. */
function judgeOf(when: string): Covers | undefined {
  const checked = overArguments(when, "bool", null);
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

/** `args`: what is known of the arguments of its tool. */
type Known = Group & { readonly args: Type };

function* foundBy(
  yes: readonly Looked[],
  { samples, args: type }: Known,
): Generator<void, Found | undefined> {
  const seen = samples.filter(isLookedAt).map(({ args }) => args);
  const narrow = yield* narrowest(
    yes.map(({ args }) => args),
    seen,
    type,
  );
  const when = narrow?.texts.join(" && ") ?? "";
  const covers = narrow === undefined ? undefined : judgeOf(when);
  return narrow === undefined || covers === undefined ? undefined : { ...narrow, yes, when, covers };
}

export const numberAt = ({ args }: Sample, place: Place): number =>
  args === null ? Number.NaN : Number(valueAt(args, place) ?? Number.NaN);

/** Approvals below the lowest value that somebody said no to, by one field. */
function below(place: Place, yes: readonly Looked[], no: readonly Sample[]): readonly Looked[] {
  const lowest = no.reduce(
    (least, sample) => Math.min(least, numberAt(sample, place)),
    Number.POSITIVE_INFINITY,
  );
  return yes.filter((sample) => numberAt(sample, place) < lowest);
}

const AT_A_TIME = 200;

/** Those that an expression holds for: to ask it takes its time. */
export function* those<One>(
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

/** Closer and closer, until nobody's no is met any more. */
function* find(given: readonly Looked[], group: Known, min: number): Generator<void, Found | undefined> {
  const noes = group.samples.filter(isNo);
  let yes = given;
  for (let round = 0; round < MOST_ROUNDS && isEnough(yes, min); round++) {
    const found = yield* foundBy(yes, group);
    if (found === undefined) return undefined;
    const met = yield* those(noes, (sample) => !isLookedAt(sample) || found.covers(sample));
    if (met.length === 0) return found;
    const smaller = found.bounded.map((place) => below(place, yes, met));
    yes = smaller.toSorted((a, b) => b.length - a.length)[0] ?? [];
  }
  return undefined;
}

/** Apart by the values of one argument, where together they would not do. */
function* split(yes: readonly Looked[]): Generator<readonly Looked[]> {
  const names = [...new Set(yes.flatMap(({ args }) => Object.keys(args)))].sort();
  for (const place of names.map((name) => inside(ARGS, name))) {
    const at = ({ args }: Looked) => valueAt(args, place);
    const values = new Set(yes.map(at));
    if (values.size < 2 || values.size > MOST_VALUES) continue;
    for (const value of values)
      if (typeof value === "string" || typeof value === "boolean")
        yield yes.filter((one) => at(one) === value);
  }
}

/** All of them together, or below what was rejected, or apart. */
export function* foundIn(group: Known, min: number): Generator<void, readonly Found[]> {
  const yes = group.samples.filter(isYes).filter(isLookedAt);
  const whole = yield* find(yes, group, min);
  if (whole !== undefined && whole.yes.length === yes.length) return [whole];
  const parts: Found[] = [];
  for (const part of split(yes)) {
    const found = yield* find(part, group, min);
    if (found !== undefined) parts.push(found);
  }
  const covered = new Set(whole?.yes);
  const others = parts.filter((part) => part.yes.some((one) => !covered.has(one)));
  return whole === undefined ? others : [whole, ...others];
}
