import assert from "node:assert/strict";
import { test } from "node:test";
import { exampleOf } from "../../approvals/card-checkpoint.ts";
import { schemaText } from "./sections.ts";

const schema = {
  type: "object",
  properties: {
    room: { type: "string", minLength: 1, description: "its name" },
    guests: { type: "integer", minimum: 1, maximum: Number.MAX_SAFE_INTEGER },
    kinds: { type: "array", items: { enum: ["thin", "thick"] }, maxItems: 3 },
    when: { anyOf: [{ type: "null" }, { type: "object", properties: { day: { type: "string" } } }] },
    odd: { not: {} },
    any: true,
  },
  required: ["room", "guests"],
};

test("a schema is told in words, one line a field", () => {
  assert.deepEqual(schemaText(schema), [
    "an object with",
    "  room: a text, characters at least 1 (its name)",
    "  guests: a whole number, at least 1",
    '  kinds: optional, a list, items at most 3 of: one of "thin", "thick"',
    "  when: optional, one of:",
    "  - null",
    "  - an object with",
    "      day: optional, a text",
    '  odd: optional, {"not":{}}',
    "  any: optional, anything",
  ]);
  assert.deepEqual(schemaText({ type: "boolean" }), ["true or false"]);
  assert.deepEqual(schemaText({ const: 5 }), ["5"]);
  assert.deepEqual(schemaText({ type: "object" }), ["an object"]);
  assert.deepEqual(schemaText({ $ref: "#/x" }), ['{"$ref":"#/x"}']);
});

test("text of strangers in a schema stays on its line and is made visible", () => {
  const lines = schemaText({ type: "string", description: "a\n\u202eb", enum: ["\u001b[31m"] });
  assert.deepEqual(lines, ['one of "\\u001b[31m" (a\\n\\u202eb)']);
});

test("an example has the fields, to be typed over", () => {
  assert.deepEqual(exampleOf(schema), { room: "…", guests: 0, kinds: [], when: {}, odd: {}, any: {} });
  assert.equal(exampleOf({ enum: ["low", "high"] }), "low");
  assert.deepEqual(exampleOf(undefined), {});
});
