/** What `npm test` prints at its end: the slowest files first, of a run with more files than it names. */
import assert from "node:assert/strict";
import { resolve } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";

type Event = { readonly type: "test:complete"; readonly data: object };
type Report = (events: Iterable<Event>) => AsyncIterable<string>;

const ROOT = resolve(import.meta.dirname, "../..");

/** A file with one test that passed, and its own time. */
function ranFile(name: string, duration: number): readonly Event[] {
  const file = resolve(name);
  const complete = (title: string, nesting: number, more: object): Event => ({
    type: "test:complete",
    data: { name: title, file, nesting, details: { duration_ms: duration, ...more } },
  });
  return [complete("it holds", 1, { type: "test" }), complete(name, 0, {})];
}

async function reported(files: number): Promise<readonly string[]> {
  delete process.env["HOLDPOINT_FAILED_CHECKS"];
  const path = pathToFileURL(resolve(ROOT, "scripts/test-reporter.mjs")).href;
  const { default: report } = (await import(path)) as { readonly default: Report };
  const events = Array.from({ length: files }, (_, at) => ranFile(`tests/${at}.test.ts`, at * 1_000)).flat();
  let text = "";
  for await (const part of report(events)) text += part;
  return text.split("\n");
}

test("a run names its 20 slowest files, the slowest first", async () => {
  const lines = await reported(23);
  const from = lines.indexOf("slowest 20 of 23 files");
  assert.notEqual(from, -1, lines.join("\n"));
  const listed = lines.slice(from + 1, lines.indexOf("", from));
  assert.equal(listed.length, 20);
  assert.deepEqual([listed[0], listed.at(-1)], ["   22.0 s  tests/22.test.ts", "    3.0 s  tests/3.test.ts"]);
});

test("a run of few files names none apart", async () => {
  const lines = await reported(20);
  assert.ok(!lines.some((line) => line.startsWith("slowest")));
  assert.equal(lines.at(-2), "20 passed, 0 failed");
});
