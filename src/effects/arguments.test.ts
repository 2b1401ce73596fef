import assert from "node:assert/strict";
import { test } from "node:test";
import type { Json } from "../kernel/json.ts";
import { findSchemaIssues, issuesText } from "./arguments.ts";

const SCHEMA = {
  type: "object",
  properties: {
    amount: { type: "number" },
    to: { type: "object", properties: { name: { type: "string" } } },
  },
  required: ["amount"],
  additionalProperties: false,
};

const textOf = async (args: Json) => issuesText(await findSchemaIssues(SCHEMA, args));

test("what does not fit is named by its path, and what is wrong with the whole has none", async () => {
  assert.deepEqual(await findSchemaIssues(SCHEMA, { amount: 1 }), []);
  assert.match(await textOf({ amount: "x" }), /^amount: /);
  assert.match(await textOf({ amount: 1, to: { name: 5 } }), /^to\.name: /);
  const whole = await textOf({ amount: 1, mount: 2 });
  assert.match(whole, /^Unrecognized key/, "without a colon before it");
  assert.doesNotMatch(whole, /(^|; ):/);
});

test("each thing that does not fit has its place, items of lists by their number", async () => {
  const list = { type: "array", items: { type: "object", properties: { n: { type: "number" } } } };
  const issues = await findSchemaIssues(list, [{ n: 1 }, { n: "x" }, { n: "y" }]);
  assert.deepEqual(
    issues.map(({ path }) => path),
    [
      [1, "n"],
      [2, "n"],
    ],
  );
});

test("a schema that cannot be read here finds nothing: the tool decides in the end", async () => {
  assert.deepEqual(await findSchemaIssues({ $ref: "https://elsewhere.invalid/schema" }, 1), []);
});
