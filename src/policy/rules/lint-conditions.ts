/**
 * Finds conditions that can never be true, conditions that name unknown tools, and rules that another rule always
 * precedes. Uses the solver in expression/implies.ts and never.ts. Facts known before there is an action: counts are
 * not negative, a risk is at most the sum of its conditions, a tool has its class, arguments fit its schema. Only facts
 * that hold for every action reaching the policy are used; if that is not certain, nothing is assumed.
 */

import { isJsonObject, type Json, type JsonObject } from "../../kernel/json.ts";
import { closestName } from "../../kernel/spelling.ts";
import {
  implies,
  impliesSome,
  type Literal,
  listedIn,
  literalOf,
  nodeKey,
  type Test,
  type Weighed,
  weigh,
} from "../expression/implies.ts";
import { isNever, type KnownFact } from "../expression/never.ts";
import { parse } from "../expression/parse.ts";
import { type Node, namesIn, partsOf, pathText } from "../expression/syntax.ts";
import { type CompileContext, isCallField } from "./compile-expressions.ts";
import type { PolicyDocument, PolicyFault, PolicyRule, ToolPattern } from "./document.ts";
import {
  callKindOfTool,
  FINAL,
  type KnownTool,
  matchesGlob,
  matchesTool,
  meansUndo,
  patternsOf,
} from "./tools.ts";
import { RISK_LEVELS } from "./verdict.ts";

const field = (of: Node, name: string): Node => ({ kind: "field", of, name, at: 0 });
const named = (name: string): Node => ({ kind: "name", name, at: 0 });

type Claimed = { readonly [Kind in Test["op"]]?: Kind extends "in" ? readonly Literal[] : Literal };

function known(node: Node, claims: Claimed): KnownFact {
  const subject = nodeKey(node);
  const tests = Object.entries(claims).map(([op, value]) =>
    op === "in" ? { subject, op, values: value } : { subject, op, value },
  );
  return { subject, tests: tests as unknown as readonly Test[] };
}

