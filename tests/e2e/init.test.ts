import assert from "node:assert/strict";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { install, npm, pack } from "./npm.ts";
import { cli, makePlace, ROOT, run, startUntil } from "./program.ts";

test("init makes a project that installs, whose test passes, and that runs until a person has decided", async () => {
  const place = makePlace();
  try {
    const made = cli(place, "init", "shop");
    assert.equal(made.code, 0, made.err);
    const project = join(place.folder, "shop");
    const manifest = JSON.parse(readFileSync(join(project, "package.json"), "utf8")) as {
      name: string;
      dependencies: { holdpoint: string };
    };
    const own = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as { version: string };
    assert.equal(manifest.name, "shop");
    assert.equal(manifest.dependencies.holdpoint, `^${own.version}`);
    assert.match(readFileSync(join(project, "README.md"), "utf8"), /^# shop$/m);

    install(place, project, pack(place));
    const tested = npm(place, project, "test");
    assert.match(tested, /pass 2/);
    assert.match(tested, /fail 0/);

    const home = { ...place, folder: project };
    const bin = join(project, "node_modules/holdpoint/bin/holdpoint.mjs");
    const { child, match } = await startUntil(home, bin, /approve (apr_[0-9A-Z]{26})/, "run");
    const ended = new Promise((done) => child.once("exit", done));
    const approved = run(home, bin, "approve", match[1] ?? "", "--edit", '{"count": 5}');
    assert.equal(approved.code, 0, approved.err);
    assert.equal(await ended, 0);
    assert.match(run(home, bin, "workflows").out, /completed/i);
    assert.equal(run(home, bin, "verify").code, 0);
  } finally {
    place.remove();
  }
});

test("init overwrites nothing, and makes nothing outside of the folder it is in", () => {
  const place = makePlace();
  try {
    mkdirSync(join(place.folder, "mine"));
    writeFileSync(join(place.folder, "mine/workflow.ts"), "mine");
    writeFileSync(join(place.folder, "file"), "mine");
    for (const name of ["mine", "file", "../out", "a/b", ".", "..", "Big", "node_modules", "-x"]) {
      const refused = cli(place, "init", "--", name);
      assert.equal(refused.code, 2, `${name}: ${refused.out}`);
    }
    assert.deepEqual(readdirSync(join(place.folder, "mine")), ["workflow.ts"]);
    assert.equal(readFileSync(join(place.folder, "mine/workflow.ts"), "utf8"), "mine");
    mkdirSync(join(place.folder, "empty"));
    assert.equal(cli(place, "init", "empty", "--json").code, 0);
  } finally {
    place.remove();
  }
});
