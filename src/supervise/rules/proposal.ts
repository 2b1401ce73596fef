/**
 * Validates a model's output: one JSON object that proposes a tool call or a final answer, and nothing else.
 * - An unknown key makes the output invalid, so an "approved" or "policy" key written by a model is never read.
 * - Nothing is repaired. Each fault is refused with a specific reason. Names chosen by the model are shown with control
 *   and bidi characters escaped.
 * - The tool's JSON Schema checks the arguments first and names the first fault. The tool's own validation, which knows
 *   more, decides last.
 */

import { isHoldpointError } from "../../kernel/errors.ts";
import { isJsonObject, type Json, type JsonObject, parseJson } from "../../kernel/json.ts";
import { visible } from "../../kernel/text.ts";
import type { ToolRules } from "../../policy/rules/tool-rules.ts";
import type { InvalidAction } from "./stop-reason.ts";

type NamedArgsFault =
  | `extra_tool_args:${string}`
  | `missing_required_arg:${string}:${string}`
  | `bad_arg_type:${string}:${string}`;

type ArgsFault =
  | { readonly kind: "extra"; readonly path: readonly string[] }
  | { readonly kind: "missing" | "bad"; readonly path: readonly string[] };

type SchemaPosition = {
  readonly root: JsonObject;
  readonly path: readonly string[];
  /** One part of an `allOf`: a property that it does not name may belong to another part. */
  readonly isPart?: true;
};

const LONGEST_PATH = 200;

const TYPES: { readonly [type: string]: (value: Json) => boolean } = {
  object: isJsonObject,
  array: (value) => Array.isArray(value),
  string: (value) => typeof value === "string",
  number: (value) => typeof value === "number",
  integer: (value) => Number.isInteger(value),
  boolean: (value) => typeof value === "boolean",
  null: (value) => value === null,
};

/** Resolves a reference within the same schema, such as `#/$defs/address`. */
function resolveRef(schema: Json, root: JsonObject): JsonObject {
  let at: Json = schema;
  // The bound ends a reference that leads back to itself.
  for (let turns = 0; turns < 32 && isJsonObject(at) && typeof at["$ref"] === "string"; turns++) {
    let found: Json = root;
    for (const part of at["$ref"].split("/").slice(1))
      found = isJsonObject(found) ? (found[part.replaceAll("~1", "/").replaceAll("~0", "~")] ?? {}) : {};
    at = found;
  }
  return isJsonObject(at) ? at : {};
}

const listOf = (value: Json | undefined): readonly Json[] => (Array.isArray(value) ? value : []);

function fitsType(schema: JsonObject, value: Json): boolean {
  const { type } = schema;
  const types = typeof type === "string" ? [type] : listOf(type);
  return types.length === 0 || types.some((one) => TYPES[String(one)]?.(value) ?? true);
}

/** Blank text where the schema allows any text. */
function isBlank(schema: JsonObject, value: Json): boolean {
  if (typeof value !== "string" || value.trim() !== "") return false;
  return schema["enum"] === undefined && schema["const"] === undefined;
}

function isAmong(schema: JsonObject, value: Json): boolean {
  const { enum: among, const: only } = schema;
  const isScalar = typeof value !== "object" || value === null;
  if (!isScalar) return true;
  if (only !== undefined && only !== value) return false;
  return !Array.isArray(among) || among.includes(value);
}

/** Property names allowed by a schema and its `allOf` parts; undefined if it allows any name. */
function namesIn(schema: JsonObject, root: JsonObject): ReadonlySet<string> | undefined {
  const { properties, patternProperties, additionalProperties } = schema;
  const parts = listOf(schema["allOf"]).map((part) => namesIn(resolveRef(part, root), root));
  const isOpen = additionalProperties !== undefined && additionalProperties !== false;
  if (patternProperties !== undefined || isOpen) return undefined;
  if (!isJsonObject(properties) && parts.length === 0) return undefined;
  if (parts.includes(undefined)) return undefined;
  const own = isJsonObject(properties) ? Object.keys(properties) : [];
  return new Set([...own, ...parts.flatMap((part) => [...(part ?? [])])]);
}

function checkProperties(
  schema: JsonObject,
  value: JsonObject,
  place: SchemaPosition,
): ArgsFault | undefined {
  const { root, path } = place;
  const names = place.isPart === true ? undefined : namesIn(schema, root);
  const extra = names === undefined ? undefined : Object.keys(value).find((key) => !names.has(key));
  if (extra !== undefined) return { kind: "extra", path: [...path, extra] };
  const missing = listOf(schema["required"]).find((key) => !Object.hasOwn(value, String(key)));
  if (missing !== undefined) return { kind: "missing", path: [...path, String(missing)] };
  const properties = isJsonObject(schema["properties"]) ? schema["properties"] : {};
  for (const [key, part] of Object.entries(value)) {
    const below = Object.hasOwn(properties, key) ? properties[key] : undefined;
    const found = below === undefined ? undefined : checkValue(below, part, { root, path: [...path, key] });
    if (found !== undefined) return found;
  }
  return undefined;
}

