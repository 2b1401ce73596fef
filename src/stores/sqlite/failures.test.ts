import assert from "node:assert/strict";
import fs from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { sqliteBench } from "../../../tests/fixtures/sqlite-bench.ts";
import { actionStream } from "../../kernel/stream.ts";
import { commitResult, count, countedEvent, TENANT, times } from "../../testing/store-contract/fixture.ts";
import { checkChain } from "../../testing/store-contract/journal.ts";
import { readFileMeta } from "./migrations.ts";
import { quickCheck } from "./open-file.ts";

const POISON =
  "CREATE TEMP TRIGGER poison BEFORE INSERT ON hp_entries WHEN NEW.body LIKE '%poison%' BEGIN SELECT RAISE(ABORT, 'poisoned'); END";
const one = actionStream("one");
const inputOutput = () =>
  Object.assign(new Error("disk I/O error"), { code: "ERR_SQLITE_ERROR", errcode: 10 });

test("a full disk refuses the write, keeps what was written, and works again with space", async (t) => {
  const { open } = sqliteBench(t);
  let limit = (_pages: number) => {};
  const connected = (db: DatabaseSync) => {
    limit = (pages) => void db.exec(`PRAGMA max_page_count=${pages}`);
  };
  const store = await open({ hooks: { connected } });
  await count(store, "one");
  limit(1);
  const answers = await Promise.allSettled(
    times(3, () => count(store, "one", { text: "x".repeat(100_000) })),
  );
  for (const answer of answers)
    assert.equal(answer.status === "rejected" && answer.reason.code, "store_full");
  assert.equal((await store.read(TENANT, one)).length, 1);
  limit(1_000_000);
  assert.equal(await count(store, "one"), 2);
  checkChain(await store.read(TENANT, one));
});

test("a read waits for no writer, and sees what was committed before it", async (t) => {
  const { open, file } = sqliteBench(t);
  const store = await open();
  await count(store, "one");
  const other = new DatabaseSync(file, { timeout: 0 });
  t.after(() => other.close());
  other.exec("BEGIN IMMEDIATE");
  other.exec("INSERT INTO hp_meta (key, value) VALUES ('held', '1')");
  const read = () => store.transact(TENANT, { read: [one] }, (sight) => commitResult(sight.version(one)));
  assert.equal(await read(), 1);
  const look = { write: [one], isLook: true } as const;
  assert.equal(await store.transact(TENANT, look, (sight) => commitResult(sight.version(one))), 1);
  other.exec("COMMIT");
  await count(store, "one");
  assert.equal(await read(), 2);
});

test("reading in a loop lets everything else in the process go on", async (t) => {
  const { open } = sqliteBench(t);
  const store = await open();
  await count(store, "one");
  let isDone = false;
  setImmediate(() => {
    isDone = true;
  });
  let reads = 0;
  while (!isDone && reads < 1_000) {
    await store.transact(TENANT, { read: [one] }, (sight) => commitResult(sight.version(one)));
    reads += 1;
  }
  assert.ok(reads < 1_000, "the event loop never turned");
});

test("a read does not hide from the writer that another process wrote", async (t) => {
  const { open } = sqliteBench(t);
  const [store, other] = [await open(), await open()];
  await count(store, "one");
  await count(other, "one");
  const seen = await store.transact(TENANT, { read: [one] }, (sight) => commitResult(sight.version(one)));
  assert.equal(seen, 2);
  const absent = actionStream("absent");
  const version = () =>
    store.transact(TENANT, { read: [absent] }, (sight) => commitResult(sight.version(absent)));
  assert.equal(await version(), 0);
  await count(other, "absent");
  assert.equal(await version(), 1);
  assert.equal(await count(store, "absent"), 2);
  checkChain(await store.read(TENANT, absent));
});

test("when the SQL of one call fails, the calls that shared its commit succeed", async (t) => {
  const { open } = sqliteBench(t);
  const store = await open({ hooks: { connected: (db) => db.exec(POISON) } });
  const calls = times(9, (index) =>
    count(store, index % 3 === 0 ? "one" : `act-${index}`, { text: index === 4 ? "poison" : "" }),
  );
  const answers = await Promise.allSettled(calls);
  assert.deepEqual(
    answers.map((answer) => (answer.status === "fulfilled" ? answer.value : answer.reason.code)),
    [1, 1, 1, 2, "broken_rule", 1, 3, 1, 1],
  );
  checkChain(await store.read(TENANT, one));
  assert.equal(await store.position(), 8);
});

