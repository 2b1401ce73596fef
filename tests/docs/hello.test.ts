import assert from "node:assert/strict";
import { test } from "node:test";
import { blocksOf, markdownFiles, readRoot } from "./markdown.ts";

const MOST_LINES = 8;

/** The program without the comment above it. */
const hello = readRoot("examples/hello.ts").replace(/^(?:\/\/[^\n]*\n)+/, "");
const codeLines = (text: string): readonly string[] =>
  text.split("\n").filter((line) => line.trim() !== "" && !line.startsWith("//"));

test("hello world has at most eight lines of code", () => {
  assert.ok(codeLines(hello).length <= MOST_LINES, `${codeLines(hello).length} lines`);
});

for (const file of ["README.md", "docs/guide/getting-started.md"]) {
  test(`hello world in ${file} is examples/hello.ts, word for word`, () => {
    const first = blocksOf(file).find(({ language }) => language === "ts");
    assert.equal(first?.text, hello);
  });
}

test("every example is short, says what it shows, and is linked from the README or the guide", () => {
  const examples = ["hello", "execute", "refund", "budget", "in-doubt"];
  const texts = ["README.md", ...markdownFiles("docs/guide")].map(readRoot).join("\n");
  for (const name of examples) {
    const source = readRoot(`examples/${name}.ts`);
    assert.match(source, /^\/\/ [A-Z]/, name);
    assert.ok(source.split("\n").length <= 40, name);
    assert.match(source, /from "holdpoint"/, name);
    if (name !== "hello") assert.ok(texts.includes(`examples/${name}.ts`), name);
  }
});
