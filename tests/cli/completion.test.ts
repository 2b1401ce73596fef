// The completion scripts: what bash offers at a position, and that every shell's script knows every command.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { COMMANDS } from "../../src/cli/commands.ts";
import { completionCommand } from "../../src/cli/completion.ts";
import type { Context } from "../../src/cli/shell/command.ts";

async function scriptFor(shell: string): Promise<string> {
  const written: string[] = [];
  const terminal = { write: async (text: string) => void written.push(text) };
  await completionCommand(() => COMMANDS).run({ terminal, words: [shell] } as unknown as Context);
  return written.join("");
}

/** What bash offers for the last word. */
async function offered(words: readonly string[]): Promise<readonly string[]> {
  const typed = words.map((one) => `'${one.replaceAll("'", `'\\''`)}'`).join(" ");
  const input = `${await scriptFor("bash")}
COMP_WORDS=(holdpoint ${typed}); COMP_CWORD=${words.length}; _holdpoint; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const { stdout, stderr, status } = spawnSync("bash", ["--norc"], { input, encoding: "utf8" });
  assert.equal(status, 0, stderr);
  return stdout.split("\n").filter((line) => line !== "");
}

test("bash completes commands, words of a command, choices and flags", async () => {
  assert.deepEqual(await offered(["appr"]), ["approvals", "approve"]);
  assert.deepEqual(await offered(["policy", "s"]), ["show", "suggest"]);
  assert.deepEqual(await offered(["grants", ""]), ["list", "give", "show", "revoke"]);
  assert.deepEqual(await offered(["resolve", "eff_1", ""]), ["applied", "not_applied"]);
  assert.deepEqual(await offered(["keys", "rotate", "--o"]), ["--overlap"]);
  assert.deepEqual(await offered(["keys", "list", "--o"]), ["--of"], "the flags of another subcommand");
  assert.deepEqual(await offered(["login-link", "ann", "--u"]), ["--url"]);
  assert.deepEqual(await offered(["show", ""]), []);
});

test("bash skips the value of a flag", async () => {
  assert.deepEqual(await offered(["--data", "/tmp/a b", "approve", "--edit", '{"a": 1}', "--not"]), [
    "--note",
  ]);
});

for (const shell of ["bash", "zsh", "fish"])
  test(`the script for ${shell} knows every command`, async () => {
    const script = await scriptFor(shell);
    const missing = COMMANDS.filter(({ name }) => name.split(" ").some((part) => !script.includes(part)));
    assert.deepEqual(missing, []);
  });

for (const shell of ["bash", "zsh", "fish"]) {
  const isHere = spawnSync(shell, ["--version"]).status === 0;
  test(`${shell} parses its script`, { skip: isHere ? false : `there is no ${shell} here` }, async () => {
    const { stderr, status } = spawnSync(shell, ["-n"], { input: await scriptFor(shell), encoding: "utf8" });
    assert.deepEqual([status, stderr], [0, ""]);
  });
}
