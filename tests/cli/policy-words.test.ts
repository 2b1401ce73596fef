// What `holdpoint policy` says to whoever mistyped something: once, in words, and how far it has looked.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, type TestContext, test } from "node:test";
import { parse } from "yaml";
import { documentLines } from "../../src/cli/policy/print.ts";
import { temporaryFolder } from "../fixtures/folder.ts";
import { errorOf, linesOf, type Ran, runCli } from "./bench.ts";

function desk(context: TestContext) {
  const place = temporaryFolder(context);
  const cli = (...args: readonly string[]): Promise<Ran> =>
    runCli(place, ["policy", ...args], { cwd: dirname(place.path) });
  const write = (name: string, text: string) => writeFileSync(join(dirname(place.path), name), text);
  return { ...place, cli, write };
}

const SHAPELESS = `policy: p
default: blok
rules:
  - { id: a, when: "args.x >", verdict: block }
`;
const SENSELESS = `policy: p
default: block
rules:
  - { id: a, when: "args.x >", verdict: block }
  - { id: b, when: "argz.x == 1", verdict: block }
`;

describe("policy check", () => {
  test("that could not look at everything says that there may be more", async (context) => {
    const { cli, write } = desk(context);
    write("p.yaml", SHAPELESS);
    const shape = await cli("check", "p.yaml");
    assert.equal(shape.code, 1);
    assert.match(shape.out, /^p\.yaml:2:\d+ {2}default is not approve.*did you mean block\?/);
    assert.match(shape.out, /\nNot usable: 1 fault, 0 warnings\.\nThere may be more: rules and expressions/);
    assert.equal(JSON.parse((await cli("check", "p.yaml", "--json")).out).looked, "shape");
    write("p.yaml", "policy: p\n---\npolicy: q\n");
    const text = await cli("check", "p.yaml");
    assert.match(text.out, /^p\.yaml:2:1 {2}a second document begins here/);
    assert.match(text.out, /There may be more: the rest is looked at once the file is YAML/);
    write("p.yaml", SENSELESS);
    const whole = await cli("check", "p.yaml");
    assert.doesNotMatch(whole.out, /There may be more/);
    assert.match(whole.out, /Not usable: 2 faults/);
  });

  test("of what is no file says so, in words", async (context) => {
    const { cli, write } = desk(context);
    write("p.yaml", "policy: p\ndefault: block\n");
    assert.match((await cli("check", "q.yaml")).err, /^holdpoint: There is no file q\.yaml\.\n/);
    assert.match((await cli("check", ".")).err, /^holdpoint: \. is a folder, not a file\.\n/);
    const tools = await cli("check", "p.yaml", "--tools", "tools.ts");
    assert.deepEqual([tools.code, tools.err.split("\n")[0]], [1, "holdpoint: There is no file tools.ts."]);
    write("t.json", "[1,]");
    const json = await cli("check", "p.yaml", "--tools", "t.json");
    assert.match(json.err, /^holdpoint: The file t\.json: The JSON text .*\n.*\n {2}Correct the file\. /);
  });
});

test("faults of a policy are told once, by line", async (context) => {
  const { cli, write, open } = desk(context);
  await open().approvals.list();
  write("p.yaml", SENSELESS);
  write("a.json", '{"tool":"x","args":{}}');
  write("p.test.yaml", "cases:\n  - { name: n, when: { tool: x }, then: { verdict: block } }\n");
  const lines = [
    ["backtest", "p.yaml"],
    ["explain", "a.json", "--policy", "p.yaml"],
    ["test", "p.yaml"],
  ];
  const told = async (line: readonly string[]) => {
    const [{ code, err }, json] = await Promise.all([cli(...line), cli(...line, "--json")]);
    assert.equal(code, 1, line.join(" "));
    assert.deepEqual(linesOf(err).slice(0, 3), [
      "p.yaml:4:29  the expression ends where more is needed",
      "p.yaml:5:21  there is no argz here (did you mean args?)",
      "holdpoint: The policy p.yaml cannot be used: 2 faults.",
    ]);
    assert.equal(err.split("argz").length, 2);
    assert.match(errorOf(json)["what"] ?? "", /line 4, the expression ends .*; line 5, there is no argz/);
  };
  await Promise.all(lines.map(told));
});

test("a document is shown in the order in which people write one, and all of it", () => {
  const document = {
    default: "block",
    policy: "p",
    rules: [{ id: "a", set: { z: 1, a: 2 }, tool: "x", verdict: "revise", when: "args.y > 1" }],
    tools: { y: null, x: { calls: 1, effect: "once" } },
  };
  const lines = documentLines(document);
  assert.deepEqual(
    lines.filter((line) => !line.startsWith("  ")).map((line) => line.split(":")[0]),
    ["policy", "default", "tools", "rules"],
  );
  assert.match(
    lines.join("\n"),
    /- id: a\n {4}tool: x\n {4}when: args\.y > 1\n {4}verdict: revise\n {4}set:/,
  );
  assert.deepEqual(parse(lines.join("\n")), document);
});

test("cases that cannot be read are told once, with the key that was meant", async (context) => {
  const { cli, write } = desk(context);
  write("p.yaml", "policy: p\ndefault: block\n");
  write("p.test.yaml", "cases:\n  - { name: n, when: { tool: x }, then: { verdict: block, rul: a } }\n");
  const { code, err } = await cli("test", "p.yaml");
  assert.equal(code, 1);
  assert.match(err, /^p\.test\.yaml:2:\d+ {2}rul is not a key here \(did you mean rule\?\)\nholdpoint: /);
  assert.equal(err.split("rul is not").length, 2);
});

test("numbers, times and flags of every subcommand are checked before anything is read", async (context) => {
  const { cli, write, open } = desk(context);
  await open().approvals.list();
  write("p.yaml", "policy: p\ndefault: block\n");
  const lines = [
    [["backtest", "p.yaml", "--limit", "ten"], /--limit "ten" is not a whole number from 0 to 999999999/],
    [["backtest", "p.yaml", "--fail-over=-1"], /--fail-over "-1" is not a whole number from 0/],
    [["backtest", "p.yaml", "--since", "7 days"], /--since "7 days" is neither a span nor a day nor a time/],
    [["suggest", "--min", "0"], /--min "0" is not a whole number from 1/],
    [["check", "p.yaml", "--tols", "x"], /no flag "--tols" in "policy check"\. Did you mean --tools\?/],
  ] as const;
  const rans = await Promise.all(lines.map(([line]) => cli(...line)));
  for (const [at, { code, err, out }] of rans.entries()) {
    assert.deepEqual([code, out], [2, ""]);
    assert.match(err, lines[at]?.[1] ?? /^$/);
  }
});
