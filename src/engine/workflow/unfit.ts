/**
 * Workflows that this process is not the right one for: its definition does not fit what is recorded, its version is another
 * than the one that a workflow was made for, or a newer version of Holdpoint wrote something there.
 *
 * F1. Such a workflow is the others' first. This process takes it up if nobody has for a while, so that one that nobody can go
 *     on with is found out and says what it waits for.
 * F2. What is stuck on a definition is tried once by each process that has not tried it.
 * F3. What there is to say of a workflow is said once.
 */
import { type Clock, stopwatch } from "../../kernel/clock.ts";
import type { Notice } from "../../runtime/notices.ts";
import type { Runtime } from "../../runtime/runtime.ts";

/** Long enough for a process that fits to come by, also one that has no room at the moment. */
const OTHERS_FIRST_MS = 10_000;

export type Unfit = {
  /** The definition here did not fit it. */
  note(id: string): void;
  /** It went on here, or is over, or was asked for here. */
  forget(id: string): void;
  has(id: string): boolean;
  /** Whether it is still the others' turn. Asked again and again; after a while it is not. */
  isOthers(id: string): boolean;
  /** Somebody has taken it: the next time, it is the others' turn anew. */
  taken(id: string): void;
  /** Whether this was not said of it before. */
  isNews(id: string, said: string): boolean;
};

export function createUnfit(clock: Clock): Unfit {
  const noted = new Set<string>();
  const left = new Map<string, () => number>();
  const told = new Map<string, string>();
  return {
    note: (id) => void noted.add(id),
    forget(id) {
      noted.delete(id);
      left.delete(id);
      told.delete(id);
    },
    has: (id) => noted.has(id),
    isOthers(id) {
      const age = left.get(id) ?? stopwatch(clock);
      left.set(id, age);
      if (age() < OTHERS_FIRST_MS) return true;
      left.delete(id);
      return false;
    },
    taken: (id) => void left.delete(id),
    isNews(id, said) {
      if (told.get(id) === said) return false;
      told.set(id, said);
      return true;
    },
  };
}

/** The runtime as a run has it, in which a difference is told once. */
export function tellingOnce(runtime: Runtime, unfit: Unfit, id: string): Runtime {
  const notify = (notice: Notice) => {
    if (notice.kind !== "definition_changed" || unfit.isNews(id, notice.difference)) runtime.notify(notice);
  };
  return { ...runtime, notify };
}
