import { readFileSync } from "node:fs";
import { homedir, platform } from "node:os";
import { isJsonObject, type Json, type JsonObject, parseJson } from "../../kernel/json.ts";
import { visible } from "../../kernel/text.ts";

import { type Command, type Context, EXIT, word } from "../command.ts";
import { CommandError, fileError } from "../failure.ts";
import { readKeys, scenarioKeysFile, writeKeys } from "./keys-file.ts";
import { readScenario, type Scenario, type ScenarioAgent, type ScenarioApprover } from "./read-scenario.ts";

function textOf(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw fileError(path, error);
  }
}

function scenarioIn(path: string): Scenario {
  const read = readScenario(parseJson(textOf(path)));
  if (!("faults" in read)) return read;
  const lines = read.faults.map((fault) => `\n    ${visible(fault)}`).join("");
  throw new CommandError(
    "usage",
    `${visible(path)} is not a scenario:${lines}`,
    "Correct all of these, then apply it again.",
  );
}

/** Whoever is in the list stays as they are. */
async function addApprover({ hp, person: by }: Context, approver: ScenarioApprover): Promise<boolean> {
  const person = `person:${approver.name}`;
  if ((await hp.people.list()).some((one) => one.person === person)) return false;
  const { name, roles, groups, mail } = approver;
  await hp.people.add({ person, name, roles, groups, ...(mail === null ? {} : { mail }), by });
  return true;
}

/** Whether the key that is kept for an agent still works here. */
async function isGood({ hp }: Context, principal: string, kept: Json | undefined): Promise<boolean> {
  const id = isJsonObject(kept ?? null) ? (kept as JsonObject)["key_id"] : undefined;
  if (typeof id !== "string") return false;
  const key = await hp.keys.get(id).catch(() => undefined);
  return key?.status === "active" && key.principal === principal;
}

/** Each agent has a key of its own; one that works is kept. The text is written down at once: it is not answered again. */
async function keyFor(context: Context, agent: ScenarioAgent, file: string): Promise<boolean> {
  const kept = readKeys(file);
  const principal = `agent:${agent.name}`;
  if (await isGood(context, principal, kept[agent.name])) return false;
  const { roles } = agent;
  const issued = await context.hp.keys.issue({ principal, name: "scenario", roles, by: context.person });
  writeKeys(file, { ...kept, [agent.name]: { api_key: issued.text, key_id: issued.key.id } });
  return true;
}

type Applied = {
  readonly scenario: string;
  readonly agents: readonly { readonly name: string; readonly isNew: boolean }[];
  readonly approvers: readonly { readonly name: string; readonly isNew: boolean }[];
  readonly keys_file: string;
  readonly intent_id: string | null;
  readonly approval: string | null;
};

async function applyAll(context: Context, scenario: Scenario, file: string): Promise<Applied> {
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

function print({ terminal }: Context, applied: Applied): void {
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
  summary: "make the agents and approvers of a scenario file, and send its intent",
  details: [
    "Agents get keys of their own, kept in your configuration folder (holdpoint/scenario-agents.json). Applied again, what is there stays; the intent is sent again unless it has a request_id.",
  ],
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
