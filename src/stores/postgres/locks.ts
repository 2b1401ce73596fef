/**
 * Advisory locks on stream names freeze what a decision depends on. They work for streams that do not exist yet, cost
 * no write, and need no transaction number, which is therefore assigned after the locks, in the order of decisions.
 * - All locks of a transaction are taken in one statement, in ascending order, each in the strongest mode requested.
 * - Two names with one number share a lock; that costs waiting, never correctness.
 * Lock prediction: streams that a tenant's decisions recently requested in a second round (the kill switch, an epoch, a
 * shared budget) are locked from the start, for the next decisions. A wrong guess costs one lock, no more.
 */

import { type StreamRef, streamName } from "../../kernel/stream.ts";
import type { Needs } from "../../kernel/transaction.ts";
import type { Halves } from "./encode.ts";

export type Lock = Halves & { write: boolean };

export type LockSpace = {
  /** Makes the numbers of one store different from those of another in the same database. */
  readonly seed: number;
};

type Lockable = "stream" | "name" | "work";

/** Two mixed 32-bit hashes (cyrb53's rounds). */
export function lockOf({ seed }: LockSpace, kind: Lockable, tid: number, name: string): Halves {
  let one = 0xdeadbeef ^ seed ^ kind.charCodeAt(0);
  let two = 0x41c6ce57 ^ tid;
  for (let at = 0; at < name.length; at++) {
    const sign = name.charCodeAt(at);
    one = Math.imul(one ^ sign, 2654435761);
    two = Math.imul(two ^ sign, 1597334677);
  }
  one = Math.imul(one ^ (one >>> 16), 2246822507) ^ Math.imul(two ^ (two >>> 13), 3266489909);
  two = Math.imul(two ^ (two >>> 16), 2246822507) ^ Math.imul(one ^ (one >>> 13), 3266489909);
  return { high: one | 0, low: two | 0 };
}

const inOrder = (a: Halves, b: Halves): number => a.high - b.high || a.low - b.low;

/** Sorts, and keeps each number once. */
export function orderLocks(locks: Lock[]): readonly Lock[] {
  locks.sort(inOrder);
  const unique: Lock[] = [];
  for (const lock of locks) {
    const last = unique.at(-1);
    if (last !== undefined && inOrder(last, lock) === 0) last.write ||= lock.write;
    else unique.push({ ...lock });
  }
  return unique;
}

export type LockPrediction = {
  /** After a batch: the needs its members requested in their second round. */
  learn(members: number, asked: readonly Needs[]): void;
  usual(): Needs;
};

/** Streams requested twice are locked in advance for this many batches. */
const KEPT_BATCHES = 128;
const MOST_PREDICTED = 16;

type RequestedStream = { readonly stream: StreamRef; write: boolean; times: number };
type PredictedStream = Pick<RequestedStream, "stream" | "write"> & { readonly until: number };

export function createLockPrediction(): LockPrediction {
  const usual = new Map<string, PredictedStream>();
  let once = new Set<string>();
  let batch = 0;
  let needs: Needs = {};
  const remember = (name: string, { stream, write }: RequestedStream) => {
    if (!once.has(name)) once.add(name);
    else if (usual.size < MOST_PREDICTED || usual.has(name))
      usual.set(name, { stream, write, until: batch + KEPT_BATCHES });
  };
  return {
    learn(members, asked) {
      if (++batch % KEPT_BATCHES === 0) once = new Set();
      if (asked.length === 0 && batch % KEPT_BATCHES !== 0) return;
      for (const [name, { until }] of usual) if (until < batch) usual.delete(name);
      for (const [name, one] of countRequests(asked)) if (one.times * 2 >= members) remember(name, one);
      needs = { write: streamsOf(usual, true), read: streamsOf(usual, false) };
    },
    usual: () => needs,
  };
}

const streamsOf = (usual: ReadonlyMap<string, PredictedStream>, write: boolean): readonly StreamRef[] =>
  [...usual.values()].filter((one) => one.write === write).map(({ stream }) => stream);

function countRequests(asked: readonly Needs[]): ReadonlyMap<string, RequestedStream> {
  const all = new Map<string, RequestedStream>();
  const add = (stream: StreamRef, write: boolean) => {
    const name = streamName(stream);
    const one = all.get(name) ?? { stream, write, times: 0 };
    one.write ||= write;
    one.times++;
    all.set(name, one);
  };
  for (const { write = [], read = [] } of asked) {
    for (const stream of write) add(stream, true);
    for (const stream of read) add(stream, false);
  }
  return all;
}
