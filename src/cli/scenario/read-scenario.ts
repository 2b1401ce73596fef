/** A scenario file: agents, people who approve, and the intent to send. Everything that is wrong with one is said at once. */

import type { OutgoingIntent } from "../../index.ts";
import { isJsonObject, type Json, type JsonObject } from "../../kernel/json.ts";
import { isPrincipal } from "../../kernel/principal.ts";
import { ROLES, type Role } from "../../people/stream.ts";

export type ScenarioAgent = { readonly name: string; readonly roles: readonly Role[] };
export type ScenarioApprover = {
  readonly name: string;
  readonly roles: readonly Role[];
  readonly groups: readonly string[];
  readonly mail: string | null;
};
export type Scenario = {
  readonly name: string;
  readonly agents: readonly ScenarioAgent[];
  readonly approvers: readonly ScenarioApprover[];
  readonly intent: OutgoingIntent | null;
};

type Faults = string[];

function fieldsIn(at: string, value: Json, known: readonly string[], faults: Faults): JsonObject {
  if (!isJsonObject(value)) {
    faults.push(`${at} is an object`);
    return {};
  }
  for (const field of Object.keys(value))
    if (!known.includes(field)) faults.push(`${at} has no field "${field}"; there are ${known.join(", ")}`);
  return value;
}

function textIn(at: string, value: Json | undefined, faults: Faults): string {
  if (typeof value === "string" && value.trim() !== "" && value.length <= 200) return value;
  faults.push(`${at} is a text of 1 to 200 characters`);
  return "";
}

function listIn(at: string, value: Json | undefined, faults: Faults): readonly Json[] {
  if (value === undefined) return [];
  if (Array.isArray(value)) return value as readonly Json[];
  faults.push(`${at} is a list`);
  return [];
}

function rolesIn(at: string, value: Json | undefined, usual: Role, faults: Faults): readonly Role[] {
  if (value === undefined) return [usual];
  const given = listIn(at, value, faults);
  const wrong = given.find((role) => !ROLES.some((known) => known === role));
  if (wrong !== undefined)
    faults.push(`${at} has no role ${JSON.stringify(wrong)}; there are ${ROLES.join(", ")}`);
  return given as readonly Role[];
}

function nameIn(at: string, kind: "agent" | "person", value: Json | undefined, faults: Faults): string {
  const name = textIn(at, value, faults).replace(`${kind}:`, "");
  if (name !== "" && !isPrincipal(`${kind}:${name}`))
    faults.push(`${at} is not a name: ${JSON.stringify(name)}`);
  return name;
}

function agentIn(at: string, value: Json, faults: Faults): ScenarioAgent {
  const { name, roles } = fieldsIn(at, value, ["name", "roles"], faults);
  return {
    name: nameIn(`${at}.name`, "agent", name, faults),
    roles: rolesIn(`${at}.roles`, roles, "executor", faults),
  };
}

function approverIn(at: string, value: Json, faults: Faults): ScenarioApprover {
  const { name, roles, groups, mail } = fieldsIn(at, value, ["name", "roles", "groups", "mail"], faults);
  return {
    name: nameIn(`${at}.name`, "person", name, faults),
    roles: rolesIn(`${at}.roles`, roles, "supervisor", faults),
    groups: listIn(`${at}.groups`, groups, faults).map((group, index) =>
      textIn(`${at}.groups[${index}]`, group, faults),
    ),
    mail: mail === undefined ? null : textIn(`${at}.mail`, mail, faults),
  };
}

const INTENT = ["intent_type", "to_agent", "payload", "request_id", "timeout_seconds", "correlation"];

function intentIn(value: Json, faults: Faults): OutgoingIntent {
  const given = fieldsIn("intent", value, INTENT, faults);
  const { payload = {}, request_id: requestId, timeout_seconds: seconds, correlation } = given;
  const isTime = typeof seconds === "number" && Number.isSafeInteger(seconds) && seconds > 0;
  if (seconds !== undefined && !isTime) faults.push("intent.timeout_seconds is a whole number of at least 1");
  return {
    intentType: textIn("intent.intent_type", given["intent_type"], faults),
    toAgent: textIn("intent.to_agent", given["to_agent"], faults),
    payload,
    ...(requestId === undefined ? {} : { requestId: textIn("intent.request_id", requestId, faults) }),
    ...(correlation === undefined ? {} : { correlation: textIn("intent.correlation", correlation, faults) }),
    ...(isTime ? { withinMs: seconds * 1_000 } : {}),
  };
}

function twice(what: string, names: readonly string[]): readonly string[] {
  const again = names.filter((name, index) => name !== "" && names.indexOf(name) !== index);
  return [...new Set(again)].map((name) => `${what} has "${name}" twice`);
}

/** The scenario, or everything that is wrong with it. */
export function readScenario(value: Json): Scenario | { readonly faults: readonly string[] } {
  const faults: Faults = [];
  const given = fieldsIn("the scenario", value, ["name", "agents", "approvers", "intent"], faults);
  const { agents, approvers, intent } = given;
  const scenario = {
    name: textIn("name", given["name"], faults),
    agents: listIn("agents", agents, faults).map((one, at) => agentIn(`agents[${at}]`, one, faults)),
    approvers: listIn("approvers", approvers, faults).map((one, at) =>
      approverIn(`approvers[${at}]`, one, faults),
    ),
    intent: intent === undefined ? null : intentIn(intent, faults),
  };
  faults.push(
    ...twice(
      "agents",
      scenario.agents.map(({ name }) => name),
    ),
  );
  faults.push(
    ...twice(
      "approvers",
      scenario.approvers.map(({ name }) => name),
    ),
  );
  return faults.length === 0 ? scenario : { faults };
}
