/**
 * Finds mistakes in rules: conditions that name unknown tools, rules that another rule always precedes, and values that
 * do not fit the arguments of a tool. A rule precedes another for certain only if it has no condition, or the same
 * condition: nothing else is concluded from conditions.
 */

import { isJsonObject, type Json } from "../../kernel/json.ts";
import { didYouMean } from "../../kernel/spelling.ts";
import { neverIs, noFindings, typeOf, typeText } from "../expression/check.ts";
import { argsType } from "../expression/expression.ts";
import { type Node, namesIn, parse, partsOf, pathText } from "../expression/syntax.ts";
import { ANY, ANY_OBJECT, listOf, mayMeet, type Type, typeOfValue } from "../expression/types.ts";
import { type CompileContext, isCallField, isExpression } from "./compile-expressions.ts";
import type { PolicyFault, PolicyRule } from "./document.ts";
import { namesInScope } from "./evaluation-context.ts";
import { callKindOfTool, FINAL, matchesGlob, matchesTool, meansUndo, patternsOf } from "./tools.ts";

function parsedCondition({ when }: Pick<PolicyRule, "when">): Node | undefined {
  const parsed = typeof when === "string" ? parse(when) : undefined;
  return parsed?.ok === true ? parsed.node : undefined;
}

type NamedTool = { readonly name: unknown; readonly at: number };

const nameAt = (node: Node, at = node.at): NamedTool => ({
  name: node.kind === "value" ? node.value : undefined,
  at,
});

function namesAt(node: Node): readonly NamedTool[] {
  const isToolName = (side: Node) => pathText(side) === "tool.name";
  if (node.kind === "in" && isToolName(node.left) && node.right.kind === "list")
    return node.right.items.map((item) => nameAt(item, node.right.at));
  if (node.kind !== "compare" || node.op !== "==") return [];
  if (isToolName(node.left)) return [nameAt(node.right)];
  return isToolName(node.right) ? [nameAt(node.left)] : [];
}

/** Tool names that a condition compares with. */
const toolNamesIn = (node: Node): readonly NamedTool[] => [
  ...namesAt(node),
  ...partsOf(node).flatMap(toolNamesIn),
];

type Conditioned = Pick<PolicyRule, "tool" | "when">;

/** Several programs may share a policy, so an unknown name is only a warning. */
function checkNames(
  { tools, report }: CompileContext,
  { tool, when }: Conditioned,
  path: PolicyFault["path"],
) {
  const node = parsedCondition({ when });
  if (node === undefined || tools === null) return;
  const known = tools.map((one) => one.name);
  for (const { name, at } of toolNamesIn(node)) {
    if (typeof name !== "string" || name === FINAL || known.includes(name)) continue;
    if (!matchesTool(tool, name)) continue;
    const message = `there is no tool ${name} here${didYouMean(name, known)}`;
    report.warnings.push({ path, message, offset: at });
  }
}

export function checkConditionNames(shop: CompileContext): void {
  const { rules = [], risk } = shop.document;
  for (const [index, rule] of rules.entries()) checkNames(shop, rule, ["rules", index, "when"]);
  for (const [index, condition] of (risk?.conditions ?? []).entries())
    checkNames(shop, condition, ["risk", "conditions", index, "when"]);
}

const ALWAYS = "true";

/** Equal for conditions with the same tree, regardless of spacing. Undefined if the condition cannot be compared. */
function conditionKey(rule: PolicyRule): string | undefined {
  const { when = true } = rule;
  if (when === true || (typeof when === "string" && when.trim() === "true")) return ALWAYS;
  const node = parsedCondition(rule);
  return node && JSON.stringify(node, (name, value) => (name === "at" ? undefined : value));
}

/** A rule for calls that reads their arguments does not apply to a compensation. */
function readsCall(rule: PolicyRule): boolean {
  const node = parsedCondition(rule);
  const names = node === undefined ? [] : [...namesIn(node)];
  const isRead = names.some((name) => name.startsWith("args.") && isCallField(name.slice("args.".length)));
  return isRead || Object.keys(rule.set ?? {}).some(isCallField);
}

