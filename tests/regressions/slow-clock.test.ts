/** A node whose machine's clock is ten minutes behind the database's. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { holdpoint } from "../../src/index.ts";
import { startPostgres } from "../fixtures/postgres-server.ts";

const BEHIND_MS = 600_000;

test("a workflow that sleeps is woken by the database's time, on a node whose clock is ten minutes behind", {
  timeout: 40_000,
}, async (t) => {
  const server = await startPostgres();
  const folder = mkdtempSync(join(tmpdir(), "holdpoint-clock-"));
  const work = new AbortController();
  t.after(async () => {
    work.abort();
    await hp.close();
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  });
  const now = Date.now.bind(Date);
  t.mock.method(Date, "now", () => now() - BEHIND_MS);
  const keyFile = join(folder, "key.json");
  const hp = holdpoint({ database: server.url, keyFile, agent: "late", notify: () => undefined });
  const nap = hp.workflow("nap", async (ctx) => {
    await ctx.sleep(200);
    return "awake";
  });
  void hp.work(work.signal);
  assert.partialDeepStrictEqual(await nap.run(undefined as never), { status: "completed", result: "awake" });
});
