/** Who has to agree to what a workflow asks: a rule that nobody could meet is refused before anybody is asked. */
import { HoldpointError } from "../../core/errors.ts";
import { type ApproverRule, approverRule, unsatisfiable } from "../../core/verdict.ts";
import { wrong } from "../check-call.ts";
import type { Run } from "./run.ts";

export function approversOf(run: Run, name: string, given: unknown): ApproverRule {
  const rule = approverRule(given);
  if (typeof rule === "string") return wrong(`The question "${name}": ${rule}.`);
  const fault = unsatisfiable(rule, run.state.requester);
  if (fault === undefined) return rule;
  throw new HoldpointError("unsatisfiable_quorum", `The question "${name}" cannot be answered: ${fault}.`);
}
