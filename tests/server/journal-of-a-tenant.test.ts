// What a tenant reads and verifies of the journal is counted by its own entries, whatever others wrote beside it.
import assert from "node:assert/strict";
import { test } from "node:test";

import { verifyStore } from "../../src/runtime/journal.ts";
import { addPerson, issueApiKey, setStanding } from "../fixtures/people.ts";
import { type Answered, type Bench, serverBench } from "../fixtures/server.ts";

const by = "person:root";

function ok({ status, body, text }: Answered): Record<string, unknown> {
  assert.equal(status, 200, text);
  return body;
}

async function headersIn(bench: Bench, tenant: string) {
  const { runtime } = await bench.server.office(tenant);
  await addPerson(runtime, { person: by, roles: ["admin"], by });
  const { text } = await issueApiKey(runtime, { principal: by, name: "x", by });
  return { authorization: `Bearer ${text}` };
}

/** Two tenants that write in turn, one of them much more. */
async function beside(bench: Bench) {
  const [own, other] = [await headersIn(bench, "small"), await headersIn(bench, "large")];
  const [small, large] = [await bench.server.office("small"), await bench.server.office("large")];
  for (let n = 0; n < 5; n++) {
    for (let more = 0; more < 4; more++)
      await setStanding(large.runtime, more % 2 === 0, { person: "person:x", by, reason: "drill" });
    await setStanding(small.runtime, n % 2 === 0, { person: "person:y", by, reason: "drill" });
  }
  return { own, other, small };
}

test("a page of the journal is as long as was asked for until the tenant's last entry, which ends it", async (t) => {
  const bench = await serverBench(t, { noAuth: false });
  const { own, small } = await beside(bench);
  const { store, tenant } = small.runtime;
  const all = (await store.log(tenant, 0, 1_000)).map(({ position }) => position);
  assert.ok(all.length >= 7);
  for (const limit of [1, 2, 3, all.length - 1, all.length, all.length + 1]) {
    const seen: number[] = [];
    let cursor: unknown;
    do {
      const next = cursor === undefined ? "" : `&cursor=${encodeURIComponent(String(cursor))}`;
      const page = ok(await bench.ask(`/api/journal?limit=${limit}${next}`, { headers: own }));
      const entries = page["entries"] as { position: number }[];
      cursor = page["next_cursor"];
      assert.ok(entries.length === limit || cursor === null, "only the last page is shorter");
      assert.ok(entries.length > 0, "no page is empty");
      seen.push(...entries.map(({ position }) => position));
    } while (cursor !== null);
    assert.deepEqual(seen, all, `limit ${limit}`);
  }
});

test("how much is verified in one request is counted by the tenant's own entries", async (t) => {
  const bench = await serverBench(t, { noAuth: false });
  const { own, small } = await beside(bench);
  const { store, tenant } = small.runtime;
  // As in a store in which others have written a lot, or whose positions are not counted one by one.
  store.position = () => Promise.resolve(5_000_000);
  const verified = await bench.ask("/api/journal/verify", { method: "POST", headers: own, body: {} });
  assert.equal(ok(verified)["ok"], true);
  const count = (await store.log(tenant, 0, 1_000)).length;
  const keys = await small.runtime.knownKeys();
  assert.equal((await verifyStore(small.runtime, { keys, most: count })).ok, true);
  await assert.rejects(verifyStore(small.runtime, { keys, most: count - 1 }), { code: "payload_too_large" });
});
