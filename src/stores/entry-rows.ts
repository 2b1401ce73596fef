/**
 * How the SQL stores keep entries: one row for all entries that one commit adds to one stream. A row holds only what
 * cannot be derived: a header is written again from its fields, byte for byte, when it is needed.
 * - `position`, `seq` and `hash` are those of the last entry. The others count down from there.
 * - `header` is JSON: the time of the commit, then type and version of each entry.
 * - `chain` has 64 bytes for each entry: the hash before it, and the digest of its body.
 * - `salt` has 16 bytes for each entry, and `body` one line. An erased entry has zeros, and an empty line.
 * - In a row of 0.1 `chain` is null: it holds one entry, with the text of its header.
 * A damaged row is not refused here: it becomes an entry that no chain and no verifier accepts.
 */
import { type Entry, type Header, headerBytes, SALT_BYTES } from "../journal/entry.ts";
import type { JournalEntry } from "./store.ts";

const HASH_BYTES = 32;
const LINK_BYTES = 2 * HASH_BYTES;

export type EntryRow = {
  readonly position: number;
  readonly seq: number;
  readonly header: string;
  readonly hash: string;
  readonly chain: Buffer | null;
  readonly salt: Buffer | null;
  readonly body: string | null;
};

/** Without what the last entry determines. */
export type PackedEntries = {
  readonly header: string;
  readonly chain: Buffer;
  readonly salt: Buffer;
  readonly body: string;
};

/** Entries of one commit in one stream. */
export function packEntries(entries: readonly Entry[]): PackedEntries {
  const chain = Buffer.allocUnsafe(LINK_BYTES * entries.length);
  const salt = Buffer.alloc(SALT_BYTES * entries.length);
  let header = `[${entries[0]?.at}`;
  let body = "";
  let at = 0;
  for (const entry of entries) {
    chain.write(entry.prev, at * LINK_BYTES, "hex");
    chain.write(entry.digest, at * LINK_BYTES + HASH_BYTES, "hex");
    salt.write(entry.salt ?? "", at * SALT_BYTES, "hex");
    header += `,${JSON.stringify(entry.type)},${entry.tv}`;
    body += at === 0 ? entry.body : `\n${entry.body}`;
    at += 1;
  }
  return { header: `${header}]`, chain, salt, body };
}

/** Of the stream that the row belongs to. Folding needs no header, and so no tenant. */
type RowOwner = { readonly tenant: string; readonly stream: string };

export function unpackEntries(row: EntryRow, owner: RowOwner): readonly JournalEntry[] {
  if (row.chain === null) return [entryOf01(row, owner)];
  const packed = readPacked({ ...row, chain: row.chain });
  if (packed === undefined) return [damagedEntry(row, owner)];
  return packed.lines.map((line, index) => packedEntry(packed, owner, { line, index }));
}

/** The text of its header was kept, and is not judged here. */
function entryOf01(row: EntryRow, owner: RowOwner): JournalEntry {
  const { seq, type, tv, at, prev, body } = parsedObject(row.header) as Partial<Header>;
  if (typeof type !== "string" || typeof prev !== "string") return damagedEntry(row, owner);
  const fields = { seq: Number(seq), type, tv: Number(tv), at: Number(at), prev, digest: String(body) };
  return { ...damagedEntry(row, owner), ...fields };
}

function damagedEntry(
  { position, seq, header, hash, salt, body }: EntryRow,
  { stream }: RowOwner,
): JournalEntry {
  const fields = { stream, seq, type: "", tv: 0, at: 0, prev: "", digest: "" };
  return { position, ...fields, header, hash, salt: salt === null ? null : salt.toString("hex"), body };
}

type PackedRow = EntryRow & {
  readonly chain: Buffer;
  readonly at: number;
  /** Type and version of each entry in turn. */
  readonly types: readonly (string | number)[];
  readonly lines: readonly string[];
};

function readPacked(row: EntryRow & { readonly chain: Buffer }): PackedRow | undefined {
  const [at, ...types] = parsedArray(row.header);
  const lines = (row.body ?? "").split("\n");
  const isWhole =
    typeof at === "number" &&
    types.length === 2 * lines.length &&
    row.chain.length === LINK_BYTES * lines.length &&
    row.salt?.length === SALT_BYTES * lines.length;
  return isWhole ? { ...row, at, types: types as (string | number)[], lines } : undefined;
}

/** Most readers need neither hash, salt nor header, so these are made when they are read. */
function packedEntry(
  row: PackedRow,
  { tenant, stream }: RowOwner,
  { line, index }: { readonly line: string; readonly index: number },
): JournalEntry {
  const { chain, at, types, lines } = row;
  const later = lines.length - 1 - index;
  const seq = row.seq - later;
  const type = String(types[2 * index]);
  const tv = Number(types[2 * index + 1]);
  const isErased = line === "";
  return {
    ...{ position: row.position - later, stream, seq, type, tv, at, body: isErased ? null : line },
    get prev() {
      return hexAt(chain, HASH_BYTES, 2 * index);
    },
    get digest() {
      return hexAt(chain, HASH_BYTES, 2 * index + 1);
    },
    get hash() {
      return later === 0 ? row.hash : hexAt(chain, HASH_BYTES, 2 * index + 2);
    },
    get salt() {
      return isErased || row.salt === null ? null : hexAt(row.salt, SALT_BYTES, index);
    },
    get header() {
      return headerBytes({ v: 1, tenant, stream, seq, type, tv, at, prev: this.prev, body: this.digest });
    },
  };
}

const hexAt = (bytes: Buffer, size: number, index: number): string =>
  bytes.toString("hex", index * size, (index + 1) * size);

function parsedArray(text: string): readonly unknown[] {
  const value = parsed(text);
  return Array.isArray(value) ? value : [];
}

function parsedObject(text: string): object {
  const value = parsed(text);
  return typeof value === "object" && value !== null ? value : {};
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
