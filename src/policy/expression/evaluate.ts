/**
 * Our own CEL evaluator: compiles a tree to closures that are called for each action. Nothing is parsed, looked up by
 * name or generated as code at run time.
 * - For any arguments, an expression returns a value or throws an ExpressionError.
 * - As in CEL, `&&`, `||`, `all` and `exists` return if one side settles the result, even if the other side throws.
 * - Names, fields and parts are read by own keys only.
 */

import { operationsNamed } from "./functions.ts";
import { patternOf, testPattern } from "./pattern.ts";
import { type Node, type NodeOf, weightOf } from "./syntax.ts";
import type { ExpressionFunction } from "./types.ts";
import {
  addValues,
  arithmetic,
  compareValues,
  ExpressionError,
  equalValues,
  isList,
  isObject,
  isRecoverable,
  isTrue,
  kindOf,
  kindText,
  type Meter,
  payForList,
  requireFinite,
  STEPS_PER_ERROR,
  spend,
  spendKeys,
  subtractValues,
  type Value,
} from "./values.ts";

/** State of an evaluation: the steps left, and the variables of `all`, `map` and the like. */
export type EvaluationContext = Meter & { readonly locals: Value[] };
export type Evaluate<S extends EvaluationContext> = (scene: S) => Value;
/** How to read a name, or a name with its field. */
export type Readers<S extends EvaluationContext> = ReadonlyMap<string, Evaluate<S>>;
type Slots = ReadonlyMap<string, number>;
type Build<S extends EvaluationContext> = (node: Node, slots?: Slots) => Evaluate<S>;

/** Building an object includes a check for duplicate keys. */
const STEPS_PER_ENTRY = 12;

function fieldOf(of: Value, name: string): Value {
  if (!isObject(of)) throw new ExpressionError(`${kindText(kindOf(of))} has no field "${name}"`);
  const value = Object.hasOwn(of, name) ? of[name] : undefined;
  if (value === undefined) throw new ExpressionError(`there is no field "${name}"`);
  return value;
}

function partOf(of: Value, key: Value): Value {
  if (typeof key === "string") return fieldOf(of, key);
  if (!isList(of) || typeof key !== "number")
    throw new ExpressionError(`${kindText(kindOf(of))} has no part at ${kindText(kindOf(key))}`);
  const value = Number.isInteger(key) ? of[key] : undefined;
  if (value === undefined) throw new ExpressionError(`the list has no item ${key}`);
  return value;
}

function isIn(item: Value, of: Value, meter: Meter): boolean {
  if (isList(of)) return of.some((one) => equalValues(item, one, meter));
  if (!isObject(of))
    throw new ExpressionError(`in needs a list or an object, and this is ${kindText(kindOf(of))}`);
  return typeof item === "string" && Object.hasOwn(of, item);
}

function readName<S extends EvaluationContext>(name: string, slots: Slots, readers: Readers<S>): Evaluate<S> {
  const slot = slots.get(name);
  if (slot !== undefined) return (scene) => scene.locals[slot] ?? null;
  const reader = readers.get(name);
  if (reader !== undefined) return reader;
  return () => {
    throw new ExpressionError(`there is no ${name} here`);
  };
}

function readField<S extends EvaluationContext>(
  { of: owner, name }: NodeOf<"field">,
  of: Evaluate<S>,
  slots: Slots,
  readers: Readers<S>,
): Evaluate<S> {
  const isFree = owner.kind === "name" && !slots.has(owner.name);
  const whole = isFree ? readers.get(`${owner.name}.${name}`) : undefined;
  return whole ?? ((scene) => fieldOf(of(scene), name));
}

/** A value that is not an object has no fields. */
function hasField<S extends EvaluationContext>(of: Evaluate<S>, name: string): Evaluate<S> {
  return (scene) => {
    const value = of(scene);
    return isObject(value) && Object.hasOwn(value, name);
  };
}

function readPart<S extends EvaluationContext>(of: Evaluate<S>, key: Evaluate<S>): Evaluate<S> {
  return (scene) => partOf(of(scene), key(scene));
}

function makeList<S extends EvaluationContext>(items: readonly Evaluate<S>[]): Evaluate<S> {
  return (scene) => {
    spend(scene, items.length);
    return items.map((item) => item(scene));
  };
}

