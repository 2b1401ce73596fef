/**
 * Rate rules: too many calls, errors or escalations, above a number within a sliding window, or above the baseline of
 * earlier windows. Error rules: the share of failed, refused or in-doubt outcomes, latest or within a window.
 */

import type { Json } from "../../kernel/json.ts";
import {
  BAD_OUTCOMES,
  clearedSignal,
  createSubjects,
  durationText,
  type ErrorsRule,
  type Figures,
  isCounted,
  type MonitoredEntry,
  outcomeOfSighting,
  type RateRule,
  rounded,
  type Signal,
  type SubjectState,
  subjectOfSighting,
  type Watcher,
} from "./monitor-rule.ts";

type Common = SubjectState & { readonly workflow: string | null };

/** Only as many of the newest times as the rule needs. */
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
    says: `more than ${above} ${of} within ${durationText(windowMs)}`,
    proof: null,
  });
  return {
    see(sighting) {
      const subject = isCounted(of, sighting) ? subjectOfSighting(per, sighting) : null;
      if (subject === null) return [];
      const before = subjects.get(subject);
      const times = [...(before?.times ?? []), sighting.at].slice(-above - 1);
      const holds = isMany(times, sighting.at);
      const workflow = sighting.workflow?.id ?? null;
      subjects.put(subject, { times, holds, workflow });
      if (holds === (before?.holds ?? false)) return [];
      return [holds ? begins(subject, workflow) : clearedSignal(subject, workflow)];
    },
    tick: (now) =>
      subjects.holding().flatMap(([subject, state]) => {
        if (isMany(state.times, now)) return [];
        subjects.put(subject, { ...state, holds: false });
        return [clearedSignal(subject, state.workflow)];
      }),
    due: () => earliestTime(subjects.holding().map(([, { times }]) => (times[0] ?? 0) + windowMs)),
    save: () => subjects.save(),
  };
}

export const earliestTime = (times: readonly number[]): number | null =>
  times.length === 0 ? null : Math.min(...times);

/** Weight of the newest window in the average. */
const WEIGHT = 0.2;
/** After this many empty windows the average is practically zero. */
const MOST_EMPTY = 100;

type Windows = Common & {
  /** Number of the current window. */
  readonly window: number;
  readonly count: number;
  readonly mean: number;
  readonly variance: number;
  readonly closed: number;
};

type BaselineTerms = { readonly deviations: number; readonly warmUp: number; readonly least: number };

function limitOf({ mean, variance, closed }: Windows, terms: BaselineTerms): number {
  if (closed < terms.warmUp) return Number.POSITIVE_INFINITY;
  // Even the most regular counts vary by the square root of their average, by chance alone.
  const deviation = Math.max(Math.sqrt(variance), Math.sqrt(mean));
  return Math.max(terms.least, mean + terms.deviations * deviation);
}

