import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Store } from "../../stores/store.ts";
import { bench, type CreateDatabase, count, START, TENANT, times } from "./bench.ts";

const LEASE_MS = 1_000;

async function claimed(store: Store, limit = 9, tenant = TENANT): Promise<string[]> {
  const rows = await store.claim(tenant, { view: "tallies", dueBy: 100, limit, leaseMs: LEASE_MS });
  return rows.map(({ stream }) => stream.id);
}

export function claimClaims(create: CreateDatabase): void {
  describe("claiming what is due", () => {
    test("two processes never get the same row within its lease, and both get it after", async (t) => {
      const { store, another, clock } = await bench(t, create);
      const other = await another();
      for (const index of times(12, (i) => i)) await count(store, `act-${index}`, { due: 50, at: index });
      const [one, two] = await Promise.all([claimed(store, 12), claimed(other, 12)]);
      assert.deepEqual([...one, ...two].sort(), times(12, (index) => `act-${index}`).sort());
      assert.deepEqual([await claimed(store), await claimed(other)], [[], []]);
      clock.set(START + LEASE_MS);
      assert.equal((await claimed(other, 12)).length, 12);
      assert.deepEqual(await claimed(store), []);
    });

    test("only what is due, in the bucket that was asked for, is handed out, the oldest first", async (t) => {
      const { store } = await bench(t, create);
      await count(store, "late", { due: 101 });
      await count(store, "never");
      await count(store, "second", { due: 99, at: 2 });
      await count(store, "first", { due: 100, at: 1 });
      await count(store, "done", { due: 1, at: 0, bucket: "done" });
      const asked = { view: "tallies", dueBy: 100, leaseMs: LEASE_MS };
      const [row, ...more] = await store.claim(TENANT, { ...asked, bucket: "open", limit: 1 });
      assert.deepEqual([row?.stream.id, row?.due, row?.bucket, more], ["first", 100, "open", []]);
      const rest = await store.claim(TENANT, { ...asked, bucket: "open", limit: 9 });
      assert.deepEqual(
        rest.map(({ stream }) => stream.id),
        ["second"],
      );
      assert.deepEqual(await claimed(store), ["done"]);
    });

    test("a claimed row is listed, moves and is counted like any other", async (t) => {
      const { store } = await bench(t, create);
      await count(store, "one", { due: 50 });
      assert.deepEqual(await claimed(store), ["one"]);
      assert.equal((await store.query(TENANT, { view: "tallies", dueBy: 100, limit: 9 })).length, 1);
      await count(store, "one", { bucket: "done" });
      assert.equal(await store.count(TENANT, "tallies", "done"), 1);
      assert.deepEqual(await claimed(store), []);
    });

    test("a tenant claims nothing of another", async (t) => {
      const { store } = await bench(t, create);
      await count(store, "one", { due: 50 }, "globex");
      await count(store, "two", { due: 50 });
      assert.deepEqual(await claimed(store), ["two"]);
      assert.deepEqual(await claimed(store, 9, "nobody"), []);
      assert.deepEqual(await claimed(store, 9, "globex"), ["one"]);
    });

    test("a view or a limit that cannot be is refused", async (t) => {
      const { store } = await bench(t, create);
      await count(store, "one", { due: 50 });
      const asked = { dueBy: 100, leaseMs: LEASE_MS };
      await assert.rejects(store.claim(TENANT, { ...asked, view: "none", limit: 1 }), {
        code: "broken_rule",
      });
      await assert.rejects(claimed(store, 0), { code: "invalid_input" });
    });
  });
}
