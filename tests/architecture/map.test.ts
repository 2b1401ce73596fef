/** The map in ARCHITECTURE.md is the tree: the folders of `src/`, two levels deep, and the files beside them. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { FOLDERS } from "../../src/kernel/registry.ts";
import { readRoot, readTree } from "./files.ts";

/** Every capability may have `rules/`. The folders of commands are those of the capabilities. */
const isPlain = (folder: string, inner: string): boolean => inner === "rules" || folder === "cli";

const article = readRoot("ARCHITECTURE.md");

/** `people/`, `people/keys/`, `index.ts`: what the block names, in its order. */
function readMap(text: string): string[] {
  const block = /```text\nsrc\/\n([\s\S]*?)```/.exec(text)?.[1] ?? "";
  let folder = "";
  return block.split("\n").flatMap((line) => {
    const row = /^( +)([\w.-]+\/?) {2,}\S/.exec(line);
    if (row === null) return [];
    if (row[1]?.length === 2) folder = row[2] ?? "";
    return row[1]?.length === 2 ? [folder] : [`${folder}${row[2]}`];
  });
}

function readShape(paths: readonly string[]): Set<string> {
  const names = paths.flatMap((path) => {
    const [first = "", second = "", third] = path.replace(/^src\//, "").split("/");
    if (second === "") return [first];
    const isNamed = third !== undefined && !isPlain(first, second);
    return isNamed ? [`${first}/`, `${first}/${second}/`] : [`${first}/`];
  });
  return new Set(names);
}

const isCode = (path: string): boolean => /\.ts$/.test(path) && !/\.test(?:-\w+)?\.ts$/.test(path);
const tree = readShape(
  readTree("src")
    .map(({ path }) => path)
    .filter(isCode),
);

test("the map in ARCHITECTURE.md names the folders and files of src/, and no others", () => {
  assert.deepEqual(readMap(article).toSorted(), [...tree].toSorted());
});

test("the map lists capabilities in the order in which their rules may build on each other", () => {
  const order = readMap(article)
    .filter((name) => /^[\w-]+\/$/.test(name))
    .map((name) => name.slice(0, -1));
  const known: readonly string[] = FOLDERS;
  assert.deepEqual(
    order.filter((name) => known.includes(name)),
    known,
  );
});

test("the map test finds a folder that the map does not name, and a name that has no folder", () => {
  const paths = ["src/ledger/rules/post.ts", "src/ledger/rails/x402.ts", "src/index.ts"];
  assert.deepEqual([...readShape(paths)], ["ledger/", "ledger/rails/", "index.ts"]);
  assert.deepEqual(readMap("```text\nsrc/\n  a/      one\n    b/    two\n  c.ts    three\n```"), [
    "a/",
    "a/b/",
    "c.ts",
  ]);
});

/** A path in backticks, without patterns or line numbers. */
const PATH = /`((?:src|tests|docs|dashboard|scripts|examples|verifier)\/[\w./-]+)`/g;

/** A page of prose has about 500 words. */
const MOST_WORDS = 4 * 500;

test("ARCHITECTURE.md has four pages at most", () => {
  const words = article.split(/\s+/).filter((word) => /\w/.test(word));
  assert.ok(words.length <= MOST_WORDS, `${words.length} words`);
});

const roots = ["src", "tests", "docs", "dashboard", "scripts", "examples", "verifier"];
const files = roots.flatMap((root) => readTree(root).map(({ path }) => path));
const missingIn = (paths: readonly string[]): readonly string[] =>
  paths.filter(
    (path) => !files.some((file) => file === path || file.startsWith(path.endsWith("/") ? path : `${path}/`)),
  );

test("every path that ARCHITECTURE.md and the guarantees name exists", () => {
  const named = [...`${article}${readRoot("docs/reference/guarantees.md")}`.matchAll(PATH)].map(
    ([, path = ""]) => path,
  );
  assert.ok(named.length > 20);
  assert.deepEqual(missingIn(named), []);
});

/** By row of the steps for a capability: all that has a slash and is no code, also with a placeholder or without its root. */
function pathsOfSteps(text: string): readonly (readonly string[])[] {
  const [table = ""] = /\n\| step \|(?:.+\n)+/.exec(text) ?? [];
  const rows = table.split("\n").filter((row) => /^\| \d/.test(row));
  return rows.map((row) => [...row.matchAll(/`([\w./<>*-]+\/[\w./<>*-]*)`/g)].map(([, path = ""]) => path));
}

test("every step for a capability names files, and each of them exists", () => {
  const steps = pathsOfSteps(article);
  assert.ok(steps.length >= 8 && steps.every((paths) => paths.length > 0));
  assert.deepEqual(missingIn(steps.flat()), []);
});

test("the test of steps finds a placeholder, and a path without its root", () => {
  const row =
    "| 1 | `src/<list>/stream.ts` | `NotesPage` in `pages/notes/notes-page.tsx`, as `src/grants/` |";
  const paths = pathsOfSteps(`\n| step | file |\n|---|---|\n${row}\n\n\`src/none/\``).flat();
  assert.deepEqual(missingIn(paths), ["src/<list>/stream.ts", "pages/notes/notes-page.tsx"]);
});
