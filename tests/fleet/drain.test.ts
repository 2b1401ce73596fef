/** A worker that is told to stop while a tool does not come to an end: it goes when its time is over, and says what it left. */
import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { admin } from "../../src/admin.ts";
import { temporaryFolder } from "../fixtures/folder.ts";
import { until } from "../fixtures/until.ts";

const CLI = join(import.meta.dirname, "../../bin/holdpoint.mjs");

/** Its tool keeps the process busy, as an open connection would. */
const HANGS = `
export default (hp) => {
  const hang = hp.gate({ name: "hang", policy: "approve", run: () => new Promise(() => setInterval(() => {}, 1000)) });
  hp.workflow("hangs", (ctx) => ctx.call(hang, {}));
};
`;

function saidBy(child: ChildProcess): () => string {
  let text = "";
  for (const stream of [child.stdout, child.stderr])
    stream?.on("data", (chunk: Buffer) => {
      text += chunk.toString();
    });
  return () => text;
}

test("a worker whose tool hangs ends when its time to drain is over, and the effect is in doubt", {
  timeout: 60_000,
}, async (t) => {
  const folder = temporaryFolder(t);
  const hp = folder.open({ agent: "looker" });
  const { id } = await hp.workflows.start("hangs", {});
  const definitions = join(folder.path, "..", "hangs.mjs");
  writeFileSync(definitions, HANGS);
  const line = ["worker", "--data", folder.path, "--definitions", definitions, "--drain-seconds", "1"];
  const env = { ...process.env, HOLDPOINT_KEY_FILE: folder.keyFile };
  const child = spawn(process.execPath, [CLI, ...line], { env, stdio: "pipe" });
  t.after(() => child.kill("SIGKILL"));
  const said = saidBy(child);
  await until(
    async () => (await admin(hp).nodes.list()).items.find(({ effects }) => effects === 1),
    `the effect: ${said()}`,
  );
  const ended = once(child, "exit");
  child.kill("SIGTERM");
  assert.deepEqual(await ended, [0, null], said());
  const [left] = (await admin(hp).nodes.list()).items.filter(({ kind }) => kind === "worker");
  assert.partialDeepStrictEqual(left, { status: "lapsed", workflows: 1, effects: 1 });
  await hp.recover();
  const [doubt] = (await hp.actions.list({ phase: "in_doubt" })).items;
  assert.equal(doubt?.["tool"], "hang");
  assert.equal((await hp.workflows.get(id)).status, "executing");
});
