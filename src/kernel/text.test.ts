import assert from "node:assert/strict";
import { test } from "node:test";
import { canonicalJson } from "./canonical-json.ts";
import { errorText } from "./text.ts";

const unreadable = {
  toString() {
    throw new Error("no");
  },
};

test("whatever is thrown becomes text that the journal can keep", () => {
  const thrown = [
    new Error("x"),
    Object.assign(new Error("x"), { message: "" }),
    "text",
    "",
    null,
    undefined,
    5,
    5n,
    Symbol("s"),
    {},
    Object.create(null),
    unreadable,
    new Error("\ud800"),
  ];
  for (const error of thrown) {
    const text = errorText(error);
    assert.ok(text.length > 0);
    assert.doesNotThrow(() => canonicalJson(text));
  }
  assert.equal(errorText(new Error("out of stock")), "out of stock");
  assert.equal(errorText(""), "no reason given");
});

test("a long error is cut, and says how long it was", () => {
  const text = errorText(new Error("😀".repeat(5_000)));
  assert.ok(text.length < 2_100);
  assert.match(text, /… \(10000 characters\)$/);
  assert.ok(text.isWellFormed());
});

test("what nobody may see is taken out before the cut, which could leave half of it", () => {
  const error = new Error(`${"x".repeat(1_995)}TOP-SECRET`);
  assert.doesNotMatch(
    errorText(error, (text) => text.replaceAll("TOP-SECRET", "[…]")),
    /TOP/,
  );
});
