import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { diffFigures, diffLines, isDiff } from "./diff-lines.ts";

const DIFF = `diff --git a/x b/x
--- a/x
+++ b/x
@@ -1,3 +1,3 @@
 same
--- a comment of SQL
+++ counted
 end`;

describe("a unified diff", () => {
  test("is known by its places, not by signs at the beginning of lines", () => {
    assert.equal(isDiff(DIFF), true);
    assert.equal(isDiff("- one\n+ two"), false);
  });

  test("a line within it that looks like a heading counts as added or removed", () => {
    const kinds = diffLines(DIFF).map(({ kind }) => kind);
    assert.deepEqual(kinds, ["file", "file", "file", "place", "same", "removed", "added", "same"]);
    assert.deepEqual(diffFigures(diffLines(DIFF)), { added: 1, removed: 1 });
  });

  test("keeps every character of every line", () => {
    assert.equal(
      diffLines(DIFF)
        .map(({ text }) => text)
        .join("\n"),
      DIFF,
    );
  });
});
