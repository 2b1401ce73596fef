/**
 * The journal's entry format (docs/reference/journal.md): writing entries and reading headers. `hash` is SHA-256 over
 * the header's bytes; the header is RFC 8785 JSON of nine fields. `prev` is the hash of the stream's previous entry, 64
 * zeros for the first; `seq` counts from 1. The header holds SHA-256 over salt and canonical body, never the body:
 * erasing both leaves the chain whole. A header is read only from its exact text.
 */
import { canonicalJson, sha256 } from "../kernel/canonical-json.ts";
import { isJsonObject, type JsonObject, parseJson } from "../kernel/json.ts";
import type { NewEvent } from "../kernel/stream.ts";

const ENTRY_VERSION = 1;
export const GENESIS = "0".repeat(64);
export const SALT_BYTES = 16;

export type Header = {
  readonly v: number;
  readonly tenant: string;
  readonly stream: string;
  readonly seq: number;
  readonly type: string;
  readonly tv: number;
  readonly at: number;
  readonly prev: string;
  readonly body: string;
};

/** An entry as stored: the header's exact bytes, its hash, and the salt and body, which can be erased. */
export type StoredEntry = {
  readonly header: string;
  readonly hash: string;
  readonly salt: string | null;
  readonly body: string | null;
};

/** With the header's fields, for readers that need no exact bytes. `digest` is that of the body, which may be gone. */
export type Entry = StoredEntry & Omit<Header, "v" | "tenant" | "body"> & { readonly digest: string };

type EntryPosition = {
  readonly tenant: string;
  readonly stream: string;
  readonly seq: number;
  readonly at: number;
  readonly prev: string;
};

/** Most bodies fit: one copy into this buffer is cheaper than allocating three. */
const scratch = Buffer.alloc(16 * 1024);

export function bodyDigest(salt: string, body: string): string {
  if (salt.length / 2 + body.length * 3 > scratch.length)
    return sha256(Buffer.concat([Buffer.from(salt, "hex"), Buffer.from(body)]));
  const start = scratch.write(salt, "hex");
  return sha256(scratch.subarray(0, start + scratch.write(body, start)));
}

/** Keys in RFC 8785 order; strings escaped by the same rules. */
export function headerBytes(header: Header): string {
  return (
    `{"at":${header.at},"body":"${header.body}","prev":"${header.prev}","seq":${header.seq},` +
    `"stream":${canonicalJson(header.stream)},"tenant":${canonicalJson(header.tenant)},"tv":${header.tv},` +
    `"type":${canonicalJson(header.type)},"v":${header.v}}`
  );
}

export function makeEntry(place: EntryPosition, event: NewEvent, salt: string): Entry {
  const body = canonicalJson(event.body);
  const { tenant, stream, seq, at, prev } = place;
  const { type, tv } = event;
  const digest = bodyDigest(salt, body);
  const header = headerBytes({ v: ENTRY_VERSION, tenant, stream, seq, type, tv, at, prev, body: digest });
  return { stream, seq, type, tv, at, prev, digest, header, hash: sha256(header), salt, body };
}

const HASH = /^[0-9a-f]{64}$/;

export const isHash = (value: unknown): value is string => typeof value === "string" && HASH.test(value);

export const isCount = (value: unknown, least = 0): value is number =>
  Number.isSafeInteger(value) && Number(value) >= least;

/** Parses a header. Undefined if the text is not the exact text of a version 1 header. */
export function readHeader(text: string): Header | undefined {
  const header = headerOf(parsed(text));
  return header !== undefined && headerBytes(header) === text ? header : undefined;
}

function parsed(text: string): JsonObject | undefined {
  try {
    const value = parseJson(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function headerOf(fields: JsonObject | undefined): Header | undefined {
  const { v, tenant, stream, seq, type, tv, at, prev, body } = fields ?? {};
  if (
    v !== ENTRY_VERSION ||
    typeof tenant !== "string" ||
    typeof stream !== "string" ||
    typeof type !== "string"
  ) {
    return undefined;
  }
  if (!isCount(seq, 1) || !isCount(tv, 1) || !isCount(at) || !isHash(prev) || !isHash(body)) return undefined;
  return { v, tenant, stream, seq, type, tv, at, prev, body };
}
