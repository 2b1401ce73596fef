/**
 * `holdpoint scenarios apply`: a scenario file with agents, approvers and the intent to send. All its faults are
 * reported at once. The agents' keys are stored in the user's configuration folder, readable only by the user. A file
 * that is not ours is never overwritten.
 */

import { chmodSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { homedir, platform } from "node:os";
import { dirname, join } from "node:path";
import type { OutgoingIntent } from "../agents/intents/contract.ts";
import { isJsonObject, type Json, type JsonObject, parseJson } from "../kernel/json.ts";
import { isPrincipal } from "../kernel/principal.ts";
import { visible } from "../kernel/text.ts";
import { ROLES, type Role } from "../people/stream.ts";
import { type Command, type Context, EXIT, word } from "./shell/command.ts";
import { CommandError, fileError } from "./shell/failure.ts";

type ScenarioAgent = { readonly name: string; readonly roles: readonly Role[] };
type ScenarioApprover = {
  readonly name: string;
  readonly roles: readonly Role[];
  readonly groups: readonly string[];
  readonly mail: string | null;
};
type ScenarioFile = {
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

/** The scenario, or all its faults. */
export function readScenario(value: Json): ScenarioFile | { readonly faults: readonly string[] } {
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

type ConfigEnvironment = {
  readonly platform: string;
  readonly home: string;
  readonly environment: (name: string) => string | undefined;
};

function configFolder({ platform, home, environment }: ConfigEnvironment): string {
  if (platform === "darwin") return join(home, "Library", "Application Support");
  const named = environment(platform === "win32" ? "APPDATA" : "XDG_CONFIG_HOME");
  if (named !== undefined && named !== "") return named;
  return platform === "win32" ? home : join(home, ".config");
}

export const scenarioKeysFile = (around: ConfigEnvironment): string =>
  join(configFolder(around), "holdpoint", "scenario-agents.json");

/** By agent's name. A file that is not ours is never overwritten. */
export function readScenarioKeys(file: string): JsonObject {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    if ((error as { code?: string }).code === "ENOENT") return {};
    throw error;
  }
  const kept = parseJson(text);
  if (isJsonObject(kept)) return kept;
  throw new CommandError(
    "file_error",
    `${file} is not a file of agents' keys.`,
    "Move it away, then apply again.",
  );
}

/** Atomic. */
export function writeScenarioKeys(file: string, keys: JsonObject): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const draft = `${file}.${process.pid}`;
  writeFileSync(draft, `${JSON.stringify(keys, null, 2)}\n`, { mode: 0o600 });
  chmodSync(draft, 0o600);
  renameSync(draft, file);
}

function readScenarioText(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw fileError(path, error);
  }
}

function scenarioIn(path: string): ScenarioFile {
  const read = readScenario(parseJson(readScenarioText(path)));
  if (!("faults" in read)) return read;
  const lines = read.faults.map((fault) => `\n    ${visible(fault)}`).join("");
  throw new CommandError(
    "usage",
    `${visible(path)} is not a scenario:${lines}`,
    "Correct all of these, then apply it again.",
  );
}

/** An existing member stays unchanged. */
async function addApprover({ hp, person: by }: Context, approver: ScenarioApprover): Promise<boolean> {
  const person = `person:${approver.name}`;
  if ((await hp.people.list()).some((one) => one.person === person)) return false;
  const { name, roles, groups, mail } = approver;
  await hp.people.add({ person, name, roles, groups, ...(mail === null ? {} : { mail }), by });
  return true;
}

/** Whether the agent's stored key still works here. */
async function isKeyAccepted({ hp }: Context, principal: string, kept: Json | undefined): Promise<boolean> {
  const id = isJsonObject(kept ?? null) ? (kept as JsonObject)["key_id"] : undefined;
  if (typeof id !== "string") return false;
  const key = await hp.keys.get(id).catch(() => undefined);
  return key?.status === "active" && key.principal === principal;
}

/** One key per agent; a working one is kept. The text is written to the file at once: it is not returned again. */
async function keyFor(context: Context, agent: ScenarioAgent, file: string): Promise<boolean> {
  const kept = readScenarioKeys(file);
  const principal = `agent:${agent.name}`;
  if (await isKeyAccepted(context, principal, kept[agent.name])) return false;
  const { roles } = agent;
  const issued = await context.hp.keys.issue({ principal, name: "scenario", roles, by: context.person });
  writeScenarioKeys(file, { ...kept, [agent.name]: { api_key: issued.text, key_id: issued.key.id } });
  return true;
}

type AppliedScenario = {
  readonly scenario: string;
  readonly agents: readonly { readonly name: string; readonly isNew: boolean }[];
  readonly approvers: readonly { readonly name: string; readonly isNew: boolean }[];
  readonly keys_file: string;
  readonly intent_id: string | null;
  readonly approval: string | null;
};

async function applyAll(context: Context, scenario: ScenarioFile, file: string): Promise<AppliedScenario> {
  const [agents, approvers] = [[], []] as [
    { name: string; isNew: boolean }[],
    { name: string; isNew: boolean }[],
  ];
  for (const one of scenario.approvers)
    approvers.push({ name: one.name, isNew: await addApprover(context, one) });
  for (const one of scenario.agents) agents.push({ name: one.name, isNew: await keyFor(context, one, file) });
  const sent =
    scenario.intent === null
      ? null
      : await context.hp.intents.send({ ...scenario.intent, from: context.person });
  return {
    scenario: scenario.name,
    agents,
    approvers,
    keys_file: file,
    intent_id: sent?.id ?? null,
    approval: sent?.approval ?? null,
  };
}

function print({ terminal }: Context, applied: AppliedScenario): void {
  for (const { name, isNew } of applied.approvers)
    terminal.line(`approver: person:${visible(name)}${isNew ? "" : " (was there)"}`);
  for (const { name, isNew } of applied.agents)
    terminal.line(`agent: agent:${visible(name)}, ${isNew ? "a new key" : "its key works"}`);
  if (applied.agents.length > 0)
    terminal.line(`Keys are in ${applied.keys_file}; an agent takes its own from HOLDPOINT_API_KEY.`);
  if (applied.intent_id !== null) terminal.line(`intent_id: ${applied.intent_id}`);
  if (applied.approval !== null) terminal.line(`People are asked: holdpoint show ${applied.approval}`);
}

export const scenariosApply: Command = {
  name: "scenarios apply",
  words: ["<file>"],
  summary: "Create the agents and approvers of a scenario file",
  details: [
    "Agents get keys of their own, kept in your configuration folder (holdpoint/scenario-agents.json). Applied again, what is there stays; the intent is sent again unless it has a request_id.",
  ],
  examples: ["holdpoint scenarios apply scenario.yaml"],
  flags: {},
  async run(context) {
    const scenario = scenarioIn(word(context));
    const environment = (name: string): string | undefined => process.env[name];
    const file = scenarioKeysFile({ platform: platform(), home: homedir(), environment });
    const applied = await applyAll(context, scenario, file);
    if (context.json) context.terminal.json(applied as unknown as Json);
    else print(context, applied);
    return EXIT.ok;
  },
};
