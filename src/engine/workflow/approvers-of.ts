/** Who has to agree to what a workflow asks: a rule that nobody could meet is refused before anybody is asked. */
import { HoldpointError } from "../../core/errors.ts";
import { type ApprovalTerms, approvalTerms, unmeetable } from "../../core/stages.ts";
import type { ApproverRule } from "../../core/verdict.ts";
import { wrong } from "../check-call.ts";
import type { Run } from "./run.ts";

export function termsOf(
  run: Run,
  name: string,
  given: Parameters<typeof approvalTerms>[0],
): Omit<ApprovalTerms, "executeWithinMs"> {
  const terms = approvalTerms(given);
  if (typeof terms === "string") return wrong(`The question "${name}": ${terms}.`);
  const fault = unmeetable(terms, run.state.requester);
  if (fault !== undefined)
    throw new HoldpointError("unsatisfiable_quorum", `The question "${name}" cannot be answered: ${fault}.`);
  const { executeWithinMs: _never, ...people } = terms;
  return people;
}

export function approversOf(run: Run, name: string, given: unknown): ApproverRule {
  const approvers = given as Partial<ApproverRule> | undefined;
  return termsOf(run, name, approvers === undefined ? {} : { approvers }).approvers;
}