test("tenants whose first commit was rolled back do not end up as one", async (t) => {
  const { open } = sqliteBench(t);
  const store = await open({ hooks: { connected: (db) => db.exec(POISON) } });
  const answers = await Promise.allSettled([
    count(store, "a", { text: "poison" }, "first"),
    count(store, "b", {}, "second"),
    count(store, "c", {}, "first"),
  ]);
  assert.deepEqual(
    answers.map(({ status }) => status),
    ["rejected", "fulfilled", "fulfilled"],
  );
  assert.deepEqual(await store.read("first", actionStream("b")), []);
  assert.equal((await store.read("second", actionStream("b"))).length, 1);
  assert.equal((await store.read("first", actionStream("c"))).length, 1);
});

test("a view that throws writes nothing of its decision and spares the others", async (t) => {
  const { open } = sqliteBench(t);
  const row = (_id: string, state: unknown) => {
    if (JSON.stringify(state).includes("poison")) throw new RangeError("bad view");
    return undefined;
  };
  const store = await open({ projections: [{ view: "bad", kind: "action", version: 1, row }] });
  const answers = await Promise.allSettled([
    count(store, "a"),
    count(store, "b", { text: "poison" }),
    count(store, "c"),
  ]);
  assert.deepEqual(
    answers.map(({ status }) => status),
    ["fulfilled", "rejected", "fulfilled"],
  );
  assert.deepEqual(await store.read(TENANT, actionStream("b")), []);
  assert.equal(await store.position(), 2);
});

test("a commit whose answer was lost but that is on the disk is answered as committed", async (t) => {
  const { open } = sqliteBench(t);
  let lose = false;
  const lost = (run: () => void) => {
    run();
    if (lose) throw inputOutput();
  };
  const store = await open({ hooks: { commit: lost } });
  lose = true;
  assert.deepEqual(await Promise.all([count(store, "one"), count(store, "one")]), [1, 2]);
  lose = false;
  assert.equal(await count(store, "one"), 3);
  checkChain(await store.read(TENANT, one));
});

test("a commit that never reached the disk is tried again, and written once", async (t) => {
  const { open, file } = sqliteBench(t);
  let failures = 0;
  const failing = (run: () => void) => {
    if (failures-- > 0) throw inputOutput();
    run();
  };
  const store = await open({ hooks: { commit: failing } });
  failures = 1;
  assert.deepEqual(await Promise.all([count(store, "one"), count(store, "one")]), [1, 2]);
  assert.equal((await store.read(TENANT, one)).length, 2);
  const proof = new DatabaseSync(file);
  assert.match(readFileMeta(proof, "last_failed_commit") ?? "", /^[0-9a-f]{64}$/);
  proof.close();
  failures = 1;
  await assert.rejects(count(store, "one"), { code: "store_unavailable" });
  assert.equal(await count(store, "one"), 3);
});

test("a commit that cannot be found out about is said to be unknown", async (t) => {
  const { open, file } = sqliteBench(t);
  let fail = false;
  const gone = (run: () => void) => {
    if (!fail) return run();
    fs.renameSync(file, `${file}.away`);
    fs.mkdirSync(file);
    throw inputOutput();
  };
  const store = await open({ hooks: { commit: gone } });
  fail = true;
  await assert.rejects(count(store, "one"), { code: "commit_unknown" });
  fail = false;
  fs.rmdirSync(file);
  fs.renameSync(`${file}.away`, file);
  assert.equal(await count(store, "one"), 1);
});

test("a store that may only be read is refused when it is opened", async (t) => {
  const { folder, file, open } = sqliteBench(t);
  await (await open()).close();
  fs.chmodSync(file, 0o444);
  fs.chmodSync(folder, 0o555);
  const root = process.getuid?.() === 0;
  if (root) process.seteuid?.(65534);
  try {
    const codes = new Set(["store_read_only", "store_unavailable"]);
    await assert.rejects(open(), (error) => codes.has((error as { code: string }).code));
  } finally {
    if (root) process.seteuid?.(0);
    fs.chmodSync(folder, 0o700);
  }
});

