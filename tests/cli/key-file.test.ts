// A key that is made before anything runs, for all nodes to share; and an address that only a file holds.
import assert from "node:assert/strict";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { admin } from "../../src/admin.ts";
import { holdpoint } from "../../src/index.ts";
import { temporaryFolder } from "../fixtures/folder.ts";
import { errorOf, runCli } from "./bench.ts";

test("key-file makes a key that a program signs with, readable for its owner alone", async (t) => {
  const folder = temporaryFolder(t);
  const file = join(folder.path, "..", "made", "key.json");
  const made = await runCli(folder, ["key-file", file, "--json"]);
  assert.equal(made.code, 0, made.err);
  assert.equal(statSync(file).mode & 0o777, 0o600);
  const { publicKey } = JSON.parse(made.out) as { publicKey: { x: string } };
  const hp = holdpoint({ folder: folder.path, keyFile: file, notify: () => undefined });
  await hp.gate({ name: "mail", policy: "approve", run: () => "sent" })({});
  assert.equal((await admin(hp).seals.save())?.key.x, publicKey.x);
  await hp.close();
});

test("key-file leaves a file that is there as it is, whatever it holds", async (t) => {
  const folder = temporaryFolder(t);
  const file = join(folder.path, "..", "precious");
  writeFileSync(file, "mine");
  const refused = await runCli(folder, ["key-file", file, "--json"]);
  assert.deepEqual([refused.code, errorOf(refused)["code"]], [1, "file_error"]);
  assert.equal(readFileSync(file, "utf8"), "mine");
});

test("a database's address that a file should hold and does not is no reason to use a folder", async (t) => {
  const folder = temporaryFolder(t);
  const env = { HOLDPOINT_DATABASE_FILE: join(folder.path, "none") };
  const refused = await runCli(folder, ["approvals", "--json"], { env });
  assert.equal(refused.code, 2, refused.err);
  assert.match(
    errorOf(refused)["message"] ?? refused.err,
    /HOLDPOINT_DATABASE_FILE cannot be read \(ENOENT\)/,
  );
});
