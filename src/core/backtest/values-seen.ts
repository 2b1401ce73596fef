/** What the names in an expression stood for: `args.amount_usd` was 1200. */

import type { Json } from "../../kernel/json.ts";
import { errorText } from "../../kernel/text.ts";

import { jsonOf } from "../policy/expression/json-of.ts";
import { spend, spendText } from "../policy/expression/meter.ts";
import { parse } from "../policy/expression/parse.ts";
import { type Node, partsOf, pathText } from "../policy/expression/syntax.ts";
import { isMoment, isSpan, type Value } from "../policy/expression/values.ts";
import { runnable } from "../policy/expression.ts";
import { type PolicyScene, readersFor } from "../policy/scene.ts";
import type { Total } from "../policy/totals.ts";

export type SeenValue = { readonly name: string; readonly value: Json; readonly error: string | null };

/** Names with all their fields. What a macro binds has another value each time, and is left out. */
function pathsIn(node: Node, bound: ReadonlySet<string>): readonly (readonly [string, Node])[] {
  const path = node.kind === "has" ? undefined : pathText(node);
  if (path !== undefined) return bound.has(path.split(".")[0] ?? "") ? [] : [[path, node]];
  if (node.kind !== "each") return partsOf(node).flatMap((part) => pathsIn(part, bound));
  const inner = new Set([...bound, node.variable]);
  const [over, ...rest] = partsOf(node);
  return [
    ...(over === undefined ? [] : pathsIn(over, bound)),
    ...rest.flatMap((part) => pathsIn(part, inner)),
  ];
}

/** A part of a value is also written down. */
const STEPS_PER_PART_WRITTEN = 10;

function jsonValue(value: Value, scene: PolicyScene): Json {
  if (isMoment(value)) return new Date(value.ms).toISOString();
  if (isSpan(value)) return `${value.ms} ms`;
  if (typeof value === "string") spendText(scene, value.length);
  const before = scene.left;
  const json = jsonOf(value, scene);
  spend(scene, STEPS_PER_PART_WRITTEN * (before - scene.left));
  return json;
}

/** A whole history is not a value that anybody wants to read. */
function shown(name: string, value: Value, scene: PolicyScene): Json {
  if (name !== "history") return jsonValue(value, scene);
  return Array.isArray(value) ? `${value.length} calls` : null;
}

export function valuesSeen(
  text: string,
  totals: ReadonlyMap<string, Total>,
  looking: (look: (scene: PolicyScene) => Json) => Json,
): readonly SeenValue[] {
  const parsed = parse(text);
  if (!parsed.ok) return [];
  const paths = new Map(pathsIn(parsed.node, new Set()));
  return [...paths].map(([name, node]) => {
    const read = runnable(node, readersFor(totals));
    try {
      return { name, value: looking((scene) => shown(name, read(scene), scene)), error: null };
    } catch (error) {
      return { name, value: null, error: errorText(error) };
    }
  });
}
