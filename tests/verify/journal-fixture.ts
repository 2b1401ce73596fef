/** Honest journals to verify and to tamper with, built in memory from a seed. */
import { GENESIS, makeEntry, readHeader } from "../../src/journal/entry.ts";
import { exportLine } from "../../src/journal/export.ts";
import { type PublicJwk, type SigningKey, signingKeyFromPkcs8 } from "../../src/journal/jws.ts";
import { type ReceiptBundle, sealCovering, signReceipt } from "../../src/journal/receipt-jws.ts";
import { type Seal, type SealLeaf, sealHash, signSeal } from "../../src/journal/seal.ts";
import type { JournalLine, Report } from "../../src/journal/verify.ts";
import type { SavedSeal } from "../../src/journal/verify-seals.ts";

import type { JsonObject } from "../../src/kernel/json.ts";

export type Journal = {
  tenant: string;
  incarnation: string;
  keys: PublicJwk[];
  seals: Seal[];
  entries: JournalLine[];
  receipts: ReceiptBundle[];
};

export type Random = {
  /** A whole number from 0 to below `limit`. */
  below(limit: number): number;
  pick<Item>(items: readonly Item[]): Item;
  hex(bytes: number): string;
};

/** mulberry32: small, seeded, good enough to choose with. */
export function randomFrom(seed: number): Random {
  let state = seed >>> 0;
  const below = (limit: number): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * limit);
  };
  const pick = <Item>(items: readonly Item[]): Item => {
    const item = items[below(items.length)];
    if (item === undefined) throw new RangeError("there is nothing to pick from");
    return item;
  };
  const hex = (bytes: number) => Array.from({ length: bytes * 2 }, () => below(16).toString(16)).join("");
  return { below, pick, hex };
}

/** Ed25519 private keys are 32 bytes behind a fixed PKCS #8 prefix. */
export function keyFromSeed(seed: Buffer): SigningKey {
  const der = Buffer.concat([Buffer.from("302e020100300506032b657004220420", "hex"), seed]);
  return signingKeyFromPkcs8(
    `-----BEGIN PRIVATE KEY-----\n${der.toString("base64")}\n-----END PRIVATE KEY-----\n`,
  );
}

/** The key of RFC 8037, appendix A. */
export const TEST_KEY = keyFromSeed(Buffer.from("nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A", "base64url"));
export const FOREIGN_KEY = keyFromSeed(Buffer.alloc(32, 7));

const STREAMS = [
  "action/act_1",
  "action/act_2",
  "approval/apr_1",
  "budget/bud_1",
  "epoch/é_1",
  "roster/people",
];

export function honestJournal(random: Random): Journal {
  const journal: Journal = {
    tenant: random.pick(["default", "acme", "größe"]),
    incarnation: random.hex(8),
    keys: [TEST_KEY.publicJwk],
    seals: [],
    entries: [],
    receipts: [],
  };
  const streams = STREAMS.slice(0, 2 + random.below(STREAMS.length - 1));
  for (let round = 2 + random.below(3); round > 0; round--) {
    for (let left = 6 + random.below(8); left > 0; left--) append(journal, random.pick(streams), random);
    appendSeal(journal, TEST_KEY);
  }
  for (let left = random.below(6); left > 0; left--) append(journal, random.pick(streams), random);
  for (let left = random.below(3); left > 0; left--) journal.receipts.push(receiptFor(journal, random));
  for (let left = random.below(4); left > 0; left--) erase(journal, random);
  return journal;
}

function append(journal: Journal, stream: string, random: Random): void {
  const { tenant, entries } = journal;
  const before = entriesOf(journal, stream).at(-1);
  const at = Math.max(1_763_000_000_000 + entries.length * 40, headerOf(before)?.at ?? 0) + random.below(40);
  const place = { tenant, stream, seq: (headerOf(before)?.seq ?? 0) + 1, at, prev: before?.hash ?? GENESIS };
  const entry = makeEntry(place, { type: "test.noted", tv: 1, body: someBody(random) }, random.hex(16));
  entries.push({ ...entry, position: (entries.at(-1)?.position ?? 0) + 1 + random.below(3) });
}

function someBody(random: Random): JsonObject {
  return {
    nonce: random.hex(6),
    note: random.pick(["paid", "größer", "a\u2028b", "😀", '"\\']),
    amount: random.below(1e6) / 100,
  };
}

