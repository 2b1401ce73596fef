/** Compiles the conditions, sums and values of a document into functions. Faults go to the report. */

import { isJsonObject, type Json } from "../../kernel/json.ts";
import { visible } from "../../kernel/text.ts";
import type { RosterState } from "../../people/stream.ts";
import {
  argsType,
  type CheckedExpression,
  checkExpression,
  compileChecked,
  type ExpressionScope,
  type WantedType,
} from "../expression/expression.ts";
import { COST_PER_POLICY } from "../expression/syntax.ts";
import { ANY, type Type } from "../expression/types.ts";
import {
  ExpressionError,
  isTrue,
  type Meter,
  spendCharacters,
  toJson,
  type Value,
} from "../expression/values.ts";
import {
  type FaultReport,
  LONGEST_REASON,
  type PolicyDocument,
  type PolicyFault,
  type Predicate,
  type ToolPattern,
} from "./document.ts";
import {
  type CompiledTotal,
  factsOf,
  namesInScope,
  type PolicyContext,
  policyReaders,
  TOTAL_READERS,
} from "./evaluation-context.ts";
import { type CompiledCondition, resolveSetValue, type SetValue } from "./judge.ts";
import { FINAL, type KnownTool, matchesTool } from "./tools.ts";

type Path = PolicyFault["path"];

/** The document, its surroundings, and the findings so far. */
export type CompileContext = {
  readonly document: PolicyDocument;
  readonly tools: readonly KnownTool[] | null;
  /** The known people, if a roster was given. */
  readonly roster?: RosterState;
  readonly report: FaultReport;
  readonly totals: Map<string, CompiledTotal>;
  /** Totals that an expression uses. */
  readonly used: Set<string>;
  cost: number;
};

/** The final answer of a worker, which every program has. */
const ANSWER: KnownTool = {
  name: FINAL,
  effectClass: "read",
  schema: { type: "object", properties: { answer: { type: "string" } }, required: ["answer"] },
};

type ExpressionSite = { readonly path: Path; readonly tool: ToolPattern | undefined };

function surroundings(
  shop: CompileContext,
  tool: ToolPattern | undefined,
  names: ReadonlyMap<string, Type>,
  wants: WantedType,
): ExpressionScope {
  const here = shop.tools?.filter(({ name, isElsewhere }) => name !== FINAL && isElsewhere !== true);
  const all = here === undefined ? [] : [...here, ANSWER];
  const known = all.filter(({ name }) => matchesTool(tool, name));
  const tools = known.map(({ name, schema }) => ({ name, args: argsType(schema) }));
  return { names, wants, tools };
}

function note(shop: CompileContext, path: Path, { flaws, warnings, cost, names }: CheckedExpression): void {
  const { report } = shop;
  report.faults.push(...flaws.map(({ message, at }) => ({ path, message, offset: at })));
  report.warnings.push(...warnings.map(({ message, at }) => ({ path, message, offset: at })));
  shop.cost += cost;
  for (const name of names) {
    if (name === "totals") for (const one of shop.totals.keys()) if (!hasField(names)) shop.used.add(one);
    if (name.startsWith("totals.")) shop.used.add(name.slice("totals.".length));
  }
}

const hasField = (names: ReadonlySet<string>): boolean =>
  [...names].some((name) => name.startsWith("totals."));

/** Whether an expression reads the workflow's earlier calls. */
const readsHistory = (names: ReadonlySet<string>): boolean => names.has("history") || names.has("totals");

/** Arguments of a compensation. */
const OF_UNDO: readonly string[] = ["args", "result"];

/** Fields that only the call has, not its compensation. */
export const isCallField = (field: string): boolean => !OF_UNDO.includes(field);

const readsCall = (names: ReadonlySet<string>): boolean =>
  [...names].some((name) => name.startsWith("args.") && isCallField(name.slice("args.".length)));

/** `readsCall`: the expression reads arguments that a compensation does not have. */
type CompiledPart<Part> = {
  readonly part: Part;
  readonly looksBack: boolean;
  readonly readsCall: boolean;
};

const plain = <Part>(part: Part): CompiledPart<Part> => ({ part, looksBack: false, readsCall: false });

const made = <Part>(part: Part, names: ReadonlySet<string>): CompiledPart<Part> => ({
  part,
  looksBack: readsHistory(names),
  readsCall: readsCall(names),
});

const NEVER: CompiledCondition = () => false;

function ofPredicate(predicate: Predicate): CompiledCondition {
  return (scene) => {
    const said: unknown = predicate(factsOf(scene));
    if (typeof said !== "boolean") throw new ExpressionError("the function did not answer true or false");
    return said;
  };
}

