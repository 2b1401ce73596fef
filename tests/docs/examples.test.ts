import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, describe, test } from "node:test";
import { promisify } from "node:util";
import { ROOT } from "./markdown.ts";

const run = promisify(execFile);
const folder = mkdtempSync(path.join(tmpdir(), "holdpoint-examples-"));
after(() => rmSync(folder, { recursive: true, force: true }));

/** Runs an example in a folder where nothing is, and answers what it printed. */
async function example(name: string): Promise<string> {
  const env = { ...process.env, HOLDPOINT_DATA: path.join(folder, name) };
  const options = { cwd: folder, env: { ...env, HOLDPOINT_KEY_FILE: path.join(folder, `${name}.key`) } };
  const { stdout } = await run(process.execPath, [path.join(ROOT, "examples", `${name}.ts`)], options);
  return stdout;
}

describe("the examples", { concurrency: 2 }, () => {
  test("execute.ts, run twice, does it once and answers the same", async () => {
    const first = await example("execute");
    assert.match(first, /^\{ sent: true \} eff_/);
    assert.equal(await example("execute"), first);
    assert.equal(readFileSync(path.join(folder, "invoices.log"), "utf8"), "c-17 250\n");
  });

  test("refund.ts lets a small refund through and lets a person lower a large one", async () => {
    const [small, large] = (await example("refund")).split("\n");
    assert.equal(small, "done refunded 40 for A1");
    assert.equal(large, "refunded 300 for B2 human_revised [ 'person:ann' ]");
  });

  test("budget.ts lets three of ten through", async () => {
    const lines = (await example("budget")).trimEnd().split("\n");
    assert.equal(lines.filter((line) => line === "published").length, 3);
    assert.equal(lines.at(-1), "spent 84 USD, reserved 0 USD");
  });

  test("in-doubt.ts sends once, stays in doubt, and is resolved by a person", async () => {
    const lines = (await example("in-doubt")).trimEnd().split("\n");
    assert.equal(lines[0], "in_doubt in_doubt 1 call");
    assert.equal(lines.at(-1), "applied person:ann 1 call");
  });
});