function checkItems(
  schema: JsonObject,
  value: readonly Json[],
  { root, path }: SchemaPosition,
): ArgsFault | undefined {
  const { items } = schema;
  if (items === undefined) return undefined;
  for (const [index, part] of value.entries()) {
    const found = checkValue(items, part, { root, path: [...path, String(index)] });
    if (found !== undefined) return found;
  }
  return undefined;
}

/** A variant is identified by its constants: `{ kind: "card", … }`. */
function isVariantOf(choice: Json, value: Json, root: JsonObject): boolean {
  const { properties } = resolveRef(choice, root);
  if (!isJsonObject(properties) || !isJsonObject(value)) return false;
  const constants = Object.entries(properties).flatMap(([key, part]) => {
    const { const: only } = resolveRef(part, root);
    return only === undefined ? [] : [[key, only] as const];
  });
  return constants.length > 0 && constants.every(([key, only]) => value[key] === only);
}

/** At least one choice has to fit. If only one choice was plausible, report its fault. */
function checkChoices(schema: JsonObject, value: Json, place: SchemaPosition): ArgsFault | undefined {
  const choices = [...listOf(schema["anyOf"]), ...listOf(schema["oneOf"])];
  if (choices.length === 0) return undefined;
  const faults = choices.map((choice) => checkValue(choice, value, place));
  if (faults.includes(undefined)) return undefined;
  const meant = faults.filter((_, index) => isVariantOf(choices[index] ?? {}, value, place.root));
  const deeper = faults.filter((fault) => fault !== undefined && fault.path.length > place.path.length);
  const [only] = [meant, deeper].find(({ length }) => length === 1) ?? [];
  return only ?? { kind: "bad", path: place.path };
}

function checkValue(given: Json, value: Json, place: SchemaPosition): ArgsFault | undefined {
  const schema = resolveRef(given, place.root);
  if (!fitsType(schema, value) || !isAmong(schema, value) || isBlank(schema, value))
    return { kind: "bad", path: place.path };
  if (isJsonObject(value)) {
    const found = checkProperties(schema, value, place);
    if (found !== undefined) return found;
  }
  if (Array.isArray(value)) {
    const found = checkItems(schema, value, place);
    if (found !== undefined) return found;
  }
  for (const part of listOf(schema["allOf"])) {
    const found = checkValue(part, value, { ...place, isPart: true });
    if (found !== undefined) return found;
  }
  return checkChoices(schema, value, place);
}

/** Finds keys that the journal reserves for its own references: a model must not write them. */
function reservedIn(value: Json, path: readonly string[]): readonly string[] | undefined {
  if (Array.isArray(value)) {
    for (const [index, part] of value.entries()) {
      const found = reservedIn(part, [...path, String(index)]);
      if (found !== undefined) return found;
    }
    return undefined;
  }
  if (!isJsonObject(value)) return undefined;
  for (const [key, part] of Object.entries(value)) {
    const at = [...path, key];
    const found = /^\$(?:artifact|secret)/.test(key) ? at : reservedIn(part, at);
    if (found !== undefined) return found;
  }
  return undefined;
}

function nameFault(tool: string, { kind, path }: ArgsFault): NamedArgsFault {
  const named = path.length === 0 ? "args" : visible(path.join(".").slice(0, LONGEST_PATH).toWellFormed());
  if (kind === "extra") return `extra_tool_args:${tool}`;
  return kind === "missing" ? `missing_required_arg:${tool}:${named}` : `bad_arg_type:${tool}:${named}`;
}

function isPresent(value: Json | undefined, path: readonly string[]): boolean {
  let at = value;
  for (const part of path) {
    if (typeof at !== "object" || at === null || !Object.hasOwn(at, part)) return false;
    at = (at as { readonly [key: string]: Json })[part];
  }
  return true;
}

/** Faults that only the tool's own validation can find. */
function validateWithTool(
  { name, validate }: Pick<ToolRules, "name" | "validate">,
  args: JsonObject,
): NamedArgsFault | undefined {
  const valid = validate(args);
  if (valid.ok) return undefined;
  const path = valid.each?.[0]?.path.map(String) ?? [];
  return nameFault(name, { kind: isPresent(args, path) ? "bad" : "missing", path });
}

