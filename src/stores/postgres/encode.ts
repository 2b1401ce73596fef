/**
 * Arrays in PostgreSQL's binary format: nothing to escape, nothing to inject, and the server parses no text. `pg` sends
 * a Buffer parameter in binary. Texts as PostgreSQL can store and index them: it has no U+0000 in texts, and no index
 * entries over a third of a page. Ordinary texts are stored as they are.
 */
import { sha256 } from "../../kernel/canonical-json.ts";
import { HoldpointError } from "../../kernel/errors.ts";

const OID = { bool: 16, bytea: 17, int8: 20, int4: 23, text: 25 } as const;
const HEAD = 20;
const NULL = -1;

type Many<Item> = readonly (Item | null)[];

function arrayHead(oid: number, many: number, bytes: number): Buffer {
  if (many === 0) {
    const empty = Buffer.alloc(12);
    empty.writeInt32BE(oid, 8);
    return empty;
  }
  const buffer = Buffer.allocUnsafe(HEAD + 4 * many + bytes);
  buffer.writeInt32BE(1, 0);
  buffer.writeInt32BE(1, 4);
  buffer.writeInt32BE(oid, 8);
  buffer.writeInt32BE(many, 12);
  buffer.writeInt32BE(1, 16);
  return buffer;
}

export function encodeTexts(values: Many<string>): Buffer {
  let bytes = 0;
  for (const value of values) if (value !== null) bytes += Buffer.byteLength(value);
  const buffer = arrayHead(OID.text, values.length, bytes);
  let at = HEAD;
  for (const value of values) {
    const length = value === null ? NULL : buffer.write(value, at + 4);
    buffer.writeInt32BE(length, at);
    at += 4 + Math.max(length, 0);
  }
  return buffer;
}

export function encodeBytes(values: Many<Uint8Array>): Buffer {
  let total = 0;
  for (const value of values) total += value?.length ?? 0;
  const buffer = arrayHead(OID.bytea, values.length, total);
  let at = HEAD;
  for (const value of values) {
    buffer.writeInt32BE(value?.length ?? NULL, at);
    if (value !== null) buffer.set(value, at + 4);
    at += 4 + (value?.length ?? 0);
  }
  return buffer;
}

/** Bytes given as hexadecimal digits. */
export function encodeHexes(values: Many<string>): Buffer {
  let total = 0;
  for (const value of values) total += (value?.length ?? 0) / 2;
  const buffer = arrayHead(OID.bytea, values.length, total);
  let at = HEAD;
  for (const value of values) {
    const length = value === null ? NULL : buffer.write(value, at + 4, "hex");
    buffer.writeInt32BE(length, at);
    at += 4 + Math.max(length, 0);
  }
  return buffer;
}

/** Integers that JavaScript holds exactly. */
export function encodeLongs(values: Many<number>): Buffer {
  const absent = values.reduce((sum: number, value) => sum + (value === null ? 1 : 0), 0);
  const buffer = arrayHead(OID.int8, values.length, 8 * (values.length - absent));
  let at = HEAD;
  for (const value of values) {
    buffer.writeInt32BE(value === null ? NULL : 8, at);
    at += 4;
    if (value === null) continue;
    const high = Math.floor(value / 2 ** 32);
    buffer.writeInt32BE(high, at);
    buffer.writeUInt32BE(value - high * 2 ** 32, at + 4);
    at += 8;
  }
  return buffer;
}

export type Halves = { readonly high: number; readonly low: number };

/** 64 bits each, in two signed halves. */
export function encodeHalves(values: readonly Halves[]): Buffer {
  const buffer = arrayHead(OID.int8, values.length, 8 * values.length);
  let at = HEAD;
  for (const { high, low } of values) {
    buffer.writeInt32BE(8, at);
    buffer.writeInt32BE(high, at + 4);
    buffer.writeInt32BE(low, at + 8);
    at += 12;
  }
  return buffer;
}

export function encodeIntegers(values: readonly number[]): Buffer {
  const buffer = arrayHead(OID.int4, values.length, 4 * values.length);
  let at = HEAD;
  for (const value of values) {
    buffer.writeInt32BE(4, at);
    buffer.writeInt32BE(value, at + 4);
    at += 8;
  }
  return buffer;
}

export function encodeBooleans(values: readonly boolean[]): Buffer {
  const buffer = arrayHead(OID.bool, values.length, values.length);
  let at = HEAD;
  for (const value of values) {
    buffer.writeInt32BE(1, at);
    buffer[at + 4] = value ? 1 : 0;
    at += 5;
  }
  return buffer;
}

const ODD = /[\\\0]/;
const LONGEST = 1_000;

export function encodeText(text: string): string {
  return ODD.test(text) ? text.replaceAll("\\", "\\\\").replaceAll("\0", "\\0") : text;
}

export function decodeText(kept: string): string {
  return kept.includes("\\")
    ? kept.replace(/\\(\\|0)/g, (_, sign: string) => (sign === "0" ? "\0" : "\\"))
    : kept;
}

/** The indexed key: a long text is replaced by its hash. No encoded text has a backslash before an h. */
export function indexKey(text: string): string {
  const kept = encodeText(text);
  return kept.length * 3 <= LONGEST || Buffer.byteLength(kept) <= LONGEST ? kept : `\\h${sha256(text)}`;
}

/** The full text, if the key is only its hash. */
export const fullTextOfKey = (text: string, key: string): string | null =>
  key.startsWith("\\h") ? encodeText(text) : null;

export function checkTenantLength(tenant: string): string {
  if (Buffer.byteLength(encodeText(tenant)) <= LONGEST) return tenant;
  throw new HoldpointError("invalid_input", `A tenant's name has at most ${LONGEST} bytes.`);
}
