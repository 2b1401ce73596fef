/**
 * Verifies a tenant's journal: its chains, its bodies, its seals and, if given, receipts and a seal that was kept elsewhere.
 *
 * V1. One pass over the entries in commit order; memory grows with streams and seals, not with entries.
 * V2. Seals have to be read before entries: what is committed in between is then merely not sealed yet.
 * V3. An erased body (salt and body both gone) and an unsealed tail are honest; they are counted, not found fault with.
 */
import type { Find, Finding } from "./finding.ts";
import type { PublicJwk } from "./jws.ts";
import { type ReceiptBundle, verifyReceipt } from "./receipt-jws.ts";
import type { Seal } from "./seal.ts";
import { type Counts, checkEnd, checkEntry, type JournalLine, type Seen } from "./verify-entry.ts";
import { type SavedSeal, verifySavedSeal, verifySeals } from "./verify-seals.ts";

export type VerifyInput = {
  readonly tenant: string;
  readonly seals: readonly Seal[];
  /** The keys that are trusted. */
  readonly keys: readonly PublicJwk[];
  /** A seal kept elsewhere; its key is trusted too. */
  readonly savedSeal?: SavedSeal | undefined;
  readonly receipts?: readonly ReceiptBundle[];
  /** Makes entries that are not sealed yet a finding. */
  readonly requireSealed?: boolean;
};

export type Report = {
  readonly ok: boolean;
  /** At most the first 1,000. */
  readonly findings: readonly Finding[];
  /** How many there are, those beyond the first 1,000 included. */
  readonly total: number;
  readonly counts: Readonly<Counts>;
  readonly lastSeal: { readonly n: number; readonly at: number } | undefined;
};

export type Verification = { entry(line: JournalLine): void; finish(): Report };

const MAX_FINDINGS = 1000;

export function verifyJournal(input: VerifyInput & { readonly entries: Iterable<JournalLine> }): Report {
  const verification = startVerification(input);
  for (const line of input.entries) verification.entry(line);
  return verification.finish();
}

/** For entries that arrive page by page: call `entry` for each in commit order, then `finish` once. */
export function startVerification(input: VerifyInput): Verification {
  const findings: Finding[] = [];
  let total = 0;
  const find: Find = (kind, place, what) => {
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

function begin(input: VerifyInput, find: Find): Seen {
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
  const seen: Seen = { tenant, chain, find, counts, streams: new Map(), awaited: new Map(), position: 0 };
  for (const bundle of receipts) checkReceipt(bundle, keys, seen);
  return seen;
}

function checkReceipt(
  bundle: ReceiptBundle,
  keys: readonly PublicJwk[],
  { chain, find, awaited }: Seen,
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
