/** The checks of one entry after the other, and what is left to say at the end. Used by `verify-journal.ts`. */
import { sha256 } from "../kernel/canonical-json.ts";
import { bodyDigest, GENESIS, type Header, SALT_BYTES, type StoredEntry } from "./entry.ts";
import type { Find } from "./finding.ts";
import { readHeader } from "./read-header.ts";
import type { SealLeaf } from "./seal.ts";
import { type SealChain, sealedSeq } from "./verify-seals.ts";

/** One entry with its place in the store's commit order. */
export type JournalLine = StoredEntry & { readonly position: number };

export type Counts = {
  entries: number;
  streams: number;
  /** Entries whose body and salt were erased. */
  erased: number;
  sealed: number;
  unsealed: number;
  seals: number;
  receipts: number;
};

type StreamSeen = { seq: number; hash: string; at: number; headsMet: number; unsealedFrom: number };

export type Seen = {
  readonly tenant: string;
  readonly chain: SealChain;
  readonly find: Find;
  readonly counts: Counts;
  readonly streams: Map<string, StreamSeen>;
  /** Entries that receipts speak of, by stream, until they are met. */
  readonly awaited: Map<string, readonly SealLeaf[]>;
  position: number;
};

export function checkEntry(line: JournalLine, seen: Seen): void {
  seen.counts.entries += 1;
  const header = readHeader(line.header);
  if (header === undefined) {
    seen.find(
      "header_unreadable",
      {},
      `The header at position ${line.position} is not the exact text of a header.`,
    );
    return;
  }
  const hash = sha256(line.header);
  checkLine(line, header, seen);
  if (line.hash !== hash)
    seen.find("hash_mismatch", placeOf(header), "The stored hash is not the hash of the header.");
  const stream = takePlace(header, hash, seen);
  if (stream === undefined) return;
  checkHeads({ ...placeOf(header), hash }, stream, seen);
  meetReceipts({ ...placeOf(header), hash }, seen);
  countSealed(header, line.position, seen);
}

const SALT = new RegExp(`^[0-9a-f]{${SALT_BYTES * 2}}$`);

const placeOf = ({ stream, seq }: Header) => ({ stream, seq });

function checkLine({ salt, body, position }: JournalLine, header: Header, seen: Seen): void {
  const { find, counts, tenant } = seen;
  const place = placeOf(header);
  if (header.tenant !== tenant)
    find("tenant_mismatch", place, `It is an entry of the tenant "${header.tenant}".`);
  if (position < seen.position)
    find("position_backwards", place, "It stands after an entry with a later position.");
  seen.position = Math.max(seen.position, position);
  if (salt === null && body === null) counts.erased += 1;
  else if (salt === null) find("half_erased", place, "The salt is gone but the body is there.");
  else if (body === null) find("half_erased", place, "The body is gone but the salt is there.");
  else if (!SALT.test(salt) || bodyDigest(salt, body) !== header.body) {
    find("body_mismatch", place, "The body is not the one the header was made for.");
  }
}

/** Checks an entry against the one before it in its stream. One that is out of place is not considered further. */
function takePlace(header: Header, hash: string, { find, streams }: Seen): StreamSeen | undefined {
  const { seq, at, prev } = header;
  const before = streams.get(header.stream) ?? { seq: 0, hash: GENESIS, at: 0, headsMet: 0, unsealedFrom: 0 };
  if (seq <= before.seq) {
    find("seq_repeated", placeOf(header), `It comes after seq ${before.seq}: a fork or a reordering.`);
    return undefined;
  }
  if (seq > before.seq + 1) find("seq_gap", placeOf(header), `Seq ${before.seq + 1} is missing before it.`);
  else if (prev !== before.hash)
    find("prev_mismatch", placeOf(header), "It does not hold the hash of the entry before.");
  if (at < before.at)
    find("time_backwards", placeOf(header), "Its time lies before that of the entry before.");
  const now = Object.assign(before, { seq, hash, at });
  streams.set(header.stream, now);
  return now;
}

function checkHeads({ stream, seq, hash }: SealLeaf, state: StreamSeen, { chain, find }: Seen): void {
  const heads = chain.heads.get(stream) ?? [];
  for (
    let head = heads[state.headsMet];
    head !== undefined && head.seq <= seq;
    head = heads[state.headsMet]
  ) {
    if (head.seq < seq) findMissing(head, find);
    else if (head.hash !== hash)
      find("leaf_mismatch", { stream, seq, seal: head.seal }, "The sealed entry was another one.");
    state.headsMet += 1;
  }
}

function findMissing({ stream, seq, seal }: SealLeaf & { readonly seal: number }, find: Find): void {
  find("leaf_missing", { stream, seq, seal }, "This sealed entry is gone.");
}

function meetReceipts({ stream, seq, hash }: SealLeaf, { awaited }: Seen): void {
  const waiting = awaited.get(stream);
  if (waiting === undefined) return;
  awaited.set(
    stream,
    waiting.filter((entry) => entry.seq !== seq || entry.hash !== hash),
  );
}

function countSealed(
  { stream, seq }: Header,
  position: number,
  { chain, counts, streams, find }: Seen,
): void {
  if (seq <= sealedSeq(chain, stream)) {
    counts.sealed += 1;
    return;
  }
  counts.unsealed += 1;
  const state = streams.get(stream);
  if (state?.unsealedFrom === 0) state.unsealedFrom = seq;
  if (position <= (chain.seals.at(-1)?.payload.position ?? -1)) {
    find("not_covered", { stream, seq }, "It stands before the last seal, but no seal covers it.");
  }
}

export function checkEnd({ chain, streams, awaited, counts, find }: Seen, requireSealed: boolean): void {
  counts.streams = streams.size;
  for (const [stream, heads] of chain.heads) {
    for (const head of heads.slice(streams.get(stream)?.headsMet ?? 0)) findMissing(head, find);
  }
  for (const { stream, seq } of [...awaited.values()].flat()) {
    find("receipt_unmatched", { stream, seq }, "The entry that a receipt speaks of is not in the journal.");
  }
  if (!requireSealed) return;
  for (const [stream, { unsealedFrom }] of streams) {
    if (unsealedFrom > 0)
      find("not_sealed", { stream, seq: unsealedFrom }, "From here on the stream is not sealed.");
  }
}
