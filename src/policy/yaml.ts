/**
 * YAML of policy and monitor files: limits that keep reading fast (a file is read again while the program runs), the
 * position of a key, a value or a character of an expression, parser messages in plain words (a common mistake is
 * missing quotes around an expression), and writing a stored document as YAML.
 */
import {
  type Document,
  isAlias,
  isMap,
  isPair,
  isScalar,
  isSeq,
  type Node,
  type Scalar,
  stringify,
  visit,
  type YAMLParseError,
  type YAMLWarning,
} from "yaml";
import { keysAt } from "./rules/document.ts";

type Step = string | number;

const startOf = (node: unknown): number | undefined => (node as Node | null | undefined)?.range?.[0];

type YamlEntry = { readonly key: unknown; readonly value: unknown };

function step(document: Document, holder: unknown, part: Step): YamlEntry | undefined {
  const node = isAlias(holder) ? holder.resolve(document) : holder;
  if (isSeq(node)) return { key: undefined, value: node.items[Number(part)] };
  if (!isMap(node)) return undefined;
  const pair = node.items.find(({ key }) => String(isScalar(key) ? key.value : key) === String(part));
  return isPair(pair) ? { key: pair.key, value: pair.value } : undefined;
}

/** Position of the key at the end of a path, of the list item, or of the last part that exists. */
export function locatePath(
  document: Document,
  path: readonly Step[],
): { readonly at: number; readonly value: unknown } {
  let at = startOf(document.contents) ?? 0;
  let value: unknown = document.contents;
  let isElsewhere = false;
  for (const part of path) {
    const found = step(document, value, part);
    if (found === undefined) return { at, value: undefined };
    // For content behind an alias, report the position where the alias is used.
    isElsewhere ||= isAlias(value);
    if (!isElsewhere) at = startOf(found.key) ?? startOf(found.value) ?? at;
    value = found.value;
  }
  return { at, value: isElsewhere ? undefined : value };
}

const ESCAPES: Readonly<Record<string, number>> = { x: 4, u: 6, U: 10 };
const isSpace = (character: string | undefined): boolean => character !== undefined && /\s/.test(character);

/** Number of source characters that encode one character of the value. */
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

/** YAML folds, indents and trims white space, so source and value are aligned by their other characters. */
export function locateInScalar(text: string, scalar: Scalar<string>, offset: number): number {
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

/** Limit after aliases are expanded. */
export const MOST_YAML_VALUES = 100_000;
export const DEEPEST_YAML = 100;

/** Counts brackets anywhere in the text, also inside strings: the parser is slow on deep nesting. */
export function isTooDeep(text: string): boolean {
  let depth = 0;
  for (const character of text) {
    if (character === "[" || character === "{") depth += 1;
    else if (character === "]" || character === "}") depth -= 1;
    if (depth > DEEPEST_YAML) return true;
  }
  return false;
}

type DuplicateKey = { readonly at: number; readonly message: string };

/** Uses a set; the parser's own check compares every pair of keys. */
export function duplicateKeys(document: Document): readonly DuplicateKey[] {
  const found: DuplicateKey[] = [];
  visit(document, {
    Map(_, map) {
      const names = new Set<unknown>();
      for (const { key } of map.items) {
        if (!isScalar(key)) continue;
        if (names.has(key.value))
          found.push({ at: key.range?.[0] ?? 0, message: `${String(key.value)} stands here twice` });
        names.add(key.value);
      }
    },
  });
  return found;
}

/** Stops counting at the limit. */
export function isHuge(value: unknown): boolean {
  const open = [value];
  for (let seen = 0; open.length > 0; seen++) {
    if (seen + open.length > MOST_YAML_VALUES) return true;
    const one = open.pop();
    if (typeof one === "object" && one !== null) for (const part of Object.values(one)) open.push(part);
  }
  return false;
}

type YamlIssue = Pick<YAMLParseError | YAMLWarning, "code" | "message">;

const QUOTES = "put the whole value into quotes";

const WORDS: { readonly [code: string]: (message: string) => string } = {
  MULTIPLE_DOCS: () =>
    "a second document begins here, and a file holds one; make another file of it, or take the line --- or ... away",
  NON_STRING_KEY: () => "a key has to be text",
  TAG_RESOLVE_FAILED: (message) => `${message}. What begins with ! is a tag in YAML; ${QUOTES}`,
  BAD_SCALAR_START: (message) => `${message}; ${QUOTES}`,
  BLOCK_AS_IMPLICIT_KEY: (message) =>
    message.startsWith("Nested mappings")
      ? `there is a colon in this value; ${QUOTES}, or look at how the lines are indented`
      : message,
  UNEXPECTED_TOKEN: (message) =>
    message.endsWith("at node end") ? `the value had ended before this; ${QUOTES}` : message,
};

export const yamlIssueText = ({ code, message }: YamlIssue): string => WORDS[code]?.(message) ?? message;

/** For errors thrown while values are built from the parsed text. */
export const aliasErrorText = (message: string, most: number): string =>
  message.startsWith("Excessive alias count")
    ? `aliases (*name) stand for too much; ${most} is the limit`
    : message;

type Path = readonly (string | number)[];

/** Keys in the order of the reference. The stored document is sorted alphabetically, which is hard to read. */
function inOrder(value: unknown, path: Path = []): unknown {
  if (Array.isArray(value)) return value.map((part, index) => inOrder(part, [...path, index]));
  if (typeof value !== "object" || value === null) return value;
  const known = keysAt(path).filter((key) => Object.hasOwn(value, key));
  const keys = [...known, ...Object.keys(value).filter((key) => !known.includes(key))];
  const parts = value as Readonly<Record<string, unknown>>;
  return new Map(keys.map((key) => [key, inOrder(parts[key], [...path, key])]));
}

export const policyYaml = (document: unknown): string => stringify(inOrder(document), { lineWidth: 0 });
