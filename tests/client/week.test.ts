import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { withoutAuthentication } from "../../src/api/authenticate.ts";
import { createAudience } from "../../src/api/events/listeners.ts";
import { createMetrics } from "../../src/api/metrics/metrics.ts";
import { allRoutes } from "../../src/api/routes.ts";
import { startHttpServer } from "../../src/api/server.ts";
import { createTenantHosts } from "../../src/api/tenant-hosts.ts";
import { createClient } from "../../src/client/client.ts";
import { wallClock } from "../../src/kernel/clock.ts";
import { machine, settled } from "../fixtures/runtime.ts";
import { SETTINGS } from "../fixtures/server.ts";

const DAY_MS = 24 * 60 * 60 * 1_000;

/** A server whose tenant lives under a clock that the test moves; sockets know only the real one. */
async function slowServer(t: TestContext) {
  const office = machine();
  const process = office.process({ tenant: "default" });
  const { runtime, store } = process;
  const { clock } = office;
  const failed = (error: unknown) => void t.diagnostic(String(error));
  const audience = createAudience({ clock, most: 10, holds: { each: 10, all: 10 }, failed });
  const none = async () => 0;
  const metrics = createMetrics({
    inDoubt: none,
    pending: none,
    listeners: audience.size,
    holds: audience.holds.size,
    node: {
      ...{ kind: "server", version: "0" },
      inHand: async () => ({ workflows: 0, effects: 0, epochs: [], leaseLeftMs: null }),
    },
  });
  const tenants = createTenantHosts(async (tenant) => ({
    tenant,
    runtime,
    wake: () => undefined,
    rest: () => undefined,
    close: () => process.close(),
  }));
  const random = (bytes: number) => new Uint8Array(bytes).fill(3);
  const server = await startHttpServer({
    routes: allRoutes({
      condition: { version: "0", ready: async () => undefined },
      audience,
      hands: { store, clock, random },
      metrics,
      pages: undefined,
      example: undefined,
      cards: { render: () => [], where: "" },
    }),
    endStreams: audience.end,
    tenants,
    authenticate: withoutAuthentication,
    settings: { ...SETTINGS, noAuth: true, port: 0, graceSeconds: 0 },
    clock: wallClock,
    log: () => undefined,
    makeId: () => "one",
  });
  t.after(() => server.close());
  return { clock, process, url: server.url };
}

/** How often the server was asked, and when it is asked next. */
function counting() {
  let asked = 0;
  const wanted: { readonly count: number; readonly done: () => void }[] = [];
  const counted: typeof fetch = async (input, init) => {
    asked++;
    for (const { count, done } of wanted) if (count <= asked) done();
    return fetch(input, init);
  };
  const times = (count: number) =>
    new Promise<void>((done) => {
      if (asked >= count) done();
      else wanted.push({ count, done });
    });
  return { fetch: counted, times, count: () => asked };
}

test("a wait lasts a week of the server's time, holds each connection for its moment, and hears the decision", async (t) => {
  const { clock, process, url } = await slowServer(t);
  const pay = process.gate({
    name: "pay",
    policy: { verdict: "escalate", decideWithinMs: 8 * DAY_MS },
    run: () => "paid",
  });
  void pay({ amount: 1 }, { requestId: "pay-1", waitMs: 0 });
  await settled(50);
  const [asked] = (await process.approvals.list()).items;
  const { fetch, times, count } = counting();
  const client = createClient({ server: url, fetch, pause: async () => undefined });
  const decided = client.waitForApproval(asked?.id ?? "");
  for (let day = 1; day <= 7; day++) {
    await times(day);
    await clock.jump(DAY_MS);
    // However late it is looked at, it was one moment: the next request comes for the next.
    while (count() <= day) {
      await clock.jump(1_000);
      await new Promise<void>((resolve) => setImmediate(resolve));
    }
  }
  assert.ok(count() > 7);
  await process.approvals.approve(asked?.id ?? "", { by: "person:ann" });
  assert.equal((await decided).approval.status, "approved");
});

test("time that is over is written down by whoever waits for it", async (t) => {
  const { clock, process, url } = await slowServer(t);
  const pay = process.gate({
    name: "pay",
    policy: { verdict: "escalate", decideWithinMs: 10_000 },
    run: () => "paid",
  });
  void pay({ amount: 1 }, { requestId: "pay-1", waitMs: 0 });
  await settled(50);
  const [asked] = (await process.approvals.list()).items;
  const client = createClient({ server: url });
  const over = client.waitForApproval(asked?.id ?? "");
  let isDone = false;
  const done = over.then(() => {
    isDone = true;
  });
  while (!isDone) {
    await clock.jump(1_000);
    await new Promise<void>((resolve) => setImmediate(resolve));
  }
  await done;
  assert.equal((await over).approval.status, "expired");
  assert.equal((await client.waitForAction("pay-1")).action.phase, "refused");
});
