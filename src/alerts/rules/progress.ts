/**
 * Progress rules: a workflow that is stuck or too fast. Silence rules: a workflow that executes and writes nothing.
 * Workflows are kept in the order in which they are due, so only the first is checked. One that waits, sleeps or has
 * ended is not kept.
 */

import { isJsonObject, type Json } from "../../kernel/json.ts";
import {
  clearedSignal,
  createSubjects,
  durationText,
  executesAfter,
  isOperation,
  MOST_SUBJECTS,
  type ProgressRule,
  type Signal,
  type SilenceRule,
  type SubjectState,
  savedPairs,
  type Watcher,
} from "./monitor-rule.ts";
import { earliestTime } from "./rate.ts";

type Stretch = { readonly since: number; readonly count: number; readonly isSlow: boolean };

const slowSubject = (id: string): string => `workflow:${id} stuck`;
const fastSubject = (id: string): string => `workflow:${id} too fast`;

function stuckSignal(id: string, count: number, least: number, withinMs: number): Signal {
  const figures = { operations: count, fewerThan: least, withinMs };
  const says = `${count} operations in ${durationText(withinMs)}, where at least ${least} are expected`;
  return { subject: slowSubject(id), holds: true, workflow: id, figures, says, proof: { kind: "executing" } };
}

/**
 * Too few operations in a period of execution. Periods follow each other. The workflow whose period began first is
 * first, so only that one has to be checked.
 */
function watchStuck(least: number, withinMs: number, saved: Json): Watcher {
  const all = new Map<string, Stretch>(savedPairs<Stretch>(saved));

  function leave(id: string): readonly Signal[] {
    const isSlow = all.get(id)?.isSlow === true;
    all.delete(id);
    return isSlow ? [clearedSignal(slowSubject(id), id)] : [];
  }

  /** Keeps its place in the order. */
  function count(id: string, stretch: Stretch): readonly Signal[] {
    const isSlow = stretch.isSlow && stretch.count + 1 < least;
    all.set(id, { ...stretch, count: stretch.count + 1, isSlow });
    return stretch.isSlow && !isSlow ? [clearedSignal(slowSubject(id), id)] : [];
  }

  function turn(id: string, stretch: Stretch, now: number): readonly Signal[] {
    const isSlow = stretch.count < least;
    all.delete(id);
    all.set(id, { since: now, count: 0, isSlow });
    if (isSlow === stretch.isSlow) return [];
    return [isSlow ? stuckSignal(id, stretch.count, least, withinMs) : clearedSignal(slowSubject(id), id)];
  }

  return {
    see(sighting) {
      const executes = executesAfter(sighting);
      if (executes === undefined || sighting.workflow === null) return [];
      const { id } = sighting.workflow;
      if (!executes) return leave(id);
      const stretch = all.get(id) ?? { since: sighting.at, count: 0, isSlow: false };
      if (!all.has(id)) all.set(id, stretch);
      const [first] = all.size > MOST_SUBJECTS ? all.keys() : [];
      if (first !== undefined) all.delete(first);
      return isOperation(sighting) ? count(id, stretch) : [];
    },
    tick: (now) =>
      [...takeWhile(all, ({ since }) => since + withinMs <= now)].flatMap(([id, stretch]) =>
        turn(id, stretch, now),
      ),
    due() {
      const [first] = all.values();
      return first === undefined ? null : first.since + withinMs;
    },
    save: () => [...all] as unknown as Json,
  };
}

function* takeWhile<Value>(
  all: ReadonlyMap<string, Value>,
  test: (value: Value) => boolean,
): Generator<readonly [string, Value]> {
  for (const [id, value] of all) {
    if (!test(value)) return;
    yield [id, value];
  }
}

type Times = SubjectState & { readonly times: readonly number[] };

function tooFastSignal(id: string, most: number, withinMs: number): Signal {
  const figures = { operations: most + 1, moreThan: most, withinMs };
  const says = `more than ${most} operations within ${durationText(withinMs)}`;
  return { subject: fastSubject(id), holds: true, workflow: id, figures, says, proof: null };
}

