// What docs/guide/outside-agents.md says about curl is what it says: its scripts are run against a server.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { HAS_CURL, serving } from "./serving.ts";

const PAGE = join(import.meta.dirname, "../../docs/guide/outside-agents.md");
const run = promisify(execFile);

const scripts = [...readFileSync(PAGE, "utf8").matchAll(/```sh\n([^`]*)```/g)]
  .map(([, text = ""]) => text)
  .filter((text) => text.includes("curl"));

test("the scripts of the guide run as they stand, and do what they say", {
  skip: HAS_CURL ? false : "there is no curl here",
  timeout: 120_000,
}, async (t) => {
  assert.equal(scripts.length, 2);
  const { url } = await serving(t, "--no-auth");
  const cwd = mkdtempSync(join(tmpdir(), "holdpoint-guide-"));
  t.after(() => rmSync(cwd, { recursive: true, force: true }));
  const bash = (text: string) => run("bash", ["-euo", "pipefail", "-c", text], { cwd });
  const [workflow = "", action = ""] = scripts.map((text) => text.replaceAll("http://127.0.0.1:8000", url));
  const first = (await bash(workflow)).stdout;
  assert.match(first, /"modifications":\{"threshold":150\}/);
  assert.match(first, /"message":"Approval MODIFIED - workflow now executing"/);
  assert.match(first, /"status":"completed"/);
  assert.match(first, /"total_workflows":1/);
  const second = (await bash(action)).stdout;
  assert.match(second, /"comments":\[\{"by":"person:ann","text":"Which flat is it\?"[^[]*"by":"agent:rent"/);
  assert.match(second, /"kind":"reported"/);
  assert.match(second, /"status":"applied"/);
  assert.match(second, /"approved_by":\["person:ann"\]/);
  assert.ok(existsSync(join(cwd, "rent-may.holder")), "the script keeps its holder where it runs");
});
