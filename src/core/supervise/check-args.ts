/**
 * A model's arguments against a tool's own schema, with the first fault by its name. JSON Schema says which arguments there
 * are and of what kind; the tool's validation, which knows more, has the last word.
 */
import { isJsonObject, type Json, type JsonObject } from "../../kernel/json.ts";
import { visible } from "../../kernel/text.ts";
import type { ToolRules } from "../../policy/rules/tool-rules.ts";

type Fault =
  | `extra_tool_args:${string}`
  | `missing_required_arg:${string}:${string}`
  | `bad_arg_type:${string}:${string}`;

type Found =
  | { readonly kind: "extra"; readonly path: readonly string[] }
  | { readonly kind: "missing" | "bad"; readonly path: readonly string[] };

type Place = {
  readonly root: JsonObject;
  readonly path: readonly string[];
  /** One of several schemas that hold together: what it does not name may be another's. */
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

/** `#/$defs/address`: a schema that stands elsewhere in the same text. */
function resolve(schema: Json, root: JsonObject): JsonObject {
  let at: Json = schema;
  // A schema that leads to itself without anything in between says nothing.
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

/** Text that says nothing, where any text would do. */
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

/** What a schema names, with all that hold together with it; undefined where any name goes. */
function namesIn(schema: JsonObject, root: JsonObject): ReadonlySet<string> | undefined {
  const { properties, patternProperties, additionalProperties } = schema;
  const parts = listOf(schema["allOf"]).map((part) => namesIn(resolve(part, root), root));
  const isOpen = additionalProperties !== undefined && additionalProperties !== false;
  if (patternProperties !== undefined || isOpen) return undefined;
  if (!isJsonObject(properties) && parts.length === 0) return undefined;
  if (parts.includes(undefined)) return undefined;
  const own = isJsonObject(properties) ? Object.keys(properties) : [];
  return new Set([...own, ...parts.flatMap((part) => [...(part ?? [])])]);
}

function checkProperties(schema: JsonObject, value: JsonObject, place: Place): Found | undefined {
  const { root, path } = place;
  const names = place.isPart === true ? undefined : namesIn(schema, root);
  const extra = names === undefined ? undefined : Object.keys(value).find((key) => !names.has(key));
  if (extra !== undefined) return { kind: "extra", path: [...path, extra] };
  const missing = listOf(schema["required"]).find((key) => !Object.hasOwn(value, String(key)));
  if (missing !== undefined) return { kind: "missing", path: [...path, String(missing)] };
  const properties = isJsonObject(schema["properties"]) ? schema["properties"] : {};
  for (const [key, part] of Object.entries(value)) {
    const below = Object.hasOwn(properties, key) ? properties[key] : undefined;
    const found = below === undefined ? undefined : check(below, part, { root, path: [...path, key] });
    if (found !== undefined) return found;
  }
  return undefined;
}

function checkItems(schema: JsonObject, value: readonly Json[], { root, path }: Place): Found | undefined {
  const { items } = schema;
  if (items === undefined) return undefined;
  for (const [index, part] of value.entries()) {
    const found = check(items, part, { root, path: [...path, String(index)] });
    if (found !== undefined) return found;
  }
  return undefined;
}

/** A variant is told by its constants: `{ kind: "card", … }`. */
function isVariantOf(choice: Json, value: Json, root: JsonObject): boolean {
  const { properties } = resolve(choice, root);
  if (!isJsonObject(properties) || !isJsonObject(value)) return false;
  const constants = Object.entries(properties).flatMap(([key, part]) => {
    const { const: only } = resolve(part, root);
    return only === undefined ? [] : [[key, only] as const];
  });
  return constants.length > 0 && constants.every(([key, only]) => value[key] === only);
}

/** One of several has to fit. What is wrong with the only one that could fit is what is wrong. */
function checkChoices(schema: JsonObject, value: Json, place: Place): Found | undefined {
  const choices = [...listOf(schema["anyOf"]), ...listOf(schema["oneOf"])];
  if (choices.length === 0) return undefined;
  const faults = choices.map((choice) => check(choice, value, place));
  if (faults.includes(undefined)) return undefined;
  const meant = faults.filter((_, index) => isVariantOf(choices[index] ?? {}, value, place.root));
  const deeper = faults.filter((fault) => fault !== undefined && fault.path.length > place.path.length);
  const [only] = [meant, deeper].find(({ length }) => length === 1) ?? [];
  return only ?? { kind: "bad", path: place.path };
}

function check(given: Json, value: Json, place: Place): Found | undefined {
  const schema = resolve(given, place.root);
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
    const found = check(part, value, { ...place, isPart: true });
    if (found !== undefined) return found;
  }
  return checkChoices(schema, value, place);
}

/** Keys with which the journal itself writes references: no model gets to write one. */
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

function faultOf(tool: string, { kind, path }: Found): Fault {
  const named = path.length === 0 ? "args" : visible(path.join(".").slice(0, LONGEST_PATH).toWellFormed());
  if (kind === "extra") return `extra_tool_args:${tool}`;
  return kind === "missing" ? `missing_required_arg:${tool}:${named}` : `bad_arg_type:${tool}:${named}`;
}

function isThere(value: Json | undefined, path: readonly string[]): boolean {
  let at = value;
  for (const part of path) {
    if (typeof at !== "object" || at === null || !Object.hasOwn(at, part)) return false;
    at = (at as { readonly [key: string]: Json })[part];
  }
  return true;
}

/** What only the tool's validation knows. */
function lastWord(
  { name, validate }: Pick<ToolRules, "name" | "validate">,
  args: JsonObject,
): Fault | undefined {
  const valid = validate(args);
  if (valid.ok) return undefined;
  const path = valid.each?.[0]?.path.map(String) ?? [];
  return faultOf(name, { kind: isThere(args, path) ? "bad" : "missing", path });
}

export function checkArgs(
  rules: Pick<ToolRules, "name" | "schemaText" | "validate">,
  args: JsonObject,
): Fault | undefined {
  const { name, schemaText } = rules;
  const root = schemaText === null ? {} : (JSON.parse(schemaText) as JsonObject);
  const found = check(root, args, { root, path: [] });
  if (found !== undefined) return faultOf(name, found);
  const reserved = reservedIn(args, []);
  if (reserved !== undefined) return faultOf(name, { kind: "bad", path: reserved });
  return lastWord(rules, args);
}
