/**
 * What an expression may cost, before it runs: its nodes, and what stands inside `all`, `map` and the like as often as a
 * list of `ASSUMED_ITEMS` has items. Two levels of them fit, three do not. Longer lists are met by the steps of a verdict.
 */
import { type Node, partsOf } from "./syntax.ts";

export const ASSUMED_ITEMS = 100;
export const COST_PER_EXPRESSION = 100_000;
export const COST_PER_POLICY = 1_000_000;

/** Nodes that are evaluated whenever this one is. The others are paid for where it comes to them. */
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

/** Names that are read, with their field where one is read of them directly: `args`, `totals.refunded`. */
export function namesIn(node: Node, into = new Set<string>()): ReadonlySet<string> {
  if (node.kind === "name") into.add(node.name);
  if ((node.kind === "field" || node.kind === "has") && node.of.kind === "name")
    into.add(`${node.of.name}.${node.name}`);
  for (const part of partsOf(node)) namesIn(part, into);
  return into;
}
