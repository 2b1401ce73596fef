/**
 * Values for people: arguments as a tree, a JSON Schema as text. Long values are cut, with a note of what is missing: the
 * requesting agent chooses the length.
 */

import { canonicalJson } from "../../kernel/canonical-json.ts";
import { isJsonObject, type Json, type JsonObject } from "../../kernel/json.ts";
import { isSecretHandle } from "../../kernel/stored-value.ts";
import { visible, visibleJson, visiblePreview } from "../../kernel/text.ts";
import { cut, missing } from "./terminal.ts";

const MOST_CHARACTERS = 1_000;
const MOST_LINES = 100;
const STEP = "  ";

type Lines = readonly string[];

const keyText = (key: string): string =>
  /^[A-Za-z_][\w.-]*$/.test(key) ? key : visibleJson(JSON.stringify(key));

function textLines(value: string, full: boolean): Lines {
  const { text, left } = cut(value, full ? Number.POSITIVE_INFINITY : MOST_CHARACTERS);
  const rest = left === 0 ? [] : [missing(left, "character")];
  if (!text.includes("\n")) return [visibleJson(JSON.stringify(text)), ...rest];
  const lines = text.split("\n");
  return [`(${lines.length} lines)`, ...lines.map((line) => `┆ ${visible(line)}`), ...rest];
}

function leaf(value: Json, full: boolean): Lines {
  if (typeof value === "string") return textLines(value, full);
  if (Array.isArray(value)) return ["(empty list)"];
  if (isJsonObject(value)) return ["(no fields)"];
  return [JSON.stringify(value)];
}

function under(head: string, value: Json, full: boolean): Lines {
  if (isSecretHandle(value))
    return [`${head} secret ${visible(value.$secret)} (only the tool gets its value)`];
  const inner = tree(value, full);
  const nested = isJsonObject(value) || Array.isArray(value);
  if (nested && Object.keys(value).length > 0) return [head, ...inner.map((line) => STEP + line)];
  const [first = "", ...rest] = inner;
  return [`${head} ${first}`, ...rest.map((line) => STEP + line)];
}

function tree(value: Json, full: boolean): Lines {
  if (Array.isArray(value) && value.length > 0) return value.flatMap((item) => under("-", item, full));
  if (isJsonObject(value) && Object.keys(value).length > 0) {
    if (isSecretHandle(value)) return under("", value, full);
    const keys = Object.keys(value).sort();
    return keys.flatMap((key) => under(`${keyText(key)}:`, value[key] ?? null, full));
  }
  return leaf(value, full);
}

export function valueTree(value: Json, full: boolean): Lines {
  const lines = tree(value, full);
  if (full || lines.length <= MOST_LINES) return lines;
  return [...lines.slice(0, MOST_LINES), missing(lines.length - MOST_LINES, "line")];
}

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

/** zod writes out the range of safe integers, which readers do not need. */
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

/** Lines of visible text. */
export function schemaText(schema: Json): Lines {
  return linesOf(schema);
}
