/**
 * Too many calls, errors or escalations: more than a number within a window that slides along, or more in a window of the
 * clock than the windows before would let one expect.
 */
import type { Json } from "../../kernel/json.ts";
import { duration, isCounted } from "./moments.ts";
import {
  over,
  type RateRule,
  rounded,
  type Sighting,
  type Signal,
  subjectOf,
  type Watcher,
} from "./rules.ts";
import { createSubjects, type Kept } from "./subjects.ts";

type Common = Kept & { readonly workflow: string | null };

/** The newest so many times, which is all that has to be known. */
type Times = Common & { readonly times: readonly number[] };

function aboveWatcher(rule: RateRule, above: number, saved: Json): Watcher {
  const { of, windowMs, per = "all" } = rule;
  const subjects = createSubjects<Times>(saved);
  const isMany = (times: readonly number[], now: number) =>
    times.length > above && (times[0] ?? 0) > now - windowMs;
  const begins = (subject: string, workflow: string | null): Signal => ({
    subject,
    holds: true,
    workflow,
    figures: { count: above + 1, above, windowMs },
    says: `more than ${above} ${of} within ${duration(windowMs)}`,
    proof: null,
  });
  return {
    see(sighting) {
      const subject = isCounted(of, sighting) ? subjectOf(per, sighting) : null;
      if (subject === null) return [];
      const before = subjects.get(subject);
      const times = [...(before?.times ?? []), sighting.at].slice(-above - 1);
      const holds = isMany(times, sighting.at);
      const workflow = sighting.workflow?.id ?? null;
      subjects.put(subject, { times, holds, workflow });
      if (holds === (before?.holds ?? false)) return [];
      return [holds ? begins(subject, workflow) : over(subject, workflow)];
    },
    tick: (now) =>
      subjects.holding().flatMap(([subject, state]) => {
        if (isMany(state.times, now)) return [];
        subjects.put(subject, { ...state, holds: false });
        return [over(subject, state.workflow)];
      }),
    due: () => earliest(subjects.holding().map(([, { times }]) => (times[0] ?? 0) + windowMs)),
    save: () => subjects.save(),
  };
}

export const earliest = (times: readonly number[]): number | null =>
  times.length === 0 ? null : Math.min(...times);

/** How much the newest window weighs in the average. */
const WEIGHT = 0.2;
/** After so many windows without anything the average is as good as nothing. */
const MOST_EMPTY = 100;

type Windows = Common & {
  /** The number of the window that is counted. */
  readonly window: number;
  readonly count: number;
  readonly mean: number;
  readonly variance: number;
  readonly closed: number;
};

type Terms = { readonly deviations: number; readonly warmUp: number; readonly least: number };

function limitOf({ mean, variance, closed }: Windows, terms: Terms): number {
  if (closed < terms.warmUp) return Number.POSITIVE_INFINITY;
  // Counts that are as even as can be still differ by the root of their average, by chance alone.
  const deviation = Math.max(Math.sqrt(variance), Math.sqrt(mean));
  return Math.max(terms.least, mean + terms.deviations * deviation);
}

/** What was too much is not learned in full: a spike must not pass for what is usual. */
function close(state: Windows, terms: Terms): Windows {
  const limit = limitOf(state, terms);
  const difference = Math.min(state.count, limit) - state.mean;
  // The first window is all that is known after it.
  const weight = state.closed === 0 ? 1 : WEIGHT;
  return {
    ...state,
    window: state.window + 1,
    count: 0,
    mean: state.mean + weight * difference,
    variance: (1 - weight) * (state.variance + weight * difference ** 2),
    closed: state.closed + 1,
    holds: state.holds && state.count > limit,
  };
}

function upTo(state: Windows, window: number, terms: Terms): Windows {
  let now = state;
  for (let closed = 0; now.window < window && closed < MOST_EMPTY; closed++) now = close(now, terms);
  return { ...now, window: Math.max(now.window, window) };
}

function baselineWatcher(rule: RateRule, terms: Terms, saved: Json): Watcher {
  const { of, windowMs, per = "all" } = rule;
  const subjects = createSubjects<Windows>(saved);
  const windowAt = (time: number) => Math.floor(time / windowMs);
  const begins = (subject: string, state: Windows, limit: number): Signal => ({
    subject,
    holds: true,
    workflow: state.workflow,
    figures: { count: state.count, usual: rounded(state.mean), limit: rounded(limit), windowMs },
    says: `${state.count} ${of} within ${duration(windowMs)}, where ${rounded(state.mean)} are usual`,
    proof: null,
  });
  const fresh = { count: 0, mean: 0, variance: 0, closed: 0, holds: false };
  function count(subject: string, sighting: Sighting): readonly Signal[] {
    const window = windowAt(sighting.at);
    const workflow = sighting.workflow?.id ?? null;
    const before = subjects.get(subject) ?? { ...fresh, window, workflow };
    const rolled = upTo(before, window, terms);
    const state = { ...rolled, count: rolled.count + 1, workflow };
    const limit = limitOf(state, terms);
    const holds = state.holds || state.count > limit;
    subjects.put(subject, { ...state, holds });
    const ended = before.holds && !rolled.holds ? [over(subject, workflow)] : [];
    return holds && !rolled.holds ? [...ended, begins(subject, state, limit)] : ended;
  }
  return {
    see(sighting) {
      const subject = isCounted(of, sighting) ? subjectOf(per, sighting) : null;
      return subject === null ? [] : count(subject, sighting);
    },
    tick: (now) =>
      subjects.holding().flatMap(([subject, state]) => {
        const rolled = upTo(state, windowAt(now), terms);
        subjects.put(subject, rolled);
        return rolled.holds ? [] : [over(subject, state.workflow)];
      }),
    due: () => earliest(subjects.holding().map(([, { window }]) => (window + 1) * windowMs)),
    save: () => subjects.save(),
  };
}

export function watchRate(rule: RateRule, saved: Json): Watcher {
  if (rule.above !== undefined) return aboveWatcher(rule, rule.above, saved);
  const { deviations = 4, warmUp = 10, least = 5 } = rule.baseline ?? {};
  return baselineWatcher(rule, { deviations, warmUp, least }, saved);
}
