/** What stands beside the journal in its file: the application's own tables, and the names that lead to actions. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import { STORE_FINDING_KINDS } from "../../src/journal/verify-seals.ts";
import { type Folder, temporaryFolder } from "../fixtures/folder.ts";

function onFile<Answer>(folder: Folder, use: (db: DatabaseSync) => Answer): Answer {
  const db = new DatabaseSync(join(folder.path, "journal.db"));
  try {
    return use(db);
  } finally {
    db.close();
  }
}

test("a receipt says not_applied only when the rows of a transaction that its SQL ended are gone", async (t) => {
  const folder = temporaryFolder(t);
  const hp = folder.open();
  const run = hp.gate({
    name: "rows",
    effect: "transactional",
    policy: "approve",
    runInTransaction: ({ ids, thinksAgain }: { ids: readonly number[]; thinksAgain?: boolean }, sql) => {
      sql.run("CREATE TABLE IF NOT EXISTS kept (id INTEGER PRIMARY KEY ON CONFLICT ROLLBACK)");
      for (const id of ids) {
        try {
          sql.run("INSERT INTO kept VALUES (?)", id);
        } catch {}
      }
      if (thinksAgain) throw new Error("changed my mind");
      return sql.all("SELECT id FROM kept").length;
    },
  });
  assert.partialDeepStrictEqual(await run({ ids: [1] }, { requestId: "r1" }), { status: "done", result: 1 });
  const refused = { status: "failed", code: "not_applied" };
  const ended = await run({ ids: [2, 1, 3] }, { requestId: "r2" });
  assert.partialDeepStrictEqual(ended, refused);
  assert.match("code" in ended ? ended.reason : "", /ended the transaction/);
  const again = await run({ ids: [1, 4], thinksAgain: true }, { requestId: "r3" });
  assert.partialDeepStrictEqual(again, { ...refused, reason: "changed my mind" });
  assert.equal((await hp.receipts.get("r3"))?.status, "not_applied");
  assert.deepEqual(
    onFile(folder, (db) =>
      db
        .prepare("SELECT id FROM kept")
        .all()
        .map(({ id }) => id),
    ),
    [1],
  );
  assert.equal((await hp.journal.verify()).ok, true);
});

test("a request id whose name was deleted or leads elsewhere is found by verify", async (t) => {
  const folder = temporaryFolder(t);
  const hp = folder.open();
  const pay = hp.gate({ name: "pay", policy: "approve", run: () => "paid" });
  for (const requestId of ["r1", "r2", "r3"]) await pay({}, { requestId });
  await pay({}, {});
  assert.equal((await hp.journal.verify()).ok, true);
  const streams = onFile(folder, (db) => {
    const rows = db.prepare("SELECT name, stream FROM hp_names").all();
    db.exec(`DELETE FROM hp_names WHERE name = 'request:r1';
      UPDATE hp_names SET stream = (SELECT stream FROM hp_names WHERE name = 'request:r3') WHERE name = 'request:r2'`);
    return new Map(rows.map(({ name, stream }) => [name, stream]));
  });
  const { ok, findings, total } = await hp.journal.verify();
  assert.equal(ok, false);
  assert.equal(total, 2);
  assert.deepEqual(
    findings.map(({ kind, stream, seq }) => [kind, stream, seq]),
    ["request:r1", "request:r2"].map((name) => ["name_missing", streams.get(name), 1]),
  );
  await pay({}, { requestId: "r1" });
  assert.equal((await hp.journal.verify()).total, 2, "an action that ran again does not hide the first");
});

test("an entry that was damaged does not keep verify from its other findings", async (t) => {
  const folder = temporaryFolder(t);
  const hp = folder.open();
  const pay = hp.gate({ name: "pay", policy: "approve", run: () => "paid" });
  for (const requestId of ["r1", "r2", "r3"]) await pay({}, { requestId });
  onFile(folder, (db) => {
    // The line of the proposal is the first of its row.
    const damage = db.prepare(
      "UPDATE hp_entries SET body = ? || substr(body, instr(body, char(10))) WHERE body LIKE ?",
    );
    damage.run("{", '%"requestId":"r1"%');
    damage.run('{"requestId":"\\ud800"}', '%"requestId":"r2"%');
    damage.run("null", '%"requestId":"r3"%');
  });
  const { findings } = await hp.journal.verify();
  assert.deepEqual(
    findings.map(({ kind }) => kind),
    ["body_mismatch", "body_mismatch", "body_mismatch"],
  );
});

test("the reference explains what only the store can show", () => {
  const reference = readFileSync(new URL("../../docs/reference/journal.md", import.meta.url), "utf8");
  for (const kind of STORE_FINDING_KINDS) assert.match(reference, new RegExp(`\`${kind}\``));
});
