/**
 * JSON values as the journal stores them: their type, a strict parser, and the differences between two values. The
 * parser refuses what `canonicalJson` would refuse to write, with line and column, and everything that two parsers
 * could read differently: a duplicate key, half a surrogate pair, an integer beyond 2^53. It takes one pass, linear
 * time, at most 64 levels deep; -0 is read as 0. Differences are complete and minimal: applied at their paths they turn
 * one value into the other, and they name only what differs (a field, a list item, or a whole value of another type).
 */
import { HoldpointError } from "./errors.ts";

/** JSON as the journal stores it: no `undefined`, no `NaN`, no big integers, no class instances. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject;
export type JsonObject = { readonly [key: string]: Json };

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export const MAX_DEPTH = 64;

type Cursor = { readonly text: string; at: number; depth: number };

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_ARRAY = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_ARRAY = 0x5d;
const LETTER_F = 0x66;
const LETTER_N = 0x6e;
const LETTER_T = 0x74;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

export function parseJson(text: string): Json {
  const cursor = { text, at: 0, depth: 0 };
  if (!text.isWellFormed()) fail(cursor, "half a surrogate pair", text.search(/\p{Surrogate}/u));
  if (text.charCodeAt(0) === 0xfeff) fail(cursor, "a byte order mark");
  skipSpace(cursor);
  const value = readValue(cursor);
  skipSpace(cursor);
  if (cursor.at < text.length) fail(cursor, "something after the end of the value");
  return value;
}

function readValue(cursor: Cursor): Json {
  switch (cursor.text.charCodeAt(cursor.at)) {
    case QUOTE:
      return readString(cursor);
    case OPEN_OBJECT:
      return readObject(cursor);
    case OPEN_ARRAY:
      return readArray(cursor);
    case LETTER_N:
      return readWord(cursor, "null", null);
    case LETTER_T:
      return readWord(cursor, "true", true);
    case LETTER_F:
      return readWord(cursor, "false", false);
    default:
      return readNumber(cursor);
  }
}

function readWord<Value>(cursor: Cursor, word: string, value: Value): Value {
  if (!cursor.text.startsWith(word, cursor.at)) fail(cursor, "a word that is not JSON");
  cursor.at += word.length;
  return value;
}

const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;

function readNumber(cursor: Cursor): number {
  NUMBER.lastIndex = cursor.at;
  const digits = NUMBER.exec(cursor.text)?.[0];
  if (digits === undefined)
    fail(cursor, cursor.at < cursor.text.length ? "something that is not JSON" : "an early end");
  const value = Number(digits);
  if (!Number.isFinite(value)) fail(cursor, "a number too large to hold");
  if (Number.isInteger(value) && !Number.isSafeInteger(value)) {
    fail(cursor, "an integer beyond those a JSON number holds exactly; send it as a string");
  }
  cursor.at += digits.length;
  return value === 0 ? 0 : value;
}

function readArray(cursor: Cursor): Json[] {
  const array: Json[] = [];
  if (opensEmpty(cursor, CLOSE_ARRAY)) return array;
  do array.push(readValue(cursor));
  while (continues(cursor, CLOSE_ARRAY));
  return array;
}

function readObject(cursor: Cursor): JsonObject {
  const object: Record<string, Json> = {};
  if (opensEmpty(cursor, CLOSE_OBJECT)) return object;
  do {
    const key = readKey(cursor, object);
    object[key] = readValue(cursor);
  } while (continues(cursor, CLOSE_OBJECT));
  return object;
}

function readKey(cursor: Cursor, object: object): string {
  const start = cursor.at;
  if (cursor.text.charCodeAt(start) !== QUOTE) fail(cursor, "no key in double quotes where one belongs");
  const key = readString(cursor);
  if (key === "__proto__") fail(cursor, 'the reserved key "__proto__"', start);
  if (Object.hasOwn(object, key)) fail(cursor, `the key ${JSON.stringify(key)} for the second time`, start);
  skipSpace(cursor);
  if (cursor.text.charCodeAt(cursor.at) !== COLON) fail(cursor, "no colon after a key");
  cursor.at += 1;
  skipSpace(cursor);
  return key;
}

/** Enters an array or object. True if it is empty. */
function opensEmpty(cursor: Cursor, close: number): boolean {
  if (cursor.depth === MAX_DEPTH) fail(cursor, `more than ${MAX_DEPTH} levels`);
  cursor.at += 1;
  skipSpace(cursor);
  if (cursor.text.charCodeAt(cursor.at) === close) {
    cursor.at += 1;
    return true;
  }
  cursor.depth += 1;
  return false;
}

