/** The action that is explained, as somebody wrote it down. What is not a field is a fault: a misspelt one would be missed. */
import { readFileSync } from "node:fs";
import { isJsonObject, type Json, type JsonObject, parseJson } from "../../kernel/json.ts";
import { didYouMean } from "../../kernel/spelling.ts";
import { displayValue } from "../../kernel/text.ts";
import { agentNamed, SOMEONE, usualEffect } from "../../policy/backtest/explain-action.ts";
import { EFFECT_CLASSES } from "../../policy/rules/tool-rules.ts";
import type { KnownTool } from "../../policy/rules/tools.ts";
import type { PastCall, PolicyInput } from "../../policy/rules/verdict.ts";
import { CommandError, fileError } from "../failure.ts";
import { timeOf } from "../moment-of.ts";

const SHAPE =
  '{ "tool", "args", "agent", "effect", "workflow": { "id", "name", "generation" }, "history": [{ "tool", "args", "status", "result", "generation", "undone", "at" }], "now" }; only tool is needed.';

function wrong(file: string, what: string): CommandError {
  return new CommandError("usage", `The file ${file}: ${what}.`, `An action is ${SHAPE}`);
}

const FIELDS = ["tool", "args", "agent", "effect", "workflow", "history", "now"];
const PAST_FIELDS = ["tool", "args", "status", "result", "generation", "undone", "at"];
const WORKFLOW_FIELDS = ["id", "name", "generation", "poster"];
const STATUSES: readonly unknown[] = ["waiting", "running", "applied", "in_doubt", "not_applied", "refused"];

type Where = { readonly file: string; readonly now: number };

function checkKeys({ file }: Where, given: JsonObject, fields: readonly string[], what: string): void {
  const extra = Object.keys(given).find((field) => !fields.includes(field));
  if (extra !== undefined)
    throw wrong(file, `${what} has no field "${displayValue(extra)}"${didYouMean(extra, fields)}`);
}

function generationIn({ file }: Where, value: Json, what: string): number {
  if (Number.isSafeInteger(value) && Number(value) >= 1) return Number(value);
  throw wrong(file, `the generation of ${what} is a whole number of at least 1, not ${displayValue(value)}`);
}

function timeIn({ file, now }: Where, value: Json | undefined, otherwise = now): number {
  if (value === undefined) return otherwise;
  const time = typeof value === "string" ? timeOf(value) : value;
  if (typeof time === "number" && Number.isFinite(time)) return time;
  throw wrong(file, `"${displayValue(value)}" is not a time`);
}

function pastOf(where: Where, value: Json, index: number): PastCall {
  const what = `call ${index + 1} of its history`;
  const { file, now } = where;
  if (!isJsonObject(value) || typeof value["tool"] !== "string") throw wrong(file, `${what} names no tool`);
  checkKeys(where, value, PAST_FIELDS, what);
  const { tool, args = {}, status = "applied", result = null, generation = 1, undone = false } = value;
  if (!STATUSES.includes(status)) throw wrong(file, `"${displayValue(status)}" is not a status`);
  if (typeof undone !== "boolean") throw wrong(file, `undone of ${what} is not true or false`);
  const facts = { action: `act_${index + 1}`, tool, args, status: status as PastCall["status"], result };
  return {
    ...facts,
    generation: generationIn(where, generation, what),
    undone,
    at: timeIn(where, value["at"], now - 1),
  };
}

function workflowOf(where: Where, value: Json | undefined): PolicyInput["workflow"] {
  if (typeof value === "string") return { id: "wf_1", name: value, generation: 1 };
  if (value === undefined || value === null) return null;
  if (!isJsonObject(value)) throw wrong(where.file, "its workflow is not a name or an object");
  checkKeys(where, value, WORKFLOW_FIELDS, "its workflow");
  const { id = "wf_1", name = "", generation = 1, poster = "" } = value;
  return {
    id: String(id),
    name: String(name),
    poster: String(poster),
    generation: generationIn(where, generation, "its workflow"),
  };
}

/** As it is written, else the usual one. */
function effectOf(
  { file }: Where,
  given: Json | undefined,
  tool: string,
  known: readonly KnownTool[],
): string {
  const effect = given ?? usualEffect(tool, known);
  const isClass = (EFFECT_CLASSES as readonly unknown[]).includes(effect);
  if (!isClass)
    throw wrong(file, `effect is one of ${EFFECT_CLASSES.join(", ")}, not ${displayValue(effect)}`);
  return String(effect);
}

function inputOf(file: string, given: JsonObject, now: number, known: readonly KnownTool[]): PolicyInput {
  const where = { file, now };
  checkKeys(where, given, FIELDS, "an action");
  const { tool, args = {}, agent = SOMEONE, history = [] } = given;
  if (typeof tool !== "string") throw wrong(file, "it names no tool");
  if (typeof agent !== "string") throw wrong(file, "agent is a text");
  if (!Array.isArray(history)) throw wrong(file, "its history is not a list");
  const time = timeIn(where, given["now"]);
  const past = history.map((one: Json, index) => pastOf({ file, now: time }, one, index));
  // Calls of the past are those of a workflow.
  const own = workflowOf(where, given["workflow"]);
  const workflow = own ?? (past.length === 0 ? null : workflowOf(where, "workflow"));
  const who = agentNamed(agent);
  const effectClass = effectOf(where, given["effect"], tool, known);
  const facts = { tool, effectClass, args, agent: who, requester: [who], requestId: null };
  return { ...facts, workflow, history: past, now: time };
}

export function actionIn(file: string, now: number, known: readonly KnownTool[]): PolicyInput {
  let value: Json;
  try {
    value = parseJson(readFileSync(file, "utf8"));
  } catch (error) {
    throw fileError(file, error);
  }
  if (!isJsonObject(value)) throw wrong(file, "it is not an object");
  return inputOf(file, value, now, known);
}
