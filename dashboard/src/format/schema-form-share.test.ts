import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Json } from "./json.ts";
import { controlOf } from "./schema-form.ts";
import { MOST_BOXES, sharesOf, withinShare } from "./schema-form-share.ts";
import { schemaOf } from "./schema-of.ts";

const numbers = (count: number) => Array.from({ length: count }, (_, at) => at);
const named = (count: number) => Object.fromEntries(numbers(count).map((at) => [`k${at}`, at]));
const amounts = { type: "array", items: { type: "number" } };
const limits = { type: "object", additionalProperties: { type: "number" } };

describe("a form with very many parts", () => {
  test("has one box for a list, for names or for fields of which there are too many", () => {
    const kind = (schema: Json, value: Json) => withinShare(controlOf(schema, value), value, MOST_BOXES).kind;
    assert.deepEqual([kind(amounts, numbers(400)), kind(amounts, numbers(501))], ["list", "json"]);
    assert.deepEqual([kind(limits, named(400)), kind(limits, named(501))], ["record", "json"]);
    assert.equal(kind(schemaOf(named(400)), named(400)), "group");
    assert.equal(kind(schemaOf(named(501)), named(501)), "json");
    assert.equal(kind(schemaOf(named(501)), {}), "json", "boxes that are not set count too");
  });

  test("counts what lies deeper", () => {
    const rows = numbers(30).map(() => named(30));
    const schema = { type: "array", items: limits };
    assert.equal(withinShare(controlOf(schema, rows), rows, MOST_BOXES).kind, "json");
  });

  test("keeps the boxes of what is small beside what is large", () => {
    const value = { items: numbers(5_000), options: { loud: true }, to: "bob" };
    const schema = schemaOf(value);
    const control = withinShare(controlOf(schema, value), value, MOST_BOXES);
    if (control.kind !== "group") return assert.fail(control.kind);
    const shares = sharesOf(control.fields, value, MOST_BOXES);
    const kinds = control.fields.map(({ name, schema: of }, at) => {
      const own = value[name as keyof typeof value];
      return [name, withinShare(controlOf(of, own), own, shares[at] ?? 0).kind];
    });
    assert.deepEqual(Object.fromEntries(kinds), { items: "json", options: "group", to: "text" });
  });

  test("has the fields of an empty group, which have no parts yet", () => {
    const schema = { type: "object", properties: { a: { type: "string" }, b: { type: "string" } } };
    assert.equal(withinShare(controlOf(schema, {}), {}, 1).kind, "group");
  });
});
