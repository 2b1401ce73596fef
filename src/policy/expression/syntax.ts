/**
 * The tree of an expression, its cost, and text to tree. `at` is the position in the text that a message points to.
 * - The cost is known before an expression runs: its nodes, with the content of `all`, `map` and the like counted `ASSUMED_ITEMS`
 *   times. Two nested levels fit, three do not. The steps of a verdict limit longer lists.
 * - Only the library's parser is used: the other files of this folder decide what an expression means and what it can access.
 * - There is no way to write a function, a binding or a byte string. Text, nodes and depth are limited before any other processing.
 */
import { type ASTNode, Environment } from "@marcbachmann/cel-js";

type Compare = "==" | "!=" | "<" | "<=" | ">" | ">=";
type Arithmetic = "+" | "-" | "*" | "/" | "%";
export type Macro = "all" | "exists" | "exists_one" | "filter" | "map";

type At = { readonly at: number };

export type Node = At &
  (
    | { readonly kind: "value"; readonly value: null | boolean | number | string }
    | { readonly kind: "name"; readonly name: string }
    | { readonly kind: "field"; readonly of: Node; readonly name: string }
    | { readonly kind: "has"; readonly of: Node; readonly name: string }
    | { readonly kind: "index"; readonly of: Node; readonly key: Node }
    | {
        readonly kind: "call";
        readonly name: string;
        readonly of: Node | null;
        readonly args: readonly Node[];
      }
    | { readonly kind: "list"; readonly items: readonly Node[] }
    | { readonly kind: "object"; readonly entries: readonly (readonly [Node, Node])[] }
    | { readonly kind: "if"; readonly test: Node; readonly yes: Node; readonly no: Node }
    | { readonly kind: "and"; readonly left: Node; readonly right: Node }
    | { readonly kind: "or"; readonly left: Node; readonly right: Node }
    | { readonly kind: "not"; readonly of: Node }
    | { readonly kind: "minus"; readonly of: Node }
    | { readonly kind: "compare"; readonly op: Compare; readonly left: Node; readonly right: Node }
    | { readonly kind: "in"; readonly left: Node; readonly right: Node }
    | { readonly kind: "math"; readonly op: Arithmetic; readonly left: Node; readonly right: Node }
    | {
        readonly kind: "each";
        readonly macro: Macro;
        readonly over: Node;
        readonly variable: string;
        /** null for `map` with two arguments, which keeps every item. */
        readonly test: Node | null;
        /** Only for `map`. */
        readonly make: Node | null;
      }
  );

export type NodeOf<Kind extends Node["kind"]> = Extract<Node, { readonly kind: Kind }>;

/** A flaw in an expression's text, and its position. */
export type Flaw = { readonly message: string; readonly at: number };

export function partsOf(node: Node): readonly Node[] {
  switch (node.kind) {
    case "value":
    case "name":
      return [];
    case "field":
    case "has":
    case "not":
    case "minus":
      return [node.of];
    case "index":
      return [node.of, node.key];
    case "call":
      return node.of === null ? node.args : [node.of, ...node.args];
    case "list":
      return node.items;
    case "object":
      return node.entries.flat();
    case "if":
      return [node.test, node.yes, node.no];
    case "each":
      return [
        node.over,
        ...(node.test === null ? [] : [node.test]),
        ...(node.make === null ? [] : [node.make]),
      ];
    default:
      return [node.left, node.right];
  }
}

/** For example `args.user.id`; undefined for anything but a name with fields. */
export function pathText(node: Node): string | undefined {
  if (node.kind === "name") return node.name;
  if (node.kind !== "field" && node.kind !== "has") return undefined;
  const of = pathText(node.of);
  return of === undefined ? undefined : `${of}.${node.name}`;
}

export const ASSUMED_ITEMS = 100;
export const COST_PER_EXPRESSION = 100_000;
export const COST_PER_POLICY = 1_000_000;

/** Nodes that are always evaluated with this one. The others are charged when they are evaluated. */
export function weightOf(node: Node): number {
  return surePartsOf(node).reduce((sum, part) => sum + weightOf(part), 1);
}

function surePartsOf(node: Node): readonly Node[] {
  switch (node.kind) {
    case "and":
    case "or":
      return [node.left];
    case "if":
      return [node.test];
    case "each":
      return [node.over];
    default:
      return partsOf(node);
  }
}

export function costOf(node: Node): number {
  if (node.kind !== "each") return partsOf(node).reduce((sum, part) => sum + costOf(part), 1);
  const [over, ...inner] = partsOf(node);
  const round = inner.reduce((sum, part) => sum + costOf(part), 1);
  return 1 + (over === undefined ? 0 : costOf(over)) + ASSUMED_ITEMS * round;
}

/** Names that are read, with a field that is read directly: `args`, `totals.refunded`. */
export function namesIn(node: Node, into = new Set<string>()): ReadonlySet<string> {
  if (node.kind === "name") into.add(node.name);
  if ((node.kind === "field" || node.kind === "has") && node.of.kind === "name")
    into.add(`${node.of.name}.${node.name}`);
  for (const part of partsOf(node)) namesIn(part, into);
  return into;
}

export const PARSE_LIMITS = { characters: 4_096, nodes: 500, depth: 40 } as const;

const environment = new Environment({
  unlistedVariablesAreDyn: true,
  limits: {
    maxAstNodes: PARSE_LIMITS.nodes,
    maxDepth: PARSE_LIMITS.depth,
    maxListElements: 200,
    maxMapEntries: 100,
  },
});

