/** `holdpoint init`: a project that runs, and whose test passes. Its files are those of examples/starter. */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { visible } from "../kernel/text.ts";
import { type Command, EXIT, word } from "./command.ts";
import { CommandError, fileError } from "./failure.ts";
import { version } from "./version.ts";

const STARTER = fileURLToPath(new URL("../../examples/starter", import.meta.url));

/** Some names would mean something where they lie: to the packer, to the tests. */
const FILES: readonly (readonly [string, string])[] = [
  ["workflow.ts", "workflow.ts"],
  ["workflow-test.ts", "workflow.test.ts"],
  ["holdpoint.json", "holdpoint.json"],
  ["readme.md", "README.md"],
  ["gitignore", ".gitignore"],
];

function manifest(name: string): string {
  const fields = {
    name,
    version: "0.0.0",
    private: true,
    type: "module",
    engines: { node: ">=24" },
    scripts: { start: "holdpoint run", test: "node --test" },
    dependencies: { holdpoint: `^${version()}` },
  };
  return `${JSON.stringify(fields, null, 2)}\n`;
}

function checkName(name: string): void {
  if (/^[a-z0-9][a-z0-9._-]{0,100}$/.test(name) && name !== "node_modules") return;
  throw new CommandError(
    "usage",
    `"${name}" is not a project's name.`,
    "Small letters, digits and . _ - after a first letter or digit; it becomes a folder here.",
  );
}

function checkFree(folder: string): void {
  if (!existsSync(folder)) return;
  let isEmpty = false;
  try {
    isEmpty = readdirSync(folder).length === 0;
  } catch {
    // A file of that name: as much in the way as a folder with something in it.
  }
  if (!isEmpty)
    throw new CommandError("usage", `There is something at ${folder} already.`, "Choose another name.");
}

function write(folder: string, name: string): readonly string[] {
  const texts = FILES.map(([from, to]) => {
    const text = readFileSync(join(STARTER, from), "utf8");
    return [to, text.replaceAll("{{name}}", name)] as const;
  });
  const files = [["package.json", manifest(name)] as const, ...texts];
  mkdirSync(folder, { recursive: true });
  // `wx`: whatever has come there meanwhile stays as it is.
  for (const [file, text] of files) writeFileSync(join(folder, file), text, { flag: "wx" });
  return files.map(([file]) => file);
}

function writeProject(folder: string, name: string): readonly string[] {
  try {
    return write(folder, name);
  } catch (error) {
    throw fileError(folder, error);
  }
}

export const init: Command = {
  name: "init",
  words: ["<name>"],
  summary: "make a new project: a workflow, a test, and how to run them",
  details: ["Makes a folder of that name here. What is there already is never overwritten."],
  onlyHere: "it makes a project in this folder",
  flags: {},
  storeless: true,
  tenantless: true,
  async run({ terminal, json, words }) {
    const name = word({ words });
    checkName(name);
    const folder = resolve(name);
    checkFree(folder);
    const files = writeProject(folder, name);
    if (json) terminal.json({ name, folder, files });
    else {
      terminal.line(`${visible(folder)} is ready: ${files.join(", ")}`);
      terminal.line();
      for (const line of [`cd ${name}`, "npm install", "npm test", "npx holdpoint run"])
        terminal.line(`  ${line}`);
    }
    return EXIT.ok;
  },
};
