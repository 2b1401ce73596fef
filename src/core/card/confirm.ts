/**
 * For what somebody types a word before they approve.
 *
 * F1. Never for what can be taken back, or is no effect. Whoever types the same word all day long reads no card any more.
 * F2. Of what cannot be taken back: where the policy scores the risk, from `high` on; and, however it is scored, what several people
 *     have to agree to, together or one after the other: that is what its author holds to be grave.
 */
import type { ApproverRule, Risk } from "../verdict.ts";

export type ToConfirm = {
  readonly isIrreversible: boolean;
  readonly risk: Pick<Risk, "level"> | null;
  /** The rules of all stages. */
  readonly rules: readonly Pick<ApproverRule, "quorum">[];
};

const GRAVE: readonly Risk["level"][] = ["high", "critical"];

export function asksToConfirm({ isIrreversible, risk, rules }: ToConfirm): boolean {
  if (!isIrreversible) return false;
  if (risk !== null && GRAVE.includes(risk.level)) return true;
  return rules.length > 1 || rules.some(({ quorum }) => quorum > 1);
}
