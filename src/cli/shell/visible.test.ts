import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { FORBIDDEN, HOSTILE } from "../../../tests/cli/hostile.ts";
import { visible, visibleJson } from "../../kernel/text.ts";
import { valueTree } from "./sections.ts";
import { cut, fit, fold, jsonText, widthOf } from "./terminal.ts";

const SHORT: Readonly<Record<string, string>> = { n: "\n", r: "\r", t: "\t", "\\": "\\" };

/** Reads back what `visible` wrote. */
function original(text: string): string {
  return text.replace(/\\(?:u\{([0-9a-f]+)\}|u([0-9a-f]{4})|(.))/gsu, (_all, long, code, short) =>
    short === undefined ? String.fromCodePoint(Number.parseInt(long ?? code, 16)) : (SHORT[short] ?? "?"),
  );
}

const anyText = fc.string({ unit: "binary", maxLength: 200 });

describe("text of strangers", () => {
  test(`shows everything and loses nothing, for ${HOSTILE.length} hostile texts`, () => {
    assert.ok(HOSTILE.length >= 100);
    for (const text of [...HOSTILE, "half a pair \ud800", "\udfff"]) {
      const shown = visible(text);
      assert.doesNotMatch(shown, FORBIDDEN);
      assert.ok(!shown.includes("\n"));
      assert.equal(original(shown), text);
    }
  });

  test("shows everything and loses nothing, for any text", () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const shown = visible(text);
        return !FORBIDDEN.test(shown) && !shown.includes("\n") && original(shown) === text;
      }),
    );
  });

  test("as JSON is visible too, on one line, and reads back as the same value", () => {
    for (const text of HOSTILE) {
      const json = jsonText({ [text]: [text] });
      assert.doesNotMatch(json, FORBIDDEN);
      assert.ok(!json.includes("\n"));
      assert.deepEqual(JSON.parse(json), { [text]: [text] });
    }
  });

  test("an escape and a text that looks like one differ", () => {
    assert.equal(visible("\u202e"), "\\u202e");
    assert.equal(visible("\\u202e"), "\\\\u202e");
  });

  test("a mark that strikes a letter out is written out, an accent is not", () => {
    assert.equal(visible("d\u0336o\u20e0"), "d\\u0336o\\u20e0");
    assert.equal(visibleJson('"d\u0336o"'), '"d\\u0336o"');
    assert.equal(visible("e\u0301"), "e\u0301");
  });
});

describe("folding and cutting", () => {
  test("keeps every line within the width, and every character", () => {
    fc.assert(
      fc.property(anyText, fc.integer({ min: 12, max: 40 }), (text, width) => {
        const shown = visible(text);
        const lines = fold(shown, width);
        return lines.join("") === shown && lines.every((line) => widthOf(line) <= width);
      }),
    );
  });

  test("says how much is missing, and never tears a character apart", () => {
    assert.equal(fit("abcdefghij", 8), "abc… +7");
    assert.equal(fit("abc", 8), "abc");
    assert.deepEqual(cut("ab👍cd", 3), { text: "ab", left: 4 });
    fc.assert(
      fc.property(anyText, (text) => {
        const { text: kept, left } = cut(text, 20);
        return kept.length + left === text.length && text.startsWith(kept);
      }),
    );
  });

  test("counts wide characters as two columns", () => {
    assert.equal(widthOf("日本"), 4);
    assert.equal(widthOf("e\u0301"), 1);
  });
});

describe("arguments in readable form", () => {
  test("are a tree with sorted fields, blocks for long text, and secrets by name only", () => {
    const args = {
      to: ["ann", { cc: [] }],
      body: "one\ntwo",
      "odd key": null,
      key: { $secret: "env:TOKEN" },
      amount: 12.5,
      nothing: {},
    };
    assert.deepEqual(valueTree(args, false), [
      "amount: 12.5",
      "body: (2 lines)",
      "  ┆ one",
      "  ┆ two",
      "key: secret env:TOKEN (only the tool gets its value)",
      "nothing: (no fields)",
      '"odd key": null',
      "to:",
      '  - "ann"',
      "  -",
      "    cc: (empty list)",
    ]);
  });

  test("name no secret where something only looks like one", () => {
    assert.deepEqual(valueTree({ a: { $secret: "harmless" }, b: { $secret: "env:T", pay: 9 } }, false), [
      ...["a:", '  "$secret": "harmless"', "b:", '  "$secret": "env:T"', "  pay: 9"],
    ]);
  });

  test("are cut with a count, and in full when asked for", () => {
    const [, rest] = valueTree({ text: "x".repeat(1_500) }, false);
    assert.equal(rest, "  … 500 more characters (use --full)");
    assert.equal(valueTree({ text: "x".repeat(1_500) }, true).length, 1);
    const many = Array.from({ length: 150 }, (_, at) => at);
    assert.equal(valueTree(many, false).at(-1), "… 50 more lines (use --full)");
    assert.equal(valueTree(many, true).length, 150);
  });

  test("no hostile key or value gets through", () => {
    const args = Object.fromEntries(
      HOSTILE.filter((text) => text !== "__proto__").map((text) => [text, text]),
    );
    for (const line of valueTree(args, true)) {
      assert.doesNotMatch(line, FORBIDDEN);
      assert.ok(!line.includes("\n"));
    }
  });
});
