/** Every finding there is a word for can be made, also those that only a faulty writer with the key could cause. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { GENESIS, makeEntry, type StoredEntry } from "../../src/journal/entry.ts";
import { verifyExport } from "../../src/journal/export.ts";
import { signJws } from "../../src/journal/jws.ts";
import { signReceipt } from "../../src/journal/receipt-jws.ts";
import { SEAL_TYP, type SealDraft, sealHash, signSeal } from "../../src/journal/seal.ts";
import type { JournalLine } from "../../src/journal/verify.ts";
import { FINDING_KINDS, type FindingKind, type SavedSeal } from "../../src/journal/verify-seals.ts";

import { essence, exportLines, FOREIGN_KEY, type Journal, TEST_KEY, verifyLines } from "./journal-fixture.ts";

function entry(
  stream: string,
  before?: StoredEntry,
  change: { at?: number; tenant?: string } = {},
): StoredEntry {
  const seq = before === undefined ? 1 : Number(/"seq":(\d+)/.exec(before.header)?.[1]) + 1;
  const place = { tenant: "default", stream, seq, at: seq, prev: before?.hash ?? GENESIS, ...change };
  return makeEntry(place, { type: "test.noted", tv: 1, body: { seq } }, "00".repeat(16));
}

const A1 = entry("action/a");
const A2 = entry("action/a", A1);
const A3 = entry("action/a", A2);
const B1 = entry("budget/b");
const FORGED = makeEntry(
  { tenant: "default", stream: "action/a", seq: 2, at: 2, prev: A1.hash },
  { type: "test.forged", tv: 1, body: {} },
  "11".repeat(16),
);

const inOrder = (...entries: StoredEntry[]): JournalLine[] =>
  entries.map((line, at) => ({ ...line, position: at + 1 }));
const leafOf = (stream: string, seq: number, { hash }: StoredEntry) => ({ stream, seq, hash });

const FIRST: SealDraft = {
  tenant: "default",
  n: 1,
  at: 10,
  prev: GENESIS,
  incarnation: "one",
  position: 2,
  entries: 2,
  leaves: [leafOf("action/a", 2, A2)],
};
const SEAL = signSeal(FIRST, TEST_KEY);
const SECOND: SealDraft = {
  ...FIRST,
  n: 2,
  at: 20,
  prev: sealHash(SEAL.jws),
  position: 3,
  entries: 3,
  leaves: [leafOf("budget/b", 1, B1)],
};

const HONEST: Journal = {
  tenant: "default",
  incarnation: "one",
  keys: [TEST_KEY.publicJwk],
  seals: [SEAL, signSeal(SECOND, TEST_KEY)],
  entries: inOrder(A1, A2, B1, A3),
  receipts: [],
};
const with2nd = (change: Partial<SealDraft>): Partial<Journal> => ({
  seals: [SEAL, signSeal({ ...SECOND, ...change }, TEST_KEY)],
});
const withA2 = (change: Partial<StoredEntry>): Partial<Journal> => ({
  entries: inOrder(A1, { ...A2, ...change }, B1, A3),
});
const receipt = signReceipt({ stream: "action/a", seq: 3, entry: "f".repeat(64) }, TEST_KEY);

type Case = {
  readonly journal?: Partial<Journal>;
  readonly saved?: SavedSeal;
  readonly strict?: true;
  readonly lines?: (lines: string[]) => string[];
};

const CASES: Readonly<Record<FindingKind, Case>> = {
  header_unreadable: { journal: withA2({ header: "{}" }) },
  hash_mismatch: { journal: withA2({ hash: A1.hash }) },
  tenant_mismatch: { journal: with2nd({ tenant: "other" }) },
  body_mismatch: { journal: withA2({ body: "{}" }) },
  half_erased: { journal: withA2({ body: null }) },
  seq_repeated: { journal: { entries: inOrder(A1, A2, B1, A1, A3) } },
  seq_gap: { journal: { entries: inOrder(A2, B1, A3) } },
  prev_mismatch: { journal: { entries: inOrder(A1, FORGED, B1, A3) } },
  time_backwards: { journal: { entries: inOrder(A1, A2, B1, entry("action/a", A2, { at: 1 })) } },
  position_backwards: {
    journal: { entries: HONEST.entries.map((line) => ({ ...line, position: 9 - line.position })) },
  },
  leaf_mismatch: { journal: { entries: inOrder(A1, FORGED, B1) } },
  leaf_missing: { journal: { entries: inOrder(A1, B1) } },
  not_covered: { journal: { entries: HONEST.entries.map((line) => ({ ...line, position: 1 })) } },
  not_sealed: { strict: true },
  seal_unreadable: { journal: { seals: [{ ...SEAL, jws: signJws({ v: 1 }, TEST_KEY, SEAL_TYP) }] } },
  unknown_key: { journal: { seals: [signSeal(FIRST, FOREIGN_KEY)] } },
  seal_signature: { journal: { seals: [{ ...SEAL, jws: `${SEAL.jws.slice(0, -86)}${"A".repeat(86)}` }] } },
  seal_chain: { journal: with2nd({ prev: GENESIS }) },
  seal_order: { journal: with2nd({ leaves: [leafOf("action/a", 2, A2)] }) },
  seal_root: { journal: { seals: [{ ...SEAL, leaves: [] }] } },
  seal_count: { journal: with2nd({ entries: 4 }) },
  saved_seal_invalid: { saved: { jws: SEAL.jws, key: FOREIGN_KEY.publicJwk } },
  saved_seal_missing: {
    saved: { jws: signSeal({ ...FIRST, at: 11 }, TEST_KEY).jws, key: TEST_KEY.publicJwk },
  },
  receipt_invalid: { journal: { receipts: [{ receipt: SEAL.jws }] } },
  receipt_unmatched: { journal: { receipts: [receipt] } },
  export_line: { lines: (lines) => lines.toSpliced(2, 0, "{}") },
  export_incomplete: { lines: (lines) => lines.slice(0, -1) },
};

test("the journal the cases start from is honest", () => {
  assert.deepEqual(verifyExport(exportLines(HONEST)).findings, []);
});

for (const kind of FINDING_KINDS) {
  test(`${kind} is found by both verifiers`, () => {
    const { journal = {}, saved, strict = false, lines = (same: string[]) => same } = CASES[kind];
    const changed = lines(exportLines({ ...HONEST, ...journal }));
    const ours = verifyExport(changed, { savedSeal: saved, requireSealed: strict });
    assert.ok(
      ours.findings.some((finding) => finding.kind === kind),
      essence(ours),
    );
    assert.equal(essence(ours), essence(verifyLines(changed, { seal: saved, requireSealed: strict })));
  });
}

test("each way in which a seal can fall behind the one before is found", () => {
  const faults: [Partial<SealDraft>, FindingKind][] = [
    [{ at: 9 }, "seal_order"],
    [{ position: 1 }, "seal_order"],
    [{ n: 3 }, "seal_chain"],
    [{ leaves: [...SECOND.leaves, ...SECOND.leaves], entries: 4 }, "seal_root"],
  ];
  for (const [change, kind] of faults) {
    const lines = exportLines({ ...HONEST, ...with2nd(change) });
    assert.equal(verifyExport(lines).findings[0]?.kind, kind);
    assert.equal(essence(verifyExport(lines)), essence(verifyLines(lines)));
  }
});
