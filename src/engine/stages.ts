/** The stages of an approval as they stand: whom each asks, and how far it has come. */
import { ruleIn, stageRules } from "../core/approval/rule-in.ts";
import type { LiveApproval } from "../core/approval/state.ts";
import type { ApproverRule } from "../core/verdict.ts";

/**
 * `later`: once those before have agreed. `handed_over`: its time was up, and the next is asked instead. `ended`: the approval ended
 * in it, without its agreement. `not_asked`: it ended before.
 */
export const STAGE_STATES = ["asked", "later", "met", "handed_over", "ended", "not_asked"] as const;
export type StageState = (typeof STAGE_STATES)[number];

export type StageStanding = {
  /** From 1 on. */
  readonly stage: number;
  readonly state: StageState;
  /** With those who may decide in it since its half time. */
  readonly approvers: ApproverRule;
};

const AGREED = new Set<LiveApproval["status"]>(["approved", "modified", "consumed", "lapsed", "revoked"]);

function stateOf({ stage, handedOver, status }: LiveApproval, number: number): StageState {
  if (handedOver.includes(number)) return "handed_over";
  if (number < stage) return "met";
  if (number > stage) return status === "pending" ? "later" : "not_asked";
  if (status === "pending") return "asked";
  return AGREED.has(status) ? "met" : "ended";
}

export const stagesOf = (approval: LiveApproval): readonly StageStanding[] =>
  stageRules(approval).map((_, index) => ({
    stage: index + 1,
    state: stateOf(approval, index + 1),
    approvers: ruleIn(approval, index + 1),
  }));
