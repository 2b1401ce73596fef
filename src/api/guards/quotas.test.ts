import assert from "node:assert/strict";
import { test } from "node:test";
import { createConcurrencyQuota } from "./quotas.ts";

test("nobody takes all the places, all together take no more than there are, and each is given back", async () => {
  const inPlace = createConcurrencyQuota({ each: 2, all: 3 });
  const { promise, reject } = Promise.withResolvers<never>();
  const takes = (name: string) => inPlace(name, () => promise);
  const under = [takes("a"), takes("a"), takes("b")];
  await assert.rejects(takes("a"), { code: "rate_limited", details: { retry_after: 1 } });
  await assert.rejects(takes("c"), { code: "rate_limited" });
  reject(new Error("over"));
  for (const one of under) await assert.rejects(one, /over/);
  assert.equal(await inPlace("a", async () => 1), 1);
});
