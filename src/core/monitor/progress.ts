/**
 * Operations of a workflow against expectation. Stuck: too few in a stretch of time in which it executes; stretches follow
 * each other, and the workflow whose stretch began first stands first. Too fast: too many within a time that slides along.
 */
import type { Json } from "../json.ts";
import { duration, executesAfter, isOperation } from "./moments.ts";
import { earliest } from "./rate.ts";
import { over, type ProgressRule, type Sighting, type Signal, type Watcher } from "./rules.ts";
import { MOST_SUBJECTS, savedPairs } from "./subjects.ts";

type Stretch = {
  readonly since: number;
  readonly count: number;
  readonly times: readonly number[];
  readonly isSlow: boolean;
  readonly isFast: boolean;
};

const slowSubject = (id: string): string => `workflow:${id} stuck`;
const fastSubject = (id: string): string => `workflow:${id} too fast`;

export function watchProgress(rule: ProgressRule, saved: Json): Watcher {
  const { withinMs, fewerThan = null, moreThan = null } = rule;
  const all = new Map<string, Stretch>(savedPairs<Stretch>(saved));
  const fast = new Set([...all].flatMap(([id, { isFast }]) => (isFast ? id : [])));

  function keep(id: string, stretch: Stretch): void {
    all.set(id, stretch);
    const [first] = all.size > MOST_SUBJECTS ? all.keys() : [];
    if (first !== undefined) all.delete(first);
    if (stretch.isFast) fast.add(id);
    else fast.delete(id);
  }

  function leave(id: string): readonly Signal[] {
    const stretch = all.get(id);
    all.delete(id);
    fast.delete(id);
    const slow = stretch?.isSlow === true ? [over(slowSubject(id), id)] : [];
    return stretch?.isFast === true ? [...slow, over(fastSubject(id), id)] : slow;
  }

  const isFastNow = (times: readonly number[], now: number): boolean =>
    moreThan !== null && times.length > moreThan && (times[0] ?? 0) > now - withinMs;

  function tooFast(id: string): Signal {
    const figures = { operations: (moreThan ?? 0) + 1, moreThan: moreThan ?? 0, withinMs };
    const says = `more than ${moreThan} operations within ${duration(withinMs)}`;
    return { subject: fastSubject(id), holds: true, workflow: id, figures, says, proof: null };
  }

  function stuck(id: string, count: number): Signal {
    const figures = { operations: count, fewerThan: fewerThan ?? 0, withinMs };
    const says = `${count} operations in ${duration(withinMs)}, where at least ${fewerThan} are expected`;
    return {
      subject: slowSubject(id),
      holds: true,
      workflow: id,
      figures,
      says,
      proof: { kind: "executing" },
    };
  }

  function count(id: string, stretch: Stretch, { at }: Sighting): readonly Signal[] {
    const times = moreThan === null ? [] : [...stretch.times, at].slice(-moreThan - 1);
    const isFast = isFastNow(times, at);
    const isMoving = fewerThan !== null && stretch.count + 1 >= fewerThan;
    const isSlow = stretch.isSlow && !isMoving;
    keep(id, { ...stretch, count: stretch.count + 1, times, isFast, isSlow });
    const slow = stretch.isSlow && !isSlow ? [over(slowSubject(id), id)] : [];
    if (isFast === stretch.isFast) return slow;
    return [...slow, isFast ? tooFast(id) : over(fastSubject(id), id)];
  }

  /** The next stretch of the one that stands first. */
  function turn(id: string, stretch: Stretch, now: number): readonly Signal[] {
    const isSlow = fewerThan !== null && stretch.count < fewerThan;
    all.delete(id);
    keep(id, { ...stretch, since: now, count: 0, isSlow });
    if (isSlow === stretch.isSlow) return [];
    return [isSlow ? stuck(id, stretch.count) : over(slowSubject(id), id)];
  }

  function turnDue(now: number): readonly Signal[] {
    if (fewerThan === null) return [];
    const due = [...takeWhile(all, ({ since }) => since + withinMs <= now)];
    return due.flatMap(([id, stretch]) => turn(id, stretch, now));
  }

  function slowDown(now: number): readonly Signal[] {
    return [...fast].flatMap((id) => {
      const stretch = all.get(id);
      if (stretch === undefined || isFastNow(stretch.times, now)) return [];
      keep(id, { ...stretch, isFast: false });
      return [over(fastSubject(id), id)];
    });
  }

  return {
    see(sighting) {
      const executes = executesAfter(sighting);
      if (executes === undefined || sighting.workflow === null) return [];
      const { id } = sighting.workflow;
      if (!executes) return leave(id);
      const fresh = { since: sighting.at, count: 0, times: [], isSlow: false, isFast: false };
      const stretch = all.get(id) ?? fresh;
      if (isOperation(sighting)) return count(id, stretch, sighting);
      keep(id, stretch);
      return [];
    },
    tick: (now) => [...turnDue(now), ...slowDown(now)],
    due() {
      const [first] = all.values();
      const slow = fewerThan === null || first === undefined ? [] : [first.since + withinMs];
      const ends = [...fast].flatMap((id) => (all.get(id)?.times[0] ?? 0) + withinMs);
      return earliest([...slow, ...ends]);
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
