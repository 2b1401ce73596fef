/** What a rejection of the checkpoint that waits would do to its workflow. The same as `tell.ts` and `rollback.ts` decide then. */
import type { Irreversible } from "../workflow/events.ts";
import { nextAttempt, targetOf } from "../workflow/rollback.ts";
import type { LiveWorkflow } from "../workflow/state.ts";

export type AtStake = { readonly canRollback: boolean; readonly irreversible: readonly Irreversible[] };

export type Rejection = {
  /** It cannot go back: it fails, and nothing is undone. */
  readonly isEnd: boolean;
  /** The checkpoint that it goes back to; null is the start. */
  readonly goesBackTo: string | null;
  /** The entry after which everything is gone back over. */
  readonly after: number;
  /** Having gone back, it is not tried again. */
  readonly isLast: boolean;
};

type Rejectable = Pick<LiveWorkflow, "passed" | "generation" | "attempts" | "onIrreversible">;

export function rejectionOf(state: Rejectable, { canRollback, irreversible }: AtStake): Rejection {
  const target = targetOf(state, null) ?? { op: null, seq: 0 };
  const found = state.passed.findLast(({ op }) => op === target.op);
  const isStuck = irreversible.length > 0 && state.onIrreversible === "fail";
  return {
    isEnd: !canRollback,
    goesBackTo: canRollback ? (found?.name ?? null) : null,
    after: target.seq,
    isLast: !canRollback || isStuck || nextAttempt(state) === "fail",
  };
}
