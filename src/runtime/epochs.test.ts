import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { createMemoryDatabase } from "../stores/memory/database.ts";
import { openMemoryStore } from "../stores/memory/open.ts";
import type { Store } from "../stores/store.ts";
import { FOLDS } from "../streams.ts";
import { beginEpoch } from "./epochs.ts";

const LEASE_MS = 3_000;

/** A process whose wall clock can be set without time passing, over a store that takes its time. */
function place({ slowMs = 0, lease = true } = {}) {
  const time = { wall: 1_000_000, steady: 0 };
  const pass = (ms: number) => {
    time.wall += ms;
    time.steady += ms;
  };
  const clock = { now: () => time.wall, elapsed: () => time.steady, sleep: async () => {} };
  const database = createMemoryDatabase({
    folds: FOLDS,
    projections: [],
    clock: { now: () => time.steady },
    random: (bytes) => new Uint8Array(bytes),
    ...(lease ? { leaseMs: LEASE_MS } : {}),
  });
  const inner = openMemoryStore(database);
  const store: Store = {
    ...inner,
    async holdEpoch(id) {
      const hold = await inner.holdEpoch(id);
      pass(slowMs);
      return hold;
    },
  };
  const random = (bytes: number) => new Uint8Array(bytes);
  return { time, pass, runtime: { store, tenant: "default", agent: "agent:a", clock, random } };
}

describe("a lease", () => {
  test("lets nothing be sent in its last third", async () => {
    const { pass, runtime } = place();
    const epoch = await beginEpoch(runtime, { process: "1" });
    assert.equal(epoch.mayRun(), true);
    pass(LEASE_MS * 0.7);
    assert.equal(epoch.mayRun(), false);
    await epoch.renew();
    assert.equal(epoch.mayRun(), true);
  });

  test("counts from before it was asked for, however long the answer took", async () => {
    const { runtime } = place({ slowMs: LEASE_MS * 0.7 });
    assert.equal((await beginEpoch(runtime, { process: "1" })).mayRun(), false);
  });

  test("is not lengthened by a clock that is set back", async () => {
    const { time, pass, runtime } = place();
    const epoch = await beginEpoch(runtime, { process: "1" });
    pass(LEASE_MS * 2);
    time.wall -= 3_600_000;
    assert.equal(epoch.mayRun(), false);
  });

  test("is not lengthened by a machine that slept, whose steady clock stood still", async () => {
    const { time, runtime } = place();
    const epoch = await beginEpoch(runtime, { process: "1" });
    time.wall += LEASE_MS;
    assert.equal(epoch.mayRun(), false);
  });
});

test("a process that ends its epoch sends nothing more, from before the end is written", async () => {
  const { runtime } = place({ lease: false });
  const epoch = await beginEpoch(runtime, { process: "1" });
  const ended = epoch.end();
  assert.equal(epoch.mayRun(), false);
  await ended;
});
