// docs/reference/cli.md and the code say the same, in both directions.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { COMMANDS } from "../../src/cli/commands.ts";
import { EXIT_MEANINGS } from "../../src/cli/main.ts";
import { COMMON_FLAGS, OWN_CODES } from "../../src/cli/shell/command.ts";

const page = readFileSync(join(import.meta.dirname, "../../docs/reference/cli.md"), "utf8");

function section(title: string): string {
  return page.split(`\n## ${title}\n`)[1]?.split("\n## ")[0] ?? assert.fail(`there is no section ${title}`);
}

function rowsOf(text: string): readonly (readonly string[])[] {
  const lines = text.split("\n").filter((line) => line.startsWith("| "));
  return lines.map((line) =>
    line
      .split(/(?<!\\)\|/)
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}

const quoted = (cell = ""): readonly string[] =>
  [...cell.matchAll(/`([^`]+)`/g)].map((match) => match[1] ?? "");
const flagText = (name: string, value: string | undefined): string =>
  value === undefined ? `--${name}` : `--${name} ${value}`;

test("the page lists every command with its words and flags, and no other", () => {
  const documented = rowsOf(section("Commands"))
    .slice(1)
    .map(([command, flags]) => [quoted(command)[0]?.replaceAll("\\|", "|"), quoted(flags).toSorted()]);
  const coded = COMMANDS.map((command) => [
    [command.name, ...command.words].join(" "),
    Object.entries(command.flags)
      .map(([name, flag]) => flagText(name, flag.value))
      .toSorted(),
  ]);
  assert.deepEqual(documented, coded);
});

test("the page names the flags that every command takes", () => {
  const sentence = /Every command also takes (.*)\./.exec(page)?.[1];
  const named = quoted(sentence).filter((text) => text.startsWith("--"));
  assert.deepEqual(
    named,
    Object.entries(COMMON_FLAGS).map(([name, flag]) => flagText(name, flag.value)),
  );
});

test("the page explains every exit code and every code of its own", () => {
  const [exits = "", own = ""] = section("Exit codes").split("Beside the codes");
  const codes = rowsOf(exits)
    .slice(1)
    .map(([code, meaning]) => [Number(code), meaning?.replaceAll("`", "")]);
  assert.deepEqual(codes, EXIT_MEANINGS);
  const ownCodes = rowsOf(own)
    .slice(1)
    .map(([code, exit]) => [quoted(code)[0], Number(exit)]);
  assert.deepEqual(Object.fromEntries(ownCodes), OWN_CODES);
});

test("only commands that make a store, that read or make files, or that are about this machine run without one", () => {
  const storeless = COMMANDS.filter((command) => command.storeless === true);
  assert.deepEqual(
    storeless.map((command) => command.name),
    [
      ...[
        "welcome",
        "init",
        "demo",
        "run",
        "policy check",
        "policy explain",
        "policy test",
        "serve",
        "worker",
        "key-file",
      ],
      ...["login", "logout", "whoami", "completion"],
    ],
  );
});
