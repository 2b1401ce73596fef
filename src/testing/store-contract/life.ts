import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { actionStream } from "../../kernel/stream.ts";
import { bench, type CreateDatabase, count, TENANT, times } from "./bench.ts";

const closed = { code: "closed" };

export function lifeClaims(create: CreateDatabase): void {
  describe("closing", () => {
    test("what was asked before closing is answered, and written", async (t) => {
      const { store, another } = await bench(t, create);
      const asked = times(20, () => count(store, "one"));
      await store.close();
      assert.deepEqual(
        await Promise.all(asked),
        times(20, (index) => index + 1),
      );
      assert.equal((await (await another()).read(TENANT, actionStream("one"))).length, 20);
    });

    test("after closing every call is refused", async (t) => {
      const { store } = await bench(t, create);
      await store.close();
      await store.close();
      await assert.rejects(count(store, "one"), closed);
      await assert.rejects(store.read(TENANT, actionStream("one")), closed);
      await assert.rejects(store.log(TENANT, 0, 1), closed);
      await assert.rejects(store.query(TENANT, { view: "tallies", limit: 1 }), closed);
      await assert.rejects(store.position(), closed);
      await assert.rejects(store.follow(0, new AbortController().signal), closed);
      await assert.rejects(store.holdEpoch("epo_1"), closed);
      await assert.rejects(store.epochHeld("epo_1"), closed);
      await assert.rejects(store.seals(TENANT), closed);
      await assert.rejects(store.getSecret(TENANT, "token"), closed);
      await assert.rejects(store.rebuildViews(), closed);
    });

    test("closing refuses those who still follow", async (t) => {
      const { store } = await bench(t, create);
      const waiting = store.follow(0, new AbortController().signal);
      const refused = assert.rejects(waiting, closed);
      await store.close();
      await refused;
    });

    test("closing one process leaves the others alone", async (t) => {
      const { store, another } = await bench(t, create);
      const other = await another();
      await count(other, "one");
      await other.close();
      assert.equal(await count(store, "one"), 2);
    });

    test("all processes know the history by the same name", async (t) => {
      const { store, another } = await bench(t, create);
      assert.match(store.incarnation, /^[0-9a-f]{32}$/);
      assert.equal((await another()).incarnation, store.incarnation);
    });
  });
}
