import assert from "node:assert/strict";
import { test } from "node:test";
import { USUAL_CALLS, USUAL_REPEATS, USUAL_REPEATS_OF_A_READ } from "../../src/policy/rules/limits.ts";
import { DEFAULT_RUN_LIMITS } from "../../src/supervise/rules/limits.ts";
import { STOP_REASONS } from "../../src/supervise/rules/stop-reason.ts";
import { codeCells, readRoot } from "./markdown.ts";

test("docs/reference/stop-reasons.md has every stop reason, and no other", () => {
  const written = codeCells(readRoot("docs/reference/stop-reasons.md"));
  assert.deepEqual(written.toSorted(), STOP_REASONS.toSorted());
});

test("docs/reference/settings.md has every option of a supervised run, and no other", () => {
  const source = readRoot("src/supervise/options.ts");
  const checks = /const CHECKS.*\[\] = \[([\s\S]*?)\n\];/.exec(source)?.[1] ?? "";
  const list = /const FIELDS = \[(.*)\];/.exec(source)?.[1] ?? "";
  const named = [...checks.matchAll(/^ {2}\[\s*"(\w+)"/gm), ...list.matchAll(/"(\w+)"/g)];
  const fields = named.map(([, field]) => field ?? "");
  const sections = readRoot("docs/reference/settings.md").split("\n## ");
  const section = sections.find((part) => part.startsWith("Options of `hp.supervise`")) ?? "";
  assert.ok(fields.length > 5);
  assert.deepEqual(codeCells(section).toSorted(), fields.toSorted());
});

test("docs/guide/supervise.md has every limit of a run with what it is unless set", () => {
  const guide = readRoot("docs/guide/supervise.md");
  const written = [...guide.matchAll(/^\| `limits\.(\w+)` \| (\d+) \|/gm)];
  assert.deepEqual(Object.fromEntries(written.map(([, name, value]) => [name, Number(value)])), {
    ...DEFAULT_RUN_LIMITS,
  });
  const ofTools = [...guide.matchAll(/^\| `limits\.tools\.<name>\.(\w+)` \| ([^|]+) \|/gm)];
  assert.deepEqual(Object.fromEntries(ofTools.map(([, name, value]) => [name, value])), {
    calls: `${USUAL_CALLS}`,
    repeats: `${USUAL_REPEATS}; ${USUAL_REPEATS_OF_A_READ} for class \`read\``,
  });
});
