import assert from "node:assert/strict";
import { test } from "node:test";
import { hanging } from "./terminal.ts";

test("a long line is folded for people with the rest set in, and left whole for programs", () => {
  const text = "p.yaml:4:29  the expression ends where more is needed";
  assert.deepEqual(hanging(text, { interactive: true, columns: 40 }), [
    "p.yaml:4:29  the expression ends",
    "  where more is needed",
  ]);
  assert.deepEqual(hanging(text, { interactive: false, columns: 40 }), [text]);
  assert.deepEqual(hanging("short", { interactive: true, columns: 40 }), ["short"]);
});
