import assert from "node:assert/strict";
import { test } from "node:test";
import * as door from "holdpoint";
import { references } from "../../scripts/generate-tables.ts";
import { CONTRACTS } from "../../src/contracts.ts";
import type { Contract } from "../../src/kernel/contract.ts";
import { INSTANCE_OPTIONS } from "../../src/open.ts";
import { readTree } from "../architecture/files.ts";
import { codeCells, readRoot } from "./markdown.ts";

const index = readRoot("src/index.ts");

/** Every name that a door of the package passes on or declares. */
function exportedNames(door = index): readonly string[] {
  const lists = [...door.matchAll(/^export (?:type )?\{([^}]*)\}/gm)].flatMap(([, list]) =>
    (list ?? "").split(",").map((name) => name.trim().replace(/^type |^\w+ as /, "")),
  );
  const own = [...door.matchAll(/^export (?:type|function|const|class) (\w+)/gm)].map(
    ([, name]) => name ?? "",
  );
  return [...lists, ...own].filter((name) => name !== "").sort();
}

test("docs/reference/exports.txt is the sorted list of what the package exports", () => {
  assert.equal(readRoot("docs/reference/exports.txt"), `${exportedNames().join("\n")}\n`);
});

test("every value of the built package is among the exported names", () => {
  const names = exportedNames();
  assert.deepEqual(
    Object.keys(door).filter((name) => !names.includes(name)),
    [],
  );
});

test("docs/reference/library.md has every exported name once, and no other", () => {
  const names = codeCells(readRoot("docs/reference/library.md")).filter((code) => /^\w+$/.test(code));
  assert.deepEqual(names.toSorted(), exportedNames());
});

test("each other door has a page with every name that it exports, and no other", () => {
  for (const door of ["admin", "verify"]) {
    const names = codeCells(readRoot(`docs/reference/${door}.md`)).filter((code) => /^\w+$/.test(code));
    assert.deepEqual(names.toSorted(), exportedNames(readRoot(`src/${door}.ts`)), door);
  }
});

test("the main door exports at most 120 names", () => {
  assert.ok(exportedNames().length <= 120, `${exportedNames().length} names`);
});

const readSources = (): string =>
  readTree("src")
    .filter(({ path }) => !path.endsWith(".test.ts"))
    .map(({ text }) => text)
    .join("\n");

