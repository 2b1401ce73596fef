import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import { sqliteBench } from "../../../tests/fixtures/sqlite-bench.ts";
import { count } from "../../testing/store-contract/fixture.ts";
import { connectSqlite, pragma } from "./connect.ts";
import { FILE_LAYOUT, FILE_MIGRATIONS, migrateFile, readFileMeta, refuseNewerFile } from "./migrations.ts";

const NEXT = {
  version: FILE_LAYOUT + 1,
  oldestReader: FILE_LAYOUT,
  sql: "ALTER TABLE hp_streams ADD COLUMN note TEXT",
};
const born = { incarnation: "x" };

test("a store keeps its identity and its entries through a migration", async (t) => {
  const { file, open } = sqliteBench(t);
  const store = await open();
  await count(store, "one");
  await store.close();
  const db = connectSqlite(file);
  migrateFile(db, born, [...FILE_MIGRATIONS, NEXT]);
  assert.equal(pragma(db, "PRAGMA user_version"), FILE_LAYOUT + 1);
  assert.equal(readFileMeta(db, "incarnation"), store.incarnation);
  db.close();
  const again = await open();
  assert.equal(again.incarnation, store.incarnation);
  assert.equal(await count(again, "one"), 2);
});

test("a migration that fails leaves the file as it was", async (t) => {
  const { file, open } = sqliteBench(t);
  await (await open()).close();
  const db = connectSqlite(file);
  const bad = { ...NEXT, sql: `${NEXT.sql}; CREATE TABLE hp_meta (a)` };
  assert.throws(() => migrateFile(db, born, [...FILE_MIGRATIONS, bad]));
  assert.equal(pragma(db, "PRAGMA user_version"), FILE_LAYOUT);
  assert.doesNotThrow(() => migrateFile(db, born, [...FILE_MIGRATIONS, NEXT]));
  db.close();
});

test("a file whose oldest allowed reader is newer than this program is refused", async (t) => {
  const { file, open } = sqliteBench(t);
  await (await open()).close();
  newer(file, 99);
  await assert.rejects(open(), { code: "store_newer" });
});

test("a newer file that older readers may still use is used", async (t) => {
  const { file, open } = sqliteBench(t);
  await (await open()).close();
  newer(file, FILE_LAYOUT);
  assert.equal(await count(await open(), "one"), 1);
});

test("a program that has the file open stops writing when a newer one has taken it over", async (t) => {
  const { file, open } = sqliteBench(t);
  const store = await open();
  await count(store, "one");
  newer(file, 99);
  await assert.rejects(count(store, "one"), { code: "store_newer" });
  await assert.rejects(count(store, "one"), { code: "store_newer" });
});

test("two programs that create the store at once make one", async (t) => {
  const { open } = sqliteBench(t);
  const stores = await Promise.all([open(), open(), open()]);
  assert.equal(new Set(stores.map(({ incarnation }) => incarnation)).size, 1);
});

function newer(file: string, oldestReader: number): void {
  const db = new DatabaseSync(file);
  db.exec(`BEGIN IMMEDIATE; PRAGMA user_version = ${FILE_LAYOUT + 98};
    UPDATE hp_meta SET value = ${oldestReader} WHERE key = 'oldest_reader';
    UPDATE hp_meta SET value = value + 1 WHERE key = 'layout'; COMMIT`);
  assert.equal(
    oldestReader > FILE_LAYOUT,
    throws(() => refuseNewerFile(db)),
  );
  db.close();
}

function throws(attempt: () => void): boolean {
  try {
    attempt();
    return false;
  } catch {
    return true;
  }
}
