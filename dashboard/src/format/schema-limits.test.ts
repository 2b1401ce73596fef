import assert from "node:assert/strict";
import { test } from "node:test";
import { limitsText } from "./schema-limits.ts";

test("the limits of a field read as people say them", () => {
  assert.equal(limitsText({ type: "string", maxLength: 500 }), "at most 500 characters");
  assert.equal(limitsText({ type: "string", maxLength: 1 }), "at most 1 character");
  assert.equal(
    limitsText({ type: "number", exclusiveMinimum: 0, maximum: 1000 }),
    "more than 0, at most 1000",
  );
  assert.equal(limitsText({ type: "integer", maximum: Number.MAX_SAFE_INTEGER }), "");
});
