import assert from "node:assert/strict";
import { once } from "node:events";
import net from "node:net";
import { describe, test } from "node:test";
import { postgresBench } from "../../../tests/fixtures/postgres-bench.ts";
import { HoldpointError } from "../../kernel/errors.ts";

const bench = postgresBench();

/** Of an error that must not show the password. */
async function refusalOf(opening: Promise<unknown>): Promise<HoldpointError> {
  const error = await opening.then(
    () => assert.fail("it was opened"),
    (thrown: unknown) => thrown,
  );
  assert.ok(error instanceof HoldpointError, String(error));
  assert.doesNotMatch(JSON.stringify(error) + error.message + error.stack, /hush/);
  return error;
}

async function freePort(): Promise<number> {
  const probe = net.createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const { port } = probe.address() as net.AddressInfo;
  probe.close();
  return port;
}

describe("a PostgreSQL database that cannot be opened", { concurrency: false }, () => {
  test("a port where nobody listens is named, with what the system said", async (t) => {
    const { open } = bench(t);
    const port = await freePort();
    const database = `postgres://me:hush@127.0.0.1:${port}/x`;
    const error = await refusalOf(open({ database, busyMs: 50 }));
    assert.equal(error.code, "store_unavailable");
    assert.equal(error.what, `The database at 127.0.0.1:${port} cannot be reached: ECONNREFUSED.`);
  });

  test("a host that does not exist is not waited for", async (t) => {
    const { open } = bench(t);
    const database = "postgres://me:hush@nowhere.invalid/x";
    const error = await refusalOf(open({ database, busyMs: 3_600_000 }));
    assert.equal(error.code, "store_unavailable");
    assert.match(error.what, /^The database at nowhere\.invalid:5432 cannot be reached: E/);
  });

  test("a certificate that is not there, or a broken sign in the address, is a wrong address", async (t) => {
    const { open, server } = bench(t);
    const missing = await refusalOf(open({ database: `${server.url}?sslrootcert=/no/such/file.pem` }));
    assert.equal(missing.code, "invalid_input");
    assert.match(missing.what, /ENOENT.*file\.pem/);
    const broken = await refusalOf(open({ database: "postgres://me:hush%E0%A4@127.0.0.1/x" }));
    assert.equal(broken.code, "invalid_input");
  });

  test("TLS asked of a server without it is a refusal, and the process ends", async (t) => {
    const { open, server, spawn } = bench(t);
    const error = await refusalOf(open({ database: `${server.url}?sslmode=require` }));
    assert.equal(error.code, "store_unavailable");
    assert.match(error.what, /^The database refused the connection: .*SSL/);
    const child = spawn(
      `await open({ database: database + "?sslmode=require" }).catch(({ code }) => say(code));`,
    );
    const [line, ended] = await Promise.all([child.heard(), once(child.process, "exit")]);
    assert.deepEqual([line, ended], ["store_unavailable", [0, null]]);
  });

  test("a server that wants a password and gets none is a refusal, and the process ends", async (t) => {
    const { open, sql, server, spawn } = bench(t);
    const client = await sql();
    await client.query("CREATE ROLE guarded LOGIN PASSWORD 'open sesame'");
    await server.authenticate("host all guarded 127.0.0.1/32 scram-sha-256");
    const database = server.url.replace("postgres@", "guarded@");
    const error = await refusalOf(open({ database }));
    assert.equal(error.code, "store_unavailable");
    assert.match(error.what, /^The database refused the connection: .*password/);
    const wrong = await refusalOf(open({ database: database.replace("guarded@", "guarded:hush@") }));
    assert.equal(wrong.code, "store_unavailable");
    const child = spawn(
      `await open({ database: ${JSON.stringify(database)} }).catch(({ code }) => say(code));`,
    );
    const [line, ended] = await Promise.all([child.heard(), once(child.process, "exit")]);
    assert.deepEqual([line, ended], ["store_unavailable", [0, null]]);
  });
});
