import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Seal, SealDraft } from "../../journal/seal.ts";
import { sha256 } from "../../kernel/canonical-json.ts";
import { actionStream } from "../../kernel/stream.ts";

import type { Store } from "../../stores/store.ts";
import { bench, type CreateDatabase, commit, count, counted, tallyOf } from "./bench.ts";

const one = actionStream("one");
const bytes = Buffer.from("a secret");
const sign = (draft: SealDraft): Seal => ({ n: draft.n, jws: JSON.stringify(draft), leaves: draft.leaves });

/** Uses every method that writes. */
async function fill(store: Store, tenant: string): Promise<void> {
  await store.transact(tenant, { write: [one], names: ["request"] }, () => ({
    kind: "commit",
    append: [{ stream: one, events: [counted({ due: 1 })] }],
    names: [{ name: "request", stream: one }],
    artifacts: [{ hash: sha256(bytes), bytes }],
    result: null,
  }));
  await store.putSecret(tenant, "token", bytes);
  await store.seal(tenant, sign);
}

export function tenantClaims(create: CreateDatabase): void {
  describe("tenants", () => {
    test("a tenant sees nothing of another by any method, under the same names", async (t) => {
      const { store } = await bench(t, create);
      for (const tenant of ["older", "ACME"]) await store.putSecret(tenant, "else", bytes);
      await fill(store, "acme");
      for (const tenant of ["newer", "acme "]) await store.putSecret(tenant, "else", bytes);
      for (const tenant of ["older", "ACME", "newer", "acme ", "never seen"]) {
        const seen = await store.transact(tenant, { read: [one], names: ["request"] }, (sight) =>
          commit([tallyOf(sight, one).count, sight.name("request")]),
        );
        assert.deepEqual(seen, [0, undefined]);
        assert.deepEqual(await store.read(tenant, one), []);
        assert.deepEqual(await store.log(tenant, 0, 100), []);
        assert.deepEqual(await store.query(tenant, { view: "tallies", limit: 9 }), []);
        assert.deepEqual(
          await store.query(tenant, { view: "tallies", bucket: "open", dueBy: 9, limit: 9 }),
          [],
        );
        assert.equal(await store.count(tenant, "tallies", "open"), 0);
        assert.equal(await store.artifact(tenant, sha256(bytes)), undefined);
        assert.equal(await store.getSecret(tenant, "token"), undefined);
        assert.deepEqual(await store.seals(tenant), []);
        assert.equal(await store.seal(tenant, sign), undefined);
      }
      assert.deepEqual(await store.tenants(), ["acme"]);
    });

    test("two tenants use the same ids without touching each other", async (t) => {
      const { store, another } = await bench(t, create);
      const other = await another();
      await fill(store, "acme");
      await fill(other, "globex");
      assert.equal(await count(store, "one", {}, "globex"), 2);
      assert.equal(await count(other, "one", {}, "acme"), 2);
      for (const tenant of ["acme", "globex"]) {
        const entries = await store.read(tenant, one);
        assert.deepEqual(
          entries.map(({ header }) => JSON.parse(header).tenant),
          [tenant, tenant],
        );
        assert.deepEqual(await store.log(tenant, 0, 100), entries);
        assert.equal((await store.query(tenant, { view: "tallies", limit: 9 })).length, 1);
        assert.deepEqual(
          (await store.seals(tenant)).map(({ n }) => n),
          [1],
        );
      }
      assert.deepEqual(await other.tenants(), ["acme", "globex"]);
    });

    test("a tenant that only looked, or only keeps a secret, has no entries", async (t) => {
      const { store } = await bench(t, create);
      await store.transact("looker", { read: [one] }, () => commit(null));
      await store.putSecret("keeper", "token", bytes);
      assert.deepEqual(await store.tenants(), []);
    });

    test("a secret's row is kept, replaced and found by every process", async (t) => {
      const { store, another } = await bench(t, create);
      const other = await another();
      await store.putSecret("acme", "token", Buffer.from([1, 0, 255]));
      assert.deepEqual(await other.getSecret("acme", "token"), Uint8Array.from([1, 0, 255]));
      await other.putSecret("acme", "token", Buffer.from([2]));
      assert.deepEqual(await store.getSecret("acme", "token"), Uint8Array.from([2]));
      assert.equal(await store.getSecret("acme", "other"), undefined);
      assert.equal(await store.position(), 0);
    });
  });
}
