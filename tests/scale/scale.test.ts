import assert from "node:assert/strict";
import { test } from "node:test";
import { measureWaking } from "./measure-waking.ts";
import { measure } from "./run.ts";

test("a fresh process shows the inbox and decides on a store with thousands waiting, in little memory", async () => {
  const measured = await measure(4_000, () => undefined);
  assert.equal(measured.shown, 50);
  assert.ok(measured.memoryMb < 300, `${measured.memoryMb} MB`);
});

test("a fresh process wakes workflows on a store with thousands suspended, in little memory", async () => {
  const measured = await measureWaking(2_000, 20, () => undefined);
  assert.equal(measured.wakes, 20);
  assert.ok(measured.memoryMb < 300, `${measured.memoryMb} MB`);
});
