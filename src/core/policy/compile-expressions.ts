/** The conditions, sums and values of a document as functions; what is wrong with them goes to the report. */
import { isJsonObject, type Json } from "../../kernel/json.ts";
import { visible } from "../../kernel/text.ts";

import type { RosterState } from "../../people/stream.ts";

import { LONGEST_REASON, type PolicyDocument, type Predicate, type ToolPattern } from "./document.ts";
import { COST_PER_POLICY } from "./expression/cost.ts";
import { jsonOf } from "./expression/json-of.ts";
import { type Meter, spendCharacters } from "./expression/meter.ts";
import { isTrue } from "./expression/truth.ts";
import type { Type } from "./expression/types.ts";
import { ANY } from "./expression/types.ts";
import { ExpressionError, type Value } from "./expression/values.ts";
import {
  argsType,
  type Checked,
  checkExpression,
  runnable,
  type Surroundings,
  type Wanted,
} from "./expression.ts";
import type { PolicyFault, Report } from "./fault.ts";
import { type Condition, type SetValue, settled } from "./judge.ts";
import type { KnownTool } from "./known-tool.ts";
import { factsOf, namesFor, type PolicyScene, readersFor } from "./scene.ts";
import { FINAL, matchesTool } from "./tool-pattern.ts";
import { TOTAL_READERS, type Total } from "./totals.ts";

type Path = PolicyFault["path"];

/** The document, what is known around it, and what was found so far. */
export type Workshop = {
  readonly document: PolicyDocument;
  readonly tools: readonly KnownTool[] | null;
  /** The people that there are, where somebody has said so. */
  readonly roster?: RosterState;
  readonly report: Report;
  readonly totals: Map<string, Total>;
  /** Totals that something asks for. */
  readonly used: Set<string>;
  cost: number;
};

/** A worker's answer, as every program knows it. */
const ANSWER: KnownTool = {
  name: FINAL,
  effectClass: "read",
  schema: { type: "object", properties: { answer: { type: "string" } }, required: ["answer"] },
};

export type Place = { readonly path: Path; readonly tool: ToolPattern | undefined };

function surroundings(
  shop: Workshop,
  tool: ToolPattern | undefined,
  names: ReadonlyMap<string, Type>,
  wants: Wanted,
): Surroundings {
  const here = shop.tools?.filter(({ name, isElsewhere }) => name !== FINAL && isElsewhere !== true);
  const all = here === undefined ? [] : [...here, ANSWER];
  const known = all.filter(({ name }) => matchesTool(tool, name));
  const tools = known.map(({ name, schema }) => ({ name, args: argsType(schema) }));
  return { names, wants, tools };
}

