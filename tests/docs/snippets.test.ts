// Every TypeScript block of README, guide and the door's documentation compiles under strict settings and runs against a
// store of its own. A block marked `no-run` is only compiled; one marked `continued` goes on where the block before ended.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { promisify } from "node:util";
import { COMMANDS } from "../../src/cli/commands.ts";
import { type Block, blocksOf, commentBlocksOf, markdownFiles, ROOT } from "./markdown.ts";

type Snippet = {
  readonly name: string;
  readonly file: string;
  readonly text: string;
  readonly runs: boolean;
};

const run = promisify(execFile);
const texts = ["README.md", ...markdownFiles("docs/guide", "docs/reference")];
const programs = [
  ...[
    "README.md",
    ...markdownFiles("docs/guide"),
    ...["docs/reference/library.md", "docs/reference/admin.md"],
  ].flatMap((file) => blocksOf(file)),
  ...commentBlocksOf("src/index.ts"),
  ...commentBlocksOf("src/admin.ts"),
].filter(({ language }) => language === "ts");

function snippetsOf(blocks: readonly Block[]): readonly Snippet[] {
  const found: Snippet[] = [];
  for (const { file, line, marks, text } of blocks) {
    const last = found.at(-1);
    if (marks.includes("continued") && last !== undefined)
      found[found.length - 1] = { ...last, text: last.text + text };
    else {
      const name = `${path.basename(file).replace(/\W/g, "-")}-${line}.ts`.toLowerCase();
      found.push({ name, file, text, runs: !marks.includes("no-run") });
    }
  }
  return found;
}

const snippets = snippetsOf(programs);
const folder = realpathSync(mkdtempSync(path.join(tmpdir(), "holdpoint-docs-")));

const TSCONFIG = {
  extends: path.join(ROOT, "tsconfig.json"),
  compilerOptions: { noUnusedLocals: false, noUnusedParameters: false },
  include: ["*.ts"],
};

/** Runs the snippets of one text one after the other, each with a folder, a store and a key of its own. */
const RUNNER = `
import { mkdirSync } from "node:fs";
import path from "node:path";
for (const file of process.argv.slice(2)) {
  const home = path.join(import.meta.dirname, "home-" + path.basename(file));
  mkdirSync(home);
  process.chdir(home);
  process.env["HOLDPOINT_DATA"] = path.join(home, "data");
  process.env["HOLDPOINT_KEY_FILE"] = path.join(home, "key.json");
  process.on("exit", (code) => code === 0 || console.error("in " + file));
  await import(path.join(import.meta.dirname, file));
  process.removeAllListeners("exit");
}
`;

before(() => {
  const packages = path.join(folder, "node_modules");
  mkdirSync(packages);
  symlinkSync(ROOT, path.join(packages, "holdpoint"), "dir");
  for (const name of ["zod", "@types"])
    symlinkSync(path.join(ROOT, "node_modules", name), path.join(packages, name), "dir");
  writeFileSync(path.join(folder, "package.json"), JSON.stringify({ type: "module" }));
  writeFileSync(path.join(folder, "tsconfig.json"), JSON.stringify(TSCONFIG));
  writeFileSync(path.join(folder, "run.mjs"), RUNNER);
  for (const { name, text } of snippets) writeFileSync(path.join(folder, name), text);
});
after(() => rmSync(folder, { recursive: true, force: true }));

test("there are snippets, and those that only compile are few", () => {
  assert.ok(snippets.length >= 12, `${snippets.length} snippets`);
  assert.ok(snippets.filter(({ runs }) => !runs).length <= 3);
});

test("every snippet compiles under strict settings", async () => {
  const compiler = path.join(ROOT, "node_modules/typescript/bin/tsc");
  const { stdout } = await run(process.execPath, [compiler, "-p", folder]).catch((error) => error);
  assert.equal(stdout, "");
});

describe("the snippets", { concurrency: 3 }, () => {
  const running = Map.groupBy(
    snippets.filter(({ runs }) => runs),
    ({ file }) => file,
  );
  for (const [file, group] of running) {
    test(`of ${file} run: ${group.length}`, async () => {
      const names = group.map(({ name }) => name);
      const runner = path.join(folder, "run.mjs");
      const { stderr } = await run(process.execPath, [runner, ...names], { timeout: 30_000 });
      assert.equal(stderr, "");
    });
  }
});

/** `npx holdpoint views rebuild --json` → `views rebuild --json`. */
const lines = texts
  .flatMap((file) => blocksOf(file))
  .filter(({ language }) => ["sh", "console", "text"].includes(language))
  .flatMap(({ file, text }) =>
    [...text.matchAll(/npx holdpoint ([^\n#]+)/g)].map(([, line]) => ({ file, line: line?.trim() ?? "" })),
  );

test("every command in the texts exists, with its words and flags", () => {
  const common = ["data", "server", "json", "help", "version"];
  const faults = lines.flatMap(({ file, line }) => {
    const [name = ""] = line.split(" ");
    // Some have a name of two words.
    const command = COMMANDS.find((one) => `${line} `.startsWith(`${one.name} `));
    if (command === undefined) return name.startsWith("--") ? [] : [`${file}: there is no command "${name}"`];
    const flags = [...line.matchAll(/ --([a-z-]+)/g)].map(([, flag]) => flag ?? "");
    const needed = Object.entries(command.flags).filter(([, flag]) => flag.required === true);
    return [
      ...flags.filter((flag) => !common.includes(flag) && command.flags[flag] === undefined),
      ...needed.map(([flag]) => flag).filter((flag) => !flags.includes(flag)),
    ].map((flag) => `${file}: ${line}: ${flag}`);
  });
  assert.ok(lines.length >= 10);
  assert.deepEqual(faults, []);
});
