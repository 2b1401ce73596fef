import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

test("what is generated from contracts and streams is up to date", () => {
  const cwd = fileURLToPath(new URL("../../", import.meta.url));
  const ran = spawnSync(process.execPath, ["scripts/generate.ts", "--check"], { cwd, encoding: "utf8" });
  assert.equal(ran.status, 0, ran.stdout + ran.stderr);
});
