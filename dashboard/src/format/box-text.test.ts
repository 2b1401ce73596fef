import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { hasUnseen, optionTexts, rowsFor } from "./box-text.ts";
import { typedJson, typedNumber } from "./typed-json.ts";

describe("what a box cannot show", () => {
  test("hidden characters and blanks at the ends are told, a backslash and a line break are not", () => {
    for (const text of ["a\u200bb", "a\u202eb", "a\tb", "a ", " a", "a\r\nb", "   ", "mv \u05d0/1 \u05d1/2"])
      assert.ok(hasUnseen(text), JSON.stringify(text));
    for (const text of ["", "a b", "C:\\temp", "a\nb"]) assert.ok(!hasUnseen(text), JSON.stringify(text));
  });

  test("a box is as high as its text, within bounds", () => {
    assert.deepEqual(["", "x".repeat(300), "x\n".repeat(1_000)].map(rowsFor), [2, 5, 24]);
  });

  test("options say what they are: nothing is hidden, and a text differs from a number", () => {
    assert.deepEqual(optionTexts(["a", "a\u200b"]), ["a", "a\\u200b"]);
    assert.deepEqual(optionTexts(["1", 1, null]), ['"1"', "1", "null"]);
  });
});

describe("what is typed", () => {
  test("is taken as JSON only where it can be sent as it stands there", () => {
    assert.deepEqual(typedJson('{"a":[1]}'), { value: { a: [1] } });
    assert.equal(typedJson('{"a":'), undefined);
    assert.equal(typedJson("1e400"), undefined);
    assert.equal(typedJson('{"a":[-1e999]}'), undefined);
  });

  test("is a number once it is one", () => {
    assert.deepEqual(["12.5", "-", "1e400", "1e3"].map(typedNumber), [12.5, "-", "1e400", 1_000]);
  });
});
