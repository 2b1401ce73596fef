/** What the rules answer to an agent that drives a workflow, as errors where it may not. */

import type { NotDriven } from "../../core/workflow/outside.ts";
import { HoldpointError, WORKFLOW_ID_HINT } from "../../kernel/errors.ts";
import { refusalData } from "../../kernel/refusals.ts";

import { notYours } from "./check-outside.ts";

const NOT: readonly string[] = [
  "unknown",
  "not_outside",
  "not_yours",
  "refused",
] satisfies NotDriven["kind"][];

const isNot = (answer: { readonly kind: string }): answer is NotDriven => NOT.includes(answer.kind);

function refused(
  workflow: string,
  what: string,
  answer: Extract<NotDriven, { kind: "refused" }>,
): HoldpointError {
  return new HoldpointError("wrong_state", `The workflow ${workflow} cannot ${what}: ${answer.reason}.`, {
    details: { status: answer.status },
    data: refusalData("request", answer.isRecorded, "the workflow did not change"),
  });
}

export function drivenOr<Answer extends { readonly kind: string }>(
  workflow: string,
  agent: string,
  what: string,
  answer: Answer,
): Exclude<Answer, NotDriven> {
  if (!isNot(answer)) return answer as Exclude<Answer, NotDriven>;
  switch (answer.kind) {
    case "unknown":
      throw new HoldpointError("unknown_id", `There is no workflow ${workflow}.`, { next: WORKFLOW_ID_HINT });
    case "not_yours":
      throw notYours(`The workflow ${workflow}`, agent);
    case "not_outside":
      throw new HoldpointError(
        "wrong_state",
        `The workflow ${workflow} is run by its definition, not by an agent.`,
        {
          data: "Nothing was written.",
        },
      );
    case "refused":
      throw refused(workflow, what, answer);
  }
}