function checkArgs(
  rules: Pick<ToolRules, "name" | "schemaText" | "validate">,
  args: JsonObject,
): NamedArgsFault | undefined {
  const { name, schemaText } = rules;
  const root = schemaText === null ? {} : (JSON.parse(schemaText) as JsonObject);
  const found = checkValue(root, args, { root, path: [] });
  if (found !== undefined) return nameFault(name, found);
  const reserved = reservedIn(args, []);
  if (reserved !== undefined) return nameFault(name, { kind: "bad", path: reserved });
  return validateWithTool(rules, args);
}

/** Maximum size of one model output, in bytes of UTF-8. */
export const LARGEST_OUTPUT_BYTES = 1_048_576;

export type ToolProposal = { readonly kind: "tool"; readonly name: string; readonly args: JsonObject };
export type FinalProposal = { readonly kind: "final"; readonly answer: string };
export type ModelProposal = ToolProposal | FinalProposal;

export type ValidatedProposal =
  | { readonly ok: true; readonly proposal: ModelProposal }
  /** `raw`: the parsed output, or its text if it cannot be parsed; reported as `raw_action`. */
  | { readonly ok: false; readonly stop_reason: InvalidAction; readonly raw: Json };

/** The tools that may be proposed, by name. */
export type ToolCatalogue = ReadonlyMap<string, Pick<ToolRules, "name" | "schemaText" | "validate">>;

const MOST_SHOWN = 2_000;
const LONGEST_NAME = 100;

/** Shortens text that is not JSON for display. */
function unreadableOutput(text: string): Json {
  const whole = text.toWellFormed();
  return {
    kind: "invalid",
    raw: whole.length <= MOST_SHOWN ? whole : `${whole.slice(0, MOST_SHOWN)}…`.toWellFormed(),
  };
}

const invalidProposal = (stop_reason: InvalidAction, raw: Json): ValidatedProposal => ({
  ok: false,
  stop_reason,
  raw,
});

function parseOutput(text: string): { readonly value: Json } | undefined {
  try {
    return { value: parseJson(text) };
  } catch (error) {
    if (isHoldpointError(error, "invalid_json")) return undefined;
    throw error;
  }
}

const hasExtra = (object: JsonObject, keys: readonly string[]): boolean =>
  Object.keys(object).some((key) => !keys.includes(key));

function validateFinal(raw: JsonObject): ValidatedProposal {
  if (hasExtra(raw, ["kind", "answer"])) return invalidProposal("invalid_action:extra_keys_final", raw);
  const answer = raw["answer"];
  if (typeof answer !== "string" || answer.trim() === "")
    return invalidProposal("invalid_action:bad_final_answer", raw);
  return { ok: true, proposal: { kind: "final", answer: answer.trim() } };
}

function validateTool(raw: JsonObject, catalogue: ToolCatalogue): ValidatedProposal {
  if (hasExtra(raw, ["kind", "name", "args"])) return invalidProposal("invalid_action:extra_keys_tool", raw);
  const { name: given, args: said = null } = raw;
  if (typeof given !== "string" || given.trim() === "")
    return invalidProposal("invalid_action:bad_tool_name", raw);
  const name = given.trim();
  const args = said ?? {};
  if (!isJsonObject(args)) return invalidProposal("invalid_action:bad_tool_args", raw);
  const rules = catalogue.get(name);
  if (rules === undefined)
    return invalidProposal(
      `invalid_action:unknown_tool:${visible(name.slice(0, LONGEST_NAME).toWellFormed())}`,
      raw,
    );
  const fault = checkArgs(rules, args);
  return fault === undefined
    ? { ok: true, proposal: { kind: "tool", name, args } }
    : invalidProposal(`invalid_action:${fault}`, raw);
}

export function validateProposal(text: string, catalogue: ToolCatalogue): ValidatedProposal {
  // Every UTF-16 unit takes at least one byte in UTF-8, so a text with too many units need not be encoded.
  const isTooLarge = text.length > LARGEST_OUTPUT_BYTES || Buffer.byteLength(text) > LARGEST_OUTPUT_BYTES;
  if (isTooLarge) return invalidProposal("invalid_action:too_large", unreadableOutput(text));
  const found = parseOutput(text);
  if (found === undefined) return invalidProposal("invalid_action:non_json", unreadableOutput(text));
  const { value } = found;
  if (!isJsonObject(value)) return invalidProposal("invalid_action:not_object", value);
  if (value["kind"] === "final") return validateFinal(value);
  if (value["kind"] === "tool") return validateTool(value, catalogue);
  return invalidProposal("invalid_action:bad_kind", value);
}
