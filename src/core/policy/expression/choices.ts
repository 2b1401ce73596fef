/** Texts that a value can never be, because there is a closed list of what it is: levels, classes, the enums of a schema. */
import { didYouMean } from "../../../kernel/spelling.ts";
import { type Flaw, type Node, type NodeOf, pathText } from "./syntax.ts";
import type { Type } from "./types.ts";

const MOST_NAMED = 10;

function listed(among: readonly string[]): string {
  const left = among.length - MOST_NAMED;
  return `${among.slice(0, MOST_NAMED).join(", ")}${left > 0 ? ` and ${left} more` : ""}`;
}

/** Why a value of that type is never this text. */
export function neverIs(type: Type, text: string, what: string): string | undefined {
  if (type.kind !== "string" || type.among === null || type.among.includes(text)) return undefined;
  return `${what} is never ${JSON.stringify(text)}${didYouMean(text, type.among)}; it is one of ${listed(type.among)}`;
}

function flawOf(literal: Node, { node, type }: Side): readonly Flaw[] {
  if (literal.kind !== "value" || typeof literal.value !== "string") return [];
  const message = neverIs(type, literal.value, pathText(node) ?? "this");
  return message === undefined ? [] : [{ message, at: literal.at }];
}

type Side = { readonly node: Node; readonly type: Type };

export function comparedFlaws({ op }: NodeOf<"compare">, left: Side, right: Side): readonly Flaw[] {
  return op === "==" || op === "!=" ? [...flawOf(left.node, right), ...flawOf(right.node, left)] : [];
}

/** `risk.level in ["low", "hgih"]`, or `"urgnt" in args.tags`. */
export function memberFlaws(left: Side, right: Side): readonly Flaw[] {
  if (right.type.kind !== "list") return [];
  if (right.node.kind === "list") return right.node.items.flatMap((item) => flawOf(item, left));
  const item = pathText(right.node);
  const what: Side = { node: right.node, type: right.type.of };
  return flawOf(left.node, what).map(({ message, at }) => ({
    message: item === undefined ? message : `an item of ${message}`,
    at,
  }));
}
