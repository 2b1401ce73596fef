/**
 * Verifies a tenant's journal: its chains, bodies and seals and, if given, receipts and a seal saved outside the
 * journal. It takes one pass over the entries in commit order; memory grows with streams and seals, not with entries.
 * The caller must read seals before entries: an entry committed in between is then only unsealed. An erased body (salt
 * and body both gone) and an unsealed tail are legitimate: they are counted and are no findings.
 */

import { sha256 } from "../kernel/canonical-json.ts";
import { bodyDigest, GENESIS, type Header, readHeader, SALT_BYTES, type StoredEntry } from "./entry.ts";
import type { PublicJwk } from "./jws.ts";
import { type ReceiptBundle, verifyReceipt } from "./receipt-jws.ts";
import type { Seal, SealLeaf } from "./seal.ts";
import {
  type Finding,
  type ReportFinding,
  type SavedSeal,
  type SealChain,
  sealedSeq,
  verifySavedSeal,
  verifySeals,
} from "./verify-seals.ts";

/** One entry with its position in the store's commit order. */
export type JournalLine = StoredEntry & { readonly position: number };

type JournalCounts = {
  entries: number;
  streams: number;
  /** Entries whose body and salt were erased. */
  erased: number;
  sealed: number;
  unsealed: number;
  seals: number;
  receipts: number;
};

type StreamProgress = { seq: number; hash: string; at: number; headsMet: number; unsealedFrom: number };

type VerificationState = {
  readonly tenant: string;
  readonly chain: SealChain;
  readonly find: ReportFinding;
  readonly counts: JournalCounts;
  readonly streams: Map<string, StreamProgress>;
  /** Entries named by receipts and not met yet, by stream. */
  readonly awaited: Map<string, readonly SealLeaf[]>;
  position: number;
};

function checkEntry(line: JournalLine, seen: VerificationState): void {
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
    seen.find("hash_mismatch", locationOf(header), "The stored hash is not the hash of the header.");
  const stream = checkChainLink(header, hash, seen);
  if (stream === undefined) return;
  checkHeads({ ...locationOf(header), hash }, stream, seen);
  meetReceipts({ ...locationOf(header), hash }, seen);
  countSealed(header, line.position, seen);
}

const SALT = new RegExp(`^[0-9a-f]{${SALT_BYTES * 2}}$`);

const locationOf = ({ stream, seq }: Header) => ({ stream, seq });

