import assert from "node:assert/strict";
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { install, pack } from "./npm.ts";
import { killHard, linesOf, makePlace, type Place, ROOT, run, startUntil } from "./program.ts";

function installInto(place: Place): { readonly project: string; readonly files: readonly string[] } {
  const tarball = pack(place);
  const project = join(place.folder, "project");
  mkdirSync(project);
  writeFileSync(
    join(project, "package.json"),
    JSON.stringify({ name: "project", private: true, type: "module" }),
  );
  install(place, project, tarball);
  return { project, files: tarball.files };
}

/** Loads all that loads at its first use: the chunks of commands, and the method groups of an instance. */
const LOAD_ALL = `
  import fs from "node:fs";
  import path from "node:path";
  import { holdpoint } from "holdpoint";
  const dist = path.resolve("node_modules/holdpoint/dist");
  const programs = fs.readdirSync(dist, { recursive: true }).filter((file) => file.endsWith(".js"));
  for (const program of programs) await import(path.join(dist, program));
  const hp = holdpoint();
  const groups = Object.keys(hp).filter((name) => typeof hp[name] === "object");
  await hp.workflows.list();
  await hp.close();
  console.log(JSON.stringify({ programs: programs.length, groups }));
`;

test("the published package runs hello world from an empty folder, and needs no build and no install script", async () => {
  const place = makePlace();
  try {
    const { project, files } = installInto(place);
    assert.ok(
      files.includes("dist/index.js") &&
        files.includes("dist/index.d.ts") &&
        files.includes("verifier/verify.mjs"),
    );
    assert.ok(files.includes("dashboard/dist/index.html") && files.includes("examples/desk/policy.yaml"));
    assert.ok(files.some((path) => /^dashboard\/dist\/assets\/index-.*\.js\.br$/.test(path)));
    assert.deepEqual(
      files.filter((path) =>
        /^(src|tests|toolchain|scripts)\/|^dashboard\/(?!dist\/)|\.test\.ts$/.test(path),
      ),
      [],
    );
    const installed = JSON.parse(
      readFileSync(join(project, "node_modules/holdpoint/package.json"), "utf8"),
    ) as {
      scripts?: Record<string, string>;
      exports: Record<string, unknown>;
      dependencies: Record<string, string>;
    };
    for (const script of ["preinstall", "install", "postinstall"])
      assert.equal(installed.scripts?.[script], undefined);
    assert.deepEqual(Object.keys(installed.dependencies), [
      "@marcbachmann/cel-js",
      "fastify",
      "nodemailer",
      "prom-client",
      "re2js",
      "yaml",
      "zod",
    ]);

    const doors = Object.keys(installed.exports).map((door) => door.replace(/^\./, "holdpoint"));
    assert.deepEqual(
      doors.filter((door) => !door.endsWith(".json")),
      [
        ...["holdpoint", "holdpoint/admin", "holdpoint/client", "holdpoint/postgres", "holdpoint/testing"],
        "holdpoint/verify",
      ],
    );
    // `holdpoint/postgres` needs a package that users install themselves.
    const imports = doors
      .filter((door) => !/json$|postgres$/.test(door))
      .map((door) => `await import("${door}");`);
    writeFileSync(join(project, "doors.mjs"), [...imports, 'console.log("loaded");'].join("\n"));
    assert.match(run({ ...place, folder: project }, join(project, "doors.mjs")).out, /loaded/);

    const home = { ...place, folder: project };
    writeFileSync(join(project, "load-all.mjs"), LOAD_ALL);
    const loaded = run(home, join(project, "load-all.mjs"));
    assert.equal(loaded.code, 0, loaded.err);
    const { programs, groups } = JSON.parse(loaded.out) as { programs: number; groups: readonly string[] };
    assert.equal(programs, files.filter((path) => /^dist\/.*\.js$/.test(path)).length);
    assert.ok(groups.includes("approvals") && groups.includes("grants") && groups.includes("workflows"));

    copyFileSync(join(ROOT, "examples/hello.ts"), join(project, "hello.ts"));
    const { child, match } = await startUntil(home, join(project, "hello.ts"), /approve (apr_[0-9A-Z]{26})/);
    await killHard(child);
    const bin = join(project, "node_modules/holdpoint/bin/holdpoint.mjs");
    const approved = run(home, bin, "approve", match[1] ?? "");
    assert.equal(approved.code, 0, approved.err);
    assert.match(run(home, join(project, "hello.ts")).out, /status: 'done'/);
    assert.deepEqual(linesOf(home, "deleted.log"), ["record 42 deleted"]);
  } finally {
    place.remove();
  }
});
