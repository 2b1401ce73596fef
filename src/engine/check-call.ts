/** What programs hand to the verbs of an instance, checked before anything is looked at: wrong input is said, not guessed. */

import { LISTED_STATUSES } from "../approvals/state.ts";
import { shown } from "../core/error-text.ts";
import { HoldpointError } from "../core/errors.ts";
import { isId } from "../core/ids.ts";
import { readPublicJwk } from "../core/jws.ts";
import { isPrincipal } from "../core/principal.ts";
import { agentScope, type Stoppable } from "../core/switch.ts";
import type { Via } from "../core/via.ts";
import { fieldFault, isPlainObject } from "../kernel/fields.ts";

/** Misuse, said before anything is looked at. */
export function wrong(what: string): never {
  throw new HoldpointError("invalid_input", what);
}

/** An object with no fields beyond those named: a misspelt one would otherwise be ignored in silence. */
export function checkFields<Given>(what: string, given: Given, fields: readonly string[]): Given {
  if (!isPlainObject(given)) return wrong(`${what} is an object: { ${fields.join(", ")} }.`);
  const fault = fieldFault(what, given, fields);
  return fault === undefined ? given : wrong(`${fault}.`);
}

export function checkId(what: string, id: unknown): string {
  if (typeof id === "string" && id !== "" && id.length <= 600 && id.isWellFormed()) return id;
  return wrong(`${what} is named by a text that is not empty.`);
}

function checkOneOf(what: string, value: unknown, list: readonly string[]): void {
  if (value !== undefined && !list.includes(value as string))
    wrong(`${what} is one of ${list.join(", ")}, not "${shown(value)}".`);
}

const ORDERS = ["oldest", "newest"];
const PHASES = ["open", "waiting", "running", "applied", "not_applied", "in_doubt", "refused"];

export function checkStatus(status: unknown): void {
  checkOneOf("An approval's status", status, LISTED_STATUSES);
}

function checkLimit({ limit }: { readonly limit?: unknown }): void {
  if (limit !== undefined && !(Number.isInteger(limit) && Number(limit) >= 1))
    wrong("A limit is a whole number of at least 1.");
}

export function checkActionPage<Given extends object>(page: Given): Given {
  const given: { phase?: unknown; order?: unknown } = checkFields("A page of actions", page, [
    "phase",
    "limit",
    "order",
  ]);
  if (given.phase === undefined) wrong(`A page of actions has a phase: one of ${PHASES.join(", ")}.`);
  checkOneOf("An action's phase", given.phase, PHASES);
  checkLimit(page);
  checkOneOf("A list's order", given.order, ORDERS);
  return page;
}

export function checkSignal(signal: unknown): void {
  if (!(signal instanceof AbortSignal)) wrong("Following takes an AbortSignal, which ends it.");
}

export function checkListener(progress: unknown): void {
  if (progress !== undefined && typeof progress !== "function") wrong("Progress is told to a function.");
}

/** How somebody had shown who they are, where the program says so. */
export function howOf(via: unknown): Via {
  if (via === undefined) return {};
  if (typeof via === "string" && /^[a-z][a-z0-9_.:-]{0,63}$/.test(via)) return { via };
  return wrong("A channel is a word of small letters and digits, such as cli.");
}

/** Its bare name or its principal; undefined means the whole tenant. */
function checkAgent(agent: unknown): void {
  if (agent === undefined) return;
  const isOther = typeof agent === "string" && /^(person|service):/.test(agent);
  if (typeof agent !== "string" || isOther || !isPrincipal(agentScope(agent)))
    wrong(`"${shown(agent)}" is not an agent's name.`);
}

/** Whom the kill switch is for: one agent or service, one workflow, or everybody of the tenant. */
export function checkStoppable(given: unknown): Stoppable {
  if (!isPlainObject(given))
    return wrong("The switch is of an agent, { agent }, or of a workflow, { workflow }.");
  const { agent, workflow } = given as { readonly agent?: unknown; readonly workflow?: unknown };
  if (agent !== undefined && workflow !== undefined)
    wrong("The switch is of an agent or of a workflow: one of them, not both.");
  if (workflow !== undefined)
    return isId("wf", workflow) ? { workflow } : wrong(`"${shown(workflow)}" is not a workflow's id: wf_….`);
  if (!(typeof agent === "string" && agent.startsWith("service:") && isPrincipal(agent))) checkAgent(agent);
  return agent === undefined ? {} : { agent: agent as string };
}

export function checkVerification<Given extends object>(options: Given): Given {
  const given: { keys?: unknown; savedSeal?: unknown; progress?: unknown; requireSealed?: unknown } =
    checkFields("A verification", options, ["keys", "savedSeal", "requireSealed", "progress"]);
  const { keys, savedSeal, progress, requireSealed } = given;
  if (requireSealed !== undefined && typeof requireSealed !== "boolean")
    wrong("requireSealed is true or false.");
  const isKey = (key: unknown) => readPublicJwk(key) !== undefined;
  if (keys !== undefined && !(Array.isArray(keys) && keys.every(isKey)))
    wrong("Keys are a list of public Ed25519 keys as JWK.");
  const saved = savedSeal as { jws?: unknown; key?: unknown } | null | undefined;
  if (saved !== undefined && !(typeof saved?.jws === "string" && isKey(saved.key)))
    wrong("A saved seal is { jws, key }, as journal.savedSeal() answered it.");
  checkListener(progress);
  return options;
}
