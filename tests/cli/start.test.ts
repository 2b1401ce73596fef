// What the command line loads before it knows what is wanted: its own words, and nothing that a store or a server needs.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { resolve } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";

const MAIN = pathToFileURL(resolve(import.meta.dirname, "../../src/cli/main.ts")).href;

function loadedBy(...argv: readonly string[]): readonly string[] {
  const code = `
    import { registerHooks } from "node:module";
    const loaded = [];
    registerHooks({ load(url, context, next) { loaded.push(url); return next(url, context); } });
    const { main } = await import(${JSON.stringify(MAIN)});
    process.exitCode = await main(${JSON.stringify(argv)});
    process.stderr.write(JSON.stringify(loaded));
  `;
  const ran = spawnSync(process.execPath, ["--no-warnings", "--input-type=module", "--eval", code], {
    encoding: "utf8",
  });
  assert.equal(ran.status, 0, ran.stderr);
  assert.ok(ran.stdout.length > 0);
  return JSON.parse(ran.stderr) as readonly string[];
}

test("help and version load no store, no engine, no server and no package", () => {
  for (const argv of [["--help"], ["--version"], ["keys", "--help"]]) {
    const loaded = loadedBy(...argv);
    const heavy = loaded.filter((url) =>
      /\/node_modules\/|\/src\/(stores|supervise|client)\/|\/src\/\w+\.ts$/.test(url),
    );
    assert.deepEqual(heavy, [], argv.join(" "));
    const engine = loaded.filter((url) => url.includes("/src/runtime/"));
    assert.ok(engine.length <= 3, engine.join("\n"));
  }
});
