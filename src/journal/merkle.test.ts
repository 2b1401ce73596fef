import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { inclusionPath, leafHash, merkleRoot, rootFromPath } from "./seal.ts";

/** MTH as RFC 6962, 2.1 defines it. */
function definition(leaves: readonly string[]): Buffer {
  const sha256 = (...parts: (string | Uint8Array)[]) =>
    parts.reduce((hash, part) => hash.update(part), createHash("sha256")).digest();
  if (leaves.length === 0) return sha256();
  if (leaves.length === 1) return sha256(Uint8Array.of(0), leaves[0] ?? "");
  const half = 2 ** (Math.ceil(Math.log2(leaves.length)) - 1);
  return sha256(Uint8Array.of(1), definition(leaves.slice(0, half)), definition(leaves.slice(half)));
}

const leaves = (size: number): string[] => Array.from({ length: size }, (_, at) => `leaf ${at}`);

test("the known hashes of RFC 6962: no leaf, and one empty leaf", () => {
  assert.equal(merkleRoot([]), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  assert.equal(leafHash(""), "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d");
});

test("for every size and every leaf, the root is the RFC's and the path leads to it", () => {
  for (let size = 0; size <= 40; size++) {
    const root = merkleRoot(leaves(size));
    assert.equal(root, definition(leaves(size)).toString("hex"));
    for (const [index, leaf] of leaves(size).entries()) {
      const path = inclusionPath(leaves(size), index);
      assert.equal(rootFromPath({ leaf, index, size, path }), root);
    }
  }
});

test("a path holds for one leaf, one place and one size only", () => {
  const size = 13;
  const root = merkleRoot(leaves(size));
  for (const [index, leaf] of leaves(size).entries()) {
    const path = inclusionPath(leaves(size), index);
    const wrong = [
      { leaf: "another", index, size, path },
      { leaf, index: (index + 1) % size, size, path },
      { leaf, index: -1, size, path },
      { leaf, index: size, size, path },
      { leaf, index: 0.5, size, path },
      { leaf, index, size: size * 2 ** 20, path },
      { leaf, index, size, path: path.slice(1) },
      { leaf, index, size, path: [...path, root] },
      { leaf, index, size, path: path.toReversed() },
      { leaf, index, size, path: path.map((hash) => hash.toUpperCase()) },
    ];
    for (const claim of wrong) assert.notEqual(rootFromPath(claim), root);
  }
});
