/**
 * The Merkle tree of RFC 6962, section 2.1: SHA-256, 0x00 before a leaf, 0x01 before a node. Hashes are lower-case hex.
 * Built level by level: a node without a sibling moves up unchanged, which gives the RFC's tree.
 */
import { createHash } from "node:crypto";

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

/** The siblings on the way from a leaf to the root, lowest first. */
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

export type Inclusion = {
  readonly leaf: string;
  readonly index: number;
  readonly size: number;
  readonly path: readonly string[];
};

/** The root that a path leads to, or undefined when the path does not fit a tree of that size. */
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