/** After a member: moves past a comma to the next one, or out of the array or object. */
function continues(cursor: Cursor, close: number): boolean {
  skipSpace(cursor);
  const found = cursor.text.charCodeAt(cursor.at);
  if (found !== COMMA && found !== close) fail(cursor, "neither a comma nor a closing bracket");
  cursor.at += 1;
  if (found === close) cursor.depth -= 1;
  else skipSpace(cursor);
  return found === COMMA;
}

function readString(cursor: Cursor): string {
  const { text } = cursor;
  const start = cursor.at;
  let end = start + 1;
  let escaped = false;
  for (let code = text.charCodeAt(end); code !== QUOTE; code = text.charCodeAt(end)) {
    if (Number.isNaN(code)) fail(cursor, "text without its closing quote", start);
    if (code < 0x20) fail(cursor, "a control character that is not escaped", end);
    if (code === BACKSLASH) escaped = true;
    end += code === BACKSLASH ? escapeLength(cursor, end) : 1;
  }
  cursor.at = end + 1;
  if (!escaped) return text.slice(start + 1, end);
  const value = String(JSON.parse(text.slice(start, end + 1)));
  if (!value.isWellFormed()) fail(cursor, "half a surrogate pair", start);
  return value;
}

const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;

function escapeLength(cursor: Cursor, at: number): number {
  ESCAPE.lastIndex = at;
  const found = ESCAPE.exec(cursor.text)?.[0];
  return found === undefined ? fail(cursor, "a backslash that escapes nothing", at) : found.length;
}

function skipSpace(cursor: Cursor): void {
  for (;;) {
    const code = cursor.text.charCodeAt(cursor.at);
    if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return;
    cursor.at += 1;
  }
}

function fail(cursor: Cursor, what: string, offset: number = cursor.at): never {
  const before = cursor.text.slice(0, offset).split("\n");
  const place = { line: before.length, column: (before.at(-1)?.length ?? 0) + 1, offset };
  throw new HoldpointError(
    "invalid_json",
    `The JSON text has ${what} at line ${place.line}, column ${place.column}.`,
    { details: place },
  );
}

type JsonPath = readonly (string | number)[];

/** Without `before` it was added, without `after` it was removed. */
export type JsonChange = { readonly path: JsonPath; readonly before?: Json; readonly after?: Json };

type Comparison = {
  readonly path: JsonPath;
  readonly before: Json | undefined;
  readonly after: Json | undefined;
};

const isList = (value: Json | undefined): value is readonly Json[] => Array.isArray(value);

function comparisonsWithin({ path, before, after }: Comparison): readonly Comparison[] | undefined {
  if (isList(before) && isList(after)) {
    const length = Math.max(before.length, after.length);
    return Array.from({ length }, (_, at) => ({
      path: [...path, at],
      before: before[at],
      after: after[at],
    }));
  }
  if (!isJsonObject(before) || !isJsonObject(after)) return undefined;
  const own = (value: { readonly [key: string]: Json }, key: string) =>
    Object.hasOwn(value, key) ? value[key] : undefined;
  const keys = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...keys].map((key) => ({
    path: [...path, key],
    before: own(before, key),
    after: own(after, key),
  }));
}

function changesAt(place: Comparison): readonly JsonChange[] {
  const { path, before, after } = place;
  if (before === after) return [];
  const within = comparisonsWithin(place);
  if (within !== undefined) return within.flatMap(changesAt);
  return [{ path, ...(before === undefined ? {} : { before }), ...(after === undefined ? {} : { after }) }];
}

/** In the order of the keys and items, those of `before` first. */
export const diffJson = (before: Json, after: Json): readonly JsonChange[] =>
  changesAt({ path: [], before, after });
