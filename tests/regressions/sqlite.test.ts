import assert from "node:assert/strict";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { holdpoint, isHoldpointError, type SqlTransaction } from "../../src/index.ts";
import { makePlace } from "../e2e/program.ts";

function instance(t: TestContext) {
  const place = makePlace();
  t.after(place.remove);
  const open = (key = "key.json") =>
    holdpoint({
      folder: join(place.folder, "data"),
      keyFile: join(place.folder, key),
      notify: () => undefined,
    });
  return { open };
}

test("a process with another key executes nothing, also when all is sealed", async (t) => {
  const { open } = instance(t);
  const first = open();
  await first.gate({ name: "a", policy: "approve", run: () => 1 })({}, { requestId: "1" });
  await first.close();
  const other = open("another.json");
  let ran = 0;
  const call = other.gate({ name: "b", policy: "approve", run: () => ++ran })({}, { requestId: "2" });
  await assert.rejects(call, (error) => isHoldpointError(error, "key_mismatch"));
  assert.equal(ran, 0);
  await other.close();
});

const transactional = (name: string, work: (sql: SqlTransaction) => unknown) =>
  ({
    name,
    effect: "transactional",
    policy: "approve",
    runInTransaction: (_args: object, sql: SqlTransaction) => work(sql),
  }) as const;

test("the application's SQL cannot put a table of its own before the journal's", async (t) => {
  const hp = instance(t).open();
  const shadow = hp.gate(
    transactional("shadow", (sql) => {
      sql.run("CREATE TABLE foo (position INTEGER)");
      sql.run("ALTER TABLE foo RENAME TO hp_entries_copy");
    }),
  );
  const temporary = hp.gate(transactional("temporary", (sql) => sql.run("CREATE TEMP TABLE hp_names2 (n)")));
  assert.equal((await shadow({}, { requestId: "1" })).status, "failed");
  assert.equal((await temporary({}, { requestId: "2" })).status, "failed");
  assert.equal((await hp.journal.verify()).ok, true);
  await hp.close();
});

test("rows that break a constraint at the commit are not applied, and that is recorded", async (t) => {
  const hp = instance(t).open();
  const tables = hp.gate(
    transactional("tables", (sql) => {
      sql.run("CREATE TABLE parent (id INTEGER PRIMARY KEY)");
      sql.run("CREATE TABLE child (id INTEGER REFERENCES parent (id) DEFERRABLE INITIALLY DEFERRED)");
    }),
  );
  let ran = 0;
  const orphan = hp.gate(
    transactional("orphan", (sql) => {
      ran++;
      sql.run("INSERT INTO child VALUES (7)");
    }),
  );
  assert.equal((await tables({}, { requestId: "1" })).status, "done");
  for (const _again of [1, 2]) {
    const answer = await orphan({}, { requestId: "2" });
    assert.equal("code" in answer && answer.code, "not_applied");
  }
  assert.equal(ran, 1);
  await hp.close();
});
