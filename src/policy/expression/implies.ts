/**
 * Whether one condition holds whenever another does, decided from the two trees alone. `false` means undecided. An
 * implication is never claimed wrongly: both conditions read the same facts, an expression is pure, `&&` holds only if
 * both sides do, and `||` holds if one side does, even if the other side throws.
 */
import { type Compare, type Node, partsOf } from "./syntax.ts";

export type Literal = null | boolean | number | string;
/** A comparison with a literal, or membership in a list of literals. */
export type Test =
  | { readonly subject: string; readonly op: Compare; readonly value: Literal }
  | { readonly subject: string; readonly op: "in"; readonly values: readonly Literal[] };

type Claim = {
  readonly key: string;
  readonly test: Test | null;
  readonly parts: { readonly how: "and" | "or"; readonly of: readonly [Claim, Claim] } | null;
};

/** Claims that hold together; tests by subject. */
type Claims = {
  readonly keys: ReadonlySet<string>;
  readonly tests: ReadonlyMap<string, readonly Test[]>;
};

/** A condition prepared for repeated comparison. It holds only if all claims of one of its `ways` hold. */
export type Weighed = { readonly claim: Claim; readonly ways: readonly Claims[] };

const FLIPPED: { readonly [op in Compare]: Compare } = {
  "==": "==",
  "!=": "!=",
  "<": ">",
  "<=": ">=",
  ">": "<",
  ">=": "<=",
};

function ownOf(node: Node): string {
  switch (node.kind) {
    case "value":
      return JSON.stringify(node.value);
    case "name":
    case "field":
    case "has":
      return node.name;
    case "call":
      return `${node.of === null ? "" : "."}${node.name}`;
    case "each":
      return `${node.macro} ${node.variable}`;
    case "compare":
    case "math":
      return node.op;
    default:
      return "";
  }
}

const isSymmetric = (node: Node): boolean =>
  node.kind === "and" || node.kind === "or" || (node.kind === "compare" && /^[=!]=$/.test(node.op));

/** Equal for nodes with the same meaning, regardless of position and spacing. */
export function nodeKey(node: Node): string {
  const flips = node.kind === "compare" && (node.op === ">" || node.op === ">=");
  const own = flips ? FLIPPED[node.op] : ownOf(node);
  const parts = partsOf(node).map(nodeKey);
  if (flips) parts.reverse();
  if (isSymmetric(node)) parts.sort();
  return `${node.kind} ${JSON.stringify(own)}(${parts.join()})`;
}

export function literalOf(node: Node): Literal | undefined {
  if (node.kind === "value") return node.value;
  const isNegative = node.kind === "minus" && node.of.kind === "value" && typeof node.of.value === "number";
  return isNegative ? -Number((node.of as { readonly value: number }).value) : undefined;
}

export function listedIn(node: Node): readonly Literal[] | undefined {
  if (node.kind !== "list") return undefined;
  const values = node.items.map(literalOf);
  return values.every((one) => one !== undefined) ? values : undefined;
}

export function testIn(node: Node): Test | null {
  if (node.kind === "in") {
    const values = listedIn(node.right);
    return values === undefined ? null : { subject: nodeKey(node.left), op: "in", values };
  }
  if (node.kind !== "compare") return null;
  const [left, right] = [literalOf(node.left), literalOf(node.right)];
  if ((left === undefined) === (right === undefined)) return null;
  return left === undefined
    ? { subject: nodeKey(node.left), op: node.op, value: right ?? null }
    : { subject: nodeKey(node.right), op: FLIPPED[node.op], value: left };
}

function claimOf(node: Node): Claim {
  const isBoth = node.kind === "and" || node.kind === "or";
  const parts = isBoth ? { how: node.kind, of: [claimOf(node.left), claimOf(node.right)] as const } : null;
  return { key: nodeKey(node), test: testIn(node), parts };
}

function together(claim: Claim): readonly Claim[] {
  return claim.parts?.how === "and" ? [claim, ...claim.parts.of.flatMap(together)] : [claim];
}

function waysOf(claim: Claim): readonly Claims[] {
  if (claim.parts?.how === "or") return claim.parts.of.flatMap(waysOf);
  const all = together(claim);
  const tests = all.flatMap(({ test }) => test ?? []);
  return [{ keys: new Set(all.map(({ key }) => key)), tests: Map.groupBy(tests, ({ subject }) => subject) }];
}

export function weigh(node: Node): Weighed {
  const claim = claimOf(node);
  return { claim, ways: waysOf(claim) };
}

/** Whether a known value passes a test. */
function passes(value: Literal, test: Test): boolean {
  if (test.op === "in") return test.values.includes(value);
  if (test.op === "==") return value === test.value;
  if (test.op === "!=") return value !== test.value;
  if (typeof value !== "number" || typeof test.value !== "number") return false;
  return test.op.startsWith("<")
    ? value < test.value || (test.op === "<=" && value === test.value)
    : value > test.value || (test.op === ">=" && value === test.value);
}

/** `x > 5` implies `x > 3`: the bound passes, or it is excluded and everything beyond it passes. */
function bounds(op: Compare, bound: number, test: Test): boolean {
  if (test.op === "in" || test.op === "==" || typeof test.value !== "number") return false;
  const isStrict = op === "<" || op === ">";
  const isSameWay = test.op === "!=" || test.op.charAt(0) === op.charAt(0);
  if (!isSameWay) return false;
  if (bound === test.value) return isStrict || test.op === "<=" || test.op === ">=";
  return op.startsWith("<") ? bound < test.value : bound > test.value;
}

/** Whether one test implies another about the same subject. */
function follows(known: Test, wanted: Test): boolean {
  if (known.op === "in") return known.values.every((one) => passes(one, wanted));
  if (known.op === "==") return passes(known.value, wanted);
  return known.op !== "!=" && typeof known.value === "number" && bounds(known.op, known.value, wanted);
}

function holds(claim: Claim, facts: Claims): boolean {
  const { key, test, parts } = claim;
  if (facts.keys.has(key)) return true;
  if (parts === null) {
    const about = test === null ? undefined : facts.tests.get(test.subject);
    return test !== null && about?.some((known) => follows(known, test)) === true;
  }
  return parts.how === "and"
    ? parts.of.every((one) => holds(one, facts))
    : parts.of.some((one) => holds(one, facts));
}

/** Whether the second condition holds whenever the first does. */
export function implies({ ways }: Weighed, { claim }: Weighed): boolean {
  return ways.every((facts) => holds(claim, facts));
}

const MOST_WAYS = 64;

/** Splits an `in` test into one case per value. */
function eachValue(facts: Claims): readonly Claims[] {
  for (const [subject, tests] of facts.tests) {
    const among = tests.find((test) => test.op === "in");
    if (among?.op !== "in" || tests.some(({ op }) => op === "==")) continue;
    return among.values.map((value) => {
      const known: Test = { subject, op: "==", value };
      return { ...facts, tests: new Map([...facts.tests, [subject, [...tests, known]]]) };
    });
  }
  return [facts];
}

/** If one of the others holds whenever the first does: those that are needed for that. Undefined if undecided. */
export function impliesSome<Other extends { readonly condition: Weighed }>(
  { ways }: Weighed,
  others: readonly Other[],
): readonly Other[] | undefined {
  const split = ways.flatMap(eachValue);
  if (split.length > MOST_WAYS) return undefined;
  const needed = new Set<Other>();
  for (const facts of split) {
    const one = others.find(({ condition }) => holds(condition.claim, facts));
    if (one === undefined) return undefined;
    needed.add(one);
  }
  return [...needed];
}