/** Methods of the parts of an instance, read from their types. */
function methodsOf(type: string, source: string): readonly string[] {
  const body = new RegExp(`^export type ${type} = [^{]*\\{\\n([\\s\\S]*?)^\\};`, "m").exec(source)?.[1] ?? "";
  // A method with two shapes is one method.
  return [...new Set([...body.matchAll(/^ {2}(\w+)(?:<[^>]*>)?\(/gm)].map(([, name]) => name ?? ""))];
}

/** Methods of contracts, at the instance or at `admin(hp)`. */
const contractMethods = (...doors: readonly Contract["door"][]): readonly string[] =>
  (CONTRACTS as readonly Contract[])
    .filter((one) => doors.includes(one.door))
    .flatMap(({ name, door, verbs }) =>
      Object.keys(verbs).map((verb) => (door === "instance" ? verb : `${name}.${verb}`)),
    );

test("docs/reference/library.md has every method of an instance, and no other", () => {
  const instance = readSources();
  const parts = [
    ...["Approvals", "Actions", "Receipts", "Journal", "Intents"],
    ...["Workflows", "Remote", "RemoteWorkflows"],
  ];
  const placeOf = (part: string) =>
    part === "RemoteWorkflows" ? "remote.workflows" : part.replace(/(?<=[a-z])(?=[A-Z])/, ".").toLowerCase();
  const expected = [
    ...methodsOf("Holdpoint", index).map((name) => `hp.${name}`),
    ...parts.flatMap((part) => methodsOf(part, instance).map((name) => `hp.${placeOf(part)}.${name}`)),
    ...contractMethods(undefined, "instance", "remote").map((name) => `hp.${name}`),
  ];
  const written = codeCells(readRoot("docs/reference/library.md"))
    .filter((code) => code.startsWith("hp."))
    .map((code) => code.replace(/\(.*$/, ""));
  // The library's own `verify` of a journal takes the place of its verb.
  assert.deepEqual(written.toSorted(), [...new Set(expected)].toSorted());
});

test("docs/reference/admin.md has every method of administration, and no other", () => {
  const sources = readSources();
  const groups = [...["Nodes", "Seals", "Policies"]].flatMap((group) =>
    methodsOf(group, sources).map((name) => `${group.toLowerCase()}.${name}`),
  );
  const own = ["Monitors", "Notifications"].flatMap((part) => methodsOf(part, sources));
  const written = codeCells(readRoot("docs/reference/admin.md"))
    .filter((code) => code.includes("("))
    .map((code) => code.replace(/\(.*$/, ""));
  assert.deepEqual(written.toSorted(), [...groups, ...own, ...contractMethods("admin")].toSorted());
});

test("docs/reference/errors.md has the code of every error that is thrown to a definition", () => {
  const sources = readTree("src/workflows").map(({ text }) => text);
  const thrown = sources.flatMap((text) => [
    ...text.matchAll(/^export class (\w+) extends Error \{\n.*\n {2}readonly code = "(\w+)"/gm),
  ]);
  assert.ok(thrown.length >= 3);
  for (const [, name, code] of thrown)
    assert.ok(readRoot("docs/reference/errors.md").includes(`| \`${name}\` | \`${code}\` |`), name);
});

test("docs/reference/library.md has every refusal code, and whether it may be tried again", () => {
  const table = [...readRoot("src/kernel/refusals.ts").matchAll(/^ {2}(\w+): \{\s*retry: (true|false)/gm)];
  const written = [...readRoot("docs/reference/library.md").matchAll(/^\| "(\w+)" \| (yes|no) \|/gm)].map(
    ([, code, retry]) => `${code} ${retry === "yes"}`,
  );
  assert.deepEqual(written.toSorted(), table.map(([, code, retry]) => `${code} ${retry}`).toSorted());
});

test("docs/reference/events.md has every event type that the rules know, and no other", () => {
  // Expressions of policies name facts like "workflow.name".
  const isRule = (file: string) =>
    /\/(?:rules|stream|state|events)\b/.test(file) &&
    !/\.test\.ts$|^src\/policy\/(?:rules|backtest)\//.test(file);
  const sources = readTree("src").filter(({ path }) => isRule(path));
  const KINDS = [
    ...[
      "action",
      "answer",
      "effect",
      "approval",
      "budget",
      "epoch",
      "policy",
      "alert",
      "intent",
      "monitor",
      "store",
      "switch",
      "tenant",
      "person",
      "key",
      "login",
      "session",
      "workflow",
      "step",
      "call",
    ],
    ...["endpoint", "message", "notifier"],
    ...[
      "value",
      "log",
      "operation",
      "sleep",
      "child",
      "question",
      "send",
      "wait",
      "checkpoint",
      "rollback",
      "compensation",
    ],
  ];
  const EVENT = new RegExp(`"((?:${KINDS.join("|")})\\.[a-z_]+)"`, "g");
  const known = new Set([
    ...sources.flatMap(({ text }) => [...text.matchAll(EVENT)].map(([, type]) => type ?? "")),
    ...references.map(({ type }) => type),
  ]);
  const written = codeCells(readRoot("docs/reference/events.md"));
  assert.deepEqual(written.toSorted(), [...known].sort());
});

const settings = readRoot("docs/reference/settings.md");
const listed = (source: string, name: string): readonly string[] => {
  const list = new RegExp(`const ${name} = \\[([^\\]]*)\\]`).exec(source)?.[1] ?? "";
  return [...list.matchAll(/"(\w+)"/g)].map(([, field]) => field ?? "");
};
const section = (title: string): readonly string[] =>
  codeCells(settings.split("\n## ").find((part) => part.startsWith(title)) ?? "");

test("docs/reference/settings.md has every option of an instance, a tool and a call, and no other", () => {
  const tool = readRoot("src/effects/define-tool.ts");
  const gate = readRoot("src/effects/gate.ts");
  assert.deepEqual(section("Options of `holdpoint()`").toSorted(), Object.keys(INSTANCE_OPTIONS).toSorted());
  const [, numbers = ""] = /const NUMBERS = \{([^}]*)\}/.exec(tool) ?? [];
  const fields = [
    ...["CHECKED_APART", "TEXTS", "FUNCTIONS"].flatMap((name) => listed(tool, name)),
    ...[...numbers.matchAll(/(\w+):/g)].map(([, field]) => field ?? ""),
  ];
  assert.deepEqual(section("Options of a tool").toSorted(), fields.toSorted());
  assert.deepEqual(section("Options of a call").toSorted(), listed(gate, "OPTIONS").toSorted());
  const declared = listed(readRoot("src/agents/remote-tool.ts"), "FIELDS");
  assert.deepEqual(section("Options of a declared tool").toSorted(), declared.toSorted());
});

test("docs/reference/settings.md has every option of a workflow, its start, its calls and its steps, and no other", () => {
  const source = (file: string) => readRoot(`src/workflows/${file}.ts`);
  const written = (title: string) => section(title).toSorted();
  assert.deepEqual(written("Options of a workflow"), listed(source("define"), "FIELDS").toSorted());
  assert.deepEqual(written("Options of its start"), listed(source("start"), "RUN_OPTIONS").toSorted());
  assert.deepEqual(written("Options of `ctx.call`"), listed(source("run/call"), "OPTIONS").toSorted());
  assert.deepEqual(written("Options of `ctx.step`"), listed(source("run/step"), "FIELDS").toSorted());
});

test("docs/reference/settings.md has every option of deliver, and no other", () => {
  const list = /const FIELDS = \[([^\]]*)\]/.exec(readRoot("src/notify/settings.ts"))?.[1] ?? "";
  const fields = [...list.matchAll(/"(\w+)"/g)].map(([, field]) => field ?? "");
  assert.ok(fields.length >= 5);
  assert.deepEqual(section("Options of `deliver`").toSorted(), fields.toSorted());
});

test("docs/reference/settings.md has every environment variable that the runtime reads, and no other", () => {
  const sources = readTree("src").filter(
    ({ path }) => !path.endsWith(".test.ts") && !path.includes("/testing/"),
  );
  const read = sources.flatMap(({ text }) => [...text.matchAll(/environment\("(HOLDPOINT_\w+)"\)/g)]);
  const names = new Set(read.map(([, name]) => name ?? ""));
  assert.deepEqual(section("Environment").toSorted(), [...names].sort());
});
