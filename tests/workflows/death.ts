/** Processes that die at a commit of their own: just before it, or just after it and before they hear of it. */
import type { Desk } from "./office.ts";

export type Death = { readonly commit: number; readonly when: "before" | "after" };

/** Every death that a process with so many commits can die. */
export const deaths = (commits: number): readonly Death[] =>
  Array.from({ length: commits }, (_, index) => index + 1).flatMap((commit) => [
    { commit, when: "before" } as const,
    { commit, when: "after" } as const,
  ]);

/** Dies at its n-th commit; never at 0. */
export function dieAt(desk: Desk, { commit, when }: Death): { count: () => number; isDead: () => boolean } {
  const { transact } = desk.store;
  let count = 0;
  let isDead = false;
  const store = desk.store as { transact: unknown };
  store.transact = async (...args: Parameters<typeof transact>) => {
    count++;
    const dies = count === commit;
    if (!dies && !isDead) return transact(...args);
    if (dies && when === "after") await transact(...args);
    desk.crash();
    isDead = true;
    return new Promise(() => undefined);
  };
  return { count: () => count, isDead: () => isDead };
}
