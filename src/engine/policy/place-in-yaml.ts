/** Where in a YAML text something stands: a key, a value, or a character inside of an expression. */
import { type Document, isAlias, isMap, isPair, isScalar, isSeq, type Node, type Scalar } from "yaml";

type Step = string | number;

const startOf = (node: unknown): number | undefined => (node as Node | null | undefined)?.range?.[0];

type Found = { readonly key: unknown; readonly value: unknown };

function step(document: Document, holder: unknown, part: Step): Found | undefined {
  const node = isAlias(holder) ? holder.resolve(document) : holder;
  if (isSeq(node)) return { key: undefined, value: node.items[Number(part)] };
  if (!isMap(node)) return undefined;
  const pair = node.items.find(({ key }) => String(isScalar(key) ? key.value : key) === String(part));
  return isPair(pair) ? { key: pair.key, value: pair.value } : undefined;
}

/** Of the value at the end of a path, or of its key, or as far as the path leads. */
export function placeOf(
  document: Document,
  path: readonly Step[],
): { readonly at: number; readonly value: unknown } {
  let at = startOf(document.contents) ?? 0;
  let value: unknown = document.contents;
  let isElsewhere = false;
  for (const part of path) {
    const found = step(document, value, part);
    if (found === undefined) return { at, value: undefined };
    // What stands behind an anchor is pointed to where the anchor is used.
    isElsewhere ||= isAlias(value);
    if (!isElsewhere) at = startOf(found.key) ?? startOf(found.value) ?? at;
    value = found.value;
  }
  return { at, value: isElsewhere ? undefined : value };
}

const ESCAPES: Readonly<Record<string, number>> = { x: 4, u: 6, U: 10 };
const isSpace = (character: string | undefined): boolean => character !== undefined && /\s/.test(character);

/** How many characters of the text stand for one of the value. */
function width(text: string, at: number, type: string | null | undefined): number {
  if (type === "QUOTE_SINGLE" && text.startsWith("''", at)) return 2;
  if (type !== "QUOTE_DOUBLE" || text[at] !== "\\") return 1;
  return ESCAPES[text[at + 1] ?? ""] ?? 2;
}

function bodyOf(text: string, start: number, type: string | null | undefined): number {
  if (type === "QUOTE_DOUBLE" || type === "QUOTE_SINGLE") return start + 1;
  const isBlock = type === "BLOCK_LITERAL" || type === "BLOCK_FOLDED";
  return isBlock ? text.indexOf("\n", start) + 1 : start;
}

/** White space is folded, indented and cut in YAML, so both are walked by what is not white space. */
export function placeInside(text: string, scalar: Scalar<string>, offset: number): number {
  const { value, type, range } = scalar;
  let at = bodyOf(text, range?.[0] ?? 0, type);
  for (let index = 0; index < value.length; index++) {
    if (isSpace(value[index])) {
      if (type === "QUOTE_DOUBLE" && text[at] === "\\") at += width(text, at, type);
      if (index >= offset) return at;
      continue;
    }
    while (isSpace(text[at])) at += 1;
    if (index >= offset) return at;
    at += width(text, at, type);
  }
  return at;
}
