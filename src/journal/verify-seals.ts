/**
 * The kinds of finding of a verification, and the check of a tenant's chain of seals. That check stops at the first
 * seal that fails, because no later seal can be relied on.
 */

import { GENESIS } from "./entry.ts";
import { isSignatureValid, openJws, type PublicJwk, thumbprint, verifyJws } from "./jws.ts";
import {
  isSealPayload,
  leafText,
  merkleRoot,
  SEAL_TYP,
  type Seal,
  type SealLeaf,
  type SealPayload,
  sealHash,
} from "./seal.ts";

/** Kinds of finding. `docs/reference/journal.md` explains each; the offline verifier uses the same names. */
export const FINDING_KINDS = [
  // of an entry
  "header_unreadable",
  "hash_mismatch",
  "tenant_mismatch",
  "body_mismatch",
  "half_erased",
  "seq_repeated",
  "seq_gap",
  "prev_mismatch",
  "time_backwards",
  "position_backwards",
  "leaf_mismatch",
  "leaf_missing",
  "not_covered",
  "not_sealed",
  // of a seal
  "seal_unreadable",
  "unknown_key",
  "seal_signature",
  "seal_chain",
  "seal_order",
  "seal_root",
  "seal_count",
  "saved_seal_invalid",
  "saved_seal_missing",
  // of a receipt
  "receipt_invalid",
  "receipt_unmatched",
  // of an export
  "export_line",
  "export_incomplete",
] as const;
export type FindingKind = (typeof FINDING_KINDS)[number];

/** Found only in the store itself: an export does not hold the data. */
export const STORE_FINDING_KINDS = ["name_missing"] as const;
type StoreFindingKind = (typeof STORE_FINDING_KINDS)[number];

export type Finding = {
  readonly kind: FindingKind | StoreFindingKind;
  readonly stream?: string;
  readonly seq?: number;
  /** The seal's number. */
  readonly seal?: number;
  /** Line number in an export, 1-based. */
  readonly line?: number;
  /** A full sentence for people. */
  readonly what: string;
};

type FindingLocation = Omit<Finding, "kind" | "what">;
export type ReportFinding = (kind: FindingKind, place: FindingLocation, what: string) => void;

/** A seal saved outside the journal, with the key that verifies it. */
export type SavedSeal = { readonly jws: string; readonly key: PublicJwk };

type SealedHead = SealLeaf & { readonly seal: number };
type VerifiedSeal = { readonly jws: string; readonly payload: SealPayload };

export type SealChain = {
  readonly seals: readonly VerifiedSeal[];
  /** Per stream: its sealed heads, oldest first. The last one's seq is how far the stream is sealed. */
  readonly heads: ReadonlyMap<string, readonly SealedHead[]>;
};

type SealsInput = {
  readonly tenant: string;
  readonly seals: Iterable<Seal>;
  /** Trusted keys. */
  readonly keys: readonly PublicJwk[];
};

type GrowingChain = {
  readonly tenant: string;
  readonly keys: ReadonlyMap<string, PublicJwk>;
  readonly seals: VerifiedSeal[];
  readonly heads: Map<string, SealedHead[]>;
};
type Fault = { readonly kind: FindingKind; readonly what: string };

export function verifySeals(input: SealsInput, find: ReportFinding): SealChain {
  const keys = new Map(input.keys.map((key) => [thumbprint(key), key]));
  const chain: GrowingChain = { tenant: input.tenant, keys, seals: [], heads: new Map() };
  for (const seal of input.seals) {
    const payload = readSigned(seal, chain);
    const fault =
      "kind" in payload ? payload : (linkFault(seal, payload, chain) ?? leavesFault(seal, payload, chain));
    if (fault !== undefined) {
      find(fault.kind, { seal: chain.seals.length + 1 }, fault.what);
      break;
    }
    if (!("kind" in payload)) extend(chain, seal, payload);
  }
  return chain;
}

function extend(chain: GrowingChain, seal: Seal, payload: SealPayload): void {
  chain.seals.push({ jws: seal.jws, payload });
  for (const leaf of seal.leaves) {
    const heads = chain.heads.get(leaf.stream) ?? [];
    heads.push({ ...leaf, seal: payload.n });
    chain.heads.set(leaf.stream, heads);
  }
}

function readSigned(seal: Seal, { keys, tenant }: GrowingChain): SealPayload | Fault {
  const opened = openJws(seal.jws, SEAL_TYP);
  const payload = opened?.payload;
  if (opened === undefined || payload === undefined || !isSealPayload(payload)) {
    return { kind: "seal_unreadable", what: "It cannot be read as a seal." };
  }
  const key = keys.get(opened.kid);
  if (key === undefined)
    return { kind: "unknown_key", what: `It was signed by the key ${opened.kid}, which is not trusted.` };
  if (!isSignatureValid(opened, key)) return { kind: "seal_signature", what: "Its signature does not hold." };
  if (payload.tenant !== tenant)
    return { kind: "tenant_mismatch", what: `It is a seal of the tenant "${payload.tenant}".` };
  return payload;
}

function linkFault(seal: Seal, payload: SealPayload, { seals }: GrowingChain): Fault | undefined {
  const last = seals.at(-1);
  const n = seals.length + 1;
  if (payload.n !== n || seal.n !== n)
    return { kind: "seal_chain", what: `Seal ${n} was expected and seal ${payload.n} found.` };
  if (payload.prev !== (last === undefined ? GENESIS : sealHash(last.jws))) {
    return { kind: "seal_chain", what: "It does not hold the hash of the seal before." };
  }
  if (last !== undefined && (payload.at < last.payload.at || payload.position < last.payload.position)) {
    return { kind: "seal_order", what: "Its time or position lies before the seal before." };
  }
  return undefined;
}

function leavesFault({ leaves }: Seal, payload: SealPayload, chain: GrowingChain): Fault | undefined {
  const sorted = leaves.every(
    (leaf, index) => index === 0 || (leaves[index - 1]?.stream ?? "") < leaf.stream,
  );
  if (!sorted || leaves.length !== payload.streams || merkleRoot(leaves.map(leafText)) !== payload.root) {
    return { kind: "seal_root", what: "The heads kept with it are not those it was signed over." };
  }
  const steps = leaves.map((leaf) => leaf.seq - sealedSeq(chain, leaf.stream));
  if (steps.some((step) => step <= 0))
    return { kind: "seal_order", what: "It seals a stream no further than a seal before." };
  const entries = steps.reduce((sum, step) => sum + step, chain.seals.at(-1)?.payload.entries ?? 0);
  if (entries === payload.entries) return undefined;
  return { kind: "seal_count", what: `It counts ${payload.entries} entries; its heads make ${entries}.` };
}

/** The last sealed seq of a stream; 0 if none. */
export function sealedSeq(chain: SealChain, stream: string): number {
  return chain.heads.get(stream)?.at(-1)?.seq ?? 0;
}

export function verifySavedSeal(saved: SavedSeal, chain: SealChain, find: ReportFinding): void {
  const payload = verifyJws(saved.jws, saved.key, SEAL_TYP);
  if (payload === undefined || !isSealPayload(payload)) {
    find("saved_seal_invalid", {}, "The saved seal is not a seal whose signature holds under its key.");
  } else if (chain.seals[payload.n - 1]?.jws !== saved.jws) {
    const what = `Seal ${payload.n}, saved elsewhere, is not in the journal's chain of seals: the journal was cut or rewritten.`;
    find("saved_seal_missing", { seal: payload.n }, what);
  }
}
