import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { holdsLookAlikes } from "./look-alike.ts";

describe("names whose letters look like others", () => {
  test("are those that mix alphabets of like shapes, or use letters of typesetting", () => {
    for (const name of ["\u0410mount", "\u0422o", "t\u03bf", "\uff41mount", "\u{1d41a}mount", "u\u017fd"])
      assert.ok(holdsLookAlikes(name), name);
  });

  test("are not those of one alphabet, with accents, or of scripts that are written side by side", () => {
    for (const name of ["amount", "größe", "e\u0301t\u00e9", "сумма", "ποσό", "金額 USD", "\u05d0 id"])
      assert.ok(!holdsLookAlikes(name), name);
  });
});
