/** Most tests have the command line run in processes that they share: it has to be what a process of its own would be. */
import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { admin } from "../../src/admin.ts";
import { temporaryFolder } from "../fixtures/folder.ts";
import { runAlone, runCli } from "./bench.ts";

const LINES: readonly (readonly string[])[] = [
  ["approvals", "--json"],
  ["approvals", "--limit", "none"],
  ["show", "note-1"],
  ["show", "nothing"],
  ["export"],
  ["verify", "--json"],
  ["welcome"],
  ["nonsense"],
];

test("a line says and answers the same in a shared process as in its own", async (t) => {
  const folder = temporaryFolder(t);
  const hp = folder.open();
  await hp.gate({ name: "note", policy: "approve", run: () => "kept" })({ n: 1 }, { requestId: "note-1" });
  await hp.gate({ name: "ask", run: () => 1 })({ text: "é\u202e" }, { requestId: "ask-1", waitMs: 0 });
  await admin(hp).seals.create();
  await hp.close();
  for (const line of LINES) {
    const shared = await runCli(folder, line);
    assert.deepEqual(still(shared), still(await runAlone(folder, line)), line.join(" "));
  }
});

/** Ages differ by the second in which one looks. */
const still = ({ code, out, err }: Awaited<ReturnType<typeof runCli>>) => ({
  code,
  out: out.replaceAll(/\b\d+ ?(?:ms|s|min)\b|\bnow\b|"took_ms":\d+/g, "…"),
  err,
});

test("of one line nothing is left for the next: neither its environment, nor its folder, nor what it said", async (t) => {
  const [one, other] = [temporaryFolder(t), temporaryFolder(t)];
  const below = join(dirname(other.path), "below");
  mkdirSync(below);
  const loud = await runCli(one, ["show", "x"], { env: { DEBUG: "1" } });
  assert.match(loud.err, /\n\s+at /);
  const [plain, there] = await Promise.all([
    runCli(one, ["show", "x"]),
    runCli({ ...other, path: "" }, ["show", "x", "--json"], { cwd: below }),
  ]);
  assert.doesNotMatch(plain.err, /\n\s+at /);
  assert.deepEqual([plain.code, plain.out, there.code, there.out], [3, "", 3, ""]);
  assert.ok(there.err.includes(JSON.stringify(join(below, ".holdpoint")).slice(1, -1)), there.err);
});
