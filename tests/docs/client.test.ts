// docs/guide/client.md runs against a server, and docs/reference/client.md says what the client has, in both directions.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { COMMANDS } from "../../src/cli/commands.ts";
import { CALLS } from "../../src/client/calls.ts";
import { CLIENT_CODES, createClient } from "../../src/client/client.ts";
import { addPerson, issueApiKey } from "../fixtures/people.ts";

import { serverBench } from "../fixtures/server.ts";
import { blocksOf, codeCells, ROOT, readRoot } from "./markdown.ts";

const GUIDE = "docs/guide/client.md";
const REFERENCE = "docs/reference/client.md";

test("the guide's program runs, and prints what it says", async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), "holdpoint-client-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  mkdirSync(path.join(folder, "node_modules"));
  symlinkSync(ROOT, path.join(folder, "node_modules/holdpoint"), "dir");
  const program = blocksOf(GUIDE).filter(({ language }) => language === "js");
  writeFileSync(path.join(folder, "guide.mjs"), program.map(({ text }) => text).join("\n"));
  const { url, server } = await serverBench(t, { noAuth: false });
  const { runtime } = await server.office();
  const by = "person:ann";
  await addPerson(runtime, { person: by, roles: ["admin", "supervisor"], by });
  const person = await issueApiKey(runtime, { principal: by, name: "ann", by });
  const agent = await issueApiKey(runtime, {
    principal: "agent:rent",
    name: "rent",
    roles: ["executor"],
    by,
  });
  const env = { ...process.env, HOLDPOINT_SERVER: url, AGENT_KEY: agent.text, PERSON_KEY: person.text };
  const file = path.join(folder, "guide.mjs");
  const { stdout } = await promisify(execFile)(process.execPath, [file], { env });
  const promised = program.flatMap(({ text }) => [...text.matchAll(/console\.log\(.*; \/\/ (.*)$/gm)]);
  assert.ok(promised.length >= 3);
  for (const [, line] of promised) assert.ok(stdout.split("\n").includes(line ?? ""), `${line}\n${stdout}`);
  assert.match(stdout, /^\d+ effect\.applied action\/act_/m);
  assert.match(stdout, /^unknown_id 404 /m);
});

const section = (title: string): string =>
  readRoot(REFERENCE).split(`\n## ${title}\n`)[1]?.split("\n## ")[0] ?? assert.fail(`no section ${title}`);

test("the reference has every call with its route, and no other", () => {
  const written = [...section("Calls").matchAll(/^\| `([^`]+)` \| `([^`]+)` \|$/gm)].map(
    ([, call, route]) => [call, route],
  );
  const coded = Object.entries(CALLS).flatMap(([resource, calls]) =>
    Object.entries(calls).map(([name, { route }]) => [`${resource}.${name}`, route]),
  );
  assert.deepEqual(written, coded);
});

test("the reference has everything else that a client has, and the guide its own codes", () => {
  const client = createClient({ server: "http://localhost" });
  const more = Object.keys(client).filter((name) => !(name in CALLS) && name !== "address");
  const written = codeCells(section("Waits and streams")).map((code) => code.split("(")[0]);
  assert.deepEqual(written.toSorted(), more.toSorted());
  const codes = codeCells(readRoot(GUIDE)).filter((code) => /_answer$/.test(code));
  assert.deepEqual(codes, [...CLIENT_CODES]);
});

test("the reference of the command line names every command that is only done at the store", () => {
  const [, text = ""] =
    /Some commands work on the store itself and say so: ([^.]*)\./.exec(readRoot("docs/reference/cli.md")) ??
    [];
  const named = [...text.matchAll(/`([^`]+)`/g)].map(([, name]) => name ?? "");
  const coded = COMMANDS.filter(({ onlyHere }) => onlyHere !== undefined).map(({ name, words }) =>
    name === "views" ? [name, ...words].join(" ") : name,
  );
  assert.deepEqual(named.toSorted(), coded.toSorted());
});
