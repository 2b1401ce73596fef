/** A node that was given another signing key than the rest of its fleet. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { temporaryFolder } from "../fixtures/folder.ts";
import { serverBench } from "../fixtures/server.ts";

test("a server with another key than the store's does not start, and says why", {
  timeout: 60_000,
}, async (t) => {
  const { path } = temporaryFolder(t);
  const first = await serverBench(t, { folder: path });
  const { runtime } = await first.server.office();
  await runtime.epoch();
  await first.server.close();
  await assert.rejects(serverBench(t, { folder: path, options: { keyFile: join(path, "another.json") } }), {
    code: "key_mismatch",
  });
  const again = await serverBench(t, { folder: path });
  assert.equal((await again.ask("/api/ready")).status, 200);
});
