import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { isQuotedBeside, itemTexts, needsQuotes } from "./quoted.ts";

describe("text among other values", () => {
  test("is quoted where it reads like something else, or has blanks at its ends", () => {
    for (const text of ["12", "1,000.5", "true", "null", "no", " a", "a ", "   ", '"a"', "empty text"])
      assert.ok(needsQuotes(text), text);
    for (const text of [
      "an empty list",
      "an empty object",
      "not there",
      "+5",
      "１００",
      "1 000",
      "1\u00a0000,50",
    ])
      assert.ok(needsQuotes(text), text);
    for (const text of [
      "5 USD",
      "5 %",
      "٣",
      "ｎｕｌｌ",
      "a secret, put in when it runs: env:KEY",
      "−∞",
      "0x10",
    ])
      assert.ok(needsQuotes(text), text);
    for (const text of [
      "bob",
      "12 Main Street",
      "no, thanks",
      "a b",
      "an empty listing",
      "2026-01-02",
      "1 of 3",
    ])
      assert.ok(!needsQuotes(text), text);
  });

  test("is quoted beside what is no text, and where it reads like something else", () => {
    assert.ok(isQuotedBeside("40", 40) && isQuotedBeside("bob", { name: "bob" }) && isQuotedBeside("", "a"));
    assert.ok(isQuotedBeside("null", undefined));
    assert.ok(
      !isQuotedBeside(40, "40") && !isQuotedBeside("bob", "ben") && !isQuotedBeside("bob", undefined),
    );
  });

  test("a list of texts reads as it is; one with anything else in it shows which are texts", () => {
    assert.deepEqual(itemTexts(["a", "b"]), ["a", "b"]);
    assert.deepEqual(itemTexts(["a", "1", ""]), ["a", '"1"', '""']);
    assert.deepEqual(itemTexts(["a", 1, "1", null]), ['"a"', "1", '"1"', "null"]);
  });
});