/** Whether one rule applies to every tool that the other applies to. */
function covers(wide: PolicyRule, narrow: PolicyRule): boolean {
  const patterns = patternsOf(wide.tool);
  return patternsOf(narrow.tool).every((one) => {
    if (one === FINAL) return patterns.includes(FINAL);
    if (callKindOfTool(one) === "undo" && !meansUndo(wide.tool, one) && readsCall(wide)) return false;
    return patterns.some((pattern) => pattern === one || matchesGlob(pattern, one));
  });
}

type PlacedRule = { readonly rule: PolicyRule; readonly at: number; readonly key: string | undefined };

const STRENGTH = { approve: 0, escalate: 1, revise: 2, block: 3 } as const;

/** A revision no longer counts once applied, so it hides no rule. A shadow rule neither hides nor is hidden. */
const mayHide = ({ rule }: PlacedRule): boolean => rule.shadow !== true && rule.verdict !== "revise";

function comesFirst(wide: PlacedRule, narrow: PlacedRule): boolean {
  const stronger = STRENGTH[wide.rule.verdict] - STRENGTH[narrow.rule.verdict];
  return stronger > 0 || (stronger === 0 && wide.at < narrow.at);
}

function hides(wide: PlacedRule, narrow: PlacedRule): boolean {
  const isSame = wide.key === ALWAYS || (wide.key !== undefined && wide.key === narrow.key);
  return isSame && wide.at !== narrow.at && comesFirst(wide, narrow) && covers(wide.rule, narrow.rule);
}

function hiddenText({ rule }: PlacedRule, by: PlacedRule): string {
  const first = `and its ${by.rule.verdict} comes first`;
  return by.key === ALWAYS
    ? `${rule.id} is never the answer: ${by.rule.id} always matches, ${first}`
    : `${rule.id} never gives its ${rule.verdict}: ${by.rule.id} has the same condition, ${first}`;
}

export function checkReach({ document, report }: CompileContext): void {
  const placed = (document.rules ?? []).map((rule, at) => ({ rule, at, key: conditionKey(rule) }));
  const hiding = placed.filter(mayHide);
  for (const one of placed.filter(({ rule }) => rule.shadow !== true)) {
    const by = hiding.find((other) => hides(other, one));
    if (by !== undefined) report.warnings.push({ path: ["rules", one.at], message: hiddenText(one, by) });
  }
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

function expressionIn(value: Json): Node | undefined {
  const parsed = isExpression(value) ? parse(value.expr) : undefined;
  return parsed?.ok === true ? parsed.node : undefined;
}

/** Faults in the expression itself are reported where it is compiled. */
function typeOfGiven(value: Json, args: Type, totals: CompileContext["totals"]): Type {
  const node = expressionIn(value);
  const names = new Map([...namesInScope(totals.keys(), true), ["args", args] as const]);
  if (node !== undefined) return typeOf(node, { names, present: new Set(), findings: noFindings() });
  if (isExpression(value)) return ANY;
  if (Array.isArray(value)) return listOf(ANY);
  return isJsonObject(value) ? ANY_OBJECT : typeOfValue(value);
}

/** Why the tool would reject the value; undefined if it might accept it. Parts of a value are not looked into. */
function misfit(
  name: string,
  key: string,
  args: Type,
  given: { value: Json; type: Type },
): string | undefined {
  if (args.kind !== "object") return undefined;
  const type = args.fields.get(key)?.type ?? args.rest;
  if (type === null) return `${name} has no field ${key}${didYouMean(key, args.fields.keys())}`;
  const what = `${key} of ${name}`;
  if (!mayMeet(given.type, type)) return `${what} is ${typeText(type)}, and this is ${typeText(given.type)}`;
  return typeof given.value === "string" ? neverIs(type, given.value, what) : undefined;
}

/** A misfit for every tool is a fault. A misfit for some tools is a warning: the rule may never match them. */
export function checkSet(shop: CompileContext, { tool, set = {} }: PolicyRule, index: number): void {
  const { tools, report, totals } = shop;
  const known = (tools ?? []).filter(({ name }) => matchesTool(tool, name));
  for (const [key, value] of Object.entries(set)) {
    const found = known.flatMap(({ name, schema }) => {
      const args = argsType(schema);
      return misfit(name, key, args, { value, type: typeOfGiven(value, args, totals) }) ?? [];
    });
    const [message] = found;
    if (message === undefined) continue;
    const list = found.length === known.length ? report.faults : report.warnings;
    list.push({ path: ["rules", index, "set", key], message });
  }
}
