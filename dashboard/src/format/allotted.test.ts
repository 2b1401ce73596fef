import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { allotted, sizeOf } from "./allotted.ts";

const of = (count: number, size: number) => Array.from({ length: count }, () => size);
const sum = (numbers: readonly number[]) => numbers.reduce((one, other) => one + other, 0);

describe("what of a value is shown in its readable form", () => {
  test("is all of it where there is not much", () => {
    assert.deepEqual(allotted([1, 20, 3], 100), [1, 20, 3]);
    assert.deepEqual(allotted([], 100), []);
  });

  test("is what is small, and as much of what is large as is left", () => {
    assert.deepEqual(allotted([50_000, 1, 9, 50_000], 110), [50, 1, 9, 50]);
  });

  test("is never more than was given, and the first of many rather than a bit of each", () => {
    const many = allotted(of(499, 500), 3_000);
    assert.equal(many.length, 375);
    assert.ok(sum(many) <= 3_000);
    assert.equal(allotted(of(10_000, 1), 3_000).length, 3_000);
    assert.deepEqual(allotted(of(60, 3_661), 3), [3]);
  });

  test("counts whatever lies in a value, and itself", () => {
    assert.equal(sizeOf("text"), 1);
    assert.equal(sizeOf([1, [2, 3], { a: null }]), 7);
  });
});
