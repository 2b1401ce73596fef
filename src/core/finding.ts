/** What a verification can find. `docs/reference/journal.md` explains each; the offline verifier uses the same words. */
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

/** What only the store itself can show: an export does not have it. */
export const STORE_FINDING_KINDS = ["name_missing"] as const;
export type StoreFindingKind = (typeof STORE_FINDING_KINDS)[number];

export type Finding = {
  readonly kind: FindingKind | StoreFindingKind;
  readonly stream?: string;
  readonly seq?: number;
  /** The seal's number. */
  readonly seal?: number;
  /** The line of an export, counted from 1. */
  readonly line?: number;
  /** A full sentence for people. */
  readonly what: string;
};

export type FindingPlace = Omit<Finding, "kind" | "what">;
export type Find = (kind: FindingKind, place: FindingPlace, what: string) => void;
