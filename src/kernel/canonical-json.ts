/**
 * Canonical JSON (RFC 8785), the text that is hashed, signed and stored, and SHA-256 digests over it. Equal data has
 * equal text, in any order of keys. A value that the text cannot hold exactly is refused, never repaired, with two
 * exceptions as in `JSON.stringify`: a property that is `undefined` is left out, and -0 is 0. Any input gives text, or
 * throws a HoldpointError that names the path of the fault.
 */

import { hash, timingSafeEqual } from "node:crypto";
import { HoldpointError } from "./errors.ts";
import { type Json, MAX_DEPTH } from "./json.ts";

const MAX_LENGTH = 64 * 1024 * 1024;
/** Printable ASCII that needs no escape: most text, and three times faster than calling `JSON.stringify`. */
const PLAIN_TEXT = /^[ !#-[\]-~]*$/;

type Key = string | number;
/** An array or object being written, and the path to it. */
type Holder = {
  readonly value: object;
  readonly key: Key;
  readonly parent: Holder | undefined;
  readonly depth: number;
};

export function canonicalJson(value: unknown): string {
  try {
    return textOf(value, undefined, "");
  } catch (error) {
    throw error instanceof HoldpointError ? error : unreadable(error);
  }
}

type Kept = { readonly text: string; readonly levels: number };
/** Cached texts of frozen values. */
const kept = new WeakMap<object, Kept>();

/**
 * The value parsed from its canonical text, deeply frozen. The text is cached, so that a value that is hashed, stored
 * and passed on several times is serialized once.
 */
export function frozenJson(value: unknown): Json {
  if (isFrozenJson(value)) return value;
  const text = canonicalJson(value);
  const frozen = JSON.parse(text) as Json;
  if (typeof frozen === "object" && frozen !== null) kept.set(frozen, { text, levels: freeze(frozen) });
  return frozen;
}

/** Made by `frozenJson`: it never changes. */
function isFrozenJson(value: unknown): value is Json & object {
  return typeof value === "object" && value !== null && kept.has(value);
}

/** A mutable copy. */
export function copyJson(value: unknown): Json {
  return JSON.parse(canonicalJson(value)) as Json;
}

/** Returns the number of levels. */
function freeze(value: object): number {
  let deepest = 0;
  for (const part of Object.values(value)) {
    if (typeof part === "object" && part !== null) deepest = Math.max(deepest, freeze(part));
  }
  Object.freeze(value);
  return deepest + 1;
}

/** A proxy that throws, or text too long for the engine. */
function unreadable(cause: unknown): HoldpointError {
  return new HoldpointError("invalid_json", "The value could not be read as JSON.", { cause });
}

function textOf(value: unknown, holder: Holder | undefined, key: Key): string {
  switch (typeof value) {
    case "string":
      if (PLAIN_TEXT.test(value)) return `"${value}"`;
      return value.isWellFormed()
        ? JSON.stringify(value)
        : refuse("is text with half a surrogate pair", holder, key);
    case "number":
      return numberText(value, holder, key);
    case "boolean":
      return value ? "true" : "false";
    case "object":
      return value === null ? "null" : containerText(value, holder, key);
    default:
      return refuse(`is ${UNFIT[typeof value]}`, holder, key);
  }
}

const UNFIT: Readonly<Record<string, string>> = {
  undefined: "undefined; leave it out or send null",
  bigint: "a bigint; send a string",
  function: "a function, which JSON cannot hold",
  symbol: "a symbol, which JSON cannot hold",
};

function numberText(value: number, holder: Holder | undefined, key: Key): string {
  if (!Number.isFinite(value)) return refuse(`is ${value}, which JSON cannot hold`, holder, key);
  if (Number.isInteger(value) && !Number.isSafeInteger(value)) {
    return refuse(`is ${value}, beyond the integers a JSON number holds exactly; send a string`, holder, key);
  }
  return `${value}`;
}

function containerText(value: object, parent: Holder | undefined, key: Key): string {
  const depth = (parent?.depth ?? 0) + 1;
  const known = kept.get(value);
  if (known !== undefined && depth + known.levels - 1 <= MAX_DEPTH) return known.text;
  if (depth > MAX_DEPTH) return refuseDepth(value, parent, key);
  const holder = { value, key, parent, depth };
  const text = Array.isArray(value) ? arrayText(value, holder) : objectText(value, holder);
  if (text.length > MAX_LENGTH)
    throw new HoldpointError("payload_too_large", "The value's JSON is over 64 MiB.");
  return text;
}

function arrayText(array: readonly unknown[], holder: Holder): string {
  let text = "[";
  for (let index = 0; index < array.length; index++) {
    if (array[index] === undefined && !(index in array))
      refuse("is a hole in the array; send null", holder, index);
    text += (index === 0 ? "" : ",") + textOf(array[index], holder, index);
  }
  return `${text}]`;
}

function objectText(object: object, holder: Holder): string {
  const prototype: unknown = Object.getPrototypeOf(object);
  // A plain object of another realm has another Object.prototype, which has no prototype either.
  if (prototype !== null && Object.getPrototypeOf(prototype) !== null) {
    return refuse(instanceAdvice(object), holder.parent, holder.key);
  }
  let text = "";
  for (const key of sortKeys(Object.keys(object))) {
    const member = dataOf(object, key, holder);
    if (member === undefined) continue;
    if (key === "__proto__") refuse('has the reserved key "__proto__"', holder.parent, holder.key);
    text += `${text === "" ? "" : ","}${keyText(key, holder)}${textOf(member, holder, key)}`;
  }
  return `{${text}}`;
}

const MOST_KEYS = 1_000;
const keyTexts = new Map<string, string>();

/** Includes the colon. Cached, because a few keys make up most of them. */
function keyText(key: string, holder: Holder): string {
  const known = keyTexts.get(key);
  if (known !== undefined) return known;
  const text = `${textOf(key, holder, key)}:`;
  if (keyTexts.size < MOST_KEYS && key.length < 64) keyTexts.set(key, text);
  return text;
}

/** By UTF-16 code units. Most objects are small, and on those insertion sort is far faster than `sort`. */
function sortKeys(keys: string[]): string[] {
  if (keys.length > 16) return keys.sort();
  for (let next = 1; next < keys.length; next++) {
    const key = keys[next] ?? "";
    let at = next;
    for (let before = keys[at - 1]; before !== undefined && before > key; before = keys[at - 1]) {
      keys[at] = before;
      at -= 1;
    }
    keys[at] = key;
  }
  return keys;
}

function dataOf(object: object, key: string, holder: Holder): unknown {
  const property = Object.getOwnPropertyDescriptor(object, key);
  if (property?.get !== undefined) refuse("is computed by a getter; send its value", holder, key);
  return property?.value;
}

function instanceAdvice(object: object): string {
  if (object instanceof Date) return "is a Date; send a string";
  if (object instanceof Map) return "is a Map; send an object";
  if (object instanceof Set) return "is a Set; send an array";
  if (ArrayBuffer.isView(object) || object instanceof ArrayBuffer) return "is binary data; send base64 text";
  if (object instanceof Promise) return "is a Promise; await it";
  const name: unknown = object.constructor?.name;
  return `is an instance of ${typeof name === "string" && name !== "" ? name : "a class"}; send plain data`;
}

function refuseDepth(value: object, parent: Holder | undefined, key: Key): never {
  let outermost: Holder | undefined;
  for (let holder = parent; holder !== undefined; holder = holder.parent) {
    if (holder.value === value) outermost = holder;
  }
  if (outermost !== undefined) return refuse("contains itself", outermost.parent, outermost.key);
  return refuse(`is nested deeper than ${MAX_DEPTH} levels`, parent, key);
}

function refuse(why: string, holder: Holder | undefined, key: Key): never {
  const path = pathOf(holder, key);
  throw new HoldpointError("invalid_json", `The value at ${path} ${why}.`, { details: { path } });
}

function pathOf(holder: Holder | undefined, key: Key): string {
  if (holder === undefined) return "$";
  const named = typeof key === "string" && /^[A-Za-z_]\w*$/.test(key);
  return pathOf(holder.parent, holder.key) + (named ? `.${key}` : `[${JSON.stringify(key)}]`);
}

/** Longer fields come after shorter ones: a mail's recipient before its text. */
const SHORT_CHARACTERS = 60;

/** Canonical except for the order of the fields. */
export function shortFieldsFirst(value: unknown): string {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return canonicalJson(value);
  const fields = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  const texts = fields.map(([name, field]) => canonicalJson({ [name]: field }).slice(1, -1));
  const isShort = (text: string): boolean => text.length <= SHORT_CHARACTERS;
  return `{${[...texts.filter(isShort), ...texts.filter((text) => !isShort(text))].join(",")}}`;
}

const PREVIEW_CHARACTERS = 200;

/** The whole value, or its beginning. */
export function previewOf(value: unknown): string {
  const text = canonicalJson(value);
  return text.length <= PREVIEW_CHARACTERS
    ? text
    : `${shortFieldsFirst(value).slice(0, PREVIEW_CHARACTERS)}… (${text.length} characters)`;
}

/**
 * A row holds its title only if the list cannot make it from the row's name and preview. So rows of before, which have
 * none, need not be built again.
 */
export const titleForRow = (preview: string, template: string | undefined, title: () => string) =>
  template === undefined && preview.length <= PREVIEW_CHARACTERS ? {} : { title: title() };

/** SHA-256 in lower-case hex. */
export function sha256(bytes: string | Uint8Array): string {
  return hash("sha256", bytes, "hex");
}

/** SHA-256 over RFC 8785 JSON of a value. */
export function digestOf(value: unknown): string {
  if (!isFrozenJson(value)) return sha256(canonicalJson(value));
  const known = digests.get(value) ?? sha256(canonicalJson(value));
  digests.set(value, known);
  return known;
}

/** Cached digests of frozen values. */
const digests = new WeakMap<object, string>();

/** Constant-time comparison of two texts of the same form. */
export function isSameHash(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one, "latin1"), Buffer.from(other, "latin1")];
  return a.length === b.length && timingSafeEqual(a, b);
}

/** Compared in place of a missing record's hash, so that both take equally long. No text has this hash. */
export const NO_HASH = "-".repeat(64);
