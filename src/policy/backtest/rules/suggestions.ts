/**
 * Suggests rules and grants that people's decisions support. A suggestion matches no action that a person rejected or
 * changed; one with unreadable arguments may match. It is based on at least `min` approvals, on two days or by two
 * people, is as narrow as the approvals, and is evaluated by the expression itself. An approve rule does not outrank a
 * rule that escalates: that rule is narrowed as well.
 */

import { visible } from "../../../kernel/text.ts";
import { ANY, type Type } from "../../expression/types.ts";
import type { PolicyText } from "../../rules/document.ts";
import { patternsOf } from "../../rules/tools.ts";
import type { Narrowing, SuggestedRule, Suggestion } from "./answers.ts";
import {
  type ApprovedCondition,
  approvedCondition,
  countDays,
  decidersOf,
  decisionTime,
  filterInSteps,
  isNo,
  isYes,
  numberAt,
} from "./approved-condition.ts";
import type { Sample, SampleGroup, Samples } from "./decision-samples.ts";

const WEEK_MS = 7 * 86_400_000;

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

function letThroughBy(met: readonly Sample[], { bounded }: ApprovedCondition): Suggestion["letThrough"] {
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

function* suggestionOf(group: SampleGroup, found: ApprovedCondition): Generator<void, Suggestion> {
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

/** False for a name with hidden characters: nothing is suggested about it. */
const isSaid = ({ tool, agent }: SampleGroup): boolean => visible(tool + agent) === tool + agent;

/** Best supported first; the same journal gives the same list. `argsOf` returns the type of a tool's arguments. */
export function* suggestionsFrom(
  { groups }: Samples,
  min: number,
  argsOf: (tool: string) => Type = () => ANY,
): Generator<void, readonly Suggestion[]> {
  const suggestions: Suggestion[] = [];
  for (const group of [...groups.values()].filter(isSaid)) {
    const found = yield* approvedCondition({ ...group, args: argsOf(group.tool) }, min);
    if (found !== undefined) suggestions.push(yield* suggestionOf(group, found));
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
    const who = `agent == ${JSON.stringify(agent)}`;
    // If several policies escalate, each names its rule.
    const asked = [...new Set(askedBy.flatMap((rule) => rule.split("; ")))];
    return {
      rule: { id, tool, when: when === "" ? who : `${who} && ${when}` },
      narrowings: asked.flatMap((rule) => {
        const found = byId.get(rule);
        return found === undefined ? [] : [narrowingOf(found, tool, taken)];
      }),
      stillAskedBy: asked.filter((rule) => rule !== "default" && !byId.has(rule)),
    };
  });
}
