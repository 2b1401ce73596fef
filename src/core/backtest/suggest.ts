/**
 * What people's decisions support: rules and grants that would have asked less, and let nothing else through.
 *
 * Q1. A suggestion matches no action that a person rejected or changed. One whose arguments cannot be looked at may match.
 * Q2. It rests on at least `min` approvals, given on two days or by two people.
 * Q3. It is as narrow as what was approved (`narrow.ts`). What it says is judged by the expression itself, as a grant or a
 *     rule would judge it.
 */

import { visible } from "../../kernel/text.ts";
import { ANY, type Type } from "../policy/expression/types.ts";
import { daysOf, decidedAt, type Found, foundIn, isNo, isYes, numberAt, peopleOf, those } from "./habits.ts";
import type { Condition } from "./narrow.ts";
import type { Group, Sample, Samples } from "./samples.ts";

export type Suggestion = {
  readonly tool: string;
  readonly agent: string;
  readonly conditions: readonly Condition[];
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

function letThroughBy(met: readonly Sample[], { bounded }: Found): Suggestion["letThrough"] {
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

function* suggestionOf(group: Group, found: Found): Generator<void, Suggestion> {
  const { tool, agent, samples } = group;
  const { yes, when, conditions, open } = found;
  const met = yield* those(samples, found.covers);
  const letThrough = letThroughBy(met, found);
  yield;
  const times = yes.map(decidedAt);
  return {
    ...{ tool, agent, conditions, when, open },
    approved: yes.length,
    people: peopleOf(yes),
    days: daysOf(yes),
    first: times.reduce((least, at) => Math.min(least, at), Number.POSITIVE_INFINITY),
    last: times.reduce((most, at) => Math.max(most, at), 0),
    askedBy: [...new Set(met.map(({ rule }) => rule))].sort(),
    letThrough,
    keptOut: samples.filter(isNo).length,
  };
}

const nameOf = ({ tool, agent, when }: Suggestion): string => JSON.stringify([tool, agent, when]);

/** Nothing is suggested about a name that cannot be seen as it is. */
const isSaid = ({ tool, agent }: Group): boolean => visible(tool + agent) === tool + agent;

/** The best supported first; the same journal gives the same list. `argsOf`: what is known of a tool's arguments. */
export function* suggestionsFrom(
  { groups }: Samples,
  min: number,
  argsOf: (tool: string) => Type = () => ANY,
): Generator<void, readonly Suggestion[]> {
  const unique = new Map<string, Suggestion>();
  for (const group of [...groups.values()].filter(isSaid))
    for (const found of yield* foundIn({ ...group, args: argsOf(group.tool) }, min)) {
      const one = yield* suggestionOf(group, found);
      unique.set(nameOf(one), one);
    }
  return [...unique.values()].sort((a, b) => b.approved - a.approved || (nameOf(a) < nameOf(b) ? -1 : 1));
}
