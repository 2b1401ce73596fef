/**
 * Tree to function. Every expression becomes closures that are called for each action; nothing is parsed, looked up by
 * name or generated as code then.
 *
 * X2. Whatever the arguments are, an expression answers a value or throws an ExpressionError.
 * X3. As in CEL, `&&`, `||`, `all` and `exists` answer if one side settles it, even where the other one errs.
 */
import { hasField, isIn, makeList, makeObject, readField, readName, readPart } from "./access.ts";
import { add, arithmetic, ordered, subtract } from "./arithmetic.ts";
import { weightOf } from "./cost.ts";
import { each } from "./each.ts";
import { equal } from "./equal.ts";
import { operationsNamed } from "./functions.ts";
import { STEPS_PER_ERROR, spend } from "./meter.ts";
import type { Operation } from "./operation.ts";
import { patternOf, testPattern } from "./pattern.ts";
import type { Build, Evaluate, Readers, Scene } from "./scene.ts";
import type { Node, NodeOf } from "./syntax.ts";
import { canBeMadeUpFor, isTrue } from "./truth.ts";
import { ExpressionError, finite, kindOf, spoken, type Value } from "./values.ts";

/** Paid for when it comes to it. */
function perhaps<S extends Scene>(node: Node, run: Evaluate<S>): Evaluate<S> {
  const weight = weightOf(node);
  return (scene) => {
    spend(scene, weight);
    return run(scene);
  };
}

function both<S extends Scene>(left: Evaluate<S>, right: Evaluate<S>, settles: boolean): Evaluate<S> {
  return (scene) => {
    let first: boolean;
    try {
      first = isTrue(left(scene));
    } catch (error) {
      if (!canBeMadeUpFor(error)) throw error;
      spend(scene, STEPS_PER_ERROR);
      if (isTrue(right(scene)) === settles) return settles;
      throw error;
    }
    return first === settles ? settles : isTrue(right(scene));
  };
}

function compare<S extends Scene>(
  { op }: NodeOf<"compare">,
  left: Evaluate<S>,
  right: Evaluate<S>,
): Evaluate<S> {
  switch (op) {
    case "==":
      return (scene) => equal(left(scene), right(scene), scene);
    case "!=":
      return (scene) => !equal(left(scene), right(scene), scene);
    case "<":
      return (scene) => ordered(left(scene), right(scene), scene) < 0;
    case "<=":
      return (scene) => ordered(left(scene), right(scene), scene) <= 0;
    case ">":
      return (scene) => ordered(left(scene), right(scene), scene) > 0;
    case ">=":
      return (scene) => ordered(left(scene), right(scene), scene) >= 0;
  }
}

function fits({ takes }: Operation, operands: readonly Value[]): boolean {
  return (
    takes.length === operands.length && takes.every((kind, index) => kindOf(operands[index] ?? null) === kind)
  );
}

function call<S extends Scene>(node: NodeOf<"call">, operands: readonly Evaluate<S>[]): Evaluate<S> {
  const known = operationsNamed(node.name, node.of !== null);
  return (scene) => {
    const values = operands.map((operand) => operand(scene));
    const operation = known.find((one) => fits(one, values));
    if (operation !== undefined) return operation.run(values, scene);
    const given = values.map((value) => spoken(kindOf(value))).join(" and ");
    throw new ExpressionError(`${node.name} does not take ${given || "nothing"}`);
  };
}

/** A pattern that stands in the policy is compiled with it. */
function literalPattern<S extends Scene>(
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
      throw new ExpressionError(`matches does not take ${spoken(kindOf(value))}`);
    return testPattern(pattern, value, scene);
  };
}

function negate(value: Value): Value {
  if (typeof value !== "number") throw new ExpressionError(`- does not take ${spoken(kindOf(value))}`);
  return 0 - value;
}

function math<S extends Scene>({ op }: NodeOf<"math">, left: Evaluate<S>, right: Evaluate<S>): Evaluate<S> {
  if (op === "+") return (scene) => add(left(scene), right(scene), scene);
  if (op === "-") return (scene) => subtract(left(scene), right(scene));
  return (scene) => finite(arithmetic(op, left(scene), right(scene)));
}

/** Only trees that were checked: an unknown name or function is an error of the program by now. */
export function compile<S extends Scene>(root: Node, readers: Readers<S>): Evaluate<S> {
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
        return each(node, build, slots);
      default:
        return buildOperator(node, inner);
    }
  };
  return build(root);
}

type Operator = NodeOf<"if" | "and" | "or" | "not" | "minus" | "compare" | "in" | "math">;

function buildOperator<S extends Scene>(node: Operator, inner: (part: Node) => Evaluate<S>): Evaluate<S> {
  if (node.kind === "not" || node.kind === "minus") {
    const of = inner(node.of);
    return node.kind === "not" ? (scene) => !isTrue(of(scene)) : (scene) => negate(of(scene));
  }
  if (node.kind === "if") {
    const test = inner(node.test);
    const [yes, no] = [perhaps(node.yes, inner(node.yes)), perhaps(node.no, inner(node.no))];
    return (scene) => (isTrue(test(scene)) ? yes(scene) : no(scene));
  }
  const left = inner(node.left);
  const right = inner(node.right);
  if (node.kind === "compare") return compare(node, left, right);
  if (node.kind === "math") return math(node, left, right);
  if (node.kind === "in") return (scene) => isIn(left(scene), right(scene), scene);
  return both(left, perhaps(node.right, right), node.kind === "or");
}
