/**
 * What people's decisions support: rules and grants that would have asked less, and let nothing else through.
 *
 * Q1. A suggestion matches no action that a person rejected or changed. One whose arguments cannot be looked at may match.
 * Q2. It rests on at least `min` approvals, given on two days or by two people.
 * Q3. It is as narrow as what was approved: every amount is bounded by the highest that was.
 */
import { visible } from "../visible.ts";
import { allHold, type Condition, expressionOf, narrowest, sharedFields } from "./conditions.ts";
import type { Group, Sample, Samples } from "./samples.ts";

export type Suggestion = {
  readonly tool: string;
  readonly agent: string;
  readonly conditions: readonly Condition[];
  /** The conditions as an expression; empty where there are none. */
  readonly when: string;
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
    /** The most within seven days. */
    readonly weekly: number;
    /** Numbers that are bounded: their sum over all, and the most within seven days. */
    readonly sums: readonly { readonly field: string; readonly sum: number; readonly weekly: number }[];
  };
  /** People's noes that it keeps clear of. */
  readonly keptOut: number;
};

const DAY_MS = 86_400_000;
const WEEK_MS = 7 * DAY_MS;
const MOST_VALUES = 20;
const MOST_ROUNDS = 20;

const isYes = ({ decision }: Sample): boolean => decision === "approved";
const isNo = ({ decision }: Sample): boolean => decision === "rejected" || decision === "edited";

function daysOf(samples: readonly Sample[]): number {
  return new Set(samples.map(({ at }) => Math.floor(at / DAY_MS))).size;
}

function peopleOf(samples: readonly Sample[]): readonly string[] {
  return [...new Set(samples.flatMap(({ by }) => by))].sort();
}

function isEnough(samples: readonly Sample[], min: number): boolean {
  return samples.length >= min && (daysOf(samples) >= 2 || peopleOf(samples).length >= 2);
}

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

type Found = { readonly yes: readonly Sample[]; readonly conditions: readonly Condition[] };

/** Approvals below the lowest value that somebody said no to, by one field. */
function below(field: string, yes: readonly Sample[], no: readonly Sample[]): readonly Sample[] {
  const number = ({ fields }: Sample) => Number(fields[field]);
  const lowest = no.reduce((least, sample) => Math.min(least, number(sample)), Number.POSITIVE_INFINITY);
  return yes.filter((sample) => number(sample) < lowest);
}

/** Closer and closer, until nobody's no is met any more. */
function find(given: readonly Sample[], noes: readonly Sample[], min: number): Found | undefined {
  let yes = given;
  for (let round = 0; round < MOST_ROUNDS && isEnough(yes, min); round++) {
    const conditions = narrowest(yes);
    const met = noes.filter((sample) => sample.isUnread || allHold(conditions, sample));
    if (met.length === 0) return { yes, conditions };
    const bounded = conditions.filter(({ kind }) => kind === "most").map(({ field }) => field);
    const smaller = bounded.map((field) => below(field, yes, met)).toSorted((a, b) => b.length - a.length);
    yes = smaller[0] ?? [];
  }
  return undefined;
}

/** Apart by the values of one text, where together they would not do. */
function* split(yes: readonly Sample[]): Generator<readonly Sample[]> {
  for (const field of sharedFields(yes)) {
    const values = new Set(yes.map(({ fields }) => fields[field]));
    if (values.size < 2 || values.size > MOST_VALUES) continue;
    for (const value of values) {
      if (typeof value !== "number") yield yes.filter(({ fields }) => fields[field] === value);
    }
  }
}

function foundIn({ samples }: Group, min: number): readonly Found[] {
  const yes = samples.filter(isYes);
  const noes = samples.filter(isNo);
  const whole = find(yes, noes, min);
  if (whole !== undefined && whole.yes.length === yes.length) return [whole];
  const parts = [...split(yes)].flatMap((part) => find(part, noes, min) ?? []);
  const covered = new Set(whole?.yes);
  const others = parts.filter((part) => part.yes.some((one) => !covered.has(one)));
  return whole === undefined ? others : [whole, ...others];
}

function suggestionOf({ tool, agent, samples }: Group, { yes, conditions }: Found): Suggestion {
  const met = samples.filter((sample) => allHold(conditions, sample));
  const optional = conditions.filter(({ field }) =>
    samples.some(({ fields }) => fields[field] === undefined),
  );
  const sums = conditions.flatMap(({ kind, field }) => {
    const of = ({ fields }: Sample) => Number(fields[field]);
    return kind === "most"
      ? [{ field, sum: met.reduce((sum, sample) => sum + of(sample), 0), weekly: weekly(met, of) }]
      : [];
  });
  const times = yes.map(({ at }) => at);
  return {
    tool,
    agent,
    conditions,
    when: expressionOf(conditions, new Set(optional.map(({ field }) => field))),
    approved: yes.length,
    people: peopleOf(yes),
    days: daysOf(yes),
    first: times.reduce((least, at) => Math.min(least, at), Number.POSITIVE_INFINITY),
    last: times.reduce((most, at) => Math.max(most, at), 0),
    askedBy: [...new Set(met.map(({ rule }) => rule))].sort(),
    letThrough: {
      total: met.length,
      undecided: met.filter((sample) => !isYes(sample)).length,
      weekly: weekly(met, () => 1),
      sums,
    },
    keptOut: samples.filter(isNo).length,
  };
}

const nameOf = ({ tool, agent, when }: Suggestion): string => JSON.stringify([tool, agent, when]);

/** Nothing is suggested about a name that cannot be seen as it is. */
const isSaid = ({ tool, agent }: Group): boolean => visible(tool + agent) === tool + agent;

/** The best supported first; the same journal gives the same list. */
export function suggestionsFrom({ groups }: Samples, min: number): readonly Suggestion[] {
  const named = [...groups.values()].filter(isSaid);
  const all = named.flatMap((group) => foundIn(group, min).map((found) => suggestionOf(group, found)));
  const unique = new Map(all.map((one) => [nameOf(one), one]));
  return [...unique.values()].sort((a, b) => b.approved - a.approved || (nameOf(a) < nameOf(b) ? -1 : 1));
}