function note(shop: Workshop, path: Path, { flaws, warnings, cost, names }: Checked): void {
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

/** Does it look at what the workflow did before? */
export const looksBack = (names: ReadonlySet<string>): boolean => names.has("history") || names.has("totals");

/** What a compensation is given as its arguments. */
const OF_UNDO: readonly string[] = ["args", "result"];

/** Fields that only the call has, and not what takes it back. */
export const isOfCall = (field: string): boolean => !OF_UNDO.includes(field);

const readsCall = (names: ReadonlySet<string>): boolean =>
  [...names].some((name) => name.startsWith("args.") && isOfCall(name.slice("args.".length)));

/** `readsCall`: it asks for arguments that a compensation does not have. */
export type Compiled<Part> = {
  readonly part: Part;
  readonly looksBack: boolean;
  readonly readsCall: boolean;
};

const plain = <Part>(part: Part): Compiled<Part> => ({ part, looksBack: false, readsCall: false });

const made = <Part>(part: Part, names: ReadonlySet<string>): Compiled<Part> => ({
  part,
  looksBack: looksBack(names),
  readsCall: readsCall(names),
});

const NEVER: Condition = () => false;

function ofPredicate(predicate: Predicate): Condition {
  return (scene) => {
    const said: unknown = predicate(factsOf(scene));
    if (typeof said !== "boolean") throw new ExpressionError("the function did not answer true or false");
    return said;
  };
}

export function compileCondition(
  shop: Workshop,
  when: string | boolean | Predicate,
  { path, tool }: Place,
  withRisk: boolean,
): Compiled<Condition | null> {
  if (typeof when === "boolean") return plain(when ? null : NEVER);
  if (typeof when === "function") {
    for (const name of shop.totals.keys()) shop.used.add(name);
    return { ...plain(ofPredicate(when)), looksBack: true };
  }
  const around = surroundings(shop, tool, namesFor(shop.totals.keys(), withRisk), "bool");
  const checked = checkExpression(when, around);
  note(shop, path, checked);
  if (checked.node === null || checked.flaws.length > 0) return plain(NEVER);
  const run = runnable(checked.node, readersFor(shop.totals));
  return made((scene) => isTrue(run(scene)), checked.names);
}

export const isExpression = (value: Json): value is { readonly expr: string } =>
  isJsonObject(value) && Object.keys(value).length === 1 && typeof value["expr"] === "string";

const holdsExpression = (value: Json): boolean =>
  isExpression(value) ||
  (typeof value === "object" && value !== null && Object.values(value).some(holdsExpression));

/** An object or a list with expressions somewhere inside. */
function compileParts(shop: Workshop, value: Json & object, { path, tool }: Place): Compiled<SetValue> {
  const isList = Array.isArray(value);
  const parts = Object.entries(value).map(([key, part]) => {
    const place = { path: [...path, isList ? Number(key) : key], tool };
    return [key, compileValue(shop, part as Json, place)] as const;
  });
  const part = (scene: PolicyScene): Json => {
    const made = parts.map(([key, one]) => [key, settled(one.part, scene)] as const);
    return isList ? made.map(([, one]) => one) : Object.fromEntries(made);
  };
  const all = parts.map(([, one]) => one);
  return { part, looksBack: all.some((one) => one.looksBack), readsCall: all.some((one) => one.readsCall) };
}

export function compileValue(shop: Workshop, value: Json, place: Place): Compiled<SetValue> {
  if (!holdsExpression(value)) return plain(value);
  if (!isExpression(value)) return compileParts(shop, value as Json & object, place);
  const { path, tool } = place;
  const around = surroundings(shop, tool, namesFor(shop.totals.keys(), true), "json");
  const checked = checkExpression(value.expr, around);
  note(shop, [...path, "expr"], checked);
  if (checked.node === null || checked.flaws.length > 0) return plain(null);
  const run = runnable<PolicyScene>(checked.node, readersFor(shop.totals));
  return made((scene) => jsonOf(run(scene), scene), checked.names);
}

/** A reason that depends on the call. What strangers wrote into it stands there with its hidden characters written out. */
export function compileReason(
  shop: Workshop,
  text: string,
  { path, tool }: Place,
): Compiled<(scene: PolicyScene) => string> {
  const around = surroundings(shop, tool, namesFor(shop.totals.keys(), true), "string");
  const checked = checkExpression(text, around);
  note(shop, [...path, "expr"], checked);
  if (checked.node === null || checked.flaws.length > 0) return plain(() => "");
  const run = runnable<PolicyScene>(checked.node, readersFor(shop.totals));
  return made((scene) => reasonOf(run(scene), scene), checked.names);
}

/** Hidden characters become longer, and none disappears: text that is too long is so before they are written out. */
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
  shop: Workshop,
  text: string | undefined,
  { path, tool }: Place,
  wants: Wanted,
): Total["when"] {
  if (text === undefined) return null;
  const checked = checkExpression(text, surroundings(shop, tool, RESULT, wants));
  note(shop, path, checked);
  if (checked.node === null || checked.flaws.length > 0) return null;
  return { evaluate: runnable(checked.node, TOTAL_READERS), needsResult: checked.names.has("result") };
}

export function compileTotals(shop: Workshop): void {
  for (const [name, { tool, when, sum, count }] of Object.entries(shop.document.totals ?? {})) {
    const path = ["totals", name];
    if ((sum === undefined) === (count === undefined))
      shop.report.faults.push({ path, message: `${name} needs either sum or count: true` });
    const conditions = totalPart(shop, when, { path: [...path, "when"], tool }, "bool");
    const amounts = totalPart(shop, sum, { path: [...path, "sum"], tool }, "number");
    shop.totals.set(name, { name, tool, when: conditions, sum: amounts });
  }
}

export function checkCost({ cost, report }: Workshop): void {
  if (cost > COST_PER_POLICY)
    report.faults.push({
      path: [],
      message: `the policy's expressions cost ${cost}, and ${COST_PER_POLICY} is the limit`,
    });
}
