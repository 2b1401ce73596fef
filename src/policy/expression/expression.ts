/** Entry point of expressions for other folders: text in, a function and all its flaws out. */

import type { Json, JsonObject } from "../../kernel/json.ts";
import { type Findings, noFindings, typeOf } from "./check.ts";
import { compileNode, type Evaluate, type EvaluationContext, type Readers } from "./evaluate.ts";
import { COST_PER_EXPRESSION, costOf, type Flaw, type Node, namesIn, parse, weightOf } from "./syntax.ts";
import { ANY, type Type, typeOfSchema } from "./types.ts";
import { ExpressionError, kindText, STEPS_PER_VERDICT, spend, toJson, type Value } from "./values.ts";

export type WantedType = "bool" | "number" | "string" | "json";

export type ExpressionScope = {
  /** Types of the available names. */
  readonly names: ReadonlyMap<string, Type>;
  readonly wants: WantedType;
  /** The arguments of each tool that the expression applies to; empty if no tool is known. */
  readonly tools: readonly { readonly name: string; readonly args: Type }[];
};

export type CheckedExpression = {
  readonly node: Node | null;
  readonly flaws: readonly Flaw[];
  readonly warnings: readonly Flaw[];
  readonly cost: number;
  readonly names: ReadonlySet<string>;
};

const NOTHING: CheckedExpression = { node: null, flaws: [], warnings: [], cost: 0, names: new Set() };

const known = new WeakMap<JsonObject, Type>();

/** Type of a tool's arguments. Each schema is read once and cached. */
export function argsType(schema: JsonObject | null): Type {
  if (schema === null) return ANY;
  const type = known.get(schema) ?? typeOfSchema(schema);
  known.set(schema, type);
  return type;
}

function findingsFor(node: Node, { names, wants }: ExpressionScope, args: Type): Findings {
  const findings = noFindings();
  const scope = { names: new Map([...names, ["args", args]]), present: new Set<string>(), findings };
  const type = typeOf(node, scope);
  const isTime = type.kind === "moment" || type.kind === "span";
  const fits = wants === "json" ? !isTime : type.kind === "any" || type.kind === wants;
  if (!fits && type.kind !== "any") {
    const needed = wants === "json" ? "JSON" : kindText(wants);
    findings.flaws.push({ message: `${needed} is needed, and this is ${kindText(type.kind)}`, at: 0 });
  }
  return findings;
}

function unique(flaws: readonly Flaw[]): readonly Flaw[] {
  return [...new Map(flaws.map((flaw) => [`${flaw.at} ${flaw.message}`, flaw])).values()];
}

/** Checks once per tool. A field that only some tools have is fine behind `has`; a field that none has is a flaw. */
function checkTree(node: Node, surroundings: ExpressionScope): Pick<CheckedExpression, "flaws" | "warnings"> {
  const { tools } = surroundings;
  if (tools.length === 0) {
    const { flaws, warnings, never } = findingsFor(node, surroundings, ANY);
    return { flaws: unique([...flaws, ...never]), warnings };
  }
  const found = tools.map(({ name, args }) => ({ name, ...findingsFor(node, surroundings, args) }));
  const [first] = found;
  const nowhere = (["absent", "never"] as const).flatMap(
    (list) =>
      first?.[list].filter((flaw) => found.every((one) => one[list].some(({ at }) => at === flaw.at))) ?? [],
  );
  const general = first?.flaws.filter((flaw) => found.every(({ flaws }) => isAmong(flaw, flaws))) ?? [];
  const special = found.flatMap(({ name, flaws }) =>
    flaws
      .filter((flaw) => !isAmong(flaw, general))
      .map(({ message, at }) => ({ message: `${message} (of ${name})`, at })),
  );
  const warnings = unique(found.flatMap((one) => one.warnings));
  return { flaws: unique([...general, ...special, ...nowhere]), warnings };
}

const isAmong = ({ at, message }: Flaw, all: readonly Flaw[]): boolean =>
  all.some((one) => one.at === at && one.message === message);

export function checkExpression(text: string, surroundings: ExpressionScope): CheckedExpression {
  const parsed = parse(text);
  if (!parsed.ok) return { ...NOTHING, flaws: [parsed.flaw] };
  const { node } = parsed;
  const cost = costOf(node);
  const tooMuch = `the expression costs ${cost}, and ${COST_PER_EXPRESSION} is the limit; use fewer lists inside lists`;
  const { flaws, warnings } = checkTree(node, surroundings);
  const costly = cost > COST_PER_EXPRESSION ? [{ message: tooMuch, at: 0 }] : [];
  return { node, flaws: [...flaws, ...costly], warnings, cost, names: namesIn(node) };
}

/** Compiles a tree without flaws. Parts that are always evaluated are charged before it starts. */
export function compileChecked<S extends EvaluationContext>(node: Node, readers: Readers<S>): Evaluate<S> {
  const weight = weightOf(node);
  const evaluate = compileNode(node, readers);
  return (scene) => {
    spend(scene, weight);
    return evaluate(scene);
  };
}

type ArgumentContext = EvaluationContext & { readonly args: Value };
const ARGUMENT_READERS: Readers<ArgumentContext> = new Map([["args", ({ args }) => args]]);

type ArgumentExpression =
  | {
      readonly ok: true;
      readonly warnings: readonly Flaw[];
      /** Throws an ExpressionError if it cannot be evaluated. */
      readonly evaluate: (args: Json) => Json;
    }
  | { readonly ok: false; readonly flaws: readonly Flaw[] };

/** An expression that reads only the arguments of one tool. */
export function compileOverArguments(
  text: string,
  wants: WantedType,
  schema: JsonObject | null,
): ArgumentExpression {
  const tools = [{ name: "", args: argsType(schema) }];
  const { node, flaws, warnings } = checkExpression(text, { names: new Map(), wants, tools });
  if (node === null || flaws.length > 0) return { ok: false, flaws };
  const run = compileChecked(node, ARGUMENT_READERS);
  const evaluate = (args: Json): Json => {
    const scene = { left: STEPS_PER_VERDICT, locals: [], args: args as Value };
    const value = toJson(run(scene), scene);
    const isWanted = wants === "json" || typeof value === (wants === "bool" ? "boolean" : wants);
    if (!isWanted) throw new ExpressionError(`${kindText(wants as Exclude<WantedType, "json">)} is needed`);
    return value;
  };
  return { ok: true, warnings, evaluate };
}

/** Why an expression over arguments cannot be used; undefined if it can. */
export function argumentsFault(
  text: string,
  wants: WantedType,
  schema: JsonObject | null,
): string | undefined {
  const checked = compileOverArguments(text, wants, schema);
  const [first] = checked.ok ? [] : checked.flaws;
  return first === undefined ? undefined : `${first.message}, at character ${first.at + 1}`;
}

/** Undefined if it cannot be evaluated: an error never counts as true. */
export function evaluateArguments(text: string, wants: WantedType, args: Json): Json | undefined {
  const checked = compileOverArguments(text, wants, null);
  if (!checked.ok) return undefined;
  try {
    return checked.evaluate(args);
  } catch {
    return undefined;
  }
}
