import assert from "node:assert/strict";
import { test } from "node:test";
import { changedParts, lineDiff } from "./line-diff.ts";

const drawn = (before: string, after: string): string =>
  lineDiff(before, after)
    .map(({ kind, text }) => `${{ same: " ", out: "-", in: "+" }[kind]}${text}`)
    .join("\n");

test("texts that are alike have no changed line", () => {
  assert.equal(drawn("a\nb", "a\nb"), " a\n b");
  assert.deepEqual(changedParts(lineDiff("a\nb", "a\nb")), [null]);
});

test("a changed line is taken out and put in, in its place", () => {
  assert.equal(drawn("a\nb\nc", "a\nx\nc"), " a\n-b\n+x\n c");
});

test("lines are numbered on the side where they are", () => {
  assert.deepEqual(
    lineDiff("a\nb", "b\nc").map(({ before, after }) => [before, after]),
    [
      [1, null],
      [2, 1],
      [null, 2],
    ],
  );
});

test("a line that moved is kept where most of the text stays", () => {
  assert.equal(drawn("a\nb\nc\nd", "b\nc\nd\na"), "-a\n b\n c\n d\n+a");
});

test("both texts can be read back from the difference", () => {
  const before = "rules:\n  - id: a\n    verdict: block\n  - id: b\n    verdict: approve\n";
  const after =
    "limits: { tool_calls: 5 }\nrules:\n  - id: b\n    verdict: approve\n  - id: a\n    verdict: block\n";
  const lines = lineDiff(before, after);
  const side = (without: "in" | "out") =>
    lines
      .filter(({ kind }) => kind !== without)
      .map(({ text }) => text)
      .join("\n");
  assert.equal(side("in"), before);
  assert.equal(side("out"), after);
});

test("what is far from every change is left out and its place is marked", () => {
  const before = Array.from({ length: 20 }, (_none, at) => `line ${at}`).join("\n");
  const parts = changedParts(lineDiff(before, before.replace("line 10", "other")), 1);
  assert.deepEqual(
    parts.map((line) => line?.text ?? null),
    [null, "line 9", "line 10", "other", "line 11", null],
  );
});
