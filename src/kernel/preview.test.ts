import assert from "node:assert/strict";
import { test } from "node:test";
import { previewOf } from "./canonical-json.ts";

test("what is long is cut, and its short fields come before its long ones", () => {
  const mail = { body: "Dear all, ".repeat(50), subject: "Hello", to: "bo@example.com" };
  const shown = previewOf(mail);
  assert.match(shown, /^\{"subject":"Hello","to":"bo@example\.com","body":"Dear all, /);
  assert.match(shown, /… \(5\d\d characters\)$/);
});

test("what is short is shown whole, as it is hashed", () => {
  assert.equal(previewOf({ b: 1, a: "x" }), '{"a":"x","b":1}');
});

test("a long list is cut where it stands", () => {
  assert.match(previewOf(Array(300).fill(1)), /^\[1,1,1,.*… \(601 characters\)$/);
});
