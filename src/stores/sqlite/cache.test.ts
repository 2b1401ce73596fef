import assert from "node:assert/strict";
import { test } from "node:test";
import { createCache } from "./cache.ts";

test("a cache never holds more than it may, and keeps what is used", () => {
  const cache = createCache<number>(10);
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
