/**
 * Our own CEL evaluator: compiles a tree to closures that are called for each action. Nothing is parsed, looked up by
 * name or generated as code at run time.
 * - For any arguments, an expression returns a value or throws an ExpressionError.
 * - As in CEL, `&&`, `||`, `all` and `exists` return if one side settles the result, even if the other side throws.
 * - Names, fields and parts are read by own keys only.
 */

import { functionsNamed } from "./functions.ts";
import { patternOf, testPattern } from "./pattern.ts";
import { type Node, type NodeOf, partsOf, pathText, weightOf } from "./syntax.ts";
import type { ExpressionFunction } from "./types.ts";
import {
  compareValues,
  ExpressionError,
  equalValues,
  isList,
  isObject,
  isTrue,
  kindOf,
  kindText,
  type Meter,
  payForList,
  STEPS_PER_ERROR,
  spend,
  spendKeys,
  TooCostly,
  type Value,
} from "./values.ts";

/** State of an evaluation: the steps left, and the variables of `all`, `map` and the like. */
export type EvaluationContext = Meter & { readonly locals: Value[] };
export type Evaluate<S extends EvaluationContext> = (scene: S) => Value;
/** How to read a name, or a name with its field. */
export type Readers<S extends EvaluationContext> = ReadonlyMap<string, Evaluate<S>>;

/** Only readers use more of the state than all evaluations have. */
type Run = Evaluate<EvaluationContext>;
type Slots = ReadonlyMap<string, number>;
type Build = (node: Node, slots: Slots) => Run;

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

function readName(name: string, slots: Slots, readers: Readers<EvaluationContext>): Run {
  const slot = slots.get(name);
  if (slot !== undefined) return (scene) => scene.locals[slot] ?? null;
  const reader = readers.get(name);
  if (reader !== undefined) return reader;
  return () => {
    throw new ExpressionError(`there is no ${name} here`);
  };
}

