import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { actionStream } from "../../kernel/stream.ts";
import type { JournalEntry } from "../../stores/store.ts";
import { bench, type CreateDatabase, commit, count, counted, TENANT, times } from "./bench.ts";
import { checkChain } from "./chain.ts";

const one = actionStream("one");
const seqs = (entries: readonly JournalEntry[]) =>
  entries.map(({ header }): number => JSON.parse(header).seq);
const names = (entries: readonly JournalEntry[]) =>
  entries.map(({ header }): string => JSON.parse(header).stream);
const positions = (entries: readonly JournalEntry[]) => entries.map(({ position }) => position);

function checkRising(numbers: readonly number[]): void {
  for (const [at, number] of numbers.entries()) assert.ok(number > (numbers[at - 1] ?? 0), `${numbers}`);
}

export function readClaims(create: CreateDatabase): void {
  describe("reading", () => {
    test("a stream is read from any entry on, as many as wanted", async (t) => {
      const { store } = await bench(t, create);
      for (let step = 0; step < 5; step++) await count(store, "one");
      assert.deepEqual(seqs(await store.read(TENANT, one)), [1, 2, 3, 4, 5]);
      assert.deepEqual(seqs(await store.read(TENANT, one, { fromSeq: 3 })), [3, 4, 5]);
      assert.deepEqual(seqs(await store.read(TENANT, one, { fromSeq: 2, limit: 2 })), [2, 3]);
      assert.deepEqual(await store.read(TENANT, one, { fromSeq: 9 }), []);
      assert.deepEqual(await store.read(TENANT, actionStream("none")), []);
    });

    test("the log has a tenant's entries in the order of their commits", async (t) => {
      const { store, another } = await bench(t, create);
      const other = await another();
      await count(store, "one");
      await count(other, "two");
      await count(store, "one", {}, "globex");
      await count(store, "one");
      const log = await other.log(TENANT, 0, 100);
      assert.deepEqual(names(log), ["action/one", "action/two", "action/one"]);
      const [first = 0, second = 0, fourth = 0] = positions(log);
      assert.deepEqual(await other.log(TENANT, first, 1), log.slice(1, 2));
      const [third = 0, ...more] = positions(await other.log("globex", 0, 100));
      assert.deepEqual(more, []);
      checkRising([first, second, third, fourth]);
      assert.deepEqual(await other.log("nobody", 0, 100), []);
      assert.equal(await other.position(), fourth);
    });

    test("a stream of a thousand entries is read whole, and verifies", async (t) => {
      const { store, another } = await bench(t, create);
      const other = await another();
      for (let part = 0; part < 4; part++) {
        const events = times(256, (index) => counted({ index }));
        await store.transact(TENANT, { write: [one] }, () => commit(null, { stream: one, events }));
      }
      const entries = await other.read(TENANT, one);
      assert.equal(entries.length, 1024);
      checkChain(entries);
      checkRising(positions(entries));
      assert.deepEqual(await other.log(TENANT, 0, 5000), entries);
      assert.equal(await count(other, "one"), 1025);
    });
  });
}
