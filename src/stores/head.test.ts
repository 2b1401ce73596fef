import assert from "node:assert/strict";
import { test } from "node:test";
import { createCache } from "./head.ts";

test("a cache never holds more than it may, and keeps what is used", () => {
  const cache = createCache<number>({ count: 10, size: Number.POSITIVE_INFINITY }, () => 1);
  for (let key = 0; key < 100; key++) {
    cache.set(`${key}`, key);
    assert.equal(cache.get("0"), 0);
  }
  const held = Array.from({ length: 100 }, (_, key) => cache.get(`${key}`)).filter(
    (value) => value !== undefined,
  );
  assert.ok(held.length <= 11, `${held.length}`);
  cache.clear();
  assert.equal(cache.get("99"), undefined);
});

test("a cache of large values is bounded by their size, not only by their number", () => {
  const sizeOf = (value: string) => value.length;
  const cache = createCache({ count: 1_000, size: 1_000 }, sizeOf);
  const held = () =>
    Array.from({ length: 100 }, (_, key) => cache.get(`${key}`)?.length ?? 0).reduce(
      (sum, size) => sum + size,
    );
  for (let key = 0; key < 100; key++) cache.set(`${key}`, "x".repeat(90));
  assert.ok(held() > 0 && held() <= 1_000, `${held()}`);
  for (let grown = 1; grown <= 900; grown += 10) cache.set("7", "x".repeat(grown));
  assert.equal(cache.get("7")?.length, 891);
  cache.set("8", "y");
  assert.ok(held() <= 500 + 891, `${held()}`);
});

test("a value that is replaced again and again does not push the others out", () => {
  const cache = createCache<string>({ count: 10, size: 100 }, (value) => value.length);
  cache.set("other", "o");
  for (let time = 0; time < 1_000; time++) cache.set("hot", "x".repeat(20));
  assert.equal(cache.get("other"), "o");
});
