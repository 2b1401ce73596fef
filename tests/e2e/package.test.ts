import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { killHard, linesOf, makePlace, type Place, ROOT, run, startUntil } from "./program.ts";

type Packed = readonly [{ readonly filename: string; readonly files: readonly { readonly path: string }[] }];

function npm(place: Place, cwd: string, ...args: readonly string[]): string {
  const env = Object.fromEntries(
    Object.entries(place.env).filter(
      ([name]) => !/^npm_(?!config_(registry|cache|cafile|userconfig)$)/i.test(name),
    ),
  );
  const done = spawnSync("npm", [...args], { cwd, env, encoding: "utf8", timeout: 180_000 });
  assert.equal(done.status, 0, `npm ${args.join(" ")}: ${done.stderr}`);
  return done.stdout;
}

function installInto(place: Place): { readonly project: string; readonly files: readonly string[] } {
  const [packed] = JSON.parse(
    npm(place, ROOT, "pack", "--json", "--pack-destination", place.folder),
  ) as Packed;
  const project = join(place.folder, "project");
  mkdirSync(project);
  writeFileSync(
    join(project, "package.json"),
    JSON.stringify({ name: "project", private: true, type: "module" }),
  );
  npm(
    place,
    project,
    "install",
    "--no-audit",
    "--no-fund",
    "--prefer-offline",
    join(place.folder, packed.filename),
  );
  return { project, files: packed.files.map(({ path }) => path) };
}

test("the published package runs hello world from an empty folder, and needs no build and no install script", async () => {
  const place = makePlace();
  try {
    const { project, files } = installInto(place);
    assert.ok(
      files.includes("dist/index.js") &&
        files.includes("dist/index.d.ts") &&
        files.includes("verifier/verify.mjs"),
    );
    assert.deepEqual(
      files.filter((path) => /^(src|tests|toolchain|scripts)\/|\.test\./.test(path)),
      [],
    );
    const installed = JSON.parse(
      readFileSync(join(project, "node_modules/holdpoint/package.json"), "utf8"),
    ) as {
      scripts?: Record<string, string>;
      dependencies: Record<string, string>;
    };
    for (const script of ["preinstall", "install", "postinstall"])
      assert.equal(installed.scripts?.[script], undefined);
    assert.deepEqual(Object.keys(installed.dependencies), ["zod"]);

    copyFileSync(join(ROOT, "examples/hello.ts"), join(project, "hello.ts"));
    const home = { ...place, folder: project };
    const { child, match } = await startUntil(home, join(project, "hello.ts"), /approve (apr_[0-9A-Z]{26})/);
    await killHard(child);
    const bin = join(project, "node_modules/holdpoint/bin/holdpoint.mjs");
    const approved = run(home, bin, "approve", match[1] ?? "");
    assert.equal(approved.code, 0, approved.err);
    assert.match(run(home, join(project, "hello.ts")).out, /executed: true/);
    assert.deepEqual(linesOf(home, "deleted.log"), ["record 42 deleted"]);
  } finally {
    place.remove();
  }
});
