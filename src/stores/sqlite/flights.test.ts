/** Batches that are decided ahead and written on another thread. */
import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { describe, type TestContext, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { sqliteBench } from "../../../tests/fixtures/sqlite-bench.ts";
import { actionStream } from "../../core/stream.ts";
import { commit, count, counted, TENANT, times } from "../../testing/store-contract/bench.ts";
import { checkChain } from "../../testing/store-contract/chain.ts";
import type { Store } from "../store.ts";
import type { AheadOutcome, OtherThread } from "./ahead.ts";

type Outcome = AheadOutcome["kind"];
type Meddle = (write: () => Promise<AheadOutcome>, number: number) => Promise<AheadOutcome>;

const plainly: Meddle = (write) => write();

/** A store whose flights are watched, and may be meddled with, once the other thread is there. */
async function flying(context: TestContext, meddle: Meddle = plainly) {
  const { open, file } = sqliteBench(context);
  const outcomes: Outcome[] = [];
  let ready: () => boolean = () => false;
  let isWatched = false;
  const thread = (other: OtherThread): OtherThread => {
    ready = other.isReady;
    return {
      ...other,
      async write(batch) {
        if (!isWatched) return other.write(batch);
        const outcome = await meddle(() => other.write(batch), outcomes.length);
        outcomes.push(outcome.kind);
        return outcome;
      },
    };
  };
  const store = await open({ hooks: { thread } });
  while (!ready()) await Promise.all(times(20, (index) => count(store, `warm-${index}`)));
  // Opening counts as somebody else's writing for a while.
  await sleep(300);
  isWatched = true;
  return { store, open, file, outcomes };
}

const rush = (store: Store, calls = 400, streams = 20) =>
  Promise.all(times(calls, (index) => count(store, `act-${index % streams}`)));

async function checkAll(store: Store, each: number, streams = 20): Promise<void> {
  for (const index of times(streams, (one) => one)) {
    const entries = await store.read(TENANT, actionStream(`act-${index}`));
    assert.equal(entries.length, each);
    checkChain(entries);
  }
  const rows = await store.query(TENANT, { view: "tallies", limit: 1000 });
  assert.equal(rows.filter(({ stream }) => stream.id.startsWith("act-")).length, streams);
}

describe("a batch that is decided ahead", () => {
  test("is written by the other thread, and answered in order", async (t) => {
    const { store, outcomes } = await flying(t);
    const answers = await rush(store);
    assert.deepEqual(
      answers,
      times(400, (index) => 1 + Math.floor(index / 20)),
    );
    assert.ok(outcomes.length > 0);
    assert.ok(outcomes.every((outcome) => outcome === "committed"));
    await checkAll(store, 20);
  });

  test("is decided again when another process wrote meanwhile", async (t) => {
    const { store, open, outcomes } = await flying(t, async (write, number) => {
      if (number === 0) await count(other, "act-0");
      return write();
    });
    const other = await open();
    await rush(store);
    assert.equal(outcomes[0], "stale");
    assert.equal((await store.read(TENANT, actionStream("act-0"))).length, 21);
    await count(other, "act-0");
    for (const index of times(19, (one) => one + 1))
      checkChain(await store.read(TENANT, actionStream(`act-${index}`)));
    checkChain(await other.read(TENANT, actionStream("act-0")));
  });

  test("stands while two processes rush the same streams", async (t) => {
    const { store, open } = await flying(t);
    const other = await open();
    for (const _round of times(4, () => 0)) {
      await Promise.all([rush(store, 200), rush(other, 200)]);
      await sleep(260);
    }
    await checkAll(store, 80);
    await checkAll(other, 80);
  });

  test("fails alone: whoever shared its commit succeeds, and what was decided on it is decided again", async (t) => {
    const { store, file, outcomes } = await flying(t);
    const poison = new DatabaseSync(file, { timeout: 1000 });
    poison.exec(`CREATE TRIGGER poison BEFORE INSERT ON hp_entries WHEN new.body LIKE '%poison%'
      BEGIN SELECT RAISE(ABORT, 'poison'); END`);
    poison.close();
    await count(store, "warm-0");
    await sleep(300);
    const answers = await Promise.allSettled(
      times(200, (index) => count(store, `act-${index % 20}`, index === 7 ? { text: "poison" } : {})),
    );
    assert.ok(outcomes.includes("undone"));
    assert.equal(answers.filter(({ status }) => status === "rejected").length, 1);
    assert.equal(answers[7]?.status === "rejected" && answers[7].reason.code, "broken_rule");
    assert.equal((await store.read(TENANT, actionStream("act-7"))).length, 9);
    for (const index of times(20, (one) => one))
      checkChain(await store.read(TENANT, actionStream(`act-${index}`)));
  });

  test("of which no word comes is found in the file, or decided again", async (t) => {
    const { store } = await flying(t, async (write, number) => {
      // Every third is written and its answer lost; every third is never written at all.
      if (number % 3 === 1) await write();
      return number % 3 === 0 ? write() : { kind: "unknown" };
    });
    for (const _round of times(3, () => 0)) {
      await rush(store, 200);
      await sleep(300);
    }
    await checkAll(store, 30);
  });

  test("sees names that were taken in the batch before it", async (t) => {
    const { store, outcomes } = await flying(t);
    const take = (index: number) =>
      store.transact(
        TENANT,
        { write: [actionStream(`n-${index}`)], names: [`name-${index % 50}`] },
        (sight) => {
          const known = sight.name(`name-${index % 50}`);
          if (known !== undefined) return commit(known.id);
          const stream = actionStream(`n-${index}`);
          const names = [{ name: `name-${index % 50}`, stream }];
          return { ...commit(stream.id, { stream, events: [counted({})] }), names };
        },
      );
    const answers = await Promise.all(times(300, take));
    assert.deepEqual(
      answers,
      times(300, (index) => `n-${index % 50}`),
    );
    assert.ok(outcomes.includes("committed"));
  });

  test("waits for those who write by themselves", async (t) => {
    const { store } = await flying(t);
    const withSql = (index: number) =>
      store.transactWithSql?.(TENANT, { write: [actionStream("act-0")] }, (_sight, sql) => {
        sql.run("CREATE TABLE IF NOT EXISTS mine (n INTEGER)");
        sql.run("INSERT INTO mine (n) VALUES (?)", index);
        return commit(null, { stream: actionStream("act-0"), events: [counted({})] });
      });
    await Promise.all(
      times(300, (index) => (index % 25 === 0 ? withSql(index) : count(store, `act-${index % 20}`))),
    );
    for (const index of times(20, (one) => one))
      checkChain(await store.read(TENANT, actionStream(`act-${index}`)));
  });

  test("is waited for when the store closes", async (t) => {
    const { store, open } = await flying(t);
    const calls = rush(store);
    await store.close();
    await calls;
    await checkAll(await open(), 20);
  });
});
