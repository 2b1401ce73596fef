/** Which fields are known to be there, once a condition was found to hold, or not to. */
import { type Node, pathText } from "./syntax.ts";

export function guardsWhen(node: Node, holds: boolean): readonly string[] {
  switch (node.kind) {
    case "has":
      return holds ? pathsOf(pathText(node)) : [];
    case "in":
      return holds ? membership(node.left, node.right) : [];
    case "not":
      return guardsWhen(node.of, !holds);
    case "and":
      return holds ? [...guardsWhen(node.left, true), ...guardsWhen(node.right, true)] : [];
    case "or":
      return holds ? [] : [...guardsWhen(node.left, false), ...guardsWhen(node.right, false)];
    default:
      return [];
  }
}

const pathsOf = (path: string | undefined): readonly string[] => (path === undefined ? [] : [path]);

/** `"reason" in args` says the same as `has(args.reason)`. */
function membership(key: Node, of: Node): readonly string[] {
  const owner = pathText(of);
  if (owner === undefined || key.kind !== "value" || typeof key.value !== "string") return [];
  return [`${owner}.${key.value}`];
}
