/** A JSON Schema as people read it: what an answer has to be. What cannot be said shortly stands as JSON. */
import { canonicalJson } from "../kernel/canonical-json.ts";
import { isJsonObject, type Json, type JsonObject } from "../kernel/json.ts";
import { visible, visiblePreview } from "../kernel/text.ts";

const STEP = "  ";
type Lines = readonly string[];

const list = (value: Json | undefined): readonly Json[] => (Array.isArray(value) ? value : []);
const json = (value: Json): string => visiblePreview(canonicalJson(value));

const LIMITS = [
  ["minimum", "at least"],
  ["exclusiveMinimum", "above"],
  ["maximum", "at most"],
  ["exclusiveMaximum", "below"],
  ["minLength", "characters at least"],
  ["maxLength", "characters at most"],
  ["minItems", "items at least"],
  ["maxItems", "items at most"],
  ["format", "as"],
  ["pattern", "matching"],
] as const;

/** zod writes the range of safe integers down; nobody needs to be told. */
const isObvious = (value: Json): boolean => Math.abs(Number(value)) === Number.MAX_SAFE_INTEGER;

function limits(schema: JsonObject): string {
  const found = LIMITS.flatMap(([name, words]) => {
    const value = schema[name];
    return value === undefined || isObvious(value) ? [] : [`${words} ${visible(String(value))}`];
  });
  return found.length === 0 ? "" : `, ${found.join(", ")}`;
}

const TYPES: { readonly [type: string]: string } = {
  string: "a text",
  number: "a number",
  integer: "a whole number",
  boolean: "true or false",
  null: "null",
};

function described(schema: JsonObject, [first = "", ...rest]: Lines): Lines {
  const text = schema["description"];
  return [typeof text === "string" ? `${first} (${visible(text)})` : first, ...rest];
}

function fields(schema: JsonObject): Lines {
  const { properties } = schema;
  const needed = new Set(list(schema["required"]));
  const lines = Object.entries(isJsonObject(properties) ? properties : {}).flatMap(([name, part]) => {
    const [first = "", ...rest] = linesOf(part);
    const optional = needed.has(name) ? "" : "optional, ";
    return [`${STEP}${visible(name)}: ${optional}${first}`, ...rest.map((line) => STEP + line)];
  });
  return [lines.length === 0 ? "an object" : "an object with", ...lines];
}

function items(schema: JsonObject): Lines {
  const [first = "anything", ...rest] = linesOf(schema["items"] ?? true);
  return [`a list${limits(schema)} of: ${first}`, ...rest];
}

function choices(options: readonly Json[]): Lines {
  return [
    "one of:",
    ...options.flatMap((one) => linesOf(one).map((line, at) => `${at === 0 ? "- " : STEP}${line}`)),
  ];
}

function linesOf(schema: Json): Lines {
  if (schema === true) return ["anything"];
  if (!isJsonObject(schema)) return [json(schema)];
  if (schema["enum"] !== undefined)
    return described(schema, [`one of ${list(schema["enum"]).map(json).join(", ")}`]);
  if (schema["const"] !== undefined) return described(schema, [json(schema["const"])]);
  const options = list(schema["anyOf"] ?? schema["oneOf"]);
  if (options.length > 0) return described(schema, choices(options));
  const { type } = schema;
  if (type === "object") return described(schema, fields(schema));
  if (type === "array") return described(schema, items(schema));
  const word = typeof type === "string" ? TYPES[type] : undefined;
  return described(schema, [word === undefined ? json(schema) : `${word}${limits(schema)}`]);
}

/** Lines that are visible already. */
export function schemaText(schema: Json): Lines {
  return linesOf(schema);
}

/** Something of that form, to be typed over. */
export function exampleOf(schema: Json | undefined): Json {
  if (!isJsonObject(schema)) return {};
  const [first] = list(schema["enum"]);
  if (first !== undefined) return first;
  if (schema["const"] !== undefined) return schema["const"];
  const { type, properties } = schema;
  if (type === "object" && isJsonObject(properties))
    return Object.fromEntries(Object.entries(properties).map(([name, part]) => [name, exampleOf(part)]));
  if (type === "array") return [];
  if (type === "string") return "…";
  if (type === "boolean") return true;
  return type === "number" || type === "integer" ? 0 : {};
}
