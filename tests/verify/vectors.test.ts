/** The test vectors of docs/reference/journal.md against the code, and against the offline verifier. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { makeEntry, readHeader } from "../../src/journal/entry.ts";
import { verifyExport } from "../../src/journal/export.ts";
import { type PublicJwk, type SigningKey, signingKeyFromPkcs8 } from "../../src/journal/jws.ts";
import { type ReceiptBundle, signReceipt, verifyReceipt } from "../../src/journal/receipt-jws.ts";
import {
  inclusionPath,
  leafHash,
  leafText,
  merkleRoot,
  readSealPayload,
  rootFromPath,
  type SealLeaf,
  type SealPayload,
  sealHash,
  signSeal,
} from "../../src/journal/seal.ts";

import { canonicalJson } from "../../src/kernel/canonical-json.ts";
import type { JsonObject } from "../../src/kernel/json.ts";
import { verifyLines } from "./journal-fixture.ts";

type EntryVector = {
  readonly salt: string;
  readonly body: JsonObject;
  readonly body_text: string;
  readonly body_digest: string;
  readonly header: string;
  readonly hash: string;
};
type Vectors = {
  readonly "canonical-json": { readonly value: unknown; readonly text: string };
  readonly entry: EntryVector;
  readonly merkle: {
    readonly leaves: string[];
    readonly leaf_hashes: string[];
    readonly root: string;
    readonly index: number;
    readonly path: string[];
    readonly last_index: number;
    readonly last_path: string[];
  };
  readonly key: { readonly pkcs8: string; readonly jwk: PublicJwk; readonly kid: string };
  readonly seal: {
    readonly payload: SealPayload;
    readonly leaves: SealLeaf[];
    readonly leaf_texts: string[];
    readonly jws: string;
    readonly hash: string;
  };
  readonly receipt: { readonly payload: JsonObject; readonly bundle: ReceiptBundle };
  readonly export: { readonly lines: string[]; readonly counts: Record<string, number> };
};

const document = readFileSync(new URL("../../docs/reference/journal.md", import.meta.url), "utf8");
const blocks = [...document.matchAll(/^```json\n(.*?)^```$/gms)].map((match) => JSON.parse(match[1] ?? ""));

function vectors<Name extends keyof Vectors>(name: Name): Vectors[Name][] {
  const found: Vectors[Name][] = blocks.filter((block) => block.vector === name);
  assert.ok(found.length > 0, `the document has a vector "${name}"`);
  return found;
}

const key = (): SigningKey => signingKeyFromPkcs8(vectors("key")[0]?.pkcs8 ?? "");

test("canonical JSON", () => {
  for (const { value, text } of vectors("canonical-json")) assert.equal(canonicalJson(value), text);
});

test("entry and body digest", () => {
  for (const vector of vectors("entry")) {
    const header = readHeader(vector.header);
    assert.ok(header);
    const entry = makeEntry(header, { type: header.type, tv: header.tv, body: vector.body }, vector.salt);
    const { stream, seq, type, tv, at, prev } = header;
    assert.deepEqual(entry, {
      ...{ stream, seq, type, tv, at, prev },
      digest: vector.body_digest,
      header: vector.header,
      hash: vector.hash,
      salt: vector.salt,
      body: vector.body_text,
    });
    assert.equal(header.body, vector.body_digest);
  }
});

test("Merkle tree", () => {
  for (const { leaves, leaf_hashes, root, index, path, last_index, last_path } of vectors("merkle")) {
    assert.deepEqual(leaves.map(leafHash), leaf_hashes);
    assert.equal(merkleRoot(leaves), root);
    for (const [at, siblings] of [[index, path] as const, [last_index, last_path] as const]) {
      assert.deepEqual(inclusionPath(leaves, at), siblings);
      assert.equal(
        rootFromPath({ leaf: leaves[at] ?? "", index: at, size: leaves.length, path: siblings }),
        root,
      );
    }
  }
});

test("key", () => {
  for (const { jwk, kid } of vectors("key")) {
    assert.deepEqual(key().publicJwk, jwk);
    assert.equal(key().kid, kid);
  }
});

test("seal", () => {
  for (const { payload, leaves, leaf_texts, jws, hash } of vectors("seal")) {
    const { v: _v, streams: _streams, root: _root, ...draft } = payload;
    assert.deepEqual(signSeal({ ...draft, leaves }, key()), { n: payload.n, jws, leaves });
    assert.deepEqual(readSealPayload(jws), payload);
    assert.deepEqual(leaves.map(leafText), leaf_texts);
    assert.equal(sealHash(jws), hash);
  }
});

test("receipt", () => {
  for (const { payload, bundle } of vectors("receipt")) {
    const [sealed] = vectors("seal");
    assert.ok(sealed !== undefined && bundle.seal !== undefined);
    const seal = { n: sealed.payload.n, jws: sealed.jws, leaves: sealed.leaves };
    assert.deepEqual(signReceipt(payload, key(), { seal, links: bundle.links }), bundle);
    assert.deepEqual(verifyReceipt(bundle, key().publicJwk), { ok: true, payload, seal: sealed.payload });
  }
});

test("export", () => {
  for (const { lines, counts } of vectors("export")) {
    for (const report of [verifyExport(lines), verifyLines(lines, { keys: [key().publicJwk] })]) {
      assert.deepEqual(report.findings, []);
      assert.deepEqual(report.counts, counts);
    }
  }
});
