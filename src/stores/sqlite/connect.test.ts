import assert from "node:assert/strict";
import fs from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import { sqliteBench } from "../../../tests/fixtures/sqlite-bench.ts";
import { count } from "../../testing/store-contract/fixture.ts";
import { connectSqlite, mountType, networkName, pragma, refuseOldLibrary } from "./connect.ts";

test("every connection has the settings that durability rests on", async (t) => {
  const { open, file } = sqliteBench(t);
  const seen: Record<string, unknown> = {};
  const names = ["journal_mode", "synchronous", "fullfsync", "trusted_schema", "mmap_size", "busy_timeout"];
  await open({
    hooks: {
      connected: (db) => names.map((name) => Object.assign(seen, { [name]: pragma(db, `PRAGMA ${name}`) })),
    },
  });
  const expected = {
    journal_mode: "wal",
    synchronous: 2,
    fullfsync: 1,
    trusted_schema: 0,
    mmap_size: 0,
    busy_timeout: 0,
  };
  assert.deepEqual(seen, expected);
  const fresh = connectSqlite(file);
  for (const [name, value] of Object.entries(expected))
    assert.equal(pragma(fresh, `PRAGMA ${name}`), value, name);
  fresh.close();
});

test("a SQLite with the log-reset bug is refused", () => {
  for (const version of ["3.51.2", "3.50.9", "3.7.17", "2.99.99"]) {
    assert.throws(() => refuseOldLibrary(version), { code: "store_unsuitable" }, version);
  }
  for (const version of ["3.51.3", "3.53.0", "4.0.0"]) refuseOldLibrary(version);
});

test("network file systems are refused, local ones are not", () => {
  const mounted = (type: string) => () => type;
  assert.equal(networkName(0x6969, mounted("")), "NFS");
  assert.equal(networkName(0xff534d42 | 0, mounted("")), "CIFS");
  assert.equal(networkName(0x01021997, mounted("")), "9P");
  assert.equal(networkName(0x65735546, mounted("fuse.sshfs")), "fuse.sshfs");
  assert.equal(networkName(0x65735546, mounted("fuse.ntfs-3g")), undefined);
  assert.equal(networkName(0xef53, mounted("ext4")), undefined);
});

test("the mount that holds a folder is the deepest one above it", () => {
  const line = (point: string, type: string) =>
    `36 35 98:0 / ${point} rw,noatime master:1 - ${type} /dev/root rw`;
  const info = [line("/", "ext4"), line("/mnt", "xfs"), line("/mnt/me/far", "fuse.sshfs"), ""].join("\n");
  assert.equal(mountType("/mnt/me/far/store", info), "fuse.sshfs");
  assert.equal(mountType("/mnt/me/farther", info), "xfs");
  assert.equal(mountType("/srv", info), "ext4");
});

test("folder and files that the store creates are private to their owner", async (t) => {
  const { folder, open } = sqliteBench(t);
  const store = await open({ folder: `${folder}/deep/store` });
  await count(store, "one");
  await store.holdEpoch("epo_1");
  assert.equal(fs.statSync(`${folder}/deep/store`).mode & 0o777, 0o700);
  for (const name of ["journal.db", "journal.db-wal", "journal.db-shm", "epochs/epo_1.lock"]) {
    assert.equal(fs.statSync(`${folder}/deep/store/${name}`).mode & 0o777, 0o600, name);
  }
});

test("a database of another program is refused and left as it is", async (t) => {
  const { file, open } = sqliteBench(t);
  const other = new DatabaseSync(file);
  other.exec("CREATE TABLE notes (text)");
  other.close();
  const before = fs.readFileSync(file);
  await assert.rejects(open(), { code: "store_foreign" });
  assert.deepEqual(fs.readFileSync(file), before);
});

test("a file that is no database is refused and left as it is", async (t) => {
  const { file, open } = sqliteBench(t);
  fs.writeFileSync(file, "a diary, not a database. ".repeat(400));
  await assert.rejects(open(), { code: "store_foreign" });
  assert.equal(fs.readFileSync(file, "utf8").slice(0, 7), "a diary");
});

test("opening an existing store creates none", async (t) => {
  const { folder, open } = sqliteBench(t);
  await assert.rejects(open({ mode: "existing", folder: `${folder}/none` }), { code: "store_unavailable" });
  assert.equal(fs.existsSync(`${folder}/none`), false);
  await (await open()).close();
  const store = await open({ mode: "existing" });
  assert.equal(await count(store, "one"), 1);
});

test("a folder that is a file is refused", async (t) => {
  const { folder, open } = sqliteBench(t);
  fs.writeFileSync(`${folder}/file`, "");
  await assert.rejects(open({ folder: `${folder}/file` }), { code: "store_unavailable" });
});
