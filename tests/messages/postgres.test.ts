/** Messages on PostgreSQL: several programs on one database. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { setTimeout } from "node:timers/promises";
import { admin } from "../../src/admin.ts";
import { holdpoint } from "../../src/index.ts";
import { type PostgresServer, startPostgres } from "../fixtures/postgres-server.ts";
import { startReceiver } from "./receiver.ts";

let server: PostgresServer;
const home = mkdtempSync(join(tmpdir(), "holdpoint-messages-"));
before(async () => {
  server = await startPostgres();
});
after(async () => {
  await server.stop();
  rmSync(home, { recursive: true, force: true });
});

test("on PostgreSQL two programs tell everything once, try again what failed, and nothing of another tenant", async (context) => {
  const open = (tenant: string) =>
    holdpoint({
      database: server.url,
      keyFile: join(home, "key.json"),
      agent: "a",
      notify: () => {},
      tenant,
    });
  await using one = open("acme");
  await using two = open("acme");
  await using other = open("globex");
  const receiver = await startReceiver(context);
  const elsewhere = await startReceiver(context);
  const seen = new Set<string>();
  receiver.answer = ({ id }) => {
    const isFirst = seen.size < 3 && !seen.has(id);
    seen.add(id);
    return isFirst ? 500 : 200;
  };
  const by = "person:ann";
  await admin(one).endpoints.add({ url: receiver.url, events: ["approval.requested"], by });
  await admin(other).endpoints.add({ url: elsewhere.url, events: ["approval.requested"], by });
  const over = new AbortController();
  const settings = { allowPrivate: true };
  const delivering = [one, two, other].map((hp) => admin(hp).deliver(over.signal, settings));
  for (const [index, hp] of [one, two, one, two, one, two, one, two, other].entries()) {
    const name = `refund-${index}`;
    await hp.gate({ name, policy: "escalate", run: () => 1 })({}, { requestId: name, waitMs: 0 });
  }
  for (let round = 0; (await admin(one).messages.count("delivered")) < 8 && round < 3_000; round++)
    await setTimeout(20);
  for (let round = 0; elsewhere.got.length < 1 && round < 3_000; round++) await setTimeout(20);
  over.abort();
  await Promise.all(delivering);
  assert.deepEqual(
    [await admin(one).messages.count("delivered"), await admin(other).messages.count("delivered")],
    [8, 1],
  );
  assert.deepEqual([receiver.got.length, seen.size, elsewhere.got.length], [11, 8, 1]);
  assert.ok(receiver.got.every(({ payload }) => payload.data["tool"] !== "refund-8"));
  assert.equal((await one.journal.verify()).ok, true);
});
