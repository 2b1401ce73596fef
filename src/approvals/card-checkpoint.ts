/**
 * What the card's document says of a checkpoint: its outputs and what its snapshot captured for people. Also what a person
 * types: examples of values, and commands. Pure.
 */

import { isJsonObject, type Json, type JsonObject } from "../kernel/json.ts";
import type { CardFields } from "../kernel/terminal.ts";
import { quotedName, visible, visiblePreview } from "../kernel/text.ts";
import { raisedName } from "../workflows/rules/ask.ts";
import type { Card } from "./card-schema.ts";
import type { Approval } from "./contract.ts";

const part = (from: Json | undefined, name: string): JsonObject => {
  const value = isJsonObject(from) ? from[name] : undefined;
  return isJsonObject(value) ? value : {};
};

const isEmpty = (value: Json | undefined): boolean =>
  value === undefined || (typeof value === "object" && value !== null && Object.keys(value).length === 0);

const RESOURCES = [
  ["api_calls", "calls"],
  ["tokens_used", "tokens"],
  ["execution_time_seconds", "seconds"],
  ["estimated_cost_usd", "USD (estimated)"],
] as const;

const resourceWords = (used: JsonObject): string =>
  RESOURCES.flatMap(([name, unit]) => (used[name] === undefined ? [] : [`${used[name]} ${unit}`])).join(", ");

function confidenceWords(confidence: Json): string {
  return typeof confidence === "number" ? `${Math.round(confidence * 1_000) / 10} %` : String(confidence);
}

const treeField = (value: Json | undefined): CardFields[string] =>
  value === undefined || isEmpty(value) ? undefined : { tree: value };

/** All statements of the agent, separate from what it did. */
function agentFields({ rationale }: Approval, snapshot: Json): CardFields {
  const shown = part(snapshot, "approval_interface");
  const task = part(snapshot, "task_state");
  const { decision_needed: needed, recommendation, confidence } = shown;
  const used = resourceWords(part(part(snapshot, "execution_state"), "resource_consumption"));
  return {
    says: rationale === null ? undefined : { quote: rationale },
    asks: typeof needed === "string" && needed !== rationale ? needed : undefined,
    recommends: recommendation === undefined ? undefined : String(recommendation),
    confidence: confidence === undefined ? undefined : confidenceWords(confidence),
    used: used === "" ? undefined : used,
    risk: treeField(task["risk"]),
    "next steps": treeField(task["planned_next_steps"]),
    scores: treeField(task["confidence_scores"]),
    context: treeField(shown["context"]),
    artifacts: treeField(shown["artifacts"]),
  };
}

/** Raised by a monitor: the only decision is whether the workflow continues. */
const isRaised = ({ op }: Approval): boolean => raisedName(op ?? "") !== undefined;

type Shown = Pick<Card, "workflow" | "snapshot">;

export function checkpointParts(approval: Approval, { workflow, snapshot }: Shown) {
  const isMonitor = isRaised(approval);
  const { name = "", attempt = 1, attempts = 1 } = workflow ?? {};
  return {
    subject: {
      [`Checkpoint ${quotedName(approval.tool)} of the workflow ${quotedName(name)}`]: {
        attempt: `${attempt} of ${attempts}`,
        "asked for": approval.reason === "" ? "-" : approval.reason,
      },
    },
    what: {
      "What you decide on: its outputs": !isMonitor && { args: { args: approval.args } },
    },
    agent: {
      [isMonitor ? "What the monitor knows" : "The agent says (its own words, not checked)"]: agentFields(
        approval,
        snapshot,
      ),
    },
  };
}

/** An example value of a JSON Schema, to be typed over. */
export function exampleOf(schema: Json | undefined): Json {
  if (!isJsonObject(schema)) return {};
  const { type, properties, enum: choices, const: only } = schema;
  if (Array.isArray(choices) && choices.length > 0) return choices[0];
  if (only !== undefined) return only;
  if (type === "object" && isJsonObject(properties))
    return Object.fromEntries(Object.entries(properties).map(([name, part]) => [name, exampleOf(part)]));
  if (type === "array") return [];
  if (type === "string") return "…";
  if (type === "boolean") return true;
  return type === "number" || type === "integer" ? 0 : {};
}

/** The first of the outputs, to be typed over. */
function exampleEdit(outputs: Json): string {
  const [first] = isJsonObject(outputs) ? Object.entries(outputs) : [];
  const example = first === undefined ? "" : visiblePreview(JSON.stringify(Object.fromEntries([first])));
  return example === "" || example.length > 60 || /['\\]/.test(example) ? '{"field": "value"}' : example;
}

export const editCommands = (approval: Approval): readonly string[] =>
  isRaised(approval) ? [] : [`approve ${approval.id} --edit '${exampleEdit(approval.args)}'`];

/** A checkpoint as typed after a flag; undefined for a name with unusual characters. */
export const typedName = (name: string): string | undefined =>
  /^[\p{L}\p{N} .,:()_-]+$/u.test(name) && visible(name) === name ? `"${name}"` : undefined;

export function workflowCommands({ tool, workflow }: Approval, snapshot: Json): readonly string[] {
  const { snapshot_id: id } = isJsonObject(snapshot) ? snapshot : {};
  const typed = snapshot === null ? undefined : (typedName(tool) ?? id);
  return [
    ...(typeof typed === "string" ? [`show ${workflow} --checkpoint ${typed}`] : []),
    `show ${workflow}`,
  ];
}
