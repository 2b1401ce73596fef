// The whole on PostgreSQL: programs, other programs, and the command line, on one database.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { HoldpointError, holdpoint } from "holdpoint";
import { openPostgres } from "holdpoint/postgres";
import { finished, linesOf, runCli } from "../cli/bench.ts";
import { type PostgresServer, startPostgres } from "../fixtures/postgres-server.ts";

let server: PostgresServer;
const home = mkdtempSync(join(tmpdir(), "holdpoint-pg-e2e-"));
const place = { path: join(home, "nothing-here"), keyFile: join(home, "key.json") };
before(async () => {
  server = await startPostgres();
});
after(async () => {
  await server.stop();
  rmSync(home, { recursive: true, force: true });
});

/** Module code in a process of its own; `holdpoint`, `database` and `keyFile` are at hand. */
function runProgram(code: string) {
  const prelude = `import { holdpoint } from "holdpoint"; const [database, keyFile] = process.argv.slice(1);`;
  const flags = ["--no-warnings", "--input-type=module", "--eval", prelude + code, server.url, place.keyFile];
  return finished(spawn(process.execPath, flags, { cwd: import.meta.dirname }));
}

const options = () => ({ database: server.url, keyFile: place.keyFile, notify: () => {}, agent: "mailer" });

describe("Holdpoint on PostgreSQL", { concurrency: false }, () => {
  test("a command finds no store before a program has made one", async () => {
    const ran = await runCli(place, ["approvals", "--database", server.url]);
    assert.equal(ran.code, 3);
    assert.match(ran.err, /There is no store at .*no_store/s);
    const welcomed = await runCli(place, ["welcome", "--database", server.url]);
    assert.equal(welcomed.code, 0, welcomed.err);
  });

  test("what one program asks another decides, and it runs once", async () => {
    await using asking = holdpoint(options());
    await using deciding = holdpoint({ ...options(), agent: "desk" });
    let runs = 0;
    const send = asking.gate({ name: "send", run: (args: { to: string }) => `${args.to} ${++runs}` });
    const answer = send({ to: "ann" }, { requestId: "mail-1" });
    let pending = await deciding.approvals.list({ status: "pending" });
    while (pending.items.length === 0) pending = await deciding.approvals.list({ status: "pending" });
    await deciding.approvals.approve(pending.items[0]?.id ?? "", { by: "person:bo" });
    const executed = await answer;
    assert.equal(executed.status, "done");
    const again = await send({ to: "ann" }, { requestId: "mail-1" });
    assert.deepEqual([again.status, runs], ["done", 1]);
    const signed = await asking.receipts.sign("mail-1");
    assert.ok(signed !== undefined && "seal" in signed);
    const report = await deciding.journal.verify();
    assert.deepEqual(report.findings, []);
  });

  test("the command line works on the database, by flag and by environment, and shows no password", async () => {
    const secret = server.url.replace("postgres@", "postgres:hush@");
    const shown = await runCli(place, ["show", "mail-1", "--database", secret]);
    assert.equal(shown.code, 0, shown.err);
    const verified = await runCli(place, ["verify"], { env: { HOLDPOINT_DATABASE: secret } });
    assert.equal(verified.code, 0, verified.err);
    const listed = await runCli(place, ["approvals", "--all"], { env: { HOLDPOINT_DATABASE: secret } });
    assert.equal(linesOf(listed.out).length, 1);
    const both = await runCli(place, ["approvals", "--data", "x", "--database", secret]);
    assert.equal(both.code, 2);
    const wrong = await runCli(place, ["approvals", "--database", "postgres://me:hush@[x"]);
    for (const { out, err } of [shown, verified, listed, both, wrong]) assert.doesNotMatch(out + err, /hush/);
  });

  test("a program that asked, did not wait, and closes ends with 0 after close() has settled", async () => {
    const ran = await runProgram(`
      const hp = holdpoint({ database, keyFile, notify: () => {}, agent: "mailer" });
      const send = hp.gate({ name: "send", run: () => "sent" });
      const asked = await send({}, { requestId: "closing-1", waitMs: 0 });
      const waited = await send({}, { requestId: "closing-2", waitMs: 300 });
      await hp.close();
      console.log(asked.status, waited.status, "closed");`);
    assert.deepEqual(ran, { code: 0, out: "pending pending closed\n", err: "" });
  });

  test("a command whose database refuses it says why, and ends", async () => {
    const ran = await runCli(place, ["approvals", "--database", `${server.url}?sslmode=require`]);
    assert.equal(ran.code, 4, ran.err);
    assert.match(ran.err, /The database refused the connection: .*SSL/);
  });

  test("a transactional tool is told that this store cannot do it", async () => {
    await using hp = holdpoint(options());
    const move = hp.gate({
      name: "move",
      effect: "transactional",
      policy: "approve",
      runInTransaction: () => "moved",
    });
    await assert.rejects(move({}, { requestId: "move-1" }), { code: "store_unsuitable" });
  });

  test("options that exclude each other, or settings that do not exist, are refused", () => {
    const isRefused = (error: unknown) => error instanceof HoldpointError && error.code === "invalid_input";
    assert.throws(() => holdpoint({ database: server.url, folder: "x" }), isRefused);
    assert.throws(() => holdpoint({ database: "mysql://x" }), isRefused);
    for (const wrong of [
      {},
      { database: "x" },
      { database: server.url, pool: 3 },
      { database: server.url, connections: 1 },
    ])
      assert.throws(() => openPostgres(wrong as Parameters<typeof openPostgres>[0]), isRefused);
  });

  test("a store with settings of one's own lives in its own schema", async () => {
    const store = await openPostgres({
      database: server.url,
      schema: "Own Place",
      connections: 4,
      leaseMs: 5_000,
    });
    await using hp = holdpoint({ store, keyFile: place.keyFile, agent: "mailer", notify: () => {} });
    const send = hp.gate({ name: "send", policy: "approve", run: () => "sent" });
    assert.equal((await send({}, { requestId: "one" })).status, "done");
    assert.equal((await hp.actions.list({ phase: "applied" })).items.length, 1);
  });
});
