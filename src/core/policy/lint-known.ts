/**
 * What is known of the facts before there is an action: counts are not negative, a risk is at most what its conditions come to,
 * a tool is of its class, and arguments are what its schema takes.
 *
 * K1. Only what is so of every action that gets as far as the policy; where that cannot be told, nothing is known.
 */
import { isJsonObject, type Json, type JsonObject } from "../../kernel/json.ts";
import { RISK_LEVELS } from "../verdict.ts";
import type { PolicyDocument } from "./document.ts";
import { keyOf, type Literal, type Test } from "./expression/implies.ts";
import type { Known } from "./expression/never.ts";
import { type Node, partsOf } from "./expression/syntax.ts";
import type { KnownTool } from "./known-tool.ts";

const field = (of: Node, name: string): Node => ({ kind: "field", of, name, at: 0 });
const named = (name: string): Node => ({ kind: "name", name, at: 0 });

type Claimed = { readonly [Kind in Test["op"]]?: Kind extends "in" ? readonly Literal[] : Literal };

function known(node: Node, claims: Claimed): Known {
  const subject = keyOf(node);
  const tests = Object.entries(claims).map(([op, value]) =>
    op === "in" ? { subject, op, values: value } : { subject, op, value },
  );
  return { subject, tests: tests as unknown as readonly Test[] };
}

/** `size(…)` of anything, and totals that count. */
export function countsIn(node: Node, totals: PolicyDocument["totals"] = {}): readonly Known[] {
  const isSize = node.kind === "call" && node.name === "size";
  const isTotal =
    node.kind === "field" &&
    node.of.kind === "name" &&
    node.of.name === "totals" &&
    Object.hasOwn(totals, node.name) &&
    totals[node.name]?.count === true;
  const own = isSize || isTotal ? [known(node, { ">=": 0 })] : [];
  return [...own, ...partsOf(node).flatMap((part) => countsIn(part, totals))];
}

const USUAL = { medium: 30, high: 60, critical: 90 } as const;

/** The least and the most that the weights come to. In their order, as they are added: less of them is never more. */
function reach({ risk }: PolicyDocument): { readonly least: number; readonly most: number } {
  const weights = (risk?.conditions ?? []).map(({ weight }) => weight);
  const sum = (some: readonly number[]) => some.reduce((whole, one) => whole + one, 0);
  return { least: sum(weights.filter((one) => one < 0)), most: sum(weights.filter((one) => one > 0)) };
}

export function levelsReached(document: PolicyDocument): readonly (typeof RISK_LEVELS)[number][] {
  const { risk } = document;
  if (risk === undefined) return ["low"];
  const { least, most } = reach(document);
  const { medium = USUAL.medium, high = USUAL.high, critical = USUAL.critical } = risk.levels ?? {};
  const from = [Number.NEGATIVE_INFINITY, medium, high, critical];
  const to = [medium, high, critical, Number.POSITIVE_INFINITY];
  return RISK_LEVELS.filter((_, index) => most >= (from[index] ?? 0) && least < (to[index] ?? 0));
}

export function riskOf(document: PolicyDocument): readonly Known[] {
  const { least, most } = reach(document);
  return [
    known(field(named("risk"), "score"), { ">=": least, "<=": most }),
    known(field(named("risk"), "level"), { in: levelsReached(document) }),
  ];
}

/** Of tools whose schema is not known the class may not be either. `more`: of what is no tool, as an answer. */
export function classesOf(tools: readonly KnownTool[], more: readonly string[]): readonly Known[] {
  if (tools.length === 0 || tools.some(({ schema }) => schema === null)) return [];
  const classes = [...new Set([...tools.map(({ effectClass }) => effectClass), ...more])];
  return [known(field(named("tool"), "effect"), { in: classes })];
}

const UNTOLD = ["$ref", "anyOf", "oneOf", "allOf", "not", "if"];
const DEEPEST = 4;
const isLiteral = (value: Json): value is Literal => typeof value !== "object" || value === null;

function boundsOf(schema: JsonObject): Claimed {
  const { minimum, maximum, exclusiveMinimum: above, exclusiveMaximum: below } = schema;
  return {
    ...(typeof minimum === "number" ? { ">=": minimum } : {}),
    ...(typeof maximum === "number" ? { "<=": maximum } : {}),
    ...(typeof above === "number" ? { ">": above } : {}),
    ...(typeof below === "number" ? { "<": below } : {}),
  };
}

/** The only values that there are, where they are listed. */
function valuesIn({ enum: values, const: only, type }: JsonObject): readonly Json[] | undefined {
  if (Array.isArray(values)) return values;
  if (only !== undefined) return [only];
  return type === "boolean" ? [true, false] : undefined;
}

function ofValue(node: Node, schema: Json | undefined, depth: number): readonly Known[] {
  if (!isJsonObject(schema) || UNTOLD.some((key) => Object.hasOwn(schema, key))) return [];
  const { type, properties } = schema;
  const values = valuesIn(schema);
  if (values !== undefined) return values.every(isLiteral) ? [known(node, { in: values })] : [];
  const bounds = type === "number" || type === "integer" ? boundsOf(schema) : {};
  if (Object.keys(bounds).length > 0) return [known(node, bounds)];
  if (type !== "object" || !isJsonObject(properties) || depth === DEEPEST) return [];
  return Object.entries(properties).flatMap(([name, part]) => ofValue(field(node, name), part, depth + 1));
}

/** What a tool's arguments are, by its schema. */
export const argumentsOf = ({ schema }: KnownTool): readonly Known[] =>
  schema === null ? [] : ofValue(named("args"), schema, 0);
