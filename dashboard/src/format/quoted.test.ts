import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { itemTexts, needsQuotes } from "./quoted.ts";

describe("text among other values", () => {
  test("is quoted where it reads like something else, or has blanks at its ends", () => {
    for (const text of ["12", "1,000.5", "true", "null", "no", " a", "a ", "   ", '"a"', "empty text"])
      assert.ok(needsQuotes(text), text);
    for (const text of ["bob", "12 Main Street", "no, thanks", "a b"]) assert.ok(!needsQuotes(text), text);
  });

  test("a list of texts reads as it is; one with anything else in it shows which are texts", () => {
    assert.deepEqual(itemTexts(["a", "b"]), ["a", "b"]);
    assert.deepEqual(itemTexts(["a", "1", ""]), ["a", '"1"', '""']);
    assert.deepEqual(itemTexts(["a", 1, "1", null]), ['"a"', "1", '"1"', "null"]);
  });
});
