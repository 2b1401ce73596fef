/**
 * What a decision stands on is held still by advisory locks on the names of streams: they exist for streams that do not,
 * cost no write, and need no transaction number, which is therefore given out after the locks, in the order of decisions.
 *
 * K1. All locks of a transaction are taken in one statement, in ascending order, each in the strongest mode wanted.
 * K2. Two names with one number share a lock; that costs waiting, never correctness.
 */
import type { Halves } from "./encode.ts";

export type Lock = Halves & { write: boolean };

export type LockSpace = {
  /** Makes the numbers of one store different from those of another in the same database. */
  readonly seed: number;
};

export type Lockable = "stream" | "name" | "work";

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

/** K1: sorted, and each number once. */
export function ordered(locks: Lock[]): readonly Lock[] {
  locks.sort(inOrder);
  const unique: Lock[] = [];
  for (const lock of locks) {
    const last = unique.at(-1);
    if (last !== undefined && inOrder(last, lock) === 0) last.write ||= lock.write;
    else unique.push({ ...lock });
  }
  return unique;
}
