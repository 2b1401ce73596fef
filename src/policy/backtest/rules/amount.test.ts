import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { isHoldpointError } from "../../../kernel/errors.ts";
import type { Json } from "../../../kernel/json.ts";
import { checkAmountFound, readAmount, startAmountSearch } from "./tally.ts";

const sumOf = (path: string, ...all: readonly Json[]) => {
  const sought = startAmountSearch(path);
  return { sought, amounts: all.map((args) => readAmount(sought, args)) };
};

describe("the number that a back-test sums up", () => {
  test("is found by its name, by a path, and under a name with dots in it", () => {
    const args = { amount: 1.5, order: { total: 20, "net.of.tax": 3 } };
    assert.deepEqual(sumOf("amount", args).amounts, [1_500_000n]);
    assert.deepEqual(sumOf("order.total", args).amounts, [20_000_000n]);
    assert.deepEqual(sumOf("order.net.of.tax", args).amounts, [3_000_000n]);
  });

  test("is nothing that an object has not itself, and no text", () => {
    for (const path of ["constructor", "toString.length", "note", "note.length", "list.0", "list.length", ""])
      assert.deepEqual(sumOf(path, { note: "5", list: [1], "": null }).amounts, [null], path);
    assert.deepEqual(sumOf("x", [1], null, 7, "x").amounts, [null, null, null, null]);
    assert.deepEqual(sumOf("x", { "": { x: 1 } }).amounts, [null]);
  });

  test("is enough if one action has it, and asks for nothing where none was compared", () => {
    checkAmountFound(sumOf("amount", { other: 1 }, { amount: 1e300 }).sought, 2);
    checkAmountFound(sumOf("amount").sought, 0);
    checkAmountFound(null, 5);
  });

  test("that no action has is a fault that names those that are there, the nearest first", () => {
    const { sought } = sumOf("amout", { note: "x", order: { total: 1 } }, { user: 2, amount: 3 }, {});
    assert.throws(
      () => checkAmountFound(sought, 3),
      (error) =>
        isHoldpointError(error, "invalid_input") &&
        error.what.includes('None of 3 recorded actions has a number "amout"') &&
        error.what.endsWith("Did you mean amount?") &&
        error.next === "There are: amount, order.total, user.",
    );
    assert.throws(() => checkAmountFound(sumOf("x", { note: "y" }).sought, 1), /None of them has a number/);
  });

  test("among ever so many names is looked for in bounded room", () => {
    const wide = Object.fromEntries(Array.from({ length: 5_000 }, (_, n) => [`n${n}`, n]));
    const deep = { a: { a: { a: { a: { a: { far: 1 } } } } } };
    const { sought } = sumOf("x", deep, wide, wide);
    assert.equal(sought.others.size, 200);
    assert.ok(![...sought.others].some((one) => one.endsWith("far")));
    assert.throws(() => checkAmountFound(sought, 3), /and 188 more\./);
  });
});
