/** Processes in trouble at a commit of their own: they die before or after it, do not hear of it, or cannot make it. */
import { HoldpointError } from "../../src/kernel/errors.ts";
import type { Desk } from "./office.ts";

export type Death = { readonly commit: number; readonly when: "before" | "after" | "unheard" | "failed" };

/** What can befall a process at one of these commits. */
export const deathsAt = (commits: readonly number[]): readonly Death[] =>
  commits.flatMap((commit) =>
    (["before", "after", "unheard", "failed"] as const).map((when) => ({ commit, when })),
  );

/** What can befall a process with so many commits. */
export const deaths = (commits: number): readonly Death[] =>
  deathsAt(Array.from({ length: commits }, (_, index) => index + 1));

/** In words, for a title. */
export const told = ({ commit, when }: Death): string =>
  ({
    before: `dies before commit ${commit}`,
    after: `dies after commit ${commit}`,
    unheard: `does not hear what became of commit ${commit}`,
    failed: `cannot make commit ${commit} at first`,
  })[when];

/** In trouble at its n-th commit, if that is before `end`; never at 0. `made` is called after each commit. */
export function dieAt(
  desk: Desk,
  { commit, when }: Death,
  made: () => void = () => undefined,
): { count: () => number; isDead: () => boolean; end: () => void } {
  const { transact } = desk.store;
  let count = 0;
  let isDead = false;
  let isOver = false;
  const store = desk.store as { transact: unknown };
  store.transact = async (...args: Parameters<typeof transact>) => {
    count++;
    const isNow = count === commit && !isOver;
    if (!isNow && !isDead) return transact(...args).finally(made);
    if (when === "failed") throw new HoldpointError("store_busy", "Somebody else is writing.");
    if (isNow && when !== "before") await transact(...args);
    if (when === "unheard") throw new HoldpointError("commit_unknown", "The answer was lost.");
    desk.crash();
    isDead = true;
    return new Promise(() => undefined);
  };
  const end = () => {
    isOver = true;
  };
  return { count: () => count, isDead: () => isDead, end };
}
