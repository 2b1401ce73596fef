// docs/guide/monitor.md and the code say the same of a monitor's file.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { WRITTEN_FIELDS } from "../../src/alerts/rules/check-rules.ts";
import { readMonitor } from "../../src/cli/load-monitor.ts";

const page = readFileSync(join(import.meta.dirname, "../../docs/guide/monitor.md"), "utf8");

test("every file of a monitor in the guide can be used", () => {
  const blocks = [...page.matchAll(/^```yaml\n([\s\S]*?)^```$/gm)].map(([, text = ""]) => text);
  assert.ok(blocks.length > 0);
  for (const text of blocks) {
    const read = readMonitor(text);
    assert.deepEqual(read.ok ? [] : read.findings, []);
  }
});

test("the guide lists every field that has another name in a file, and no other", () => {
  const [, table = ""] = /\| in code \| in a file \|\n\|---\|---\|\n([\s\S]*?)\n\n/.exec(page) ?? [];
  const rows = [...table.matchAll(/^\| `(\w+)` \| `(\w+)` \|$/gm)].map(([, code = "", file = ""]) => [
    code,
    file,
  ]);
  assert.deepEqual(Object.fromEntries(rows), WRITTEN_FIELDS);
});
