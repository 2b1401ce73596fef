/** What an agent, or a server in its name, hands to the verbs, checked before anything is looked at. */
import { shown } from "../../core/error-text.ts";
import { HoldpointError } from "../../core/errors.ts";
import { isId } from "../../core/ids.ts";
import { isPrincipal } from "../../core/principal.ts";
import { wrong } from "../check-call.ts";

export function checkPrincipal(what: string, given: unknown): string {
  if (isPrincipal(given)) return given;
  return wrong(`${what} is a principal, such as agent:<name>, not "${shown(given)}".`);
}

/** The agent first, and whoever it acts for: none of them may decide. */
export function requesterOf(agent: string, given: unknown): readonly string[] {
  if (given === undefined) return [agent];
  if (!Array.isArray(given)) return wrong("A requester is a list of principals.");
  const list: readonly unknown[] = given;
  return [...new Set([agent, ...list.map((one) => checkPrincipal("Each of the requester", one))])];
}

export function checkAction(given: unknown): string {
  if (isId("act", given)) return given;
  throw new HoldpointError("unknown_id", `There is no action ${shown(given)}.`);
}

export function checkText(what: string, given: unknown, most: number): string {
  const isText = typeof given === "string" && given.isWellFormed() && given.length <= most;
  return isText && given.trim() !== "" ? given : wrong(`${what} is a text of 1 to ${most} characters.`);
}

export function notYours(what: string, agent: string): HoldpointError {
  return new HoldpointError("not_eligible", `${what} is not ${agent}'s.`, {
    data: "Nothing was written.",
    next: "Use the credential of the agent that it belongs to.",
  });
}
