/** A server that finds out only when it listens that it cannot go on: nothing of it is left. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { tenantStream } from "../../src/kernel/stream.ts";
import { HOME_TENANT } from "../../src/people/tenants/stream.ts";
import { serverBench } from "../fixtures/server.ts";
import { annotate, openNewer } from "../upgrades/newer-program.ts";

/** One that nobody listens on at the moment. */
async function freePort(): Promise<number> {
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const address = probe.address();
  probe.close();
  await once(probe, "close");
  return typeof address === "object" && address !== null ? address.port : assert.fail("no port");
}

test("a server that fails after it has begun to listen does not listen any more", {
  timeout: 60_000,
}, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "holdpoint-late-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const newer = await openNewer({ folder: join(folder, "data") });
  // The home tenant is left alone at first, and opened only after the others.
  await annotate(newer, tenantStream(HOME_TENANT));
  await newer.close();
  const port = await freePort();
  let tries = 0;
  const define = async () => {
    tries++;
    await assert.doesNotReject(fetch(`http://127.0.0.1:${port}/api/health`), "it listens already");
    throw new Error("no such file");
  };
  await assert.rejects(serverBench(t, { folder, define, port }), /no such file/);
  assert.equal(tries, 1);
  await assert.rejects(fetch(`http://127.0.0.1:${port}/api/health`), TypeError);
});
