/** The approver rules of an approval's stages: as they were asked, and as half time has widened them. */
import { rulesOf } from "../stages.ts";
import { ANY_ONE_PERSON, type ApproverRule } from "../verdict.ts";
import type { ApprovalQuestion } from "./events.ts";

type Staged = Pick<ApprovalQuestion, "stages"> & { readonly asked: Pick<ApprovalQuestion, "approvers"> };

/** The rules of all stages, in their order, as they were asked. */
export const stageRules = ({ stages, asked }: Staged): readonly ApproverRule[] =>
  rulesOf({ approvers: asked.approvers, ...(stages === undefined ? {} : { stages }) });

/** A stage that is not there is never met. */
const NOBODY: ApproverRule = { ...ANY_ONE_PERSON, quorum: Number.NaN, from: [] };

/** Of one stage, with those who may decide in it since its half time. */
export function ruleIn(
  approval: Staged & { readonly widened: readonly number[] },
  stage: number,
): ApproverRule {
  const rule = stageRules(approval)[stage - 1] ?? NOBODY;
  if (rule.from === null || !approval.widened.includes(stage)) return rule;
  return { ...rule, from: [...rule.from, ...(rule.escalateAtHalf ?? [])] };
}