export function compileCondition(
  shop: CompileContext,
  when: string | boolean | Predicate,
  { path, tool }: ExpressionSite,
  withRisk: boolean,
): CompiledPart<CompiledCondition | null> {
  if (typeof when === "boolean") return plain(when ? null : NEVER);
  if (typeof when === "function") {
    for (const name of shop.totals.keys()) shop.used.add(name);
    return { ...plain(ofPredicate(when)), looksBack: true };
  }
  const around = surroundings(shop, tool, namesInScope(shop.totals.keys(), withRisk), "bool");
  const checked = checkExpression(when, around);
  note(shop, path, checked);
  if (checked.node === null || checked.flaws.length > 0) return plain(NEVER);
  const run = compileChecked(checked.node, policyReaders(shop.totals));
  return made((scene) => isTrue(run(scene)), checked.names);
}

export const isExpression = (value: Json): value is { readonly expr: string } =>
  isJsonObject(value) && Object.keys(value).length === 1 && typeof value["expr"] === "string";

const holdsExpression = (value: Json): boolean =>
  isExpression(value) ||
  (typeof value === "object" && value !== null && Object.values(value).some(holdsExpression));

/** An object or a list that contains expressions. */
function compileParts(
  shop: CompileContext,
  value: Json & object,
  { path, tool }: ExpressionSite,
): CompiledPart<SetValue> {
  const isList = Array.isArray(value);
  const parts = Object.entries(value).map(([key, part]) => {
    const place = { path: [...path, isList ? Number(key) : key], tool };
    return [key, compileValue(shop, part as Json, place)] as const;
  });
  const part = (scene: PolicyContext): Json => {
    const made = parts.map(([key, one]) => [key, resolveSetValue(one.part, scene)] as const);
    return isList ? made.map(([, one]) => one) : Object.fromEntries(made);
  };
  const all = parts.map(([, one]) => one);
  return { part, looksBack: all.some((one) => one.looksBack), readsCall: all.some((one) => one.readsCall) };
}

export function compileValue(
  shop: CompileContext,
  value: Json,
  place: ExpressionSite,
): CompiledPart<SetValue> {
  if (!holdsExpression(value)) return plain(value);
  if (!isExpression(value)) return compileParts(shop, value as Json & object, place);
  const { path, tool } = place;
  const around = surroundings(shop, tool, namesInScope(shop.totals.keys(), true), "json");
  const checked = checkExpression(value.expr, around);
  note(shop, [...path, "expr"], checked);
  if (checked.node === null || checked.flaws.length > 0) return plain(null);
  const run = compileChecked<PolicyContext>(checked.node, policyReaders(shop.totals));
  return made((scene) => toJson(run(scene), scene), checked.names);
}

/** A reason that depends on the call. Hidden characters in untrusted text are escaped. */
export function compileReason(
  shop: CompileContext,
  text: string,
  { path, tool }: ExpressionSite,
): CompiledPart<(scene: PolicyContext) => string> {
  const around = surroundings(shop, tool, namesInScope(shop.totals.keys(), true), "string");
  const checked = checkExpression(text, around);
  note(shop, [...path, "expr"], checked);
  if (checked.node === null || checked.flaws.length > 0) return plain(() => "");
  const run = compileChecked<PolicyContext>(checked.node, policyReaders(shop.totals));
  return made((scene) => reasonOf(run(scene), scene), checked.names);
}

/** Escaping never shortens a text, so one that is already too long is not escaped. */
function reasonOf(said: Value, meter: Meter): string {
  if (typeof said !== "string") throw new ExpressionError("its reason is not text");
  const isShort = said.length <= LONGEST_REASON;
  spendCharacters(meter, isShort ? said.length : 0);
  const text = isShort ? visible(said) : said;
  if (text.length > LONGEST_REASON)
    throw new ExpressionError(`its reason has ${text.length} characters, and ${LONGEST_REASON} is the limit`);
  return text;
}

const RESULT: ReadonlyMap<string, Type> = new Map([["result", ANY]]);

function totalPart(
  shop: CompileContext,
  text: string | undefined,
  { path, tool }: ExpressionSite,
  wants: WantedType,
): CompiledTotal["when"] {
  if (text === undefined) return null;
  const checked = checkExpression(text, surroundings(shop, tool, RESULT, wants));
  note(shop, path, checked);
  if (checked.node === null || checked.flaws.length > 0) return null;
  return { evaluate: compileChecked(checked.node, TOTAL_READERS), needsResult: checked.names.has("result") };
}

export function compileTotals(shop: CompileContext): void {
  for (const [name, { tool, when, sum, count }] of Object.entries(shop.document.totals ?? {})) {
    const path = ["totals", name];
    if ((sum === undefined) === (count === undefined))
      shop.report.faults.push({ path, message: `${name} needs either sum or count: true` });
    const conditions = totalPart(shop, when, { path: [...path, "when"], tool }, "bool");
    const amounts = totalPart(shop, sum, { path: [...path, "sum"], tool }, "number");
    shop.totals.set(name, { name, tool, when: conditions, sum: amounts });
  }
}

export function checkCost({ cost, report }: CompileContext): void {
  if (cost > COST_PER_POLICY)
    report.faults.push({
      path: [],
      message: `the policy's expressions cost ${cost}, and ${COST_PER_POLICY} is the limit`,
    });
}