test("a damaged file is refused when it is opened, and left as it is", async (t) => {
  const { file, open } = sqliteBench(t);
  const store = await open();
  for (let step = 0; step < 50; step++) await count(store, `act-${step}`, { text: "x".repeat(500) });
  await store.close();
  damage(file);
  const before = fs.readFileSync(file);
  await assert.rejects(open(), { code: "store_corrupt" });
  assert.deepEqual(fs.readFileSync(file), before);
});

test("damage in a large file is found beside the work", async (t) => {
  const { file, open } = sqliteBench(t);
  const store = await open();
  for (let step = 0; step < 50; step++) await count(store, `act-${step}`, { text: "x".repeat(500) });
  await store.close();
  const whole = new DatabaseSync(file);
  const silent = quickCheck({ db: whole, file, smallBytes: 0 }, () => assert.fail("nothing is damaged"));
  await sleep(300);
  silent.stop();
  whole.close();
  damage(file);
  const db = new DatabaseSync(file);
  const found = await new Promise((resolve) => void quickCheck({ db, file, smallBytes: 0 }, resolve));
  assert.equal((found as { code: string }).code, "store_corrupt");
  db.close();
});

test("a damage that SQLite meets later refuses every call from then on", async (t) => {
  const { open } = sqliteBench(t);
  const corrupt = Object.assign(new Error("malformed"), { code: "ERR_SQLITE_ERROR", errcode: 11 });
  let fail = false;
  const hooks = {
    commit(run: () => void) {
      if (fail) throw corrupt;
      run();
    },
  };
  const store = await open({ hooks });
  fail = true;
  await assert.rejects(count(store, "one"), { code: "store_corrupt" });
  await assert.rejects(store.position(), { code: "store_corrupt" });
});

test("a lock that another process holds for a moment is waited for, and the event loop turns meanwhile", async (t) => {
  const { open, spawn } = sqliteBench(t);
  const store = await open();
  await count(store, "one");
  const child = await spawn(
    `const db = new DatabaseSync(folder + "/journal.db"); db.exec("BEGIN IMMEDIATE"); say("locked"); await sleep(400); db.exec("COMMIT"); db.close(); say("free");`,
  );
  assert.equal(await child.heard(), "locked");
  let turns = 0;
  const turning = setInterval(() => turns++, 5);
  assert.equal(await count(store, "one"), 2);
  clearInterval(turning);
  assert.ok(turns > 20, `${turns} turns`);
});

test("a lock that is held for too long is reported as busy, and nothing is lost", async (t) => {
  const { open, spawn } = sqliteBench(t);
  const store = await open({ busyMs: 120 });
  const child = await spawn(
    `const db = new DatabaseSync(folder + "/journal.db"); db.exec("BEGIN IMMEDIATE"); say("locked"); await sleep(60_000);`,
  );
  await child.heard();
  await assert.rejects(count(store, "one"), { code: "store_busy" });
  assert.equal(await store.position(), 0);
  await child.kill();
  assert.equal(await count(store, "one"), 1);
});

test("an event that this program does not know stops its stream only", async (t) => {
  const { open, file } = sqliteBench(t);
  const store = await open();
  await count(store, "one");
  await count(store, "two");
  await store.close();
  const db = new DatabaseSync(file);
  db.exec(`UPDATE hp_entries SET header = replace(header, '"counted"', '"conjured"') WHERE position = 1`);
  db.close();
  const again = await open();
  await assert.rejects(count(again, "one"), TypeError);
  assert.equal(await count(again, "two"), 2);
});

test("no decision stands on a chain with a missing link", async (t) => {
  const { open, file } = sqliteBench(t);
  const store = await open();
  for (let step = 0; step < 3; step++) await count(store, "one");
  await store.transact(TENANT, { write: [actionStream("two")] }, () =>
    commitResult(null, { stream: actionStream("two"), events: [countedEvent()] }),
  );
  await store.close();
  const db = new DatabaseSync(file);
  db.exec("DELETE FROM hp_entries WHERE position = 2");
  db.close();
  const again = await open();
  await assert.rejects(count(again, "one"), { code: "store_corrupt" });
  assert.equal(await count(again, "two"), 2);
});

function damage(file: string): void {
  const bytes = fs.readFileSync(file);
  for (let page = 2; page * 4096 < bytes.length; page += 3) bytes.fill(0xa5, page * 4096, page * 4096 + 600);
  fs.writeFileSync(file, bytes);
}