function makeObject(entries: readonly (readonly [Run, Run])[]): Run {
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

/** An error that ends the verdict is thrown again. Another side or item may recover from any other. */
function payForError(error: unknown, scene: EvaluationContext): void {
  if (!(error instanceof ExpressionError) || error instanceof TooCostly) throw error;
  spend(scene, STEPS_PER_ERROR);
}

type Loop = {
  readonly over: Run;
  readonly test: Run;
  readonly make: Run;
  readonly slot: number;
  /** Minimum cost of testing one item, and of making its result. */
  readonly weight: number;
  readonly makeWeight: number;
};

/** Whether the test returns `settles` for any item. An error counts only if no item settles the result. */
function quantify({ over, test, slot, weight }: Loop, settles: boolean): Run {
  return (scene) => {
    let failure: unknown;
    for (const item of itemsOf(over(scene), scene)) {
      spend(scene, weight);
      scene.locals[slot] = item;
      try {
        if (isTrue(test(scene)) === settles) return settles;
      } catch (error) {
        payForError(error, scene);
        failure ??= error;
      }
    }
    if (failure !== undefined) throw failure;
    return !settles;
  };
}

function collect({ over, test, make, slot, weight, makeWeight }: Loop, scene: EvaluationContext) {
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

function compileMacro(node: NodeOf<"each">, build: Build, slots: Slots): Run {
  const slot = slots.size;
  const inner = new Map([...slots, [node.variable, slot]]);
  const loop: Loop = {
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
function paidLater(node: Node, run: Run): Run {
  const weight = weightOf(node);
  return (scene) => {
    spend(scene, weight);
    return run(scene);
  };
}

function both(left: Run, right: Run, settles: boolean): Run {
  return (scene) => {
    let first: boolean;
    try {
      first = isTrue(left(scene));
    } catch (error) {
      payForError(error, scene);
      if (isTrue(right(scene)) === settles) return settles;
      throw error;
    }
    return first === settles ? settles : isTrue(right(scene));
  };
}

const ORDERS: Readonly<Record<string, (order: number) => boolean>> = {
  "<": (order) => order < 0,
  "<=": (order) => order <= 0,
  ">": (order) => order > 0,
  ">=": (order) => order >= 0,
};

function compare({ op }: NodeOf<"compare">, left: Run, right: Run): Run {
  const holds = ORDERS[op];
  if (holds !== undefined) return (scene) => holds(compareValues(left(scene), right(scene), scene));
  const wanted = op === "==";
  return (scene) => equalValues(left(scene), right(scene), scene) === wanted;
}

const fits = ({ takes }: ExpressionFunction, operands: readonly Value[]): boolean =>
  takes.length === operands.length && takes.every((kind, index) => kindOf(operands[index] ?? null) === kind);

/** `misfit` words the error for operands that no function of this name takes. */
function apply(
  known: readonly ExpressionFunction[],
  operands: readonly Run[],
  misfit: (kinds: readonly string[]) => string,
): Run {
  return (scene) => {
    const values = operands.map((operand) => operand(scene));
    const fitting = known.find((one) => fits(one, values));
    if (fitting !== undefined) return fitting.run(scene, ...(values as never[]));
    throw new ExpressionError(misfit(values.map((value) => kindText(kindOf(value)))));
  };
}

function call(node: NodeOf<"call">, operands: readonly Run[]): Run {
  const { name, of } = node;
  const known = functionsNamed(name, of !== null);
  return apply(known, operands, (kinds) => `${name} does not take ${kinds.join(" and ") || "nothing"}`);
}

/** A literal pattern is compiled with the policy. */
function literalPattern({ name }: NodeOf<"call">, parts: readonly Node[], text: Run): Run | undefined {
  const [, source] = parts;
  if (name !== "matches" || parts.length !== 2) return undefined;
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

/** Takes checked trees only: an unknown name or function is a bug at this point. */
export function compileNode<S extends EvaluationContext>(root: Node, readers: Readers<S>): Evaluate<S> {
  const read = readers as ReadonlyMap<string, Run>;
  const build: Build = (node, slots) => {
    const inner = (part: Node) => build(part, slots);
    switch (node.kind) {
      case "value":
        return () => node.value;
      case "name":
        return readName(node.name, slots, read);
      case "each":
        return compileMacro(node, build, slots);
      case "field": {
        const isFree = node.of.kind === "name" && !slots.has(node.of.name);
        const whole = isFree ? read.get(`${pathText(node)}`) : undefined;
        const of = inner(node.of);
        return whole ?? ((scene) => fieldOf(of(scene), node.name));
      }
      default:
        return compilePart(node, inner);
    }
  };
  return build(root, new Map());
}

type Part = Exclude<Node, NodeOf<"value" | "name" | "each" | "field">>;

/** Compiles a node that does not depend on the names in scope, except through its parts. */
function compilePart(node: Part, inner: (part: Node) => Run): Run {
  switch (node.kind) {
    case "has": {
      // A value that is not an object has no fields.
      const of = inner(node.of);
      return (scene) => {
        const value = of(scene);
        return isObject(value) && Object.hasOwn(value, node.name);
      };
    }
    case "index": {
      const [of, key] = [inner(node.of), inner(node.key)];
      return (scene) => partOf(of(scene), key(scene));
    }
    case "call": {
      const parts = partsOf(node);
      const operands = parts.map(inner);
      const [first = () => null] = operands;
      return literalPattern(node, parts, first) ?? call(node, operands);
    }
    case "list": {
      const items = node.items.map(inner);
      return (scene) => {
        spend(scene, items.length);
        return items.map((item) => item(scene));
      };
    }
    case "object":
      return makeObject(node.entries.map(([key, value]) => [inner(key), inner(value)] as const));
    default:
      return compileOperator(node, inner);
  }
}

type Operator = Exclude<Part, NodeOf<"has" | "index" | "call" | "list" | "object">>;

function compileOperator(node: Operator, inner: (part: Node) => Run): Run {
  if (node.kind === "not" || node.kind === "minus") {
    const of = inner(node.of);
    return node.kind === "not" ? (scene) => !isTrue(of(scene)) : (scene) => negate(of(scene));
  }
  if (node.kind === "if") {
    const test = inner(node.test);
    const [yes, no] = [paidLater(node.yes, inner(node.yes)), paidLater(node.no, inner(node.no))];
    return (scene) => (isTrue(test(scene)) ? yes(scene) : no(scene));
  }
  const { kind } = node;
  const [left, right] = [inner(node.left), inner(node.right)];
  if (kind === "compare") return compare(node, left, right);
  if (kind === "math")
    return apply(
      functionsNamed(node.op, false),
      [left, right],
      (kinds) => `${kinds.join(` ${node.op} `)} is nothing`,
    );
  if (kind === "in") return (scene) => isIn(left(scene), right(scene), scene);
  return both(left, paidLater(node.right, right), kind === "or");
}