function makeObject<S extends EvaluationContext>(
  entries: readonly (readonly [Evaluate<S>, Evaluate<S>])[],
): Evaluate<S> {
  return (scene) => {
    payForList(scene, entries.length);
    spend(scene, STEPS_PER_ENTRY * (1 + entries.length));
    const pairs = entries.map(([key, value]) => [keyOf(key(scene)), value(scene)] as const);
    if (new Set(pairs.map(([key]) => key)).size < pairs.length)
      throw new ExpressionError("the object has a key twice");
    return Object.fromEntries(pairs);
  };
}

function keyOf(key: Value): string {
  if (typeof key === "string" && key !== "__proto__") return key;
  throw new ExpressionError("an object's keys are text");
}

function itemsOf(value: Value, scene: EvaluationContext): readonly Value[] {
  if (isList(value)) return value;
  if (!isObject(value)) throw new ExpressionError(`a list is needed, and this is ${kindText(kindOf(value))}`);
  const keys = Object.keys(value);
  spendKeys(scene, keys.length);
  return keys;
}

type Loop<S extends EvaluationContext> = {
  readonly over: Evaluate<S>;
  readonly test: Evaluate<S>;
  readonly make: Evaluate<S>;
  readonly slot: number;
  /** Minimum cost of testing one item, and of making its result. */
  readonly weight: number;
  readonly makeWeight: number;
};

/** Whether the test returns `settles` for any item. An error counts only if no item settles the result. */
function quantify<S extends EvaluationContext>(
  { over, test, slot, weight }: Loop<S>,
  settles: boolean,
): Evaluate<S> {
  return (scene) => {
    let failure: unknown;
    for (const item of itemsOf(over(scene), scene)) {
      spend(scene, weight);
      scene.locals[slot] = item;
      try {
        if (isTrue(test(scene)) === settles) return settles;
      } catch (error) {
        if (!isRecoverable(error)) throw error;
        spend(scene, STEPS_PER_ERROR);
        failure ??= error;
      }
    }
    if (failure !== undefined) throw failure;
    return !settles;
  };
}

function collect<S extends EvaluationContext>(loop: Loop<S>, scene: S): readonly Value[] {
  const { over, test, make, slot, weight, makeWeight } = loop;
  const items = itemsOf(over(scene), scene);
  payForList(scene, items.length);
  const kept: Value[] = [];
  for (const item of items) {
    spend(scene, weight);
    scene.locals[slot] = item;
    if (!isTrue(test(scene))) continue;
    spend(scene, makeWeight);
    kept.push(make(scene));
  }
  return kept;
}

function compileMacro<S extends EvaluationContext>(
  node: NodeOf<"each">,
  build: Build<S>,
  slots: Slots,
): Evaluate<S> {
  const slot = slots.size;
  const inner = new Map([...slots, [node.variable, slot]]);
  const loop: Loop<S> = {
    over: build(node.over, slots),
    test: node.test === null ? () => true : build(node.test, inner),
    make: node.make === null ? (scene) => scene.locals[slot] ?? null : build(node.make, inner),
    slot,
    weight: 1 + (node.test === null ? 0 : weightOf(node.test)),
    makeWeight: node.make === null ? 1 : weightOf(node.make),
  };
  if (node.macro === "exists") return quantify(loop, true);
  if (node.macro === "all") return quantify(loop, false);
  if (node.macro === "exists_one") return (scene) => collect(loop, scene).length === 1;
  return (scene) => collect(loop, scene);
}

/** Charges for a part only when it is evaluated. */
function orError<S extends EvaluationContext>(node: Node, run: Evaluate<S>): Evaluate<S> {
  const weight = weightOf(node);
  return (scene) => {
    spend(scene, weight);
    return run(scene);
  };
}

function both<S extends EvaluationContext>(
  left: Evaluate<S>,
  right: Evaluate<S>,
  settles: boolean,
): Evaluate<S> {
  return (scene) => {
    let first: boolean;
    try {
      first = isTrue(left(scene));
    } catch (error) {
      if (!isRecoverable(error)) throw error;
      spend(scene, STEPS_PER_ERROR);
      if (isTrue(right(scene)) === settles) return settles;
      throw error;
    }
    return first === settles ? settles : isTrue(right(scene));
  };
}

function compare<S extends EvaluationContext>(
  { op }: NodeOf<"compare">,
  left: Evaluate<S>,
  right: Evaluate<S>,
): Evaluate<S> {
  switch (op) {
    case "==":
      return (scene) => equalValues(left(scene), right(scene), scene);
    case "!=":
      return (scene) => !equalValues(left(scene), right(scene), scene);
    case "<":
      return (scene) => compareValues(left(scene), right(scene), scene) < 0;
    case "<=":
      return (scene) => compareValues(left(scene), right(scene), scene) <= 0;
    case ">":
      return (scene) => compareValues(left(scene), right(scene), scene) > 0;
    case ">=":
      return (scene) => compareValues(left(scene), right(scene), scene) >= 0;
  }
}

