/**
 * Whether a condition can never be true, decided from its tree alone. `false` means undecided. It is never claimed
 * wrongly: an expression is pure, so equal parts have equal values; `&&` is true only if both sides are, and an error
 * is not true.
 */
import { type Literal, listedIn, literalOf, nodeKey, type Test, testIn } from "./implies.ts";
import type { Arithmetic, Compare, Node, NodeOf } from "./syntax.ts";

/** Known facts about a subject: its possible values, and tests that always hold. */
export type KnownFact = {
  readonly subject: string;
  readonly may?: (value: Literal) => boolean;
  readonly tests?: readonly Test[];
};

/** Each `||` is checked on both sides. Limits the number of sides in total. */
const MOST_SIDES = 64;

const OPPOSITE: { readonly [op in Compare]: Compare } = {
  "==": "!=",
  "!=": "==",
  "<": ">=",
  "<=": ">",
  ">": "<=",
  ">=": "<",
};

/** Only for two numbers or two texts, which have an order. */
function isOrdered(value: Literal, op: Compare, other: Literal): boolean {
  const isFit = typeof value === typeof other && (typeof value === "number" || typeof value === "string");
  if (!isFit || value === null || other === null) return false;
  if (value === other) return op === "<=" || op === ">=";
  return op.startsWith("<") ? value < other : value > other;
}

function passes(value: Literal, test: Test): boolean {
  if (test.op === "in") return test.values.includes(value);
  if (test.op === "==") return value === test.value;
  return test.op === "!=" ? value !== test.value : isOrdered(value, test.op, test.value);
}

/** The value regardless of the facts; undefined if it depends on them or is an error. */
function constantOf(node: Node): Literal | undefined {
  const own = literalOf(node);
  if (own !== undefined) return own;
  switch (node.kind) {
    case "not": {
      const of = constantOf(node.of);
      return typeof of === "boolean" ? !of : undefined;
    }
    case "if": {
      const test = constantOf(node.test);
      return typeof test === "boolean" ? constantOf(test ? node.yes : node.no) : undefined;
    }
    case "in":
    case "compare":
    case "math":
      return constantPair(node);
    default:
      return undefined;
  }
}

function constantPair(node: NodeOf<"in" | "compare" | "math">): Literal | undefined {
  const left = constantOf(node.left);
  if (left === undefined) return undefined;
  if (node.kind === "in") return listedIn(node.right)?.includes(left);
  const right = constantOf(node.right);
  if (right === undefined) return undefined;
  if (node.kind === "math") return computed(node.op, left, right);
  return passes(left, { subject: "", op: node.op, value: right });
}

/** The result for two numbers, if it is finite. */
function computed(op: Arithmetic, left: Literal, right: Literal): Literal | undefined {
  if (typeof left !== "number" || typeof right !== "number") return undefined;
  const value = COMPUTE[op](left, right);
  return Number.isFinite(value) ? value + 0 : undefined;
}

const COMPUTE: { readonly [op in Arithmetic]: (a: number, b: number) => number } = {
  "+": (a, b) => a + b,
  "-": (a, b) => a - b,
  "*": (a, b) => a * b,
  "/": (a, b) => a / b,
  "%": (a, b) => a % b,
};

/** Tests that follow from a negated comparison: it was false without an error, so its operands are comparable. */
function denied(node: Node): readonly Test[] {
  const test = testIn(node);
  if (test === null) return [];
  if (test.op !== "in") return [{ ...test, op: OPPOSITE[test.op] }];
  return test.values.map((value) => ({ subject: test.subject, op: "!=", value }));
}

function testsIn(node: Node): readonly Test[] {
  if (node.kind === "not") return denied(node.of);
  const test = testIn(node);
  return test === null ? [] : [test];
}

type Bound = { readonly value: Literal; readonly isStrict: boolean };

/** The tightest of several bounds in one direction. */
function tightest(bounds: readonly Bound[], isTighter: (one: Literal, other: Literal) => boolean): Bound {
  return bounds.reduce((best, one) => {
    if (best.value === one.value) return best.isStrict ? best : one;
    return isTighter(one.value, best.value) ? one : best;
  });
}

function boundsOf(tests: readonly Test[], direction: "<" | ">"): readonly Bound[] {
  return tests.flatMap((test) =>
    test.op !== "in" && test.op.startsWith(direction)
      ? [{ value: test.value, isStrict: test.op === direction }]
      : [],
  );
}

