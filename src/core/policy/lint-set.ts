/** Does what a rule puts into the arguments fit the tools that it speaks of? A revision that does not is refused when it is made. */
import { isJsonObject, type Json } from "../json.ts";
import type { Workshop } from "./compile-expressions.ts";
import type { PolicyRule } from "./document.ts";
import { noFindings, typeOf } from "./expression/check.ts";
import { neverIs } from "./expression/choices.ts";
import { parse } from "./expression/parse.ts";
import { type Node, partsOf } from "./expression/syntax.ts";
import { mayMeet, type Type, typeOfValue } from "./expression/types.ts";
import { spoken } from "./expression/values.ts";
import { argsType } from "./expression.ts";
import type { PolicyFault } from "./fault.ts";
import type { KnownTool } from "./known-tool.ts";
import { nearest } from "./nearest.ts";
import { namesFor } from "./scene.ts";
import { matchesTool } from "./tool-pattern.ts";

const typeText = (type: Type): string => (type.kind === "any" ? "anything" : spoken(type.kind));

/** Why a tool would not take it; undefined where it might. */
function misfit(
  { totals }: Workshop,
  { name, schema }: KnownTool,
  key: string,
  value: Json,
): string | undefined {
  const args = argsType(schema);
  if (args.kind !== "object") return undefined;
  const field = args.fields.get(key)?.type ?? args.rest;
  if (field === null) {
    const meant = nearest(key, args.fields.keys());
    return `${name} has no field ${key}${meant === undefined ? "" : ` (did you mean ${meant}?)`}`;
  }
  const never = typeof value === "string" ? neverIs(field, value, `${key} of ${name}`) : undefined;
  if (never !== undefined) return never;
  const node = expressionIn(value);
  const given = node === undefined ? typeOfValue(value) : typeOfExpression(node, args, totals.keys());
  const isOpen = given.kind === "any" || value === null || mayMeet(given, field);
  return isOpen ? undefined : `${key} of ${name} is ${typeText(field)}, and this is ${typeText(given)}`;
}

function expressionIn(value: Json): Node | undefined {
  if (!isJsonObject(value) || Object.keys(value).length !== 1 || typeof value["expr"] !== "string")
    return undefined;
  const parsed = parse(value["expr"]);
  return parsed.ok ? parsed.node : undefined;
}

/** What is wrong with the expression itself is told where it is compiled. */
function typeOfExpression(node: Node, args: Type, totals: Iterable<string>): Type {
  const names = new Map([...namesFor(totals, true), ["args", args] as const]);
  return typeOf(node, { names, present: new Set(), findings: noFindings() });
}

const isOurs = (key: string): boolean => key.startsWith("$secret") || key.startsWith("$artifact");

type Found = { readonly path: PolicyFault["path"]; readonly key: string; readonly offset?: number };

function oursInText(node: Node, path: Found["path"]): readonly Found[] {
  const own = node.kind === "object" ? node.entries.map(([key]) => key) : [];
  const found = own.flatMap((key) =>
    key.kind === "value" && typeof key.value === "string" && isOurs(key.value)
      ? [{ path, key: key.value, offset: key.at }]
      : [],
  );
  return [...found, ...partsOf(node).flatMap((part) => oursInText(part, path))];
}

/** Keys that are Holdpoint's own, wherever they stand in a value. */
function oursIn(value: Json, path: Found["path"]): readonly Found[] {
  if (Array.isArray(value)) return value.flatMap((part: Json, index) => oursIn(part, [...path, index]));
  if (!isJsonObject(value)) return [];
  const text = value["expr"];
  const parsed = typeof text === "string" && Object.keys(value).length === 1 ? parse(text) : undefined;
  if (parsed?.ok === true) return oursInText(parsed.node, [...path, "expr"]);
  return Object.entries(value).flatMap(([key, part]) =>
    isOurs(key) ? [{ path: [...path, key], key }] : oursIn(part, [...path, key]),
  );
}

/** Nobody makes a handle of a secret by writing it down: the revision would be refused whenever it is made. */
export function checkOurs({ report }: Workshop, { set = {} }: PolicyRule, index: number): void {
  for (const { key, ...place } of oursIn(set, ["rules", index, "set"])) {
    const message = `a policy does not write "${key}", which is Holdpoint's own; { expr: "args.…" } passes on what the action has`;
    report.faults.push({ ...place, message });
  }
}

/** A misfit for every tool is certain; for some of them it may never come to that. */
export function checkSet(shop: Workshop, { tool, set = {} }: PolicyRule, index: number): void {
  const { tools, report } = shop;
  const known = (tools ?? []).filter(({ name }) => matchesTool(tool, name));
  for (const [key, value] of Object.entries(set)) {
    const found = known.flatMap((one) => misfit(shop, one, key, value) ?? []);
    const [message] = found;
    if (message === undefined) continue;
    const list = found.length === known.length ? report.faults : report.warnings;
    list.push({ path: ["rules", index, "set", key], message });
  }
}