function fits({ takes }: ExpressionFunction, operands: readonly Value[]): boolean {
  return (
    takes.length === operands.length && takes.every((kind, index) => kindOf(operands[index] ?? null) === kind)
  );
}

function call<S extends EvaluationContext>(
  node: NodeOf<"call">,
  operands: readonly Evaluate<S>[],
): Evaluate<S> {
  const known = operationsNamed(node.name, node.of !== null);
  return (scene) => {
    const values = operands.map((operand) => operand(scene));
    const operation = known.find((one) => fits(one, values));
    if (operation !== undefined) return operation.run(values, scene);
    const given = values.map((value) => kindText(kindOf(value))).join(" and ");
    throw new ExpressionError(`${node.name} does not take ${given || "nothing"}`);
  };
}

/** A literal pattern is compiled with the policy. */
function literalPattern<S extends EvaluationContext>(
  node: NodeOf<"call">,
  operands: readonly Evaluate<S>[],
): Evaluate<S> | undefined {
  const source = node.of === null ? node.args[1] : node.args[0];
  const [text] = operands;
  if (node.name !== "matches" || operands.length !== 2 || text === undefined) return undefined;
  if (source?.kind !== "value" || typeof source.value !== "string") return undefined;
  const pattern = patternOf(source.value);
  if (typeof pattern === "string") return undefined;
  return (scene) => {
    const value = text(scene);
    if (typeof value !== "string")
      throw new ExpressionError(`matches does not take ${kindText(kindOf(value))}`);
    return testPattern(pattern, value, scene);
  };
}

function negate(value: Value): Value {
  if (typeof value !== "number") throw new ExpressionError(`- does not take ${kindText(kindOf(value))}`);
  return 0 - value;
}

function math<S extends EvaluationContext>(
  { op }: NodeOf<"math">,
  left: Evaluate<S>,
  right: Evaluate<S>,
): Evaluate<S> {
  if (op === "+") return (scene) => addValues(left(scene), right(scene), scene);
  if (op === "-") return (scene) => subtractValues(left(scene), right(scene));
  return (scene) => requireFinite(arithmetic(op, left(scene), right(scene)));
}

/** Takes checked trees only: an unknown name or function is a bug at this point. */
export function compileNode<S extends EvaluationContext>(root: Node, readers: Readers<S>): Evaluate<S> {
  const build: Build<S> = (node, slots = new Map()) => {
    const inner = (part: Node) => build(part, slots);
    switch (node.kind) {
      case "value":
        return () => node.value;
      case "name":
        return readName(node.name, slots, readers);
      case "field":
        return readField(node, inner(node.of), slots, readers);
      case "has":
        return hasField(inner(node.of), node.name);
      case "index":
        return readPart(inner(node.of), inner(node.key));
      case "call": {
        const operands = (node.of === null ? node.args : [node.of, ...node.args]).map(inner);
        return literalPattern(node, operands) ?? call(node, operands);
      }
      case "list":
        return makeList(node.items.map(inner));
      case "object":
        return makeObject(node.entries.map(([key, value]) => [inner(key), inner(value)] as const));
      case "each":
        return compileMacro(node, build, slots);
      default:
        return buildOperator(node, inner);
    }
  };
  return build(root);
}

type Operator = NodeOf<"if" | "and" | "or" | "not" | "minus" | "compare" | "in" | "math">;

function buildOperator<S extends EvaluationContext>(
  node: Operator,
  inner: (part: Node) => Evaluate<S>,
): Evaluate<S> {
  if (node.kind === "not" || node.kind === "minus") {
    const of = inner(node.of);
    return node.kind === "not" ? (scene) => !isTrue(of(scene)) : (scene) => negate(of(scene));
  }
  if (node.kind === "if") {
    const test = inner(node.test);
    const [yes, no] = [orError(node.yes, inner(node.yes)), orError(node.no, inner(node.no))];
    return (scene) => (isTrue(test(scene)) ? yes(scene) : no(scene));
  }
  const left = inner(node.left);
  const right = inner(node.right);
  if (node.kind === "compare") return compare(node, left, right);
  if (node.kind === "math") return math(node, left, right);
  if (node.kind === "in") return (scene) => isIn(left(scene), right(scene), scene);
  return both(left, orError(node.right, right), node.kind === "or");
}
