import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { bodyDigest, GENESIS, type StoredEntry } from "../../journal/entry.ts";
import { sha256 } from "../../kernel/canonical-json.ts";
import { actionStream, streamName } from "../../kernel/stream.ts";

import { bench, type CreateDatabase, count, TENANT } from "./bench.ts";

/** Recomputes every hash of a stream from what is stored. */
export function checkChain(entries: readonly StoredEntry[] | undefined): void {
  let prev = GENESIS;
  for (const [index, entry] of (entries ?? assert.fail("no entries")).entries()) {
    const header = JSON.parse(entry.header);
    assert.equal(sha256(entry.header), entry.hash);
    assert.equal(header.prev, prev);
    assert.equal(header.seq, index + 1);
    assert.equal(header.body, bodyDigest(entry.salt ?? "", entry.body ?? ""));
    prev = entry.hash;
  }
}

const ODD_IDS = [
  "ünïcödé/äöü",
  "日本語",
  "👩‍👩‍👧‍👦",
  "a/b/../c",
  "' OR 1=1 --",
  '"quoted"\\',
  "%_*?",
  "new\nline\ttab",
  "nul\u0000inside",
  " ",
  "__proto__",
  "\u00e9",
  "e\u0301",
  "ID",
  "id",
  "x".repeat(2000),
];

export function chainClaims(create: CreateDatabase): void {
  describe("the chain", () => {
    test("every entry follows the one before it, and every hash can be computed again", async (t) => {
      const { store, another } = await bench(t, create);
      const other = await another();
      for (let step = 0; step < 20; step++)
        await count(step % 3 === 0 ? store : other, `act-${step % 2}`, { step });
      for (const id of ["act-0", "act-1"]) checkChain(await store.read(TENANT, actionStream(id)));
    });

    test("no two entries have the same salt", async (t) => {
      const { store } = await bench(t, create);
      for (let step = 0; step < 10; step++) await count(store, "one");
      const salts = (await store.read(TENANT, actionStream("one"))).map(({ salt }) => salt);
      assert.equal(new Set(salts).size, 10);
      assert.match(salts[0] ?? "", /^[0-9a-f]{32}$/);
    });

    test("ids in any script, with any sign, stay apart and come back as they were", async (t) => {
      const { store, another } = await bench(t, create);
      for (const [index, id] of ODD_IDS.entries()) assert.equal(await count(store, id, { index }), 1, id);
      const other = await another();
      for (const [index, id] of ODD_IDS.entries()) {
        const [entry, ...more] = await other.read(TENANT, actionStream(id));
        assert.deepEqual(more, []);
        assert.equal(JSON.parse(entry?.header ?? "").stream, streamName(actionStream(id)));
        assert.deepEqual(JSON.parse(entry?.body ?? ""), { index });
      }
      const moved = await other.follow(0, new AbortController().signal);
      assert.deepEqual(moved.streams.map(({ stream }) => stream.id).sort(), ODD_IDS.toSorted());
    });

    test("text that is not valid Unicode is refused", async (t) => {
      const { store } = await bench(t, create);
      const half = "half \ud800";
      await assert.rejects(count(store, half), { code: "invalid_input" });
      await assert.rejects(count(store, "one", {}, half), { code: "invalid_input" });
      await assert.rejects(
        store.transact(TENANT, { names: [half] }, () => ({ kind: "commit", append: [], result: null })),
        { code: "invalid_input" },
      );
      assert.equal(await store.position(), 0);
    });

    test("a body of a megabyte comes back byte for byte", async (t) => {
      const { store, another } = await bench(t, create);
      const text = "äß∂👍 0123456789".repeat(60_000);
      await count(store, "one", { text });
      const [entry] = await (await another()).read(TENANT, actionStream("one"));
      assert.ok(entry?.body);
      assert.equal(JSON.parse(entry.body).text, text);
      checkChain([entry]);
    });
  });
}
