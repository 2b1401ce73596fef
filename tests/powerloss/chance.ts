/** Choices that a seed repeats. */
import { randomOf } from "../../src/testing/store-contract/fixture.ts";

export type Chance = {
  readonly bytes: (count: number) => Uint8Array;
  /** From 0 up to, not including, `end`. */
  below(end: number): number;
  /** True with this likelihood. */
  happens(likelihood: number): boolean;
  pick<Item>(items: readonly Item[]): Item;
};

export function chanceOf(seed: number): Chance {
  const bytes = randomOf(Math.imul(seed, 0x9e3779b1) ^ 0x5bd1e995);
  bytes(16);
  const fraction = () => bytes(6).reduce((sum, byte) => (sum + byte) / 256, 0);
  const below = (end: number) => Math.floor(fraction() * end);
  return {
    bytes,
    below,
    happens: (likelihood) => fraction() < likelihood,
    pick(items) {
      const item = items[below(items.length)];
      if (item === undefined) throw new RangeError("There is nothing to pick from.");
      return item;
    },
  };
}
