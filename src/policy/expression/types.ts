/**
 * Types of expressions: what is known of a value before evaluation, from a tool's JSON Schema or from the surrounding
 * expression; and the signature of a function or method. A method's receiver is its first operand.
 */

import { isJsonObject, type Json, type JsonObject } from "../../kernel/json.ts";
import type { ExpressionKind, Meter, Value } from "./values.ts";

/** `needed`: the author of an object has to set the field. A field with a default is required, but not needed. */
type Field = { readonly type: Type; readonly required: boolean; readonly needed?: true };
export type Type =
  | { readonly kind: "any" }
  | { readonly kind: Exclude<ExpressionKind, "list" | "object" | "string"> }
  /** `among`: the only possible texts; null if any text is possible. */
  | { readonly kind: "string"; readonly among: readonly string[] | null }
  | { readonly kind: "list"; readonly of: Type }
  | {
      readonly kind: "object";
      readonly fields: ReadonlyMap<string, Field>;
      /** Type of unlisted keys; null if there are none. */
      readonly rest: Type | null;
    };

export const ANY: Type = { kind: "any" };
export const BOOL: Type = { kind: "bool" };
export const NUMBER: Type = { kind: "number" };
export const STRING: Type = { kind: "string", among: null };
export const oneOf = (among: readonly string[]): Type => ({ kind: "string", among });
export const NULL: Type = { kind: "null" };
export const MOMENT: Type = { kind: "moment" };
const SPAN: Type = { kind: "span" };
export const listOf = (of: Type): Type => ({ kind: "list", of });
export const ANY_OBJECT: Type = { kind: "object", fields: new Map(), rest: ANY };

export function objectOf(fields: Readonly<Record<string, Type>>): Type {
  const entries = Object.entries(fields).map(([name, type]) => [name, { type, required: true }] as const);
  return { kind: "object", fields: new Map(entries), rest: null };
}

/** The type of both, or `any` if they differ. */
export function joined(a: Type, b: Type): Type {
  if (a.kind === "null") return b;
  if (b.kind === "null") return a;
  if (a.kind !== b.kind) return ANY;
  if (a.kind === "list" && b.kind === "list") return listOf(joined(a.of, b.of));
  if (a.kind === "string" && b.kind === "string")
    return a.among === null || b.among === null ? STRING : oneOf([...new Set([...a.among, ...b.among])]);
  return a.kind === "object" ? ANY_OBJECT : a;
}

/** Whether a value can be of both types. Null fits every type: a string of a schema may be nullable. */
export function mayMeet(a: Type, b: Type): boolean {
  return a.kind === "any" || b.kind === "any" || a.kind === "null" || b.kind === "null" || a.kind === b.kind;
}

export const mayBe = (type: Type, kind: ExpressionKind): boolean => type.kind === "any" || type.kind === kind;

const SIMPLE: Readonly<Record<string, Type>> = {
  string: STRING,
  number: NUMBER,
  integer: NUMBER,
  boolean: BOOL,
  null: NULL,
};
const MOST_LEVELS = 20;

/** Parts of a schema that cannot be interpreted are `any`, where no fault is reported. */
export function typeOfSchema(schema: JsonObject): Type {
  return typeIn({ root: schema, refs: new Map() }, schema, 0);
}

type Whole = { readonly root: JsonObject; readonly refs: Map<string, Type> };

function typeIn(whole: Whole, schema: Json | undefined, level: number): Type {
  if (!isJsonObject(schema) || level > MOST_LEVELS) return ANY;
  const at = (part: Json | undefined) => typeIn(whole, part, level + 1);
  const { type, $ref, enum: values } = schema;
  if (typeof $ref === "string") return referred(whole, $ref, level);
  const choices = schema["anyOf"] ?? schema["oneOf"];
  if (Array.isArray(choices)) return allJoined(choices.map(at));
  if (schema["allOf"] !== undefined) return ANY;
  if (Array.isArray(values)) return allJoined(values.map(typeOfChoice));
  if (Object.hasOwn(schema, "const")) return typeOfChoice(schema["const"] ?? null);
  if (Array.isArray(type)) return allJoined(type.map((one) => at({ ...schema, type: one })));
  if (type === "array") return listOf(at(schema["items"]));
  if (type === "object") return objectType(schema, at);
  return SIMPLE[String(type)] ?? ANY;
}

