/**
 * Checks of what no contract checks: a creation in the library, and the principals for whom something is done. Turns
 * results of the workflow rules into errors if the agent does not drive that workflow or may not do so now.
 */

import type { Caller } from "../effects/advance-call.ts";
import { sha256 } from "../kernel/canonical-json.ts";
import { HoldpointError, WORKFLOW_ID_HINT } from "../kernel/errors.ts";
import { rejectInput } from "../kernel/fields.ts";
import { isId } from "../kernel/ids.ts";
import { isPrincipal } from "../kernel/principal.ts";
import { displayValue } from "../kernel/text.ts";
import { freshId, type Runtime } from "../runtime/runtime.ts";
import { refusedRequestError } from "../workflows/operate.ts";
import type { DriveRefused } from "../workflows/rules/remote.ts";
import type { PermitRequest } from "./contract.ts";

export function checkPrincipal(what: string, given: unknown): string {
  if (isPrincipal(given)) return given;
  return rejectInput(`${what} is a principal, such as agent:<name>, not "${displayValue(given)}".`);
}

/** The agent first, then the principals it acts for: none of them may decide. */
export function requesterWithAgent(agent: string, given: unknown): readonly string[] {
  if (given == null) return [agent];
  if (!Array.isArray(given)) return rejectInput("Those for whom it is done are a list of principals.");
  const list: readonly unknown[] = given;
  return [
    ...new Set([agent, ...list.map((one) => checkPrincipal("Each of those for whom it is done", one))]),
  ];
}

export function checkActionId(given: unknown): string {
  if (isId("act", given)) return given;
  throw new HoldpointError("unknown_id", `There is no action ${displayValue(given)}.`);
}

export function checkTextLength(what: string, given: unknown, most: number): string {
  const isText = typeof given === "string" && given.isWellFormed() && given.length <= most;
  return isText && given.trim() !== "" ? given : rejectInput(`${what} is a text of 1 to ${most} characters.`);
}

/** Whether the connection of the agent has closed, if there is one. */
export type AgentConnection = { readonly isGone?: (() => boolean) | undefined };

/** Only the digest of a holder is kept. */
export function readPermitCaller(
  runtime: Runtime,
  given: PermitRequest,
  { isGone }: AgentConnection = {},
): Caller {
  const { holder, begin } = given;
  const asker = {
    holder: holder == null ? null : sha256(holder),
    begin: begin ?? false,
    ask: freshId(runtime, "non"),
  };
  return isGone === undefined ? { asker } : { asker, isGone };
}

export function notYoursError(what: string, agent: string): HoldpointError {
  return new HoldpointError("not_eligible", `${what} is not ${agent}'s.`, {
    data: "Nothing was written.",
    next: "Use the credential of the agent that it belongs to.",
  });
}

const NOT_DRIVEN: readonly string[] = [
  "unknown",
  "not_outside",
  "not_yours",
  "refused",
] satisfies DriveRefused["kind"][];

const isNotDriven = (answer: { readonly kind: string }): answer is DriveRefused =>
  NOT_DRIVEN.includes(answer.kind);

export function requireDriver<Answer extends { readonly kind: string }>(
  workflow: string,
  agent: string,
  what: string,
  answer: Answer,
): Exclude<Answer, DriveRefused> {
  if (!isNotDriven(answer)) return answer as Exclude<Answer, DriveRefused>;
  switch (answer.kind) {
    case "unknown":
      throw new HoldpointError("unknown_id", `There is no workflow ${workflow}.`, { next: WORKFLOW_ID_HINT });
    case "not_yours":
      throw notYoursError(`The workflow ${workflow}`, agent);
    case "not_outside":
      throw new HoldpointError(
        "wrong_state",
        `The workflow ${workflow} is run by its definition, not by an agent.`,
      );
    case "refused":
      throw refusedRequestError(workflow, what, answer);
  }
}
