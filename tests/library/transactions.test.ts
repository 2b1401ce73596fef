/** How often one thing that is decided takes the write lock of a file. */
import assert from "node:assert/strict";
import type { DatabaseSync } from "node:sqlite";
import { type TestContext, test } from "node:test";
import { admin } from "../../src/admin.ts";
import { holdpoint } from "../../src/index.ts";
import { wallClock } from "../../src/kernel/clock.ts";
import { pooledRandom } from "../../src/runtime/runtime.ts";
import { openSqliteStore } from "../../src/stores/sqlite/open.ts";
import { FOLDS } from "../../src/streams.ts";
import { pendingApproval, temporaryFolder } from "../fixtures/folder.ts";
import { PROJECTIONS } from "../fixtures/runtime.ts";

/** Transactions that appended entries, and those that took the lock and wrote nothing. Seals are neither. */
type Counts = { appended: number; empty: number };

async function countedStore(folder: string) {
  const counts: Counts = { appended: 0, empty: 0 };
  let rows = () => ({ position: 0, seals: 0 });
  const connected = (db: DatabaseSync) => {
    const select = db.prepare(
      "SELECT (SELECT coalesce(max(position), 0) FROM hp_entries) AS position, (SELECT count(*) FROM hp_seals) AS seals",
    );
    rows = () => select.get() as ReturnType<typeof rows>;
  };
  let before = rows();
  const commit = (commit: () => void) => {
    const now = rows();
    if (now.position > before.position) counts.appended += 1;
    else if (now.seals === before.seals) counts.empty += 1;
    before = now;
    commit();
  };
  const parts = { folds: FOLDS, projections: PROJECTIONS, clock: wallClock, random: pooledRandom() };
  const store = await openSqliteStore({ folder, ...parts, hooks: { connected, commit } });
  const during = async <Answer>(wanted: Counts, work: () => Promise<Answer>): Promise<Answer> => {
    const { appended, empty } = counts;
    const answer = await work();
    assert.deepEqual({ appended: counts.appended - appended, empty: counts.empty - empty }, wanted);
    return answer;
  };
  return { store, during };
}

async function opened(t: TestContext) {
  const folder = temporaryFolder(t);
  const { store, during } = await countedStore(folder.path);
  const hp = holdpoint({ store, keyFile: folder.keyFile, agent: "tester", notify: () => undefined });
  t.after(() => hp.close());
  const approved = hp.gate({ name: "approved", policy: "approve", run: () => 1 });
  const asking = hp.gate({ name: "asking", policy: "escalate", run: () => 1 });
  // The first call opens the epoch.
  await approved({}, { requestId: "first" });
  return { hp, during, approved, asking };
}

test("a call that policy approves takes the lock twice: to start, and to record the outcome", async (t) => {
  const { during, approved } = await opened(t);
  await during({ appended: 2, empty: 0 }, () => approved({}, { requestId: "a" }));
});

test("an escalated call takes the lock once until it waits", async (t) => {
  const { during, asking } = await opened(t);
  const answer = await during({ appended: 1, empty: 0 }, () => asking({}, { requestId: "a", waitMs: 0 }));
  assert.equal(answer.status, "pending");
});

test("reading an approval takes no lock, and a decision, a start and an outcome one each", async (t) => {
  const { hp, during, asking } = await opened(t);
  const answer = asking({}, { requestId: "a" });
  const id = await pendingApproval(hp);
  await during({ appended: 0, empty: 0 }, () => hp.approvals.get(id));
  await during({ appended: 3, empty: 0 }, async () => {
    await hp.approvals.approve(id, { by: "person:ann" });
    assert.equal((await answer).status, "done");
  });
});

test("an instance that has nothing to do takes no lock", async (t) => {
  const { hp, during } = await opened(t);
  await admin(hp).seals.save();
  await during({ appended: 0, empty: 0 }, async () => {
    for (let round = 0; round < 3; round++) await admin(hp).seals.save();
  });
});