/** Resolves each reference once: a schema that contains itself several times would otherwise take too long. */
function referred(whole: Whole, ref: string, level: number): Type {
  const known = whole.refs.get(ref);
  if (known !== undefined) return known;
  whole.refs.set(ref, ANY);
  const type = typeIn(whole, resolve(whole.root, ref), level + 1);
  whole.refs.set(ref, type);
  return type;
}

export function typeOfValue(value: Json): Type {
  if (value === null) return NULL;
  return SIMPLE[typeof value] ?? ANY;
}

const typeOfChoice = (value: Json): Type => (typeof value === "string" ? oneOf([value]) : typeOfValue(value));

function allJoined([first, ...rest]: readonly Type[]): Type {
  return first === undefined ? ANY : rest.reduce(joined, first);
}

function resolve(root: JsonObject, ref: string): Json | undefined {
  if (ref === "#") return root;
  if (!ref.startsWith("#/")) return undefined;
  let at: Json | undefined = root;
  for (const part of ref.slice(2).split("/")) {
    const key = part.replaceAll("~1", "/").replaceAll("~0", "~");
    at = isJsonObject(at) && Object.hasOwn(at, key) ? at[key] : undefined;
  }
  return at;
}

function objectType(schema: JsonObject, at: (part: Json | undefined) => Type): Type {
  const { properties, required, additionalProperties: more } = schema;
  const needed = new Set(Array.isArray(required) ? required : []);
  const fields = new Map<string, Field>();
  for (const [name, part] of Object.entries(isJsonObject(properties) ? properties : {}))
    fields.set(name, {
      type: at(part),
      required: needed.has(name) || hasDefault(part),
      ...(needed.has(name) && !hasDefault(part) ? { needed: true } : {}),
    });
  return { kind: "object", fields, rest: restOf(more, fields.size === 0, at) };
}

/** Judged arguments have passed the schema, which filled in the default. */
const hasDefault = (part: Json): boolean => isJsonObject(part) && Object.hasOwn(part, "default");

/** A schema that lists its fields and does not mention others is taken as complete. */
function restOf(more: Json | undefined, open: boolean, at: (part: Json) => Type): Type | null {
  if (more === undefined) return open ? ANY : null;
  if (more === false) return null;
  return more === true ? ANY : at(more);
}

type Run = (meter: Meter, ...operands: never[]) => Value;

export type ExpressionFunction = {
  readonly name: string;
  readonly method: boolean;
  readonly takes: readonly ExpressionKind[];
  readonly gives: Type;
  /** The operands are of the kinds in `takes`. */
  readonly run: Run;
};

const RESULTS: Readonly<Record<string, Type>> = {
  ...{ bool: BOOL, number: NUMBER, string: STRING, moment: MOMENT, span: SPAN },
  ...{ list: listOf(ANY), "list<string>": listOf(STRING) },
};

/** A function, a method or an operator by its signature: `size(list): number`, `string.trim(): string`. */
export function defineFunction(signature: string, run: Run): ExpressionFunction {
  const [, receiver = "", name = "", operands = "", result = ""] =
    /^(?:(\w+)\.)?([^.(]+)\((.*)\): (.+)$/.exec(signature) ?? [];
  const takes = [receiver, ...operands.split(", ")].filter((kind) => kind !== "") as ExpressionKind[];
  return { name, method: receiver !== "", takes, gives: RESULTS[result] ?? ANY, run };
}
