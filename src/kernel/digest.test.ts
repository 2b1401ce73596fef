import assert from "node:assert/strict";
import { test } from "node:test";
import { digestOf, sha256 } from "./canonical-json.ts";

test("the short name of arguments is the one that people and traces have seen before", () => {
  assert.equal(digestOf({ user_id: 42 }).slice(0, 12), "feaa769a39ae");
});

test("a digest is over canonical JSON", () => {
  assert.equal(sha256(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  assert.equal(digestOf({ b: 1, a: "é" }), sha256('{"a":"é","b":1}'));
  assert.equal(digestOf({ a: "é", b: 1 }), digestOf({ b: 1.0, a: "é", c: undefined }));
});
