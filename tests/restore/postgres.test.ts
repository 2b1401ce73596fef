import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { chownSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, type TestContext, test } from "node:test";
import pg from "pg";
import { type Holdpoint, holdpoint } from "../../src/index.ts";
import { type PostgresServer, startPostgres } from "../fixtures/postgres-server.ts";

const SAID = { by: "person:ann", reason: "compared" };
let server: PostgresServer;
let root = "";
let databases = 0;

before(async () => {
  root = mkdtempSync(join(tmpdir(), "holdpoint-restore-"));
  // Read only where a recovery is asked for by its signal file.
  server = await startPostgres(["restore_command=false"]);
});
after(async () => {
  await server?.stop();
  rmSync(root, { recursive: true, force: true });
});

async function sql(text: string): Promise<void> {
  const client = new pg.Client(server.url);
  await client.connect();
  try {
    await client.query(text);
  } finally {
    await client.end();
  }
}

type Bench = {
  readonly name: string;
  readonly ran: string[];
  open(database?: string, user?: string): Holdpoint;
  send(hp: Holdpoint, id: string): Promise<unknown>;
};

async function bench(context: TestContext): Promise<Bench> {
  const name = `store_${++databases}`;
  await sql(`CREATE DATABASE ${name}`);
  const opened: Holdpoint[] = [];
  const ran: string[] = [];
  context.after(async () => {
    for (const hp of opened) await hp.close().catch(() => undefined);
  });
  return {
    name,
    ran,
    open(database = name, user = "postgres") {
      const url = server.url.replace(/postgres@/, `${user}@`).replace(/postgres$/, database);
      const hp = holdpoint({ database: url, keyFile: join(root, "key.json"), notify: () => {} });
      opened.push(hp);
      return hp;
    },
    async send(hp, id) {
      const answer = await hp.execute({
        requestId: id,
        action: "send",
        policy: "approve",
        payload: { id },
        run: async () => {
          ran.push(id);
        },
      });
      return answer.status;
    },
  };
}

async function offline(work: () => void): Promise<void> {
  await server.crash();
  work();
  await server.start();
}

const copyData = (from: string, to: string): void => {
  rmSync(to, { recursive: true, force: true });
  execFileSync("cp", ["-a", from, to]);
};

describe("a PostgreSQL store that was restored or copied", { concurrency: false }, () => {
  test("a data folder put back as it was is behind what this machine saw", async (t) => {
    const { open, send, ran } = await bench(t);
    const first = open();
    assert.equal(await send(first, "a"), "done");
    await first.close();
    const backup = join(root, "backup");
    await offline(() => copyData(server.dataFolder, backup));
    const later = open();
    assert.equal(await send(later, "later"), "done");
    await later.close();
    await offline(() => copyData(backup, server.dataFolder));

    const hp = open();
    await assert.rejects(send(hp, "later"), (error: Error & { code?: string }) => {
      assert.equal(error.code, "store_restored");
      assert.match(error.message, /ends with seal \d+, and this machine saw seal \d+/);
      return true;
    });
    assert.equal((await hp.journal.verify()).ok, true);
    await hp.acknowledgeRestore(SAID);
    assert.equal(await send(hp, "a"), "done");
    assert.equal(await send(hp, "b"), "done");
    assert.deepEqual(ran, ["a", "later", "b"]);
    assert.equal((await hp.journal.verify()).ok, true);
  });

  test("a database copied by CREATE DATABASE is another one; the original goes on", async (t) => {
    const { open, send, ran, name } = await bench(t);
    const first = open();
    assert.equal(await send(first, "a"), "done");
    await first.close();
    await sql(`CREATE DATABASE ${name}_copy TEMPLATE ${name}`);
    const copy = open(`${name}_copy`);
    await assert.rejects(send(copy, "b"), /its database is \d+ and was \d+/);
    const original = open();
    assert.equal(await send(original, "c"), "done");
    await copy.acknowledgeRestore(SAID);
    assert.equal(await send(copy, "b"), "done");
    assert.deepEqual(ran, ["a", "c", "b"]);
  });

  test("a server that went through a recovery of its own is on another timeline", async (t) => {
    const { open, send, ran } = await bench(t);
    const first = open();
    assert.equal(await send(first, "a"), "done");
    await first.close();
    await offline(() => {
      const signal = join(server.dataFolder, "recovery.signal");
      writeFileSync(signal, "");
      const { uid, gid } = statSync(server.dataFolder);
      chownSync(signal, uid, gid);
    });
    const hp = open();
    await assert.rejects(send(hp, "b"), /its timeline is 00000002 and was 00000001/);
    assert.deepEqual(ran, ["a"]);
  });

  test("a user without any special right is told the same", async (t) => {
    const { open, send, name } = await bench(t);
    // The role that works has to be there before it can be granted.
    const other = await bench(t);
    await other.open().restored();
    const user = `plain_${databases}`;
    await sql(`CREATE ROLE ${user} LOGIN`);
    await sql(`GRANT CREATE ON DATABASE ${name} TO ${user}; GRANT holdpoint_worker TO ${user} WITH SET TRUE`);
    const first = open(name, user);
    assert.equal(await send(first, "a"), "done");
    await first.close();
    await sql(`CREATE DATABASE ${name}_copy TEMPLATE ${name}`);
    const copy = open(`${name}_copy`, user);
    await assert.rejects(send(copy, "b"), { code: "store_restored" });
    await copy.acknowledgeRestore(SAID);
    assert.equal(await send(copy, "b"), "done");
  });

  test("processes that had it open before and after a restore was acknowledged still exclude each other", async (t) => {
    const { open, send, ran } = await bench(t);
    const before = open();
    assert.equal((await before.restored()).why, null);
    const person = open();
    assert.equal(await send(person, "a"), "done");
    await before.acknowledgeRestore({ ...SAID, anyway: true });
    await assert.rejects(send(person, "b"), { code: "epoch_ended" });
    const fresh = open();
    const both = await Promise.all([send(before, "c"), send(fresh, "c")]);
    assert.deepEqual(both, [true, true]);
    assert.deepEqual(ran, ["a", "c"]);
    assert.equal((await fresh.journal.verify()).ok, true);
  });
});