/** Too many operations within a sliding window. */
function watchFast(most: number, withinMs: number, saved: Json): Watcher {
  const all = createSubjects<Times>(saved);
  const isFast = (times: readonly number[], now: number) =>
    times.length > most && (times[0] ?? 0) > now - withinMs;

  function put(id: string, before: Times, times: readonly number[], now: number): readonly Signal[] {
    const holds = isFast(times, now);
    all.put(id, { times, holds });
    if (holds === before.holds) return [];
    return [holds ? tooFastSignal(id, most, withinMs) : clearedSignal(fastSubject(id), id)];
  }

  return {
    see(sighting) {
      const executes = executesAfter(sighting);
      if (executes === undefined || sighting.workflow === null) return [];
      const { id } = sighting.workflow;
      const before = all.get(id) ?? { times: [], holds: false };
      if (!executes) {
        all.drop(id);
        return before.holds ? [clearedSignal(fastSubject(id), id)] : [];
      }
      if (!isOperation(sighting)) return [];
      return put(id, before, [...before.times, sighting.at].slice(-most - 1), sighting.at);
    },
    tick: (now) => all.holding().flatMap(([id, state]) => put(id, state, state.times, now)),
    due: () => earliestTime(all.holding().map(([, { times }]) => (times[0] ?? 0) + withinMs)),
    save: () => all.save(),
  };
}

export function watchProgress({ withinMs, fewerThan, moreThan }: ProgressRule, saved: Json): Watcher {
  const kept = isJsonObject(saved) ? saved : {};
  const slow = fewerThan === undefined ? [] : [watchStuck(fewerThan, withinMs, kept["slow"] ?? null)];
  const fast = moreThan === undefined ? [] : [watchFast(moreThan, withinMs, kept["fast"] ?? null)];
  const both = [...slow, ...fast];
  const saveOf = ([one]: readonly Watcher[]): Json => one?.save() ?? null;
  return {
    see: (sighting) => both.flatMap((one) => one.see(sighting)),
    tick: (now) => both.flatMap((one) => one.tick(now)),
    due: () => earliestTime(both.flatMap((one) => one.due() ?? [])),
    save: () => ({ slow: saveOf(slow), fast: saveOf(fast) }),
  };
}

const subjectOfWorkflow = (id: string): string => `workflow:${id}`;

export function watchSilence({ forMs }: SilenceRule, saved: Json): Watcher {
  const kept = isJsonObject(saved) ? saved : {};
  const heard = new Map(savedPairs<number>(kept["heard"] ?? null));
  const silent = new Set(Array.isArray(kept["silent"]) ? kept["silent"].map(String) : []);

  const begins = (id: string, since: number, now: number): Signal => ({
    subject: subjectOfWorkflow(id),
    holds: true,
    workflow: id,
    figures: { silentMs: now - since, forMs },
    says: `it executes and has written nothing for ${durationText(forMs)}`,
    proof: { kind: "silent", forMs },
  });

  return {
    see(sighting) {
      const executes = executesAfter(sighting);
      if (executes === undefined || sighting.workflow === null) return [];
      const { id } = sighting.workflow;
      heard.delete(id);
      if (executes) heard.set(id, sighting.at);
      if (heard.size > MOST_SUBJECTS) heard.delete(firstKey(heard));
      return silent.delete(id) ? [clearedSignal(subjectOfWorkflow(id), id)] : [];
    },
    tick(now) {
      const signals: Signal[] = [];
      for (const [id, since] of heard) {
        if (since + forMs > now) break;
        heard.delete(id);
        silent.add(id);
        signals.push(begins(id, since, now));
      }
      return signals;
    },
    due() {
      const [since] = heard.values();
      return since === undefined ? null : since + forMs;
    },
    save: () => ({ heard: [...heard] as unknown as Json, silent: [...silent] }),
  };
}

function firstKey(heard: ReadonlyMap<string, unknown>): string {
  const [id] = heard.keys();
  return id ?? "";
}