const COMPARE: ReadonlySet<string> = new Set(["==", "!=", "<", "<=", ">", ">="]);
const ARITHMETIC: ReadonlySet<string> = new Set(["+", "-", "*", "/", "%"]);
const MACROS: Readonly<Record<string, readonly number[]>> = {
  all: [2],
  exists: [2],
  exists_one: [2],
  filter: [2],
  map: [2, 3],
};

type Parsed = { readonly ok: true; readonly node: Node } | { readonly ok: false; readonly flaw: Flaw };

type Failure = Error & { readonly flaw: Flaw };

function fail(message: string, at: number): never {
  throw Object.assign(new Error(message), { flaw: { message, at } });
}

function literal(value: unknown, at: number): Node {
  if (typeof value === "bigint") {
    const number = Number(value);
    if (!Number.isSafeInteger(number)) return fail("the number is too large to be exact", at);
    return { kind: "value", value: number, at };
  }
  if (value === null || typeof value === "boolean" || typeof value === "number" || typeof value === "string")
    return { kind: "value", value, at };
  return value instanceof Uint8Array
    ? fail("bytes are not used here; write text without the b", at)
    : fail("write the number without the u", at);
}

function variableOf(node: ASTNode | undefined): string {
  return node?.op === "id" ? node.args : "";
}

function each(macro: Macro, over: ASTNode, args: readonly ASTNode[], at: number): Node {
  const [variable, second, third] = args;
  if (second === undefined || !MACROS[macro]?.includes(args.length))
    return fail(`${macro} is written as list.${macro}(name, …)`, at);
  const common = { kind: "each", macro, over: convert(over), variable: variableOf(variable), at } as const;
  if (macro !== "map") return { ...common, test: convert(second), make: null };
  if (third === undefined) return { ...common, test: null, make: convert(second) };
  return { ...common, test: convert(second), make: convert(third) };
}

function has(args: readonly ASTNode[], at: number): Node {
  const [of] = args;
  if (of?.op !== "." || args.length !== 1)
    return fail("has is written with one field, as in has(args.reason)", at);
  return { kind: "has", of: convert(of.args[0]), name: of.args[1], at: of.pos };
}

/** Position of a method's name: the tree only has the start of the whole call. */
function nameAt(node: ASTNode, name: string): number {
  const receiver = (node.args as unknown as readonly [string, ASTNode])[1];
  return Math.max(node.start, node.input.indexOf(name, receiver.end));
}

function convertCall(node: Extract<ASTNode, { op: "call" | "rcall" }>): Node {
  if (node.op === "call") {
    const [name, args] = node.args;
    if (name === "has") return has(args, node.start);
    return { kind: "call", name, of: null, args: args.map(convert), at: node.start };
  }
  const [name, of, args] = node.args;
  const at = nameAt(node, name);
  if (Object.hasOwn(MACROS, name)) return each(name as Macro, of, args, at);
  return { kind: "call", name, of: convert(of), args: args.map(convert), at };
}

function convertPair(node: ASTNode): Node {
  const [a, b] = node.args as readonly [ASTNode, ASTNode];
  const pair = { left: convert(a), right: convert(b), at: node.start };
  if (COMPARE.has(node.op)) return { kind: "compare", op: node.op as Compare, ...pair };
  if (ARITHMETIC.has(node.op)) return { kind: "math", op: node.op as Arithmetic, ...pair };
  if (node.op === "in") return { kind: "in", ...pair };
  if (node.op === "&&" || node.op === "||") return { kind: node.op === "&&" ? "and" : "or", ...pair };
  return fail(`${node.op} is not used here`, node.start);
}

function convert(node: ASTNode): Node {
  const at = node.start;
  switch (node.op) {
    case "value":
      return literal(node.args, at);
    case "id":
      return { kind: "name", name: node.args, at };
    case ".":
      return { kind: "field", of: convert(node.args[0]), name: node.args[1], at: node.pos };
    case "[]":
      return { kind: "index", of: convert(node.args[0]), key: convert(node.args[1]), at };
    case "call":
    case "rcall":
      return convertCall(node);
    case "list":
      return { kind: "list", items: node.args.map(convert), at };
    case "map":
      return { kind: "object", entries: node.args.map(([key, value]) => [convert(key), convert(value)]), at };
    case "?:":
      return {
        kind: "if",
        test: convert(node.args[0]),
        yes: convert(node.args[1]),
        no: convert(node.args[2]),
        at,
      };
    case "!_":
      return { kind: "not", of: convert(node.args), at };
    case "-_":
      return { kind: "minus", of: convert(node.args), at };
    default:
      return convertPair(node);
  }
}

const isFailure = (error: unknown): error is Failure => error instanceof Error && "flaw" in error;

function flawOf(error: unknown): Flaw {
  if (isFailure(error)) return error.flaw;
  if (error instanceof RangeError) return { message: "the expression is nested too deeply", at: 0 };
  const { summary, range } = error as { summary?: unknown; range?: { start?: number } };
  const said = typeof summary === "string" ? summary : String(error);
  const message = said.endsWith("token: EOF") ? "the expression ends where more is needed" : said;
  return { message: message.slice(0, 300).toWellFormed(), at: range?.start ?? 0 };
}

export function parse(text: string): Parsed {
  if (text.length > PARSE_LIMITS.characters)
    return {
      ok: false,
      flaw: { message: `the expression is over ${PARSE_LIMITS.characters} characters`, at: 0 },
    };
  try {
    return { ok: true, node: convert(environment.parse(text).ast) };
  } catch (error) {
    return { ok: false, flaw: flawOf(error) };
  }
}
