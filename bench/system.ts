/** What the driver asks of every system that is measured. */
import type { Bench } from "./cases.ts";

/** One window's load: so many sequences, each of calls one after another, until it is over. */
export type Load = {
  readonly inFlight: number;
  readonly variant: string | null;
  /** Asked before each call. */
  isOver(): boolean;
  /** Told after each call, with the time it began; times are of `now()`. */
  done(began: number): void;
  /** For a latency whose two ends were taken elsewhere. */
  took(milliseconds: number): void;
};

export type System = {
  run(load: Load): Promise<void>;
  /** Servers whose processor time counts besides the driver's own. */
  readonly servers: readonly number[];
  /** What was read back about durability, in a few words. */
  readonly durability: string;
  close(): Promise<void>;
};

export type Place = {
  readonly bench: Bench;
  /** A folder of this system's own, on a disk. */
  readonly folder: string;
  /** A PostgreSQL database of this system's own, and the server's process; null where it needs none. */
  readonly database: { readonly url: string; readonly pid: number } | null;
  readonly store: string;
  /** Where a variant is another way to set the system up. */
  readonly variant: string | null;
};

export type OpenSystem = (place: Place) => Promise<System>;

/** Milliseconds of the machine's steady clock: the same for every process on it. */
export const now = (): number => Number(process.hrtime.bigint()) / 1e6;

export const PAYLOAD = "x".repeat(200);

/** Steps in one workflow of a peer. */
export const STEPS = 100;
/** Connections of a pool: more than the most calls in flight. */
export const POOL = 72;

/** `inFlight` sequences at a time, each of what `sequence` does until it returns, again and again. */
export async function inSequences(load: Load, sequence: (number: number) => Promise<void>): Promise<void> {
  const lane = async (number: number) => {
    while (!load.isOver()) await sequence(number);
  };
  await Promise.all(Array.from({ length: load.inFlight }, (_, number) => lane(number)));
}

/** One call, timed. */
export async function timed(load: Load, call: () => Promise<unknown>): Promise<void> {
  const began = now();
  await call();
  load.done(began);
}
