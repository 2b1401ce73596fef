/** Who has to agree to what a workflow asks: a rule that nobody could meet is refused before anybody is asked. */
import { apartIn, keptApart } from "../../approvals/rules/ask.ts";
import type { LiveWorkflow } from "../../core/workflow/state.ts";
import { HoldpointError } from "../../kernel/errors.ts";
import { rejectInput } from "../../kernel/fields.ts";
import { ROSTER } from "../../kernel/stream.ts";
import {
  type ApprovalTerms,
  checkWrittenTerms,
  listStageRules,
  whyUnmeetable,
} from "../../policy/rules/stages.ts";
import { type ApproverRule, type EligibilityContext, namesGroups } from "../../policy/rules/verdict.ts";
import type { Runtime } from "../../runtime/runtime.ts";
import { readState } from "../../runtime/store-access.ts";

import type { Run } from "./run.ts";

/** Who asks, and where. */
type Asker = {
  readonly runtime: Pick<Runtime, "store" | "tenant">;
  readonly state: Pick<LiveWorkflow, "requester" | "parties">;
};
type Terms = Omit<ApprovalTerms, "executeWithinMs">;

function refuseUnmeetable(run: Asker, name: string, terms: Terms, known: EligibilityContext): void {
  const left = apartIn(terms, run.state.parties);
  const fault = whyUnmeetable(terms, run.state.requester, { ...left, ...known });
  if (fault !== undefined)
    throw new HoldpointError("unsatisfiable_quorum", `The question "${name}" cannot be answered: ${fault}.`);
}

export function termsOf(run: Run, name: string, given: Parameters<typeof checkWrittenTerms>[0]): Terms {
  const written = checkWrittenTerms(given);
  if (typeof written === "string") return rejectInput(`The question "${name}": ${written}.`);
  const terms =
    run.runtime.separate === true ? (checkWrittenTerms(keptApart(given)) as ApprovalTerms) : written;
  refuseUnmeetable(run, name, terms, {});
  const { executeWithinMs: _never, ...people } = terms;
  return people;
}

/** The same once more, with everybody who is in the roles and groups that are named. */
export async function checkPeople(run: Asker, name: string, terms: Terms): Promise<void> {
  if (!listStageRules(terms).some(({ from }) => namesGroups(from))) return;
  refuseUnmeetable(run, name, terms, { roster: await readState(run.runtime, ROSTER) });
}

export function approversOf(run: Run, name: string, given: unknown): ApproverRule {
  const approvers = given as Partial<ApproverRule> | undefined;
  return termsOf(run, name, approvers === undefined ? {} : { approvers }).approvers;
}
