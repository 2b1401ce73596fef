import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { bench, type CreateDatabase } from "./bench.ts";

export function epochClaims(create: CreateDatabase): void {
  describe("epochs", () => {
    test("an epoch is held from when it is taken until it is released, as every process sees", async (t) => {
      const { store, another } = await bench(t, create);
      const other = await another();
      assert.equal(await other.epochHeld("epo_1"), false);
      const hold = await store.holdEpoch("epo_1");
      for (let look = 0; look < 3; look++) {
        assert.equal(await other.epochHeld("epo_1"), true);
        assert.equal(await store.epochHeld("epo_1"), true);
      }
      assert.equal(await other.epochHeld("epo_2"), false);
      await hold.release();
      assert.equal(await other.epochHeld("epo_1"), false);
      await hold.release();
    });

    test("an epoch has one holder", async (t) => {
      const { store, another } = await bench(t, create);
      const other = await another();
      await store.holdEpoch("epo_1");
      await assert.rejects(other.holdEpoch("epo_1"), { code: "broken_rule" });
      await assert.rejects(store.holdEpoch("epo_1"), { code: "broken_rule" });
      assert.equal(await other.epochHeld("epo_1"), true);
    });

    test("a process may hold several epochs, with odd ids", async (t) => {
      const { store, another } = await bench(t, create);
      const ids = ["epo_1", "../x", "a/b", "é".repeat(300), "con:1"];
      const holds = await Promise.all(ids.map((id) => store.holdEpoch(id)));
      const other = await another();
      await holds[1]?.release();
      assert.deepEqual(await Promise.all(ids.map((id) => other.epochHeld(id))), [
        true,
        false,
        true,
        true,
        true,
      ]);
    });

    test("what a process holds is released when it closes", async (t) => {
      const { store, another } = await bench(t, create);
      const other = await another();
      await other.holdEpoch("epo_1");
      await other.close();
      assert.equal(await store.epochHeld("epo_1"), false);
    });

    test("what a process has left is held after it has closed", async (t) => {
      const { store, another } = await bench(t, create);
      const other = await another();
      const hold = await other.holdEpoch("epo_1");
      await other.holdEpoch("epo_2");
      hold.leave();
      await other.close();
      assert.equal(await store.epochHeld("epo_1"), true);
      assert.equal(await store.epochHeld("epo_2"), false);
      await hold.release();
    });
  });
}
