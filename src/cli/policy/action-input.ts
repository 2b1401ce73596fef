/** The action that is explained: one that the journal has, or one written down. */
import { readFileSync } from "node:fs";
import { shown } from "../../core/error-text.ts";
import { isJsonObject, type Json, type JsonObject } from "../../core/json.ts";
import { parseJson } from "../../core/strict-json.ts";
import type { PastCall, PolicyInput } from "../../core/verdict.ts";
import { CommandError, fileError } from "../failure.ts";
import { timeOf } from "../moment-of.ts";

const SHAPE =
  '{ "tool", "args", "agent", "effect", "workflow": { "name", "generation" }, "history": [{ "tool", "args", "status", "result" }], "now" }; only tool and args are needed.';

function wrong(file: string, what: string): CommandError {
  return new CommandError("usage", `The file ${file}: ${what}.`, `An action is ${SHAPE}`);
}

const FIELDS = ["tool", "args", "agent", "effect", "workflow", "history", "now"];
const STATUSES: readonly unknown[] = ["waiting", "running", "applied", "in_doubt", "not_applied", "refused"];

function pastOf(file: string, value: Json, index: number, now: number): PastCall {
  if (!isJsonObject(value) || typeof value["tool"] !== "string")
    throw wrong(file, `call ${index + 1} of its history names no tool`);
  const { tool, args = {}, status = "applied", result = null, generation = 1, undone = false } = value;
  if (!STATUSES.includes(status)) throw wrong(file, `"${shown(status)}" is not a status`);
  const facts = { action: `act_${index + 1}`, tool, args, status: status as PastCall["status"], result };
  return { ...facts, generation: Number(generation), undone: undone === true, at: now - 1 };
}

function timeIn(file: string, value: Json | undefined, now: number): number {
  if (value === undefined) return now;
  const time = typeof value === "string" ? timeOf(value) : value;
  if (typeof time === "number" && Number.isFinite(time)) return time;
  throw wrong(file, `"${shown(value)}" is not a time`);
}

function workflowOf(value: Json | undefined): PolicyInput["workflow"] {
  if (!isJsonObject(value))
    return typeof value === "string" ? { id: "wf_1", name: value, generation: 1 } : null;
  const { id = "wf_1", name = "", generation = 1 } = value;
  return { id: String(id), name: String(name), generation: Number(generation) };
}

function inputOf(file: string, given: JsonObject, now: number): PolicyInput {
  const extra = Object.keys(given).find((field) => !FIELDS.includes(field));
  if (extra !== undefined) throw wrong(file, `there is no field "${extra}"`);
  const { tool, args = {}, agent = "agent:someone", history = [] } = given;
  if (typeof tool !== "string") throw wrong(file, "it names no tool");
  // An answer goes through a read; of a tool nothing is known here but its name.
  const { effect = tool === "final" ? "read" : "once" } = given;
  if (typeof agent !== "string" || typeof effect !== "string")
    throw wrong(file, "agent and effect are texts");
  if (!Array.isArray(history)) throw wrong(file, "its history is not a list");
  const time = timeIn(file, given["now"], now);
  const past = history.map((one: Json, index) => pastOf(file, one, index, time));
  // Calls of the past are those of a workflow.
  const workflow = workflowOf(given["workflow"]) ?? (past.length === 0 ? null : workflowOf("workflow"));
  const who = agent.startsWith("agent:") ? agent : `agent:${agent}`;
  const known = { tool, effectClass: effect, args, agent: who, requester: [who], requestId: null };
  return { ...known, workflow, history: past, now: time };
}

export function actionIn(file: string, now: number): PolicyInput {
  let value: Json;
  try {
    value = parseJson(readFileSync(file, "utf8"));
  } catch (error) {
    throw fileError(file, error);
  }
  if (!isJsonObject(value)) throw wrong(file, "it is not an object");
  return inputOf(file, value, now);
}
