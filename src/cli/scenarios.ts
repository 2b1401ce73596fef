/**
 * `holdpoint scenarios apply`: a scenario file with agents, approvers and the intent to send. All its faults are
 * reported at once. The agents' keys are stored in the user's configuration folder, readable only by the user. A file
 * that is not ours is never overwritten.
 */

import { readFileSync } from "node:fs";
import { homedir, platform } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import type { OutgoingIntent } from "../agents/intents/contract.ts";
import { dropUndefinedFields } from "../api/wire.ts";
import { isJsonObject, type Json, type JsonObject, parseJson } from "../kernel/json.ts";
import { isPrincipal } from "../kernel/principal.ts";
import { visible } from "../kernel/text.ts";
import { ROLES } from "../people/stream.ts";
import { CommandError, type Context, EXIT, fileError, word } from "./shell/command.ts";
import { writePrivateJson } from "./shell/files.ts";

const TEXT = { error: "is a text of 1 to 200 characters" };
const text = z
  .string(TEXT)
  .max(200, TEXT)
  .refine((given) => given.trim() !== "", TEXT);

const nameFor = (kind: "agent" | "person") =>
  text
    .transform((given) => given.replace(`${kind}:`, ""))
    .refine((name) => isPrincipal(`${kind}:${name}`), {
      error: ({ input }) => `is not a name: ${JSON.stringify(input)}`,
    });

const list = <Item extends z.ZodType>(item: Item) => z.array(item, { error: "is a list" });
const role = z.enum(ROLES, {
  error: ({ input }) => `has no role ${JSON.stringify(input)}; there are ${ROLES.join(", ")}`,
});
const object = <Shape extends z.ZodRawShape>(shape: Shape) =>
  z.strictObject(shape, {
    error: (issue) =>
      issue.code === "unrecognized_keys"
        ? `has no field "${issue.keys.join('", "')}"; there are ${Object.keys(shape).join(", ")}`
        : "is an object",
  });

const agent = object({ name: nameFor("agent"), roles: list(role).default(["executor"]) });
const approver = object({
  name: nameFor("person"),
  roles: list(role).default(["supervisor"]),
  groups: list(text).default([]),
  mail: text.optional(),
});
const SECONDS = { error: "is a whole number of at least 1" };
const intent = object({
  intent_type: text,
  to_agent: text,
  payload: z.custom<Json>().default({}),
  request_id: text.optional(),
  timeout_seconds: z.int(SECONDS).min(1, SECONDS).optional(),
  correlation: text.optional(),
}).transform(
  ({
    intent_type: intentType,
    to_agent: toAgent,
    request_id: requestId,
    timeout_seconds: seconds,
    ...rest
  }) =>
    dropUndefinedFields({
      ...{ intentType, toAgent, requestId },
      ...rest,
      withinMs: seconds === undefined ? undefined : seconds * 1_000,
    }) as OutgoingIntent,
);
const scenario = object({
  name: text,
  agents: list(agent).default([]),
  approvers: list(approver).default([]),
  intent: intent.optional(),
});

type ScenarioAgent = z.output<typeof agent>;
type ScenarioApprover = z.output<typeof approver>;
type ScenarioFile = z.output<typeof scenario>;

const pathText = (path: readonly PropertyKey[]): string =>
  path
    .map((part) => (typeof part === "number" ? `[${part}]` : `.${String(part)}`))
    .join("")
    .slice(1) || "the scenario";

function repeatedNames(given: JsonObject, field: "agents" | "approvers"): readonly string[] {
  const items = Array.isArray(given[field]) ? (given[field] as readonly Json[]) : [];
  const names = items
    .map((one) => (isJsonObject(one) ? one["name"] : undefined))
    .map((name) => (typeof name === "string" ? name.replace(/^(?:agent|person):/, "") : undefined));
  const again = names.filter((name, at) => name !== undefined && names.indexOf(name) !== at);
  return [...new Set(again)].map((name) => `${field} has "${name}" twice`);
}

/** The scenario, or all its faults. */
export function readScenario(value: Json): ScenarioFile | { readonly faults: readonly string[] } {
  const read = scenario.safeParse(value);
  const wrong = read.error?.issues.map(({ path, message }) => `${pathText(path)} ${message}`) ?? [];
  const given = isJsonObject(value) ? value : {};
  const faults = [...wrong, ...repeatedNames(given, "agents"), ...repeatedNames(given, "approvers")];
  return read.success && faults.length === 0 ? read.data : { faults };
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
  await hp.people.add({ person, name, roles, groups, ...(mail === undefined ? {} : { mail }), by });
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
  writePrivateJson(file, { ...kept, [agent.name]: { api_key: issued.text, key_id: issued.key.id } });
  return true;
}

async function applyAll(context: Context, scenario: ScenarioFile, file: string) {
  const approvers: { readonly name: string; readonly isNew: boolean }[] = [];
  const agents: { readonly name: string; readonly isNew: boolean }[] = [];
  for (const one of scenario.approvers)
    approvers.push({ name: one.name, isNew: await addApprover(context, one) });
  for (const one of scenario.agents) agents.push({ name: one.name, isNew: await keyFor(context, one, file) });
  const { intent } = scenario;
  const sent =
    intent === undefined ? null : await context.hp.intents.send({ ...intent, from: context.person });
  return {
    ...{ scenario: scenario.name, agents, approvers, keys_file: file },
    ...{ intent_id: sent?.id ?? null, approval: sent?.approval ?? null },
  };
}

type AppliedScenario = Awaited<ReturnType<typeof applyAll>>;

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

export async function applyScenario(context: Context): Promise<number> {
  const scenario = scenarioIn(word(context));
  const environment = (name: string): string | undefined => process.env[name];
  const file = scenarioKeysFile({ platform: platform(), home: homedir(), environment });
  const applied = await applyAll(context, scenario, file);
  if (context.json) context.terminal.json(applied as unknown as Json);
  else print(context, applied);
  return EXIT.ok;
}