/** Whether no number and no text lies between the bounds. */
function isEmptyRange(tests: readonly Test[]): boolean {
  const [above, below] = [boundsOf(tests, ">"), boundsOf(tests, "<")];
  const kinds = new Set([...above, ...below].map(({ value }) => (value === null ? "null" : typeof value)));
  if (kinds.size === 0) return false;
  if (kinds.size > 1 || kinds.has("null") || kinds.has("boolean")) return true;
  if (above.length === 0 || below.length === 0) return false;
  const least = tightest(above, (one, other) => isOrdered(one, ">", other));
  const most = tightest(below, (one, other) => isOrdered(one, "<", other));
  if (least.value !== most.value) return isOrdered(least.value, ">", most.value);
  const isLeftOut = tests.some((test) => test.op === "!=" && test.value === least.value);
  return least.isStrict || most.isStrict || isLeftOut;
}

/** All tests are about the same subject. */
function isContradiction(tests: readonly Test[], known: KnownFact | undefined): boolean {
  const choices = tests.flatMap((test) => {
    if (test.op === "in") return [test.values];
    return test.op === "==" ? [[test.value]] : [];
  });
  const [some] = choices;
  if (some === undefined) return isEmptyRange(tests);
  const may = known?.may ?? (() => true);
  return !some.some((value) => may(value) && tests.every((test) => passes(value, test)));
}

const isEmptyList = (node: Node): boolean => node.kind === "list" && node.items.length === 0;

/** Equal operands: neither greater, less, nor different. */
function isOfItself(node: Node, ops: readonly Compare[]): boolean {
  return node.kind === "compare" && ops.includes(node.op) && nodeKey(node.left) === nodeKey(node.right);
}

/** Without looking at the conditions next to it. */
function isFalse(node: Node): boolean {
  if (constantOf(node) === false || isOfItself(node, ["<", ">", "!="])) return true;
  if (node.kind === "not") return isOfItself(node.of, ["==", "<=", ">="]);
  return node.kind === "in" && isEmptyList(node.right);
}

const not = (of: Node): Node => ({ kind: "not", of, at: of.at });
const both = (kind: "and" | "or", left: Node, right: Node): Node => ({ kind, left, right, at: left.at });

/** Rewrites what must hold for the node to be true as `&&`, `||` and conditions without alternatives. */
function opened(node: Node): Node {
  if (node.kind === "if")
    return both("or", both("and", node.test, node.yes), both("and", not(node.test), node.no));
  if (node.kind !== "not") return node;
  const { of } = node;
  if (of.kind === "not") return opened(of.of);
  if (of.kind === "or") return both("and", not(of.left), not(of.right));
  if (of.kind === "and") return both("or", not(of.left), not(of.right));
  return of.kind === "if" ? opened({ ...of, yes: not(of.yes), no: not(of.no) }) : node;
}

function flat(nodes: readonly Node[]): readonly Node[] {
  return nodes.flatMap((given) => {
    const node = opened(given);
    return node.kind === "and" ? flat([node.left, node.right]) : [node];
  });
}

/** `"a" in args` as the equivalent `has(args.a)`. */
function heldBy(node: Node): Node | undefined {
  const isKey = node.kind === "in" && node.left.kind === "value" && typeof node.left.value === "string";
  return isKey
    ? { kind: "has", of: node.right, name: String((node.left as { value: unknown }).value), at: 0 }
    : undefined;
}

function isDenied(node: Node, keys: ReadonlySet<string>): boolean {
  if (node.kind !== "not") return false;
  const held = heldBy(node.of);
  return keys.has(nodeKey(node.of)) || (held !== undefined && keys.has(nodeKey(held)));
}

type Around = { readonly known: readonly KnownFact[]; sides: number };

/** Whether these can never be true at once. */
function neverTogether(given: readonly Node[], around: Around): boolean {
  const nodes = flat(given);
  if (nodes.some(isFalse)) return true;
  const keys = new Set(nodes.map(nodeKey));
  if (nodes.some((node) => isDenied(node, keys))) return true;
  const bySubject = Map.groupBy(nodes.flatMap(testsIn), ({ subject }) => subject);
  const knownOf = (subject: string) => around.known.find((one) => one.subject === subject);
  for (const [subject, tests] of bySubject) {
    const one = knownOf(subject);
    if (isContradiction([...tests, ...(one?.tests ?? [])], one)) return true;
  }
  const either = nodes.find((node) => node.kind === "or");
  if (either?.kind !== "or" || around.sides < 2) return false;
  around.sides -= 2;
  const others = nodes.filter((node) => node !== either);
  return [either.left, either.right].every((side) => neverTogether([...others, side], around));
}

export function isNever(node: Node, known: readonly KnownFact[] = []): boolean {
  return neverTogether([node], { known, sides: MOST_SIDES });
}