function checkLine({ salt, body, position }: JournalLine, header: Header, seen: VerificationState): void {
  const { find, counts, tenant } = seen;
  const place = locationOf(header);
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

/** Checks an entry against the previous one of its stream. Undefined: out of place, and not checked further. */
function checkChainLink(
  header: Header,
  hash: string,
  { find, streams }: VerificationState,
): StreamProgress | undefined {
  const { seq, at, prev } = header;
  const before = streams.get(header.stream) ?? { seq: 0, hash: GENESIS, at: 0, headsMet: 0, unsealedFrom: 0 };
  if (seq <= before.seq) {
    find("seq_repeated", locationOf(header), `It comes after seq ${before.seq}: a fork or a reordering.`);
    return undefined;
  }
  if (seq > before.seq + 1)
    find("seq_gap", locationOf(header), `Seq ${before.seq + 1} is missing before it.`);
  else if (prev !== before.hash)
    find("prev_mismatch", locationOf(header), "It does not hold the hash of the entry before.");
  if (at < before.at)
    find("time_backwards", locationOf(header), "Its time lies before that of the entry before.");
  const now = Object.assign(before, { seq, hash, at });
  streams.set(header.stream, now);
  return now;
}

function checkHeads(
  { stream, seq, hash }: SealLeaf,
  state: StreamProgress,
  { chain, find }: VerificationState,
): void {
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

function findMissing({ stream, seq, seal }: SealLeaf & { readonly seal: number }, find: ReportFinding): void {
  find("leaf_missing", { stream, seq, seal }, "This sealed entry is gone.");
}

function meetReceipts({ stream, seq, hash }: SealLeaf, { awaited }: VerificationState): void {
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
  { chain, counts, streams, find }: VerificationState,
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

function checkEnd(
  { chain, streams, awaited, counts, find }: VerificationState,
  requireSealed: boolean,
): void {
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

type VerifyInput = {
  readonly tenant: string;
  readonly seals: readonly Seal[];
  /** Trusted keys. */
  readonly keys: readonly PublicJwk[];
  /** A seal saved outside the journal; its key is trusted too. */
  readonly savedSeal?: SavedSeal | undefined;
  readonly receipts?: readonly ReceiptBundle[];
  /** Reports entries that are not sealed yet as findings. */
  readonly requireSealed?: boolean;
};

export type Report = {
  readonly ok: boolean;
  /** At most the first 1,000. */
  readonly findings: readonly Finding[];
  /** Number of all findings, including those beyond the first 1,000. */
  readonly total: number;
  readonly counts: Readonly<JournalCounts>;
  readonly lastSeal: { readonly n: number; readonly at: number } | undefined;
};

type Verification = { entry(line: JournalLine): void; finish(): Report };

const MAX_FINDINGS = 1000;

export function verifyJournal(input: VerifyInput & { readonly entries: Iterable<JournalLine> }): Report {
  const verification = startVerification(input);
  for (const line of input.entries) verification.entry(line);
  return verification.finish();
}

/** For entries that arrive in pages: call `entry` for each in commit order, then `finish` once. */
export function startVerification(input: VerifyInput): Verification {
  const findings: Finding[] = [];
  let total = 0;
  const find: ReportFinding = (kind, place, what) => {
    total += 1;
    if (findings.length < MAX_FINDINGS) findings.push({ kind, ...place, what });
  };
  const seen = begin(input, find);
  return {
    entry: (line) => checkEntry(line, seen),
    finish: () => {
      checkEnd(seen, input.requireSealed ?? false);
      const last = seen.chain.seals.at(-1)?.payload;
      return {
        ok: total === 0,
        findings,
        total,
        counts: seen.counts,
        lastSeal: last && { n: last.n, at: last.at },
      };
    },
  };
}

function begin(input: VerifyInput, find: ReportFinding): VerificationState {
  const { tenant, seals, savedSeal, receipts = [] } = input;
  const keys = savedSeal === undefined ? input.keys : [...input.keys, savedSeal.key];
  const chain = verifySeals({ tenant, seals, keys }, find);
  if (savedSeal !== undefined) verifySavedSeal(savedSeal, chain, find);
  const counts = {
    entries: 0,
    streams: 0,
    erased: 0,
    sealed: 0,
    unsealed: 0,
    seals: seals.length,
    receipts: receipts.length,
  };
  const seen: VerificationState = {
    tenant,
    chain,
    find,
    counts,
    streams: new Map(),
    awaited: new Map(),
    position: 0,
  };
  for (const bundle of receipts) checkReceipt(bundle, keys, seen);
  return seen;
}

function checkReceipt(
  bundle: ReceiptBundle,
  keys: readonly PublicJwk[],
  { chain, find, awaited }: VerificationState,
): void {
  const checks = keys.map((key) => verifyReceipt(bundle, key));
  const check = checks.find((result) => result.ok) ?? checks[0];
  if (check?.ok !== true) {
    find("receipt_invalid", {}, `A receipt does not verify. ${check?.what ?? "No key is trusted."}`);
    return;
  }
  const { stream, seq, entry } = check.payload;
  if (check.seal !== undefined && chain.seals[check.seal.n - 1]?.jws !== bundle.seal) {
    find("receipt_unmatched", { stream, seq }, "The receipt's seal is not in the journal's chain of seals.");
  }
  awaited.set(stream, [...(awaited.get(stream) ?? []), { stream, seq, hash: entry }]);
}
