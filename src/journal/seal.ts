/**
 * Seals are signed statements of the head of every stream of a tenant, so that a cut tail or a rewrite is detected. The
 * Merkle tree under them is RFC 6962, section 2.1, built level by level: a node without a sibling moves up unchanged. A
 * tenant's seals are numbered from 1 without gaps, and each holds the hash of the previous one. The root covers the
 * heads that moved since the previous seal, ordered by stream name in code units. `entries` counts every entry sealed
 * so far: the sum of each stream's highest sealed seq.
 */
import { createHash } from "node:crypto";
import { canonicalJson, sha256 } from "../kernel/canonical-json.ts";
import { HoldpointError } from "../kernel/errors.ts";
import type { JsonObject } from "../kernel/json.ts";
import { GENESIS } from "./entry.ts";
import { openJws, type SigningKey, signJws } from "./jws.ts";

const LEAF = Uint8Array.of(0);
const NODE = Uint8Array.of(1);

export function leafHash(leaf: string): string {
  return createHash("sha256").update(LEAF).update(leaf).digest("hex");
}

function nodeHash(left: string, right: string): string {
  return createHash("sha256").update(NODE).update(left, "hex").update(right, "hex").digest("hex");
}

function levelAbove(level: readonly string[]): string[] {
  const above: string[] = [];
  for (let at = 0; at < level.length; at += 2) {
    const [left, right] = [level[at] ?? "", level[at + 1]];
    above.push(right === undefined ? left : nodeHash(left, right));
  }
  return above;
}

export function merkleRoot(leaves: readonly string[]): string {
  let level = leaves.map(leafHash);
  while (level.length > 1) level = levelAbove(level);
  return level[0] ?? createHash("sha256").digest("hex");
}

/** The siblings on the path from a leaf to the root, lowest first. */
export function inclusionPath(leaves: readonly string[], index: number): string[] {
  const path: string[] = [];
  let at = index;
  for (let level = leaves.map(leafHash); level.length > 1; level = levelAbove(level)) {
    const sibling = level[at % 2 === 0 ? at + 1 : at - 1];
    if (sibling !== undefined) path.push(sibling);
    at = Math.floor(at / 2);
  }
  return path;
}

type Inclusion = {
  readonly leaf: string;
  readonly index: number;
  readonly size: number;
  readonly path: readonly string[];
};

/** The root that a path leads to; undefined if the path does not fit a tree of that size. */
export function rootFromPath({ leaf, index, size, path }: Inclusion): string | undefined {
  if (!Number.isSafeInteger(index) || !Number.isSafeInteger(size) || index < 0 || index >= size)
    return undefined;
  if (!path.every((hash) => /^[0-9a-f]{64}$/.test(hash))) return undefined;
  const siblings = [...path];
  let root = leafHash(leaf);
  for (
    let [at, last] = [index, size - 1];
    last > 0;
    [at, last] = [Math.floor(at / 2), Math.floor(last / 2)]
  ) {
    if (at % 2 === 0 && at === last) continue;
    const sibling = siblings.shift();
    if (sibling === undefined) return undefined;
    root = at % 2 === 0 ? nodeHash(root, sibling) : nodeHash(sibling, root);
  }
  return siblings.length === 0 ? root : undefined;
}

/** A stream's head at the time of a seal. */
export type SealLeaf = { readonly stream: string; readonly seq: number; readonly hash: string };

/** What a sealer signs. `prev` is SHA-256 over the previous seal's JWS text, 64 zeros for the first. */
export type SealDraft = {
  readonly tenant: string;
  readonly n: number;
  readonly at: number;
  readonly prev: string;
  /** The previous seal as stored; absent for the first. */
  readonly previous?: string;
  readonly incarnation: string;
  /** Commit position up to which every entry is sealed. */
  readonly position: number;
  /** Entries of the tenant sealed so far, including by this seal. */
  readonly entries: number;
  /** Heads that moved since the previous seal, ordered by stream name (code units). */
  readonly leaves: readonly SealLeaf[];
};

/** A seal as stored: the compact JWS, and the leaves of its root. */
export type Seal = { readonly n: number; readonly jws: string; readonly leaves: readonly SealLeaf[] };

export type SealPayload = {
  readonly v: 1;
  readonly tenant: string;
  readonly n: number;
  readonly at: number;
  readonly prev: string;
  readonly incarnation: string;
  readonly position: number;
  readonly entries: number;
  /** Number of leaves under the root. */
  readonly streams: number;
  readonly root: string;
};

export const SEAL_TYP = "holdpoint-seal+jws";

export function signSeal(draft: SealDraft, key: SigningKey): Seal {
  const { leaves: given, previous: _before, ...rest } = draft;
  const leaves = given.toSorted((a, b) => (a.stream < b.stream ? -1 : 1));
  const payload: SealPayload = {
    v: 1,
    ...rest,
    streams: leaves.length,
    root: merkleRoot(leaves.map(leafText)),
  };
  return { n: draft.n, jws: signJws(payload, key, SEAL_TYP), leaves };
}

/** The bytes of a leaf in the seal's Merkle tree. */
export function leafText({ stream, seq, hash }: SealLeaf): string {
  return canonicalJson({ stream, seq, hash });
}

/** The required `prev` of the next seal. */
export function sealHash(jws: string): string {
  return sha256(jws);
}

/** A seal's payload, without a signature check; undefined if it is not a seal. */
export function readSealPayload(jws: string): SealPayload | undefined {
  const payload = openJws(jws, SEAL_TYP)?.payload;
  return payload !== undefined && isSealPayload(payload) ? payload : undefined;
}

const COUNTS = ["n", "at", "position", "entries", "streams"] as const;
const TEXTS = ["tenant", "prev", "incarnation", "root"] as const;

export function isSealPayload(payload: JsonObject): payload is SealPayload {
  return (
    payload["v"] === 1 &&
    Object.keys(payload).length === 1 + COUNTS.length + TEXTS.length &&
    COUNTS.every((name) => Number.isSafeInteger(payload[name]) && Number(payload[name]) >= 0) &&
    TEXTS.every((name) => typeof payload[name] === "string")
  );
}

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
