import assert from "node:assert/strict";
import { once } from "node:events";
import { type TestContext, test } from "node:test";
import { type Client, createClient } from "../../src/client/client.ts";
import type { Holdpoint } from "../../src/index.ts";
import { createLines } from "../fixtures/lines.ts";
import { serverBench } from "../fixtures/server.ts";
import { type Serving, serving, waiter } from "./serving.ts";

async function pending(client: Client): Promise<string> {
  for (let look = 0; look < 400; look++) {
    const [first] = (await client.approvals.list()).approvals;
    if (first !== undefined) return first.request_id;
    await new Promise<void>((resolve) => setTimeout(resolve, 25));
  }
  throw new Error("nothing waits");
}

/** How long the server was asked to hold, and when it was asked so often. */
function counting(): { fetch: typeof fetch; holds: number[]; times: (count: number) => Promise<void> } {
  const holds: number[] = [];
  const wanted: { readonly count: number; readonly done: () => void }[] = [];
  const counted: typeof fetch = (input, init) => {
    const hold = new URL(String(input)).searchParams.get("hold_seconds");
    if (hold !== null) holds.push(Number(hold));
    for (const { count, done } of wanted) if (count <= holds.length) done();
    return fetch(input, init);
  };
  const times = (count: number) =>
    new Promise<void>((done) => {
      if (holds.length >= count) done();
      else wanted.push({ count, done });
    });
  return { fetch: counted, holds, times };
}

async function started(t: TestContext): Promise<{ server: Serving; client: Client; approval: string }> {
  const server = serving(t);
  await server.start();
  const client = createClient({ server: server.url() });
  return { server, client, approval: await pending(client) };
}

test("waits go on over a server that is stopped, killed with -9 and started again, and see what was decided while it was away", async (t) => {
  const { server, client, approval } = await started(t);
  const intent = { intent_type: "look", to_agent: "agent:b", from: "agent:a", payload: { n: 1 } };
  const { intent_id } = await client.intents.send(intent);
  const { fetch, holds, times } = counting();
  const waiting = createClient({ server: server.url(), fetch });
  const decided = waiting.waitForApproval(approval, { holdSeconds: 3 });
  const action = waiting.waitForAction("pay-1", { holdSeconds: 3 });
  const answered = waiting.waitForIntent(intent_id, { holdSeconds: 3 });
  await times(3);
  await server.end("SIGTERM");
  await server.start();
  await times(holds.length + 3);
  await server.end("SIGKILL");
  const hp = server.folder.open();
  await hp.approvals.approve(approval, { by: "person:bob" });
  await hp.close();
  await server.start();
  assert.equal((await decided).approval.decided?.by[0], "person:bob");
  assert.equal((await action).action.phase, "applied");
  await client.intents.answer(intent_id, { data: { seen: true }, by: "agent:b" });
  const { status, data } = await answered;
  assert.deepEqual([status, data], ["completed", { seen: true }]);
  assert.ok(
    holds.every((hold) => hold <= 3),
    `no connection is held longer: ${holds}`,
  );
});

test("after kill -9 of server and client, the id is all that the next one needs", async (t) => {
  const { server, approval } = await started(t);
  const first = waiter(server.url(), "approval", approval);
  t.after(() => void first.kill("SIGKILL"));
  assert.equal(await createLines(first)(), "waiting");
  const gone = once(first, "exit");
  first.kill("SIGKILL");
  await Promise.all([gone, server.end("SIGKILL")]);
  const hp = server.folder.open();
  await hp.approvals.reject(approval, { by: "person:bob", reason: "no" });
  await hp.close();
  // The client is back before the server is.
  const second = waiter(server.url(), "action", "pay-1");
  t.after(() => void second.kill("SIGKILL"));
  const line = createLines(second);
  assert.equal(await line(), "waiting");
  await server.start();
  assert.equal(await line(), "refused");
  // Decided before the wait began: answered at once.
  const { fetch, holds } = counting();
  const late = createClient({ server: server.url(), fetch });
  assert.equal((await late.waitForApproval(approval)).approval.status, "rejected");
  assert.equal(holds.length, 1);
});

function define(hp: Holdpoint): void {
  const pay = hp.gate({ name: "pay", policy: "escalate", run: () => "paid" });
  pay({ amount: 1 }, { requestId: "pay-1" }).catch(() => undefined);
}

test("a wait that runs out of time is answered as it stands, a signal ends it, and what is unknown is said", async (t) => {
  const { url } = await serverBench(t, { define });
  const client = createClient({ server: url });
  const approval = await pending(client);
  const { is_over, approval: stands } = await client.waitForApproval(approval, { timeoutSeconds: 0.2 });
  assert.deepEqual([is_over, stands.status], [false, "pending"]);
  const over = new AbortController();
  const { fetch, times } = counting();
  const watching = createClient({ server: url, fetch });
  const waiting = watching.waitForApproval(approval, { signal: over.signal });
  await times(1);
  over.abort(new Error("enough"));
  await assert.rejects(waiting, /enough/);
  await assert.rejects(client.waitForApproval("apr_none"), { code: "unknown_id" });
  await assert.rejects(client.waitForAction("none"), { code: "unknown_id" });
  await assert.rejects(client.waitForWorkflow("wf_none"), { code: "unknown_id" });
  await assert.rejects(client.waitForIntent("int_none"), { code: "unknown_id" });
});

test("time that runs out while the server is away is an answer to whoever waits for an intent, and the last one to others", async () => {
  const away = async () => {
    throw new TypeError("fetch failed");
  };
  const server = "http://127.0.0.1:9";
  const time = { timeoutSeconds: 0.05 };
  const waited = await createClient({ server, fetch: away }).waitForIntent("int_1", time);
  assert.deepEqual(waited, { intent_id: "int_1", status: "timed_out_waiting", data: null, reason: null });
  const never = createClient({ server, fetch: away }).waitForApproval("apr_1", time);
  await assert.rejects(never, { code: "no_answer" });

  const known = { is_over: false, approval: { request_id: "apr_1" } };
  let asked = 0;
  const once = async () => (asked++ === 0 ? Response.json(known) : away());
  assert.deepEqual(await createClient({ server, fetch: once }).waitForApproval("apr_1", time), known);
});
