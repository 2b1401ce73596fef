import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { controlOf, firstValue, issueAt, resolved, schemaOf } from "./schema-form.ts";

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
    assert.deepEqual(controlOf({ type: ["string", "null"] }, null), { kind: "json" });
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

  test("finds what is wrong with one place", () => {
    const issues = [{ path: ["a", 0], message: "too long" }];
    assert.equal(issueAt(issues, ["a", 0]), "too long");
    assert.equal(issueAt(issues, ["a"]), undefined);
  });
});
