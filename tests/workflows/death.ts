/** Processes in trouble at a commit of their own: they die before or after it, do not hear of it, or cannot make it. */
import { HoldpointError } from "../../src/kernel/errors.ts";
import type { Desk } from "./office.ts";

export type Death = { readonly commit: number; readonly when: "before" | "after" | "unheard" | "failed" };

/** What can befall a process with so many commits. */
export const deaths = (commits: number): readonly Death[] =>
  Array.from({ length: commits }, (_, index) => index + 1).flatMap((commit) =>
    (["before", "after", "unheard", "failed"] as const).map((when) => ({ commit, when })),
  );

/** In words, for a title. */
export const told = ({ commit, when }: Death): string =>
  ({
    before: `dies before commit ${commit}`,
    after: `dies after commit ${commit}`,
    unheard: `does not hear what became of commit ${commit}`,
    failed: `cannot make commit ${commit} at first`,
  })[when];

/** In trouble at its n-th commit; never at 0. */
export function dieAt(desk: Desk, { commit, when }: Death): { count: () => number; isDead: () => boolean } {
  const { transact } = desk.store;
  let count = 0;
  let isDead = false;
  const store = desk.store as { transact: unknown };
  store.transact = async (...args: Parameters<typeof transact>) => {
    count++;
    const isNow = count === commit;
    if (!isNow && !isDead) return transact(...args);
    if (when === "failed") throw new HoldpointError("store_busy", "Somebody else is writing.");
    if (isNow && when !== "before") await transact(...args);
    if (when === "unheard") throw new HoldpointError("commit_unknown", "The answer was lost.");
    desk.crash();
    isDead = true;
    return new Promise(() => undefined);
  };
  return { count: () => count, isDead: () => isDead };
}
