/** Who is told what, and when: bugs that were found by attack. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { postgresBench } from "../../../tests/fixtures/postgres-bench.ts";
import { actionStream } from "../../kernel/stream.ts";
import type { DecideResult } from "../../kernel/transaction.ts";
import { commitResult, count, countedEvent, TENANT, times } from "../../testing/store-contract/fixture.ts";

const bench = postgresBench();

test("a call is told what became of it when its batch is over, not when the batch may still be decided again", async (t) => {
  const { open, proxy } = bench(t);
  const line = await proxy();
  const store = await open({ database: line.url });
  const payment = actionStream("payment");
  await count(store, "warm");
  let decided = 0;
  const pay = (): Promise<string> =>
    store.transact(TENANT, { write: [payment] }, (): DecideResult<string> => {
      if (++decided === 1) throw new Error("the gate is shut");
      return commitResult("paid", { stream: payment, events: [countedEvent()] });
    });
  line.cutAtCommit("before");
  const [other, paid] = await Promise.allSettled([count(store, "other"), pay()]);
  assert.equal(line.cuts(), 1);
  assert.equal(other?.status, "fulfilled");
  assert.deepEqual([decided, paid?.status], [2, "fulfilled"]);
  assert.equal((await store.read(TENANT, payment)).length, 1);
});

test("a follower hears of commits whose transaction numbers a server that crashed gives out again", async (t) => {
  const { open, server } = bench(t);
  const store = await open();
  const follower = await open();
  await count(store, "before");
  const stop = new AbortController();
  t.after(() => stop.abort());
  const seen = new Set<string>();
  let position = await follower.position();
  const hear = async (id: string) => {
    while (!seen.has(id)) {
      const moved = await follower.follow(position, stop.signal).catch(() => undefined);
      if (moved === undefined) await sleep(50);
      else for (const { stream } of moved.streams) seen.add(stream.id);
      position = moved?.position ?? position;
    }
  };
  await count(store, "first");
  // Decisions that write nothing take a number each, which nothing keeps.
  for (const _ of times(40, () => 0))
    await store.transact(TENANT, { write: [actionStream("nothing")] }, () => commitResult(null));
  await hear("first");
  await server.crash();
  await server.start();
  for (const id of ["a", "b", "c"]) await count(store, id);
  for (const id of ["a", "b", "c"]) await hear(id);
});

test("a seal whose commit was done and whose answer was lost is answered all the same", async (t) => {
  const { open, proxy } = bench(t);
  const line = await proxy();
  const store = await open({ database: line.url });
  await count(store, "one");
  line.cutAtCommit("after");
  const seal = await store.seal(TENANT, ({ n, leaves }) => ({ n, jws: "signed", leaves }));
  assert.equal(line.cuts(), 1);
  assert.deepEqual(await store.seals(TENANT), [seal]);
});

test("times before 1970 are kept", async (t) => {
  const { open } = bench(t);
  const store = await open();
  await count(store, "old", { at: -(2 ** 40) - 1, due: -5 });
  const [row] = await store.query(TENANT, { view: "tallies", limit: 1 });
  assert.partialDeepStrictEqual(row, { at: -(2 ** 40) - 1, due: -5 });
});
