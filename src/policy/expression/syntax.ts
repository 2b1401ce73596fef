/**
 * The tree of an expression, and its cost. `at` is the position in the text that a message points to. The cost is known
 * before an expression runs: its nodes, with the content of `all`, `map` and the like counted `ASSUMED_ITEMS` times.
 * Two nested levels fit, three do not. The steps of a verdict limit longer lists.
 */

export type Compare = "==" | "!=" | "<" | "<=" | ">" | ">=";
export type Arithmetic = "+" | "-" | "*" | "/" | "%";
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
