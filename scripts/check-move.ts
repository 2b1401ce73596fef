// Shows that a commit moves code and changes none: every top-level statement before it is there after it, in whichever file.
//
//   node scripts/check-move.ts <before> <after> [--renames <file>]
//
// Comments, layout, imports, the word `export` and paths of modules are not compared. `--renames` is JSON, by file: the names that the commit
// changes. A declaration that stood in several files word for word may be there once. Counts of tests and assertions have to be equal.
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { mask } from "../tests/architecture/lexer.ts";

type Renames = { readonly [file: string]: { readonly [before: string]: string } };
type Tree = { readonly statements: Map<string, number>; tests: number; assertions: number; files: number };

const CODE = /^(?:src|tests|dashboard\/src|bench|examples|deploy|scripts)\/.*\.tsx?$/;
const NOT_COMPARED = /^(?:bench\/peers|scripts\/check-move\.ts)/;

const git = (...args: string[]): string =>
  execFileSync("git", args, { encoding: "utf8", maxBuffer: 1 << 30 });

/** Every name that another one replaces, and its replacement, lead to one of them. */
function joinNames(renames: Renames): (name: string) => string {
  const parents = new Map<string, string>();
  const find = (name: string): string => {
    const parent = parents.get(name);
    return parent === undefined ? name : find(parent);
  };
  for (const [before, after] of Object.values(renames).flatMap((names) => Object.entries(names))) {
    const [left, right] = [find(before), find(after)];
    if (left !== right) parents.set(left, right);
  }
  return find;
}

/** Formatted code: a statement begins in the first column, and what goes on is indented or closes a bracket. */
function statementsIn(text: string): string[] {
  const code = mask(text);
  const starts = [...code.matchAll(/^(?=[A-Za-z_$"'@[(])/gm)].map(({ index }) => index);
  return starts.map((start, number) => withoutComments(text.slice(start, starts[number + 1] ?? text.length)));
}

const TOKEN = /\/\*[\s\S]*?\*\/|(?<![:"'`\\])\/\/[^\n]*|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`/g;

const withoutComments = (statement: string): string =>
  statement.replace(TOKEN, (token) => (/^\/[/*]/.test(token) ? "" : token));

function normalise(statement: string, nameOf: (name: string) => string): string {
  return (
    statement
      .replace(/^export\s+/, "")
      .replace(/"(?:\.{1,2}\/|src\/|tests\/|examples\/)[^"\n]*"/g, '"path"')
      .replace(/[A-Za-z_$][\w$]*/g, (name) => nameOf(name))
      .replace(/\b([\w$]+): \1\b/g, "$1")
      .replace(/\b([\w$]+) as \1\b/g, "$1")
      .replace(/[,;](?=\s*[)\]}])/g, "")
      // The formatter puts these where a line becomes too long.
      .replace(/[()]|(?<=[=:<(]\s*)[|&](?=\s)/g, "")
      .replace(/\s+/g, "")
      .replace(/;$/, "")
  );
}

const isImport = (statement: string): boolean =>
  /^(?:import\b(?!\()|export\s+(?:type\s+)?(?:\*|\{))/.test(statement);

function readTree(revision: string, nameOf: (name: string) => string): Tree {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "check-move-"));
  execFileSync("sh", ["-c", 'git archive "$0" | tar -x -C "$1"', revision, folder]);
  const files = git("ls-tree", "-r", "--name-only", revision).split("\n");
  const tree: Tree = { statements: new Map(), tests: 0, assertions: 0, files: 0 };
  for (const file of files.filter((name) => CODE.test(name) && !NOT_COMPARED.test(name))) {
    const text = fs.readFileSync(path.join(folder, file), "utf8");
    tree.files += 1;
    if (/\.test\.tsx?$/.test(file)) tree.tests += text.match(/^\s*(?:test|it)\(/gm)?.length ?? 0;
    tree.assertions += text.match(/\bassert[.(]/g)?.length ?? 0;
    for (const statement of statementsIn(text).filter((one) => !isImport(one))) {
      const key = normalise(statement, nameOf);
      tree.statements.set(key, (tree.statements.get(key) ?? 0) + 1);
    }
  }
  fs.rmSync(folder, { recursive: true });
  return tree;
}

/** What only one of the trees has, and how many declarations are there once that were there several times. */
function compareStatements(old: Tree, now: Tree) {
  const found = { gone: [] as string[], come: [] as string[], once: 0 };
  for (const key of new Set([...old.statements.keys(), ...now.statements.keys()])) {
    const [was, is] = [old.statements.get(key) ?? 0, now.statements.get(key) ?? 0];
    if (is === 0) found.gone.push(key);
    else if (is > was) found.come.push(key);
    else found.once += was - is;
  }
  return found;
}

function main([before = "", after = "", flag, file = ""]: readonly string[]): number {
  const renames: Renames = flag === "--renames" ? JSON.parse(fs.readFileSync(file, "utf8")) : {};
  const nameOf = joinNames(renames);
  const [old, now] = [readTree(before, nameOf), readTree(after, nameOf)];
  const { gone, come, once } = compareStatements(old, now);
  const total = [...now.statements.values()].reduce((sum, count) => sum + count, 0);
  const names = Object.values(renames).flatMap((one) => Object.keys(one)).length;
  console.log(
    [
      `files ${old.files} -> ${now.files}`,
      `statements ${total}, of them changed ${gone.length + come.length}, written once instead of several times ${once}`,
      `names changed ${names}`,
      `tests ${old.tests} -> ${now.tests}, assertions ${old.assertions} -> ${now.assertions}`,
    ].join("; "),
  );
  for (const text of gone) console.log(`- ${text.slice(0, 300)}`);
  for (const text of come) console.log(`+ ${text.slice(0, 300)}`);
  const isSame = old.tests === now.tests && old.assertions === now.assertions;
  return isSame && gone.length + come.length === 0 ? 0 : 1;
}

process.exitCode = main(process.argv.slice(2));
