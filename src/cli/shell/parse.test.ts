import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { COMMANDS } from "../commands.ts";
import { CommandError } from "./command.ts";
import { type ParsedLine, parseLine } from "./parse.ts";

function refusal(...argv: readonly string[]): string {
  try {
    parseLine(argv, COMMANDS);
  } catch (error) {
    assert.ok(error instanceof CommandError);
    assert.equal(error.failure.code, "usage");
    return error.failure.what;
  }
  return assert.fail(`"${argv.join(" ")}" was taken`);
}

function run(...argv: readonly string[]): Extract<ParsedLine, { kind: "run" }> {
  const line = parseLine(argv, COMMANDS);
  assert.ok(line.kind === "run");
  return line;
}

describe("a command line", () => {
  test("may have its flags anywhere", () => {
    const line = run("--data", "x", "reject", "--reason=no", "apr_1", "--json");
    assert.equal(line.command.name, "reject");
    assert.deepEqual(line.words, ["apr_1"]);
    assert.deepEqual(Object.fromEntries(line.values), { data: ["x"], reason: ["no"], json: [""] });
  });

  test("may leave out a word in brackets, but have no second one", () => {
    assert.deepEqual(run("run").words, []);
    assert.deepEqual(run("run", "flow.ts").words, ["flow.ts"]);
    assert.match(refusal("run", "flow.ts", "more"), /one word too many/);
  });

  test("may name a command with two words, and repeat its last word", () => {
    const line = run("policy", "--limit", "3", "backtest", "p.yaml");
    assert.deepEqual([line.command.name, line.words], ["policy backtest", ["p.yaml"]]);
    assert.deepEqual(run("policy", "test", "a.yaml", "b.yaml", "c.yaml").words, [
      "a.yaml",
      "b.yaml",
      "c.yaml",
    ]);
    assert.match(refusal("policy", "backtest"), /policy backtest needs <file>/);
    assert.match(refusal("policy"), /"policy" needs another word. There are: check, /);
    assert.match(refusal("policy", "chek", "x"), /Did you mean "policy check"\?/);
    assert.match(refusal("policy", "list", "x"), /one word too many/);
    const family = parseLine(["policy", "--help"], COMMANDS);
    assert.ok(family.kind === "family" && family.commands.every(({ name }) => name.startsWith("policy ")));
    assert.match(refusal("polcy", "check", "x"), /Did you mean "policy"\?/);
    const help = parseLine(["help", "policy", "show"], COMMANDS);
    assert.ok(help.kind === "help" && help.command?.name === "policy show");
  });

  test("without a command asks for help or the version", () => {
    assert.deepEqual(parseLine([], COMMANDS), { kind: "help", command: undefined });
    assert.deepEqual(parseLine(["-h"], COMMANDS), { kind: "help", command: undefined });
    assert.deepEqual(parseLine(["--version"], COMMANDS), { kind: "version" });
    assert.deepEqual(parseLine(["-v"], COMMANDS), { kind: "version" });
  });

  test("asks for help on a command in two ways, whatever else is missing", () => {
    for (const argv of [
      ["help", "reject"],
      ["reject", "--help"],
    ]) {
      const line = parseLine(argv, COMMANDS);
      assert.ok(line.kind === "help" && line.command?.name === "reject");
    }
  });

  test("with a mistyped word is refused with the word that was meant", () => {
    assert.match(refusal("aprove", "x"), /Did you mean "approve"\?/);
    assert.match(refusal("in-dout"), /Did you mean "in-doubt"\?/);
    assert.match(refusal("approvals", "--statsu", "x"), /Did you mean --status\?/);
    assert.match(refusal("--jsn"), /Did you mean --json\?/);
    assert.doesNotMatch(refusal("frobnicate"), /Did you mean/);
    assert.match(refusal("demo", "refnd"), /"refnd" is not pizza or .*\. Did you mean "refund"\?/);
    assert.match(refusal("approve", "x", "--as", "person:eve"), /no flag "--as"/);
  });

  test("with a flag that lacks a letter is refused with the nearest, whatever the command", () => {
    for (const { name, flags } of COMMANDS)
      for (const flag of Object.keys(flags).filter((one) => one.length > 3)) {
        const typed = `--${flag.slice(0, 2)}${flag.slice(3)}`;
        if (Object.hasOwn(flags, typed.slice(2))) continue;
        const [, near = ""] = /Did you mean --([\w-]+)\?$/.exec(refusal(...name.split(" "), typed)) ?? [];
        assert.ok(near === flag || near.length === flag.length - 1, `${name} ${typed}: ${near}`);
      }
  });

  test("with a flag that does not belong to the command is refused", () => {
    assert.match(refusal("approvals", "--edit", "{}"), /no flag "--edit" in "approvals"/);
    assert.match(refusal("show", "x", "--no-json"), /no flag "--no-json"/);
    assert.match(refusal("show", "x", "--__proto__"), /no flag/);
    assert.match(refusal("show", "x", "--constructor"), /no flag/);
  });

  test("with a value missing, doubled or too many is refused", () => {
    assert.match(refusal("reject", "apr_1", "--reason"), /--reason needs a value/);
    assert.match(
      refusal("reject", "apr_1", "--reason", "--json"),
      /begins with a dash, write --reason=--json/,
    );
    assert.match(refusal("approve", "a", "--edit", "{}", "--edit", "{}"), /--edit was given twice/);
    assert.match(refusal("approvals", "--json=yes"), /--json takes no value/);
    assert.equal(run("reject", "apr_1", "--reason=-1").values.get("reason")?.[0], "-1");
    assert.deepEqual(run("verify", "--key", "a", "--key", "b").values.get("key"), ["a", "b"]);
  });

  test("takes a negative number as a word or a value, and not as flags of one letter", () => {
    assert.deepEqual(run("extend", "apr_1", "-1h").words, ["apr_1", "-1h"]);
    assert.deepEqual(run("answer", "apr_1", "-7000").words, ["apr_1", "-7000"]);
    assert.equal(run("run", "--budget", "-5").values.get("budget")?.[0], "-5");
    assert.match(refusal("show", "x", "-1h"), /"-1h" is one word too many/);
  });

  test("without a needed word or reason is refused", () => {
    assert.match(refusal("extend"), /extend needs <id>/);
    assert.match(refusal("show", "a", "b"), /"b" is one word too many/);
    assert.match(refusal("reject", "apr_1"), /reject needs --reason <text>/);
    assert.match(refusal("reject", "apr_1", "--reason", "  "), /reject needs --reason/);
    assert.match(
      refusal("resolve", "eff_1", "perhaps", "--reason", "x"),
      /"perhaps" is not applied or not_applied/,
    );
    assert.match(refusal("views"), /views needs rebuild/);
    assert.match(refusal("views", "burn"), /"burn" is not rebuild/);
  });
});

test("a flag takes a value in every command or in none", () => {
  const kinds = new Map<string, Set<boolean>>();
  for (const command of COMMANDS)
    for (const [name, flag] of Object.entries(command.flags))
      kinds.set(name, (kinds.get(name) ?? new Set()).add(flag.value === undefined));
  for (const [name, kind] of kinds) assert.equal(kind.size, 1, name);
});

test("whatever is typed is either understood or refused in words", () => {
  const known = COMMANDS.flatMap(({ name, flags }) => [
    name,
    ...Object.keys(flags).map((flag) => `--${flag}`),
  ]);
  const typed = fc.oneof(fc.constantFrom(...known, "--", "-", "-h", "--json", "=", "--=x"), fc.string());
  fc.assert(
    fc.property(fc.array(typed, { maxLength: 6 }), (argv) => {
      try {
        return ["run", "help", "family", "version"].includes(parseLine(argv, COMMANDS).kind);
      } catch (error) {
        return error instanceof CommandError;
      }
    }),
    { numRuns: 2_000 },
  );
});
