/** What a rollback would do to the calls in its way, sorted by what people want to know first. */
import type { RollbackTarget } from "../../api/workflows.ts";

type Call = RollbackTarget["calls"][number];

export type Reach = {
  /** Nothing takes these back. */
  readonly stays: readonly Call[];
  readonly undone: readonly Call[];
  /** Only the process that has the tool can say. */
  readonly unknown: readonly Call[];
  /** These come first: nothing is taken back before they are settled. */
  readonly inDoubt: readonly Call[];
  readonly underWay: readonly Call[];
  readonly withdrawn: readonly Call[];
};

export function reachOf(calls: readonly Call[]): Reach {
  const applied = calls.filter(({ phase }) => phase === "applied");
  const inPhase = (...phases: readonly string[]) => calls.filter(({ phase }) => phases.includes(phase));
  return {
    stays: applied.filter(({ undo }) => undo === "no"),
    undone: applied.filter(({ undo }) => undo === "yes"),
    unknown: applied.filter(({ undo }) => undo === "unknown"),
    inDoubt: inPhase("in_doubt"),
    underWay: inPhase("running"),
    withdrawn: inPhase("open", "waiting"),
  };
}

export const isNothing = (reach: Reach): boolean => Object.values(reach).every((calls) => calls.length === 0);
