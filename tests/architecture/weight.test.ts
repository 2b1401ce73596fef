import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

/** May only go down. */
const MOST_MODULES = 166;

const PROGRAM = `
  import { registerHooks } from "node:module";
  const urls = [];
  registerHooks({ load: (url, context, next) => { urls.push(url); return next(url, context); } });
  await import(process.argv[1]);
  console.log(JSON.stringify(urls.filter((url) => !url.startsWith("node:"))));
`;

const root = fileURLToPath(new URL("../../", import.meta.url));
const printed = execFileSync(
  process.execPath,
  ["--input-type=module", "-e", PROGRAM, new URL("../../src/index.ts", import.meta.url).href],
  { cwd: root, encoding: "utf8" },
);
const urls = JSON.parse(printed) as readonly string[];

test('import "holdpoint" loads what a gate needs', () => {
  assert.ok(urls.length <= MOST_MODULES, `${urls.length} modules, and ${MOST_MODULES} is the limit`);
});

test('import "holdpoint" loads no package, no command line and no policy language', () => {
  const heavy =
    /\/node_modules\/|\/src\/(?:cli|api\/(?!idempotency\/)|supervise|policy\/(?:expression|backtest))\//;
  assert.deepEqual(
    urls.filter((url) => heavy.test(url)),
    [],
  );
});
