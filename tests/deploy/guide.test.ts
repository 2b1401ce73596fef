// What the guide has people type and look at is there.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { COMMANDS } from "../../src/cli/commands.ts";
import { parseLine } from "../../src/cli/shell/parse.ts";
import { blocksOf, codeCells, ROOT, readRoot } from "../docs/markdown.ts";
import { serverBench } from "../fixtures/server.ts";
import { all, parseDockerfile } from "./dockerfile.ts";
import { documents, fields, variables } from "./files.ts";

const GUIDE = "docs/guide/deploy.md";
const guide = readRoot(GUIDE);
const blocks = blocksOf(GUIDE);
const shell = blocks
  .filter(({ language }) => language === "sh")
  .map(({ text }) => text.replaceAll(/\\\n\s*/g, ""));
const [compose = {}] = documents("deploy/compose.yaml");

/** Words as a shell takes them. */
const typed = (line: string): readonly string[] =>
  [...line.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? "");

test("every command that the guide has a container run exists, with its words and flags", () => {
  const lines = shell.join("\n").matchAll(/run --rm server (.+)/g);
  const kinds = [...lines].map(([, line = ""]) => parseLine(typed(line), COMMANDS).kind);
  assert.ok(kinds.length >= 5);
  assert.deepEqual(new Set(kinds), new Set(["run"]));
});

test("every file under deploy/ that the guide names is there, and secrets are the ones that the compose file asks for", () => {
  const named = [...guide.matchAll(/\bdeploy\/[\w./-]*\w/g)].map(([file]) => file);
  const secrets = Object.values(fields(compose, "secrets")).map((one) =>
    path.posix.join("deploy", String(fields(one)["file"])),
  );
  for (const file of secrets)
    assert.ok(
      shell.some((text) => text.includes(`> ${file}`)),
      file,
    );
  const isThere = (file: string) =>
    existsSync(path.join(ROOT, file)) || secrets.includes(file) || file === "deploy/holdpoint-server";
  assert.deepEqual(
    named.filter((file) => !isThere(file)),
    [],
  );
});

test("every variable that the guide names is in the reference", () => {
  const named = [...guide.matchAll(/`(HOLDPOINT_[A-Z_]+)`/g)].map(([, name = ""]) => name);
  assert.ok(named.length >= 4);
  assert.deepEqual(
    named.filter((name) => !variables().has(name)),
    [],
  );
});

test("every figure that the guide has people look at is one that the server gives, and none is left out", async (t) => {
  const { ask } = await serverBench(t);
  const { text } = await ask("/metrics");
  const given = [...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name);
  const named = codeCells(guide).filter((cell) => cell.startsWith("holdpoint_"));
  assert.deepEqual([...named].sort(), [...given].sort());
});

test("the guide's own Dockerfiles stand on the image in the package's version, and on its Node", () => {
  const { version } = JSON.parse(readRoot("package.json")) as { readonly version: string };
  const [base] = parseDockerfile(readRoot("deploy/Dockerfile"));
  const files = blocks
    .filter(({ language }) => language === "dockerfile")
    .map(({ text }) => parseDockerfile(text));
  assert.equal(files.length, 2);
  for (const stages of files) {
    assert.equal(stages.at(-1)?.from, `holdpoint:${version}`);
    for (const { from } of stages.slice(0, -1)) assert.equal(from, base?.from);
    for (const stage of stages) assert.ok(all(stage, "COPY").length > 0);
  }
  for (const [, tag] of guide.matchAll(/\bholdpoint:(\d[\w.]*)/g)) assert.equal(tag, version);
});
