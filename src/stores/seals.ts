/** Drafts of seals, made the same way by every store. */

import { GENESIS } from "../journal/entry.ts";
import type { Seal, SealDraft, SealLeaf } from "../journal/seal.ts";
import { sha256 } from "../kernel/canonical-json.ts";
import { HoldpointError } from "../kernel/errors.ts";

/** The last seal of a tenant, with the columns that a store keeps next to it. */
export type LastSeal = {
  readonly n: number;
  readonly at: number;
  readonly jws: string;
  readonly position: number;
  readonly entries: number;
};

type SealInput = {
  readonly tenant: string;
  readonly incarnation: string;
  readonly now: number;
  readonly last: LastSeal | undefined;
  readonly position: number;
  readonly entries: number;
  readonly leaves: readonly SealLeaf[];
};

const byCodeUnits = (a: SealLeaf, b: SealLeaf): number => (a.stream < b.stream ? -1 : 1);

export function draftSeal({ tenant, incarnation, now, last, ...unsealed }: SealInput): SealDraft {
  return {
    tenant,
    n: (last?.n ?? 0) + 1,
    at: Math.max(now, last?.at ?? 0),
    prev: last === undefined ? GENESIS : sha256(last.jws),
    ...(last === undefined ? {} : { previous: last.jws }),
    incarnation,
    position: unsealed.position,
    entries: (last?.entries ?? 0) + unsealed.entries,
    leaves: unsealed.leaves.toSorted(byCodeUnits),
  };
}

export function checkSeal(draft: SealDraft, seal: Seal): Seal {
  if (seal.n === draft.n) return seal;
  throw new HoldpointError("broken_rule", `Seal ${draft.n} was drafted and seal ${seal.n} was signed.`);
}