export function appendSeal(journal: Journal, key: SigningKey, upTo = journal.entries.length): void {
  const sealed = new Map(journal.seals.flatMap((seal) => seal.leaves.map((leaf) => [leaf.stream, leaf.seq])));
  const heads = new Map<string, SealLeaf>();
  for (const line of journal.entries.slice(0, upTo)) {
    const header = headerOf(line);
    if (header !== undefined && header.seq > (sealed.get(header.stream) ?? 0)) {
      heads.set(header.stream, { stream: header.stream, seq: header.seq, hash: line.hash });
    }
  }
  const leaves = [...heads.values()];
  const { tenant, incarnation, seals, entries } = journal;
  const before = seals.at(-1);
  const prev = before === undefined ? GENESIS : sealHash(before.jws);
  const position = entries[upTo - 1]?.position ?? 0;
  const n = seals.length + 1;
  const draft = {
    tenant,
    n,
    at: 1_763_000_000_000 + n * 1000,
    prev,
    incarnation,
    position,
    entries: upTo,
    leaves,
  };
  seals.push(signSeal(draft, key));
}

function receiptFor(journal: Journal, random: Random): ReceiptBundle {
  const line = random.pick(journal.entries);
  const { stream, seq } = headerOf(line) ?? { stream: "", seq: 0 };
  const payload = { tenant: journal.tenant, stream, seq, entry: line.hash, outcome: "applied" };
  const seal = sealCovering(journal.seals, stream, seq);
  if (seal === undefined || random.below(4) === 0) return signReceipt(payload, TEST_KEY);
  const end = seal.leaves.find((leaf) => leaf.stream === stream)?.seq ?? 0;
  const links = entriesOf(journal, stream).slice(seq, end);
  return signReceipt(payload, TEST_KEY, { seal, links: links.map((entry) => entry.header) });
}

function erase(journal: Journal, random: Random): void {
  const at = random.below(journal.entries.length);
  journal.entries = journal.entries.map((line, index) =>
    index === at ? { ...line, salt: null, body: null } : line,
  );
}

const headers = new WeakMap<JournalLine, ReturnType<typeof readHeader>>();

export function headerOf(line: JournalLine | undefined): ReturnType<typeof readHeader> {
  if (line === undefined) return undefined;
  if (!headers.has(line)) headers.set(line, readHeader(line.header));
  return headers.get(line);
}

export function entriesOf(journal: Journal, stream: string): JournalLine[] {
  return journal.entries.filter((line) => headerOf(line)?.stream === stream);
}

/** How far a stream is sealed. */
export function sealedUpTo(journal: Journal, stream: string): number {
  const leaves = journal.seals.flatMap((seal) => seal.leaves).filter((leaf) => leaf.stream === stream);
  return Math.max(0, ...leaves.map((leaf) => leaf.seq));
}

export function exportLines({ tenant, incarnation, keys, seals, entries, receipts }: Journal): string[] {
  return [
    exportLine({ holdpoint: "export", v: 1, tenant, incarnation }),
    ...keys.map((key) => exportLine({ key })),
    ...seals.map((seal) => exportLine({ seal })),
    ...entries.map((entry) => exportLine({ entry })),
    ...receipts.map((receipt) => exportLine({ receipt })),
    exportLine({ end: { entries: entries.length, seals: seals.length } }),
  ];
}

export function savedSeal(journal: Journal, n = journal.seals.length): SavedSeal {
  return { jws: journal.seals[n - 1]?.jws ?? "", key: TEST_KEY.publicJwk };
}

export type VerifyLines = (
  lines: Iterable<string>,
  options?: { keys?: readonly PublicJwk[]; seal?: SavedSeal | undefined; requireSealed?: boolean },
) => Report & { readonly trust: "outside" | "export"; readonly keys: readonly string[] };

/** The standalone verifier is plain JavaScript: its one function is given its type here. */
const verifier: { verifyLines: VerifyLines } = await import(
  new URL("../../verifier/verify.mjs", import.meta.url).href
);
export const { verifyLines } = verifier;

/** What two reports have to agree on: everything but the wording. */
export function essence({ ok, total, counts, lastSeal, findings }: Report): string {
  const places = findings.map(({ what: _what, ...finding }) =>
    JSON.stringify(finding, Object.keys(finding).sort()),
  );
  return JSON.stringify({ ok, total, counts, lastSeal, findings: places.sort() });
}
