import assert from "node:assert/strict";
import { test } from "node:test";
import { offsetOf } from "./place-in-text.ts";

const TEXT = "policy: a\nrules:\n  - id: b";

test("a line and a column lead to their character", () => {
  assert.equal(offsetOf(TEXT, 1), 0);
  assert.equal(TEXT.slice(offsetOf(TEXT, 2)).startsWith("rules"), true);
  assert.equal(TEXT.slice(offsetOf(TEXT, 3, 5)).startsWith("id: b"), true);
});

test("a place behind the end of its line or of the text is that end", () => {
  assert.equal(offsetOf(TEXT, 1, 99), 9);
  assert.equal(offsetOf(TEXT, 99), TEXT.length);
});
