import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { serverBench } from "../fixtures/server.ts";

const ROOT = resolve(import.meta.dirname, "../..");
const DOOR = join(ROOT, "dist/client/client.js");

test("the built client works where there is nothing of Node and no package: calls, events, waits and problems", async (t) => {
  assert.ok(existsSync(DOOR), "npm test builds it");
  const { url } = await serverBench(t);
  const flags = ["--experimental-vm-modules", "--disable-warning=ExperimentalWarning"];
  const program = join(import.meta.dirname, "programs/page.mjs");
  const { stdout } = await promisify(execFile)(process.execPath, [...flags, program, DOOR, url]);
  assert.deepEqual(JSON.parse(stdout), {
    heard: ["budget/b1", "budget/b2", "budget/b3"],
    data: { seen: true },
    refused: "unknown_id",
    node: [],
  });
});
