/** What the rules answer to an agent that drives a workflow, as errors where it may not. */

import { HoldpointError, WORKFLOW_ID_HINT } from "../../kernel/errors.ts";
import { refusalData } from "../../kernel/refusals.ts";
import type { DriveRefused } from "../../workflows/rules/remote.ts";

import { notYours } from "./check-outside.ts";

const NOT: readonly string[] = [
  "unknown",
  "not_outside",
  "not_yours",
  "refused",
] satisfies DriveRefused["kind"][];

const isNot = (answer: { readonly kind: string }): answer is DriveRefused => NOT.includes(answer.kind);

function refused(
  workflow: string,
  what: string,
  answer: Extract<DriveRefused, { kind: "refused" }>,
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
): Exclude<Answer, DriveRefused> {
  if (!isNot(answer)) return answer as Exclude<Answer, DriveRefused>;
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
