import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { controlOf, firstValue, issueAt, turnedInto } from "./schema-form.ts";
import { schemaOf } from "./schema-of.ts";
import { resolved } from "./schema-parts.ts";

const kindOf = (is: string, of: object, needed: readonly string[]) => ({
  ...{ type: "object", properties: { by: { type: "string", const: is }, ...of } },
  required: ["by", ...needed],
});
const CARD = kindOf("card", { number: { type: "string" }, note: { type: "string" } }, ["number"]);
const BANK = kindOf("bank", { iban: { type: "string" }, note: { type: "string" } }, ["iban"]);
const PAY = { oneOf: [CARD, BANK] };

describe("a form out of a schema", () => {
  test("gives each type its control", () => {
    assert.deepEqual(controlOf({ type: "string" }, "a"), { kind: "text", isLong: false });
    assert.deepEqual(controlOf({ type: "string" }, "a\nb"), { kind: "text", isLong: true });
    assert.deepEqual(controlOf({ type: "integer" }, 1), { kind: "number", isWhole: true });
    assert.deepEqual(controlOf({ type: "boolean" }, false), { kind: "flag" });
    assert.deepEqual(controlOf({ enum: ["a", 2] }, 2), { kind: "choice", options: ["a", 2] });
    assert.deepEqual(controlOf({ anyOf: [{ const: "a" }, { const: "b" }] }, "a"), {
      kind: "choice",
      options: ["a", "b"],
    });
    assert.deepEqual(controlOf({ type: "array", items: { type: "string" } }, []), {
      kind: "list",
      item: { type: "string" },
    });
  });

  test("names which fields are needed", () => {
    const schema = { type: "object", properties: { a: { type: "string" }, b: {} }, required: ["a"] };
    assert.deepEqual(controlOf(schema, { a: "x" }), {
      kind: "group",
      fields: [
        { name: "a", schema: { type: "string" }, isNeeded: true },
        { name: "b", schema: {}, isNeeded: false },
      ],
    });
  });

  test("writes as JSON whatever its control would hide", () => {
    const schema = { type: "object", properties: { a: { type: "string" } } };
    assert.deepEqual(controlOf(schema, { a: "x", other: 1 }), { kind: "json" });
    assert.deepEqual(controlOf({ type: "string" }, 7), { kind: "json" });
    assert.deepEqual(controlOf({ enum: ["a"] }, "b"), { kind: "json" });
    assert.deepEqual(controlOf({ type: "object", properties: {} }, { $secret: "s" }), { kind: "json" });
    assert.deepEqual(controlOf({ type: ["string", "number"] }, 7), { kind: "json" });
    assert.deepEqual(controlOf(PAY, { by: "card", number: "4", other: 1 }), { kind: "json" });
    assert.deepEqual(controlOf(PAY, { by: "cash" }), { kind: "json" });
    const record = { type: "object", additionalProperties: { type: "number" } };
    assert.deepEqual(controlOf(record, { $secret: "env:T" }), { kind: "json" });
  });

  test("follows what a schema points to within itself, and no further than it must", () => {
    const root = { $defs: { name: { type: "string" }, loop: { $ref: "#/$defs/loop" } } };
    assert.deepEqual(resolved({ $ref: "#/$defs/name" }, root), { type: "string" });
    assert.deepEqual(resolved({ $ref: "#/$defs/loop" }, root), { $ref: "#/$defs/loop" });
    assert.deepEqual(resolved({ $ref: "#/$defs/none" }, root), { $ref: "#/$defs/none" });
  });

  test("begins a new value with what is needed of it", () => {
    const schema = {
      type: "object",
      properties: { a: { type: "string" }, b: { type: "number" }, c: { type: "boolean", default: true } },
      required: ["a", "c"],
    };
    assert.deepEqual(firstValue(schema), { a: "", c: true });
  });

  test("is made from the value where nobody gave a schema", () => {
    const value = { score: 0.9, notes: "ok", rows: [1], keep: true };
    const schema = schemaOf(value);
    assert.equal(controlOf(schema, value).kind, "group");
    assert.deepEqual(controlOf({ type: "number" }, value.score), { kind: "number", isWhole: false });
  });

  test("has a place for nothing where a value may be nothing, however the schema says so", () => {
    const text = { type: "string", description: "why" };
    assert.deepEqual(controlOf({ ...text, type: ["string", "null"] }, null), { kind: "maybe", of: text });
    const either = { anyOf: [{ type: "string" }, { type: "null" }], description: "why" };
    for (const value of ["x", null])
      assert.deepEqual(controlOf(either, value), { kind: "maybe", of: { ...text } });
    const pay = controlOf({ anyOf: [PAY, { type: "null" }] }, null);
    assert.deepEqual(pay, { kind: "maybe", of: PAY });
    assert.deepEqual(controlOf({ anyOf: [{ type: "string" }, { type: "number" }] }, "x"), { kind: "json" });
    assert.deepEqual(controlOf({ anyOf: [{}, { type: "null" }] }, null), { kind: "json" });
    assert.equal(firstValue(either), null);
  });

  test("tells kinds of objects apart by a constant, also where they are only pointed to", () => {
    const options = [
      { is: "card", schema: CARD },
      { is: "bank", schema: BANK },
    ];
    const value = { by: "card", number: "4" };
    assert.deepEqual(controlOf(PAY, value), { kind: "variants", by: "by", options });
    const root = { $defs: { card: CARD, bank: BANK } };
    const pointed = { anyOf: [{ $ref: "#/$defs/card" }, { $ref: "#/$defs/bank" }] };
    assert.deepEqual(controlOf(pointed, value, root), { kind: "variants", by: "by", options });
    assert.deepEqual(firstValue(PAY), { by: "card", number: "" });
    assert.deepEqual(controlOf({ oneOf: [CARD, CARD] }, value), { kind: "json" }, "nothing tells them apart");
  });

  test("keeps of another kind what both have alike", () => {
    const value = { by: "card", number: "4", note: "today" };
    assert.deepEqual(turnedInto(value, CARD, BANK, PAY), { by: "bank", iban: "", note: "today" });
  });

  test("begins a value that is made of itself, and comes to an end", () => {
    const not = kindOf("not", { of: { oneOf: [{ $ref: "#/$defs/not" }, { $ref: "#/$defs/is" }] } }, ["of"]);
    const root = { $defs: { not, is: kindOf("is", {}, []) } };
    assert.ok(JSON.stringify(firstValue(not, root)).length < 500);
  });

  test("lists the names of a record", () => {
    const record = { type: "object", additionalProperties: { type: "number" } };
    assert.deepEqual(controlOf(record, { a: 1 }), { kind: "record", item: { type: "number" } });
    assert.deepEqual(controlOf(record, []), { kind: "json" });
    assert.deepEqual(firstValue(record), {});
  });

  test("finds what is wrong with one place", () => {
    const issues = [{ path: ["a", 0], message: "too long" }];
    assert.equal(issueAt(issues, ["a", 0]), "too long");
    assert.equal(issueAt(issues, ["a"]), undefined);
  });
});
