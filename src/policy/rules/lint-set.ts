/** Checks that the values set by a rule fit its tools. A revision that does not fit is refused at run time. */

import { isJsonObject, type Json, type JsonObject } from "../../kernel/json.ts";
import { closestName } from "../../kernel/spelling.ts";
import { neverIs, noFindings, typeOf } from "../expression/check.ts";
import { argsType } from "../expression/expression.ts";
import { parse } from "../expression/parse.ts";
import { type Node, partsOf } from "../expression/syntax.ts";
import { ANY, ANY_OBJECT, listOf, mayMeet, type Type, typeOfValue } from "../expression/types.ts";
import { kindText } from "../expression/values.ts";
import { type CompileContext, isExpression } from "./compile-expressions.ts";
import type { PolicyFault, PolicyRule } from "./document.ts";
import { namesInScope } from "./evaluation-context.ts";
import { matchesTool } from "./tools.ts";

const typeText = (type: Type): string => (type.kind === "any" ? "anything" : kindText(type.kind));

type Misfit = { readonly path: PolicyFault["path"]; readonly message: string };
/** The position of a value in a tool's arguments, and the type of these arguments. */
type Spot = {
  readonly tool: string;
  readonly args: Type;
  readonly totals: CompileContext["totals"];
  readonly path: PolicyFault["path"];
};

const within = (spot: Spot, part: string | number): Spot => ({ ...spot, path: [...spot.path, part] });

/** Why the tool would reject the value; undefined if it might accept it. */
function misfit(type: Type | null, value: Json, spot: Spot): Misfit | undefined {
  const { path, tool } = spot;
  const what = `${path.join(".")} of ${tool}`;
  if (type === null || type.kind === "any" || value === null) return undefined;
  const never = typeof value === "string" ? neverIs(type, value, what) : undefined;
  if (never !== undefined) return { path, message: never };
  const given = typeOfGiven(value, spot);
  if (!mayMeet(given, type))
    return { path, message: `${what} is ${typeText(type)}, and this is ${typeText(given)}` };
  if (isExpression(value)) return undefined;
  if (type.kind === "list" && Array.isArray(value))
    return firstOf(value.map((part: Json, index) => misfit(type.of, part, within(spot, index))));
  return type.kind === "object" && isJsonObject(value) ? misfitIn(type, value, spot) : undefined;
}

const firstOf = (all: readonly (Misfit | undefined)[]): Misfit | undefined =>
  all.find((one) => one !== undefined);

type ObjectType = Extract<Type, { kind: "object" }>;

function misfitIn(type: ObjectType, value: JsonObject, spot: Spot): Misfit | undefined {
  const { path, tool } = spot;
  const missing = [...type.fields].find(([name, { needed }]) => needed && !Object.hasOwn(value, name));
  if (missing !== undefined)
    return { path, message: `${path.join(".")} of ${tool} needs ${missing[0]}, which is not there` };
  return firstOf(Object.entries(value).map(([key, part]) => misfitAt(type, key, part, spot)));
}

function misfitAt(type: ObjectType, key: string, value: Json, spot: Spot): Misfit | undefined {
  const inside = within(spot, key);
  const field = type.fields.get(key)?.type ?? type.rest;
  if (field !== null) return misfit(field, value, inside);
  const meant = closestName(key, type.fields.keys());
  const whole = spot.path.length === 0 ? spot.tool : `${spot.path.join(".")} of ${spot.tool}`;
  const message = `${whole} has no field ${key}${meant === undefined ? "" : ` (did you mean ${meant}?)`}`;
  return { path: inside.path, message };
}

function typeOfGiven(value: Json, { args, totals }: Spot): Type {
  const node = expressionIn(value);
  if (node !== undefined) return typeOfExpression(node, args, totals.keys());
  if (isExpression(value)) return ANY;
  if (Array.isArray(value)) return listOf(ANY);
  return isJsonObject(value) ? ANY_OBJECT : typeOfValue(value);
}

function expressionIn(value: Json): Node | undefined {
  if (!isExpression(value)) return undefined;
  const parsed = parse(value.expr);
  return parsed.ok ? parsed.node : undefined;
}

/** Faults in the expression itself are reported where it is compiled. */
function typeOfExpression(node: Node, args: Type, totals: Iterable<string>): Type {
  const names = new Map([...namesInScope(totals, true), ["args", args] as const]);
  return typeOf(node, { names, present: new Set(), findings: noFindings() });
}

const isOurs = (key: string): boolean => key.startsWith("$secret") || key.startsWith("$artifact");

type ReservedKey = { readonly path: PolicyFault["path"]; readonly key: string; readonly offset?: number };

function oursInText(node: Node, path: ReservedKey["path"]): readonly ReservedKey[] {
  const own = node.kind === "object" ? node.entries.map(([key]) => key) : [];
  const found = own.flatMap((key) =>
    key.kind === "value" && typeof key.value === "string" && isOurs(key.value)
      ? [{ path, key: key.value, offset: key.at }]
      : [],
  );
  return [...found, ...partsOf(node).flatMap((part) => oursInText(part, path))];
}

/** Keys reserved by Holdpoint, at any depth of a value. */
function oursIn(value: Json, path: ReservedKey["path"]): readonly ReservedKey[] {
  if (Array.isArray(value)) return value.flatMap((part: Json, index) => oursIn(part, [...path, index]));
  if (!isJsonObject(value)) return [];
  const text = value["expr"];
  const parsed = typeof text === "string" && Object.keys(value).length === 1 ? parse(text) : undefined;
  if (parsed?.ok === true) return oursInText(parsed.node, [...path, "expr"]);
  return Object.entries(value).flatMap(([key, part]) =>
    isOurs(key) ? [{ path: [...path, key], key }] : oursIn(part, [...path, key]),
  );
}

/** A policy cannot create a secret's handle by writing it out: the revision would always be refused. */
export function checkOurs({ report }: CompileContext, { set = {} }: PolicyRule, index: number): void {
  for (const { key, ...place } of oursIn(set, ["rules", index, "set"])) {
    const message = `a policy does not write "${key}", which is Holdpoint's own; { expr: "args.…" } passes on what the action has`;
    report.faults.push({ ...place, message });
  }
}

/** A misfit for every tool is a fault. A misfit for some tools is a warning: the rule may never match them. */
export function checkSet(shop: CompileContext, { tool, set = {} }: PolicyRule, index: number): void {
  const { tools, report, totals } = shop;
  const known = (tools ?? []).filter(({ name }) => matchesTool(tool, name));
  for (const [key, value] of Object.entries(set)) {
    const found = known.flatMap(({ name, schema }) => {
      const args = argsType(schema);
      const spot = { tool: name, args, totals, path: [] };
      return args.kind === "object" ? (misfitAt(args, key, value, spot) ?? []) : [];
    });
    const [first] = found;
    if (first === undefined) continue;
    const list = found.length === known.length ? report.faults : report.warnings;
    list.push({ path: ["rules", index, "set", ...first.path], message: first.message });
  }
}
