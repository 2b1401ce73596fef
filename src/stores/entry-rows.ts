/**
 * How the SQL stores keep entries: one row for all entries that one commit adds to one stream. The row says only what
 * does not follow from the rest: a header is written again from its fields, byte for byte, when it is read.
 * - `position` and `seq` are those of the last entry, and so is `hash`. The others count down from there.
 * - `chain` has 32 bytes for each entry: the hash before it. It is null in a row of 0.1, which holds one entry with the
 *   text of its header.
 * - `header` is JSON: the time, then type and version of each entry.
 * - `salt` has 16 bytes for each entry, and `body` a line. An erased entry has zeros there, and its body's digest as the
 *   line: canonical JSON of an object begins with a brace.
 */
import { bodyDigest, type Entry, type Header, headerBytes, SALT_BYTES } from "../journal/entry.ts";
import type { JournalEntry } from "./store.ts";

const HASH_BYTES = 32;

export type EntryRow = {
  readonly position: number;
  readonly seq: number;
  readonly header: string;
  readonly hash: string;
  readonly chain: Buffer | null;
  readonly salt: Buffer | null;
  readonly body: string | null;
};

/** The last entry determines `position`, `seq` and `hash`. */
export type PackedEntries = {
  readonly header: string;
  readonly chain: Buffer;
  readonly salt: Buffer;
  readonly body: string;
};

/** Of one commit in one stream, so all at one time. */
export function packEntries(entries: readonly Entry[]): PackedEntries {
  const chain = Buffer.allocUnsafe(HASH_BYTES * entries.length);
  const salt = Buffer.allocUnsafe(SALT_BYTES * entries.length);
  let header = `[${entries[0]?.at}`;
  let body = "";
  let at = 0;
  for (const entry of entries) {
    chain.write(entry.prev, at * HASH_BYTES, "hex");
    salt.write(entry.salt ?? "", at * SALT_BYTES, "hex");
    header += `,${JSON.stringify(entry.type)},${entry.tv}`;
    body += at === 0 ? entry.body : `\n${entry.body}`;
    at += 1;
  }
  return { header: `${header}]`, chain, salt, body };
}

const hexAt = (bytes: Buffer, size: number, at: number): string =>
  bytes.toString("hex", at * size, (at + 1) * size);

type Place = { readonly tenant: string; readonly stream: string };

/** An entry of a row of 0.1, whose header is kept as it was written. */
function entryOf01({ position, header, hash, salt, body }: EntryRow): JournalEntry {
  const { stream, seq, type, tv, at, prev } = JSON.parse(header) as Header;
  return {
    position,
    stream,
    seq,
    type,
    tv,
    at,
    prev,
    hash,
    header,
    salt: salt === null ? null : salt.toString("hex"),
    body,
  };
}

/** Most readers need neither salt, hash nor header, so these are made when they are asked for. */
function unpackedEntry(
  row: EntryRow & { readonly chain: Buffer },
  place: Place,
  from: Pick<JournalEntry, "position" | "seq" | "type" | "tv" | "at"> & {
    readonly line: string;
    readonly index: number;
    readonly isLast: boolean;
  },
): JournalEntry {
  const { chain, salt } = row;
  const { line, index, isLast, position, seq, type, tv, at } = from;
  const isErased = !line.startsWith("{");
  const salted = () => (isErased || salt === null ? null : hexAt(salt, SALT_BYTES, index));
  return {
    position,
    stream: place.stream,
    seq,
    type,
    tv,
    at,
    body: isErased ? null : line,
    get prev() {
      return hexAt(chain, HASH_BYTES, index);
    },
    get hash() {
      return isLast ? row.hash : hexAt(chain, HASH_BYTES, index + 1);
    },
    get salt() {
      return salted();
    },
    get header() {
      const body = isErased ? line : bodyDigest(salted() ?? "", line);
      return headerBytes({
        v: 1,
        tenant: place.tenant,
        stream: place.stream,
        seq,
        type,
        tv,
        at,
        prev: hexAt(chain, HASH_BYTES, index),
        body,
      });
    },
  };
}

export function unpackEntries(row: EntryRow, place: Place): readonly JournalEntry[] {
  const { chain } = row;
  if (chain === null) return [entryOf01(row)];
  const [at, ...types] = JSON.parse(row.header) as [number, ...(string | number)[]];
  const lines = row.body === null ? [] : row.body.split("\n");
  const count = chain.length / HASH_BYTES;
  return Array.from({ length: count }, (_, index) =>
    unpackedEntry({ ...row, chain }, place, {
      position: row.position - count + 1 + index,
      seq: row.seq - count + 1 + index,
      type: String(types[2 * index]),
      tv: Number(types[2 * index + 1]),
      at,
      line: lines[index] ?? "",
      index,
      isLast: index === count - 1,
    }),
  );
}
