/**
 * The epochs of one instance, one after the other: the first at the first need, another once a lease was lost.
 *
 * V1. What was begun in the name of an epoch keeps that name: nothing of it is carried over into the next.
 * V2. One that could not begin is told of to whoever wanted it, and tried again for the next.
 */
import type { OwnEpoch } from "./epoch.ts";

export type Lives = {
  /** The one in whose name things are done now. */
  current(): Promise<OwnEpoch>;
  /** The same, where one was begun. */
  begun(): Promise<OwnEpoch> | undefined;
};

type Parts = {
  begin(): Promise<OwnEpoch>;
  /** There is to be no other. */
  isOver(): boolean;
  /** Told when the lease of one was lost and another begins. */
  lost(): void;
};

export function createLives({ begin, isOver, lost }: Parts): Lives {
  let epoch: Promise<OwnEpoch> | undefined;

  function next(): Promise<OwnEpoch> {
    const beginning = begin().catch((error: unknown) => {
      if (epoch === beginning) epoch = undefined;
      throw error;
    });
    epoch = beginning;
    return beginning;
  }

  async function current(): Promise<OwnEpoch> {
    const held = epoch ?? next();
    const own = await held;
    if (!own.isLost() || isOver()) return own;
    if (epoch !== held) return current();
    lost();
    return next();
  }

  return { current, begun: () => epoch };
}
