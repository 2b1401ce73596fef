import assert from "node:assert/strict";
import { test } from "node:test";
import {
  CONTRACT_FOLDS,
  CONTRACT_PROJECTIONS,
  count,
  randomOf,
  TENANT,
} from "../../testing/store-contract/fixture.ts";
import { storeContract } from "../../testing/testing.ts";
import { backUp, createMemoryDatabase, restore } from "./database.ts";
import { openMemoryStore } from "./open.ts";

storeContract("memory", async (options) => {
  const database = createMemoryDatabase(options);
  return { open: async () => openMemoryStore(database), remove: async () => {} };
});

function lease(leaseMs?: number) {
  let now = 0;
  const clock = {
    now: () => now,
    pass(ms: number) {
      now += ms;
    },
  };
  const options = { folds: CONTRACT_FOLDS, projections: CONTRACT_PROJECTIONS, clock, random: randomOf(1) };
  const database = createMemoryDatabase(leaseMs === undefined ? options : { ...options, leaseMs });
  return { clock, database, first: openMemoryStore(database), second: openMemoryStore(database) };
}

test("what a crashed process held is released, and it can do nothing more", async () => {
  const { first, second } = lease();
  await first.holdEpoch("epo_1");
  let settled = false;
  const mark = () => {
    settled = true;
  };
  first.follow(0, new AbortController().signal).then(mark, mark);
  first.crash();
  assert.equal(await second.epochHeld("epo_1"), false);
  await assert.rejects(count(first, "one"), { code: "closed" });
  await count(second, "one");
  assert.equal(settled, false);
});

test("a lease that is not renewed counts as released, and stays lost", async () => {
  const { first, second, clock } = lease(1000);
  const hold = await first.holdEpoch("epo_1");
  clock.pass(900);
  await hold.renew();
  clock.pass(900);
  assert.equal(await second.epochHeld("epo_1"), true);
  clock.pass(100);
  assert.equal(await second.epochHeld("epo_1"), false);
  await assert.rejects(hold.renew(), { code: "epoch_ended" });
  await second.holdEpoch("epo_1");
  await hold.release();
  assert.equal(await first.epochHeld("epo_1"), true);
});

test("a restored backup is what the disk was, and can be restored again", async () => {
  const { first, database } = lease();
  await count(first, "one");
  const backup = backUp(database);
  await count(first, "one");
  await count(first, "two");
  for (let round = 0; round < 2; round++) {
    restore(database, backup);
    assert.equal(await first.position(), 1);
    assert.equal(await first.count(TENANT, "tallies", "open"), 1);
    assert.equal(await count(first, "one"), 2);
  }
});

test("the same calls give the same hashes", async () => {
  const heads = await Promise.all(
    [1, 2].map(async () => {
      const { first } = lease();
      for (let step = 0; step < 5; step++) await count(first, `act-${step % 2}`, { step });
      return (await first.log(TENANT, 0, 100)).map(({ hash }) => hash);
    }),
  );
  assert.deepEqual(heads[0], heads[1]);
});