/** Counts above the limit are capped: a spike must not become the norm. */
function closeWindow(state: Windows, terms: BaselineTerms): Windows {
  const limit = limitOf(state, terms);
  const difference = Math.min(state.count, limit) - state.mean;
  // After the first window, that window is the average.
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

function closeWindowsUpTo(state: Windows, window: number, terms: BaselineTerms): Windows {
  let now = state;
  for (let closed = 0; now.window < window && closed < MOST_EMPTY; closed++) now = closeWindow(now, terms);
  return { ...now, window: Math.max(now.window, window) };
}

function baselineWatcher(rule: RateRule, terms: BaselineTerms, saved: Json): Watcher {
  const { of, windowMs, per = "all" } = rule;
  const subjects = createSubjects<Windows>(saved);
  const windowAt = (time: number) => Math.floor(time / windowMs);
  const begins = (subject: string, state: Windows, limit: number): Signal => ({
    subject,
    holds: true,
    workflow: state.workflow,
    figures: { count: state.count, usual: rounded(state.mean), limit: rounded(limit), windowMs },
    says: `${state.count} ${of} within ${durationText(windowMs)}, where ${rounded(state.mean)} are usual`,
    proof: null,
  });
  const fresh = { count: 0, mean: 0, variance: 0, closed: 0, holds: false };
  function count(subject: string, sighting: MonitoredEntry): readonly Signal[] {
    const window = windowAt(sighting.at);
    const workflow = sighting.workflow?.id ?? null;
    const before = subjects.get(subject) ?? { ...fresh, window, workflow };
    const rolled = closeWindowsUpTo(before, window, terms);
    const state = { ...rolled, count: rolled.count + 1, workflow };
    const limit = limitOf(state, terms);
    const holds = state.holds || state.count > limit;
    subjects.put(subject, { ...state, holds });
    const ended = before.holds && !rolled.holds ? [clearedSignal(subject, workflow)] : [];
    return holds && !rolled.holds ? [...ended, begins(subject, state, limit)] : ended;
  }
  return {
    see(sighting) {
      const subject = isCounted(of, sighting) ? subjectOfSighting(per, sighting) : null;
      return subject === null ? [] : count(subject, sighting);
    },
    tick: (now) =>
      subjects.holding().flatMap(([subject, state]) => {
        const rolled = closeWindowsUpTo(state, windowAt(now), terms);
        subjects.put(subject, rolled);
        return rolled.holds ? [] : [clearedSignal(subject, state.workflow)];
      }),
    due: () => earliestTime(subjects.holding().map(([, { window }]) => (window + 1) * windowMs)),
    save: () => subjects.save(),
  };
}

export function watchRate(rule: RateRule, saved: Json): Watcher {
  if (rule.above !== undefined) return aboveWatcher(rule, rule.above, saved);
  const { deviations = 4, warmUp = 10, least = 5 } = rule.baseline ?? {};
  return baselineWatcher(rule, { deviations, warmUp, least }, saved);
}

/** Most outcomes kept per subject, also within a window. */
const MOST_OUTCOMES = 1_000;

type EndedCall = { readonly at: number; readonly as: string };
type Outcomes = SubjectState & { readonly ended: readonly EndedCall[]; readonly workflow: string | null };

/** `failed, refused or in doubt`. */
function outcomesText(of: readonly string[]): string {
  const words = of.map((one) => one.replace("_", " "));
  const last = words.at(-1) ?? "";
  return words.length < 2 ? last : `${words.slice(0, -1).join(", ")} or ${last}`;
}

export function watchErrors(rule: ErrorsRule, saved: Json): Watcher {
  const { above, last = MOST_OUTCOMES, windowMs = null, least = 5, of = BAD_OUTCOMES, per = "all" } = rule;
  const subjects = createSubjects<Outcomes>(saved);
  const within = (ended: readonly EndedCall[], now: number) =>
    windowMs === null ? ended : ended.filter(({ at }) => at > now - windowMs);
  const shareOf = (ended: readonly EndedCall[]) =>
    ended.length === 0 ? 0 : ended.filter(({ as }) => of.some((bad) => bad === as)).length / ended.length;
  const isBad = (ended: readonly EndedCall[]) => ended.length >= least && shareOf(ended) > above;

  function figuresOf(ended: readonly EndedCall[]): Figures {
    const counts = BAD_OUTCOMES.map((bad) => [bad, ended.filter(({ as }) => as === bad).length] as const);
    return { share: rounded(shareOf(ended)), above, outcomes: ended.length, ...Object.fromEntries(counts) };
  }

  function begins(subject: string, { ended, workflow }: Outcomes): Signal {
    const when = windowMs === null ? "" : ` within ${durationText(windowMs)}`;
    const percent = rounded(shareOf(ended) * 100);
    const says = `${percent} % of the last ${ended.length} outcomes${when} are ${outcomesText(of)}`;
    return { subject, holds: true, workflow, figures: figuresOf(ended), says, proof: null };
  }

  function put(subject: string, before: Outcomes, ended: readonly EndedCall[]): readonly Signal[] {
    const state = { ...before, ended, holds: isBad(ended) };
    subjects.put(subject, state);
    if (state.holds === before.holds) return [];
    return [state.holds ? begins(subject, state) : clearedSignal(subject, before.workflow)];
  }

  return {
    see(sighting) {
      const as = outcomeOfSighting(sighting);
      const subject = as === undefined ? null : subjectOfSighting(per, sighting);
      if (as === undefined || subject === null) return [];
      const before = subjects.get(subject) ?? { ended: [], holds: false };
      const ended = within([...before.ended, { at: sighting.at, as }], sighting.at).slice(-last);
      return put(subject, { ...before, workflow: sighting.workflow?.id ?? null }, ended);
    },
    tick: (now) =>
      subjects.holding().flatMap(([subject, state]) => put(subject, state, within(state.ended, now))),
    due: () =>
      windowMs === null
        ? null
        : earliestTime(subjects.holding().map(([, { ended }]) => (ended[0]?.at ?? 0) + windowMs)),
    save: () => subjects.save(),
  };
}
