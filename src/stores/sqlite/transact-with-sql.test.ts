import assert from "node:assert/strict";
import type { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import { sqliteBench } from "../../../tests/fixtures/sqlite-bench.ts";
import { actionStream } from "../../kernel/stream.ts";
import type { DecideResult, DecisionScope } from "../../kernel/transaction.ts";
import { commitResult, count, countedEvent, TENANT, times } from "../../testing/store-contract/fixture.ts";
import type { SqlTransaction, Store } from "../store.ts";

const one = actionStream("one");
const append = { stream: one, events: [countedEvent()] };

function run<Result>(
  store: Store,
  decide: (sight: DecisionScope, sql: SqlTransaction) => DecideResult<Result>,
): Promise<Result> {
  assert.ok(store.transactWithSql);
  return store.transactWithSql(TENANT, { write: [one] }, decide);
}

const notes = (store: Store) =>
  run(store, (_sight, sql) => commitResult(sql.all("SELECT text FROM notes").map(({ text }) => text)));

async function withNotes(store: Store): Promise<void> {
  await run(store, (_sight, sql) => commitResult(sql.run("CREATE TABLE notes (text TEXT UNIQUE)")));
}

test("the application's rows and the journal's entries are written together", async (t) => {
  const { open } = sqliteBench(t);
  const store = await open();
  await withNotes(store);
  const changes = await run(store, (_sight, sql) =>
    commitResult(sql.run("INSERT INTO notes VALUES (?), (?)", "a", "b").changes, append),
  );
  assert.equal(changes, 2);
  assert.deepEqual(await notes(await open()), ["a", "b"]);
  assert.equal((await store.read(TENANT, one)).length, 1);
});

test("when the decision throws, or its SQL fails, nothing of both is written", async (t) => {
  const { open } = sqliteBench(t);
  const store = await open();
  await withNotes(store);
  const failing = [
    run(store, (_sight, sql) => {
      sql.run("INSERT INTO notes VALUES ('a')");
      throw new RangeError("no");
    }),
    run(store, (_sight, sql) =>
      commitResult(
        times(2, () => sql.run("INSERT INTO notes VALUES ('a')")),
        append,
      ),
    ),
    run(store, (_sight, sql) => {
      sql.run("INSERT INTO notes VALUES ('a')");
      return commitResult(null, { stream: actionStream("undeclared"), events: [countedEvent()] });
    }),
  ];
  const others = times(5, () => count(store, "two"));
  const answers = await Promise.allSettled(failing);
  assert.deepEqual(
    answers.map(({ status }) => status),
    ["rejected", "rejected", "rejected"],
  );
  assert.deepEqual(await Promise.all(others), [1, 2, 3, 4, 5]);
  assert.deepEqual(await notes(store), []);
  assert.deepEqual(await store.read(TENANT, one), []);
});

test("what the application's own SQL did wrong reaches it as SQLite said it", async (t) => {
  const { open } = sqliteBench(t);
  const store = await open();
  await withNotes(store);
  const twice = run(store, (_sight, sql) => commitResult(sql.run("INSERT INTO notes VALUES ('a'), ('a')")));
  await assert.rejects(twice, { code: "ERR_SQLITE_ERROR", message: /UNIQUE constraint failed: notes.text/ });
  const caught = await run(store, (_sight, sql) => {
    assert.throws(() => sql.run("INSERT INTO notes VALUES ('b'), ('b')"));
    return commitResult(sql.run("INSERT INTO notes VALUES ('c')").changes, append);
  });
  assert.equal(caught, 1);
  assert.deepEqual(await notes(store), ["c"]);
});

test("a decision that asks for more streams writes its rows once", async (t) => {
  const { open } = sqliteBench(t);
  const store = await open();
  await withNotes(store);
  await run(store, (sight, sql) => {
    sql.run("INSERT INTO notes VALUES ('a')");
    const needs = sight.missing({ write: [actionStream("two")] });
    return needs === undefined ? commitResult(null, append) : { kind: "need", needs };
  });
  assert.deepEqual(await notes(store), ["a"]);
});

test("Holdpoint's tables, settings and the transaction itself are out of reach", async (t) => {
  const { open } = sqliteBench(t);
  const store = await open();
  await withNotes(store);
  await count(store, "two");
  const forbidden = [
    "SELECT * FROM hp_entries",
    "SELECT body FROM main.HP_ENTRIES",
    "DELETE FROM hp_entries",
    "UPDATE hp_meta SET value = 1",
    "INSERT INTO notes SELECT body FROM hp_entries",
    "CREATE TRIGGER spy AFTER INSERT ON hp_entries BEGIN SELECT 1; END",
    "CREATE INDEX mine ON hp_entries (body)",
    "CREATE TABLE hp_mine (a)",
    "ALTER TABLE hp_entries ADD COLUMN a",
    "DROP TABLE hp_entries",
    "PRAGMA synchronous=OFF",
    "PRAGMA writable_schema=ON",
    "COMMIT",
    "ROLLBACK",
    "SAVEPOINT mine",
    "ATTACH ':memory:' AS other",
    "DELETE FROM sqlite_schema",
    "VACUUM",
  ];
  for (const text of forbidden) {
    await assert.rejects(
      run(store, (_sight, sql) => commitResult(sql.run(text))),
      text,
    );
  }
  await assert.rejects(
    run(store, (_sight, sql) => {
      sql.run("CREATE TRIGGER bad AFTER INSERT ON notes BEGIN DELETE FROM hp_entries; END");
      return commitResult(sql.run("INSERT INTO notes VALUES ('x')"));
    }),
  );
  assert.equal(await count(store, "two"), 2);
});

const ENDINGS: readonly [string, readonly string[], string][] = [
  ["INSERT OR ROLLBACK", [], "INSERT OR ROLLBACK INTO notes VALUES ('a')"],
  [
    "ON CONFLICT ROLLBACK",
    ["CREATE TABLE strict (id INTEGER PRIMARY KEY ON CONFLICT ROLLBACK)", "INSERT INTO strict VALUES (1)"],
    "INSERT INTO strict VALUES (1)",
  ],
  [
    "RAISE(ROLLBACK)",
    ["CREATE TRIGGER no BEFORE DELETE ON notes BEGIN SELECT RAISE(ROLLBACK, 'kept'); END"],
    "DELETE FROM notes",
  ],
];

for (const [ending, setup, text] of ENDINGS) {
  test(`after ${ending} has ended the transaction, no SQL runs and nothing is written`, async (t) => {
    const { open } = sqliteBench(t);
    const store = await open();
    await withNotes(store);
    for (const step of [...setup, "INSERT INTO notes VALUES ('a')"])
      await run(store, (_sight, sql) => commitResult(sql.run(step)));
    const ended = { code: "broken_rule", data: /nothing was written/ };
    const ends = (sql: SqlTransaction) => {
      sql.run("INSERT INTO notes VALUES ('before')");
      assert.throws(() => sql.run(text), { code: "ERR_SQLITE_ERROR" });
    };
    const goesOn = (sql: SqlTransaction) => {
      ends(sql);
      for (const use of [sql.run, sql.all])
        assert.throws(() => use("INSERT INTO notes VALUES ('after') RETURNING text"), ended);
    };
    await assert.rejects(
      run(store, (_sight, sql) => commitResult(ends(sql), append)),
      ended,
    );
    await assert.rejects(
      run(store, (_sight, sql) => commitResult(goesOn(sql), append)),
      ended,
    );
    await assert.rejects(
      run(store, (_sight, sql) => {
        goesOn(sql);
        throw new RangeError("changed my mind");
      }),
      RangeError,
    );
    await assert.rejects(
      run(store, (sight, sql) => {
        const needs = sight.missing({ write: [actionStream("two")] });
        if (needs === undefined) return commitResult(null, append);
        ends(sql);
        return { kind: "need", needs };
      }),
      ended,
    );
    assert.deepEqual(await notes(await open()), ["a"]);
    assert.deepEqual(await store.read(TENANT, one), []);
    assert.equal(await count(store, "two"), 1);
  });
}

test("a full disk that ended the transaction is called that, even if the decision caught it", async (t) => {
  const { open } = sqliteBench(t);
  let db: DatabaseSync | undefined;
  const connected = (connection: DatabaseSync) => {
    db = connection;
  };
  const store = await open({ hooks: { connected } });
  await withNotes(store);
  const pages = Number(Object.values(db?.prepare("PRAGMA page_count").get() ?? {})[0]);
  db?.exec(`PRAGMA max_page_count = ${pages + 1}`);
  const filling = run(store, (_sight, sql) => {
    assert.throws(() => sql.run("INSERT INTO notes VALUES (?)", "x".repeat(100_000)), { errcode: 13 });
    return commitResult(null, append);
  });
  await assert.rejects(filling, { code: "store_full" });
  db?.exec("PRAGMA max_page_count = 1000000");
  assert.deepEqual(await notes(store), []);
  assert.deepEqual(await store.read(TENANT, one), []);
});

test("SQL that is kept for later is refused", async (t) => {
  const { open } = sqliteBench(t);
  const store = await open();
  await withNotes(store);
  const kept = await run(store, (_sight, sql) => commitResult(sql));
  assert.throws(() => kept.run("INSERT INTO notes VALUES ('late')"), { code: "closed" });
});
