import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { piecesOf } from "./arguments-line.ts";
import { clockText, nearnessOf, shareOver } from "./deadline.ts";
import { folded } from "./folded.ts";
import { pathText } from "./json.ts";
import { labelOf, labelsOf } from "./labels.ts";
import { bytesText } from "./numbers.ts";

describe("the beginning of the arguments in a list", () => {
  test("is read as names and values", () => {
    assert.deepEqual(piecesOf('{"amount":40,"to":"bob","lines":[{"sku":"a"}]}'), [
      { name: "To", value: "bob" },
      { name: "Amount", value: "40" },
      { name: "Lines", value: "[{sku: a}]" },
    ]);
  });

  test("is read as far as it goes where it was cut", () => {
    assert.deepEqual(piecesOf('{"to":"bob","note":"please se'), [
      { name: "To", value: "bob" },
      { name: "Note", value: "please se…" },
    ]);
    assert.deepEqual(piecesOf('{"to":"bob","no'), [{ name: "To", value: "bob" }]);
  });

  test("has no fields only where it says so", () => {
    assert.deepEqual(piecesOf("{}"), []);
    assert.equal(piecesOf('{"a very long na'), undefined);
    assert.equal(piecesOf("{"), undefined);
  });

  test("says money as the card does, unless it was cut", () => {
    assert.deepEqual(piecesOf('{"amount_usd":18240.55}'), [{ name: "Amount USD", value: "18,240.55 USD" }]);
    assert.deepEqual(piecesOf('{"currency":"eur","total":"1200"}'), [
      { name: "Currency", value: "eur" },
      { name: "Total", value: '"1200" EUR' },
    ]);
    assert.deepEqual(piecesOf('{"amount_usd":18… (400 characters)'), [
      { name: "Amount USD", value: "18…(400characters)" },
    ]);
  });

  test("has whom it goes to before a long text", () => {
    const body = "word ".repeat(20);
    const names = piecesOf(JSON.stringify({ body, cc: "al", subject: "Hello", to: "bo" }));
    assert.deepEqual(
      names?.map(({ name }) => name),
      ["Subject", "To", "Cc", "Body"],
    );
  });

  test("names that would read alike stand as they are written", () => {
    const names = piecesOf('{"amount_usd":5,"amountUsd":5000}');
    assert.deepEqual(
      names?.map(({ name }) => name),
      ["amount_usd", "amountUsd"],
    );
  });

  test("is left as it came where it is no object", () => {
    assert.equal(piecesOf('["a"]'), undefined);
    assert.equal(piecesOf("3"), undefined);
  });
});

describe("a deadline", () => {
  const span = { requested_at: "2026-01-01T00:00:00Z", decide_by: "2026-01-01T10:00:00Z" };
  const at = (time: string) => Date.parse(`2026-01-01T${time}Z`);

  test("is near in its last part, over when it has passed, and none where none was set", () => {
    assert.equal(nearnessOf(span, at("01:00:00")), "far");
    assert.equal(nearnessOf(span, at("09:00:00")), "near");
    assert.equal(nearnessOf(span, at("10:00:00")), "over");
    assert.equal(nearnessOf({ ...span, decide_by: null }, at("10:00:00")), "none");
  });

  test("is not near from the start where little time was given", () => {
    const short = { requested_at: span.requested_at, decide_by: "2026-01-01T00:05:00Z" };
    assert.equal(nearnessOf(short, at("00:00:10")), "far");
    assert.equal(nearnessOf(short, at("00:03:00")), "near");
  });

  test("runs as a clock", () => {
    assert.deepEqual([247_000, 3_729_000, 184_500_000, 9_000].map(clockText), [
      "4:07",
      "1:02:09",
      "2 d 3:15:00",
      "0:09",
    ]);
    assert.equal(shareOver(span, at("05:00:00")), 0.5);
  });
});

describe("what is shown of text", () => {
  test("nothing is folded without saying how much", () => {
    const text = "x".repeat(5_000);
    const { shown, more } = folded(text);
    assert.equal(shown.length + more, 5_000);
    assert.ok(more > 0);
    assert.deepEqual(folded("short"), { shown: "short", more: 0 });
  });

  test("many short lines are folded too, and no character is torn", () => {
    assert.ok(folded("a\n".repeat(100)).more > 0);
    assert.ok(folded("😀".repeat(2_000)).shown.isWellFormed());
  });

  test("what is long once its hidden characters are written out is folded", () => {
    const { shown, more } = folded("\u{e0041}".repeat(400));
    assert.ok(more > 0 && shown.length > 0 && shown.length + more === 800);
    assert.ok(folded(`${"a".repeat(1_500)}${"\u{e0041}".repeat(90)}`).more > 0);
    assert.equal(folded("\u{e0041}".repeat(100)).more, 0);
    assert.equal(folded("\tC:\\".repeat(300)).more, 0, "tabs and backslashes are ordinary");
  });

  test("names of fields are words; a strange one stays as it is", () => {
    assert.deepEqual(["invoiceId", "amount_usd", "to", "x y", "<b>"].map(labelOf), [
      "Invoice ID",
      "Amount USD",
      "To",
      "x y",
      "<b>",
    ]);
  });

  test("two names that would read alike are both shown as they are written", () => {
    assert.deepEqual(
      [...labelsOf(["invoiceId", "invoice_id", "to"])],
      [
        ["invoiceId", "invoiceId"],
        ["invoice_id", "invoice_id"],
        ["to", "To"],
      ],
    );
  });

  test("places and sizes are written as people write them", () => {
    assert.equal(pathText(["lines", 0, "sku"]), "lines[1].sku");
    assert.equal(pathText(["to be decided by", "größe"]), "to be decided by.größe");
    assert.deepEqual(
      [["a", "b.c"], ["a.b"], ["a[1]"], ["", "x"], ["a "]].map((path) => pathText(path)),
      ['a."b.c"', '"a.b"', '"a[1]"', '"".x', '"a "'],
    );
    assert.deepEqual([12, 2_048, 70_000].map(bytesText), ["12 bytes", "2.0 KiB", "68.4 KiB"]);
  });
});