/** `size(…)` of any value, and totals that count. */
function countsIn(node: Node, totals: PolicyDocument["totals"] = {}): readonly KnownFact[] {
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

/** Lowest and highest sum of weights, added in their order so that rounding cannot exceed the bounds. */
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

function riskOf(document: PolicyDocument): readonly KnownFact[] {
  const { least, most } = reach(document);
  return [
    known(field(named("risk"), "score"), { ">=": least, "<=": most }),
    known(field(named("risk"), "level"), { in: levelsReached(document) }),
  ];
}

/** If a tool's schema is unknown, its class may be too. `more`: classes of what is not a tool, as an answer. */
function classesOf(tools: readonly KnownTool[], more: readonly string[]): readonly KnownFact[] {
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

/** The only possible values, if the schema lists them. */
function valuesIn({ enum: values, const: only, type }: JsonObject): readonly Json[] | undefined {
  if (Array.isArray(values)) return values;
  if (only !== undefined) return [only];
  return type === "boolean" ? [true, false] : undefined;
}

function ofValue(node: Node, schema: Json | undefined, depth: number): readonly KnownFact[] {
  if (!isJsonObject(schema) || UNTOLD.some((key) => Object.hasOwn(schema, key))) return [];
  const { type, properties } = schema;
  const values = valuesIn(schema);
  if (values !== undefined) return values.every(isLiteral) ? [known(node, { in: values })] : [];
  const bounds = type === "number" || type === "integer" ? boundsOf(schema) : {};
  if (Object.keys(bounds).length > 0) return [known(node, bounds)];
  if (type !== "object" || !isJsonObject(properties) || depth === DEEPEST) return [];
  return Object.entries(properties).flatMap(([name, part]) => ofValue(field(node, name), part, depth + 1));
}

/** Facts about a tool's arguments, from its schema. */
const argumentsOf = ({ schema }: KnownTool): readonly KnownFact[] =>
  schema === null ? [] : ofValue(named("args"), schema, 0);

const TOOL_NAME = "tool.name";
const SUBJECT = nodeKey({
  kind: "field",
  of: { kind: "name", name: "tool", at: 0 },
  name: "name",
  at: 0,
});

type PlacedCondition = {
  /** Owner of the condition, for messages. */
  readonly id: string;
  readonly tool: ToolPattern | undefined;
  readonly when: PolicyRule["when"];
  readonly path: PolicyFault["path"];
  /** Totals see earlier calls, and no `tool`. */
  readonly seesTool: boolean;
  /** Rules see the risk; its own conditions do not. */
  readonly hasRisk: boolean;
};

function conditionsIn({ document }: CompileContext): readonly PlacedCondition[] {
  const { rules = [], risk, totals = {} } = document;
  return [
    ...rules.map(({ id, tool, when }, index) => {
      return { id, tool, when, path: ["rules", index, "when"], seesTool: true, hasRisk: true };
    }),
    ...(risk?.conditions ?? []).map(({ id, tool, when }, index) => {
      return { id, tool, when, path: ["risk", "conditions", index, "when"], seesTool: true, hasRisk: false };
    }),
    ...Object.entries(totals).map(([id, { tool, when }]) => {
      return {
        id: `totals.${id}`,
        tool,
        when,
        path: ["totals", id, "when"],
        seesTool: false,
        hasRisk: false,
      };
    }),
  ];
}

type Named = { readonly name: unknown; readonly at: number };

function namesAt(node: Node): readonly Named[] {
  if (node.kind === "in" && pathText(node.left) === TOOL_NAME)
    return (listedIn(node.right) ?? []).map((name) => ({ name, at: node.right.at }));
  if (node.kind !== "compare" || node.op !== "==") return [];
  const { left, right } = node;
  if (pathText(left) === TOOL_NAME) return [{ name: literalOf(right), at: right.at }];
  return pathText(right) === TOOL_NAME ? [{ name: literalOf(left), at: left.at }] : [];
}

/** Tool names that a condition compares with. */
const toolNamesIn = (node: Node): readonly Named[] => [
  ...namesAt(node),
  ...partsOf(node).flatMap(toolNamesIn),
];

/** Several programs may share a policy, so an unknown name is only a warning. */
function checkNames({ tools, report }: CompileContext, { path, tool }: PlacedCondition, node: Node): void {
  if (tools === null) return;
  const known = tools.map(({ name }) => name);
  for (const { name, at } of toolNamesIn(node)) {
    if (typeof name !== "string" || name === FINAL || known.includes(name)) continue;
    // A tool that the rule does not apply to is already reported.
    if (!matchesTool(tool, name)) continue;
    const meant = closestName(name, known);
    const message = `there is no tool ${name} here${meant === undefined ? "" : ` (did you mean ${meant}?)`}`;
    report.warnings.push({ path, message, offset: at });
  }
}

const isWrittenFalse = (when: PlacedCondition["when"]): boolean =>
  when === false || (typeof when === "string" && when.trim() === "false");

type Why = { readonly words: string; readonly known: readonly KnownFact[] };

/** A compensation has its own class, which is not known here. */
const mayBeUndo = (tool: ToolPattern | undefined, tools: readonly KnownTool[]): boolean =>
  tools.some(({ name }) => matchesTool(tool, `${name}.undo`));

/** Sets of known facts, each with the message to give if that set alone rules the condition out. */
function grounds({ document, tools }: CompileContext, { tool, hasRisk }: PlacedCondition): readonly Why[] {
  const spoken = {
    subject: SUBJECT,
    may: (name: unknown) => typeof name === "string" && matchesTool(tool, name),
  };
  const spokenOf = (tools ?? []).filter(({ name }) => matchesTool(tool, name));
  return [
    { words: "its condition wants a tool that it does not speak of", known: [spoken] },
    ...(hasRisk
      ? [{ words: "the risk never comes to what its condition asks for", known: riskOf(document) }]
      : []),
    {
      words: "no tool that it speaks of is of the class that its condition asks for",
      known: mayBeUndo(tool, tools ?? [])
        ? []
        : classesOf(spokenOf, matchesTool(tool, FINAL) ? ["read"] : []),
    },
  ];
}

/** Whether the condition is false for every tool of the rule. A final answer is not a tool and has no tool's schema. */
function isOfNoTool(
  { tools }: CompileContext,
  { tool }: PlacedCondition,
  node: Node,
  counts: readonly KnownFact[],
): boolean {
  const spokenOf = (tools ?? []).filter(({ name }) => matchesTool(tool, name));
  const isAsked = spokenOf.length > 0 && !matchesTool(tool, FINAL);
  return isAsked && spokenOf.every((one) => isNever(node, [...counts, ...argumentsOf(one)]));
}

function whyNever(shop: CompileContext, condition: PlacedCondition, node: Node): string | undefined {
  const counts = countsIn(node, condition.seesTool ? (shop.document.totals ?? {}) : {});
  if (isNever(node, counts)) return "its condition can never be true";
  if (!condition.seesTool) return undefined;
  const why = grounds(shop, condition).find(({ known }) => isNever(node, [...counts, ...known]));
  if (why !== undefined) return why.words;
  const isOf = isOfNoTool(shop, condition, node, counts);
  return isOf ? "no tool that it speaks of takes arguments of which its condition is true" : undefined;
}

export function checkNever(shop: CompileContext): void {
  for (const condition of conditionsIn(shop)) {
    const { id, when, path } = condition;
    // A literal `false` is reported by `lint.ts`.
    const parsed = typeof when === "string" && !isWrittenFalse(when) ? parse(when) : undefined;
    if (parsed?.ok !== true) continue;
    const why = whyNever(shop, condition, parsed.node);
    if (why !== undefined) shop.report.warnings.push({ path, message: `${id} can never match: ${why}` });
    checkNames(shop, condition, parsed.node);
  }
}

type RuleCondition = { readonly kind: "always" | "unknown" } | ({ readonly kind: "weighed" } & Weighed);
type Placed = { readonly rule: PolicyRule; readonly at: number; readonly condition: RuleCondition };

function conditionOf({ when = true }: PolicyRule): RuleCondition {
  if (when === true || (typeof when === "string" && when.trim() === "true")) return { kind: "always" };
  const parsed = typeof when === "string" ? parse(when) : undefined;
  return parsed?.ok === true ? { kind: "weighed", ...weigh(parsed.node) } : { kind: "unknown" };
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

/** A rule for calls that reads their arguments does not apply to a compensation. */
function readsCall({ when, set = {} }: PolicyRule): boolean {
  const parsed = typeof when === "string" ? parse(when) : undefined;
  const names = parsed?.ok === true ? [...namesIn(parsed.node)] : [];
  const isRead = names.some((name) => name.startsWith("args.") && isCallField(name.slice("args.".length)));
  return isRead || Object.keys(set).some(isCallField);
}

function matchesAll(wide: RuleCondition, narrow: RuleCondition): boolean {
  if (wide.kind === "always") return true;
  return wide.kind === "weighed" && narrow.kind === "weighed" && implies(narrow, wide);
}

const STRENGTH = { approve: 0, escalate: 1, revise: 2, block: 3 } as const;

/** A revision no longer counts once applied, so it hides no rule. A shadow rule neither hides nor is hidden. */
const mayHide = ({ rule }: Placed): boolean => rule.shadow !== true && rule.verdict !== "revise";

function comesFirst(wide: Placed, narrow: Placed): boolean {
  const stronger = STRENGTH[wide.rule.verdict] - STRENGTH[narrow.rule.verdict];
  return stronger > 0 || (stronger === 0 && wide.at < narrow.at);
}

function hides(wide: Placed, narrow: Placed): boolean {
  const isFirst = comesFirst(wide, narrow) && matchesAll(wide.condition, narrow.condition);
  return isFirst && covers(wide.rule, narrow.rule);
}

type Weighty = Placed & { readonly condition: Extract<RuleCondition, { kind: "weighed" }> };
const isWeighed = (one: Placed): one is Weighty => one.condition.kind === "weighed";

/** Rules that together, but not alone, hide this one: each way in which it matches also matches one of them. */
function hiddenBySome(narrow: Placed, hiding: readonly Placed[]): readonly Placed[] {
  if (!isWeighed(narrow)) return [];
  const others = hiding
    .filter(isWeighed)
    .filter((one) => one.at !== narrow.at && comesFirst(one, narrow) && covers(one.rule, narrow.rule));
  return others.length < 2 ? [] : (impliesSome(narrow.condition, others) ?? []);
}

function wordsOfSome({ rule }: Placed, by: readonly Placed[]): string {
  const ids = by.map((one) => one.rule.id);
  const named = `${ids.slice(0, -1).join(", ")} or ${ids.at(-1)}`;
  return `${rule.id} never comes to its ${rule.verdict}: whatever it matches, ${named} matches as well, and that comes first`;
}

function words({ rule }: Placed, by: Placed): string {
  const first = `and its ${by.rule.verdict} comes first`;
  if (by.condition.kind === "always")
    return `${rule.id} is never the answer: ${by.rule.id} always matches, ${first}`;
  return `${rule.id} never comes to its ${rule.verdict}: whatever it matches, ${by.rule.id} matches as well, ${first}`;
}

export function checkReach({ document, report }: CompileContext): void {
  const placed = (document.rules ?? []).map((rule, at) => ({ rule, at, condition: conditionOf(rule) }));
  const hiding = placed.filter(mayHide);
  for (const one of placed.filter(({ rule }) => rule.shadow !== true)) {
    const by = hiding.find((other) => other.at !== one.at && hides(other, one));
    const path = ["rules", one.at];
    if (by !== undefined) {
      report.warnings.push({ path, message: words(one, by) });
      continue;
    }
    const some = hiddenBySome(one, hiding);
    if (some.length > 0) report.warnings.push({ path, message: wordsOfSome(one, some) });
  }
}
