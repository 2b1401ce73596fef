/**
 * Concurrent work: a concurrency limit per tool, long work that yields to the event loop, and helpers for promises. A
 * call that hangs in one tool's queue holds up no other tool. A failure is reported once, not every round. Long work
 * yields to the event loop after some milliseconds, and only one such piece in the process runs per turn. It ends with
 * an error when the instance closes.
 */
import type { Clock } from "../kernel/clock.ts";
import { HoldpointError } from "../kernel/errors.ts";
import { errorText } from "../kernel/text.ts";

/** Runs every step, even after a failure, then throws the first failure. */
export async function runAll(steps: readonly (() => unknown)[]): Promise<void> {
  const failures: unknown[] = [];
  for (const step of steps) {
    try {
      await step();
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length > 0) throw failures[0];
}

export function isThenable(value: unknown): boolean {
  return typeof (value as { then?: unknown } | null | undefined)?.then === "function";
}

/**
 * For a promise where a plain value is expected: its rejection must not end the process. A lazy thenable is left alone,
 * because calling it would start it.
 */
export function ignoreRejection<Value>(value: Value): Value {
  if (value instanceof Promise) value.catch(() => undefined);
  return value;
}

/** Called between two steps. The result is awaited only if it is a promise. */
export type YieldCheck = () => Promise<void> | undefined;

/** For a process with no other work. */
export const neverYield: YieldCheck = () => undefined;

/** Runs the steps in order. */
export async function runYielding<Result>(steps: Generator<void, Result>, pace: YieldCheck): Promise<Result> {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
    const turn = pace();
    if (turn !== undefined) await turn;
  }
}

const SLICE_MS = 5;

let lastTurn: Promise<void> = Promise.resolve();

/** For work that cannot be split, such as parsing a text: one piece per turn in the whole process. */
export function nextTurn(): Promise<void> {
  lastTurn = lastTurn.then(() => new Promise<void>((resolve) => setImmediate(resolve)));
  return lastTurn;
}

export function createYieldCheck({
  clock,
  closing,
}: {
  readonly clock: Clock;
  readonly closing: AbortSignal;
}): YieldCheck {
  const elapsed = () => clock.elapsed?.() ?? clock.now();
  const check = () => {
    if (closing.aborted) throw new HoldpointError("closed", "The instance was closed before this was done.");
  };
  let since = elapsed();
  return () => {
    check();
    if (elapsed() - since < SLICE_MS) return undefined;
    return nextTurn().then(() => {
      since = elapsed();
      check();
    });
  };
}

export type ConcurrencyLimit = {
  /** Runs the work when its lane has a slot. Joins work of that name that is queued or running. Never rejects. */
  run(lane: string, name: string, work: () => Promise<void>): Promise<void>;
  /** Resolves when nothing is queued or running. */
  rest(): Promise<void>;
};

type Queue = { running: number; told: string; readonly waiting: (() => void)[] };

export function createConcurrencyLimit(
  width: number,
  closing: AbortSignal,
  tell: (error: unknown) => void,
): ConcurrencyLimit {
  const lanes = new Map<string, Queue>();
  const jobs = new Map<string, Promise<void>>();

  function laneOf(name: string): Queue {
    const lane = lanes.get(name) ?? { running: 0, told: "", waiting: [] };
    lanes.set(name, lane);
    return lane;
  }

  async function inTurn(lane: Queue, work: () => Promise<void>): Promise<void> {
    if (lane.running < width) lane.running++;
    else await new Promise<void>((resolve) => lane.waiting.push(resolve));
    try {
      if (!closing.aborted) await work();
      lane.told = "";
    } catch (error) {
      const said = errorText(error);
      if (!closing.aborted && lane.told !== said) tell(error);
      lane.told = said;
    } finally {
      const next = lane.waiting.shift();
      if (next === undefined) lane.running--;
      else next();
    }
  }

  return {
    run(lane, name, work) {
      const known = jobs.get(name);
      if (known !== undefined) return known;
      const job = inTurn(laneOf(lane), work).finally(() => jobs.delete(name));
      jobs.set(name, job);
      return job;
    },
    async rest() {
      await Promise.all(jobs.values());
    },
  };
}
