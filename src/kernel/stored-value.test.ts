import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { canonicalJson, digestOf, sha256 } from "./canonical-json.ts";
import type { Json } from "./json.ts";
import { artifactHash, INLINE_BYTES, isArtifactRef, storeValue } from "./stored-value.ts";

/** A text whose JSON has exactly so many bytes. */
const ofBytes = (bytes: number, unit = "x") => unit.repeat((bytes - 2) / Buffer.byteLength(unit));

describe("a value in the journal", () => {
  for (const [bytes, inline] of [
    [2, true],
    [INLINE_BYTES, true],
    [INLINE_BYTES + 1, false],
  ] as const) {
    test(`of ${bytes} bytes stands there ${inline ? "as it is" : "as a reference to an artifact"}`, () => {
      const stored = storeValue(ofBytes(bytes));
      assert.equal(stored.artifact === undefined, inline);
      assert.equal(isArtifactRef(stored.json), !inline);
    });
  }

  test("is measured in bytes, not in characters", () => {
    const text = ofBytes(INLINE_BYTES + 2, "é");
    assert.ok(text.length < INLINE_BYTES);
    assert.ok(storeValue(text).artifact);
  });

  test("that is large is kept under the hash of its canonical JSON", () => {
    const value = { b: ofBytes(INLINE_BYTES), a: 1 };
    const { json, artifact } = storeValue(value);
    assert.ok(isArtifactRef(json) && artifact !== undefined);
    assert.equal(artifactHash(json), digestOf(value));
    assert.equal(artifact.hash, sha256(artifact.bytes));
    assert.equal(Buffer.from(artifact.bytes).toString(), canonicalJson(value));
    assert.equal(json.bytes, artifact.bytes.length);
  });

  test("that is nested as deep as JSON may be is kept as an artifact: an entry nests it deeper still", () => {
    let value: Json = "x";
    for (let level = 0; level < 64; level++) value = { value };
    const { json, artifact } = storeValue(value);
    assert.ok(artifact !== undefined);
    assert.doesNotThrow(() => canonicalJson({ body: { args: json } }));
  });

  test("that only looks like a reference is not mistaken for one", () => {
    const lookalike: Json = { $artifact: `sha256:${"0".repeat(64)}`, bytes: 3 };
    const { json, artifact } = storeValue(lookalike);
    assert.ok(artifact !== undefined);
    assert.notDeepEqual(json, lookalike);
    assert.equal(Buffer.from(artifact.bytes).toString(), canonicalJson(lookalike));
  });
});
