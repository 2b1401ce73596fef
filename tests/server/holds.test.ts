// Requests that wait: how many there may be, and when they end.
import assert from "node:assert/strict";
import { once } from "node:events";
import { request } from "node:http";
import { test } from "node:test";
import { createLongPolls } from "../../src/api/events/long-polls.ts";
import { HoldpointError } from "../../src/kernel/errors.ts";
import type { WaitLimit } from "../../src/runtime/waker.ts";
import { issueApiKey, revokeApiKey } from "../fixtures/people.ts";
import { type Bench, serverBench } from "../fixtures/server.ts";

const by = "person:root";
const TASK = { intent_type: "task", to_agent: "agent://doer", from: "agent:planner" };

async function sent(bench: Bench, body: object): Promise<Record<string, unknown>> {
  const answer = await bench.ask("/api/intents", { method: "POST", body });
  assert.equal(answer.status, 201, answer.text);
  return answer.body;
}

/** Requests that wait now, once there are that many. */
async function heldAre(bench: Bench, count: number, headers: Record<string, string> = {}): Promise<void> {
  const wanted = new RegExp(`^holdpoint_held_requests ${count}$`, "m");
  for (let look = 0; look < 1_000; look++) {
    const { text } = await bench.ask("/metrics", { headers });
    if (wanted.test(text)) return;
    await new Promise<void>((resolve) => setTimeout(resolve, 10));
  }
  assert.fail(`there are never ${count} requests that wait`);
}

/** On a connection of its own, which can be closed. */
function opened(url: string): () => void {
  const asked = request(url, { agent: false });
  asked.on("error", () => undefined);
  asked.end();
  return () => void asked.destroy();
}

test("a request that waits ends when its client is gone, and so does what was watched for it", async (t) => {
  const bench = await serverBench(t);
  const { intent_id: id } = await sent(bench, TASK);
  const people = await sent(bench, { ...TASK, intent_type: "human_approval", to_agent: "agent://approver" });
  const close = [
    `/api/intents/${String(id)}/wait?hold_seconds=25`,
    "/api/intents/inbox?agent=agent:idle&hold_seconds=25",
    `/api/approvals/${String(people["approval_id"])}/wait?hold_seconds=25`,
  ].map((path) => opened(`${bench.url}${path}`));
  await heldAre(bench, 3);
  for (const one of close) one();
  await heldAre(bench, 0);
});

test("a principal has only so many requests that wait, whatever keys it has, and others have their own", async (t) => {
  const bench = await serverBench(t, { noAuth: false, holds: 2, allHolds: 3 });
  const { runtime } = await bench.server.office();
  const keyOf = async (principal: string) => {
    const { text } = await issueApiKey(runtime, {
      principal,
      name: "one",
      roles: ["executor", "auditor"],
      by,
    });
    return { authorization: `Bearer ${text}` };
  };
  const path = "/api/intents/inbox?hold_seconds=25";
  const [first, second, other, last] = await Promise.all(
    ["agent:doer", "agent:doer", "agent:other", "agent:last"].map(keyOf),
  );
  const held = [first, second].map((headers) => bench.ask(path, { headers: headers ?? {} }));
  await heldAre(bench, 2, other);
  const more = await bench.ask(path, { headers: first ?? {} });
  assert.equal(more.status, 429, more.text);
  assert.equal(more.body["code"], "rate_limited");
  assert.ok(Number(more.headers["retry-after"]) >= 1);
  assert.equal((await bench.ask("/api/intents/inbox", { headers: first ?? {} })).status, 200);
  held.push(bench.ask(path, { headers: other ?? {} }));
  await heldAre(bench, 3, other);
  const full = await bench.ask(path, { headers: last ?? {} });
  assert.deepEqual([full.status, full.body["code"]], [503, "server_busy"], full.text);
  assert.ok(Number(full.headers["retry-after"]) >= 1);
  await bench.close();
  for (const answer of await Promise.all(held)) assert.equal(answer.status, 200, answer.text);
});

test("when the server stops, each request that waits is answered with what stands, and is not cut", async (t) => {
  const bench = await serverBench(t);
  const { intent_id: id } = await sent(bench, TASK);
  const people = await sent(bench, { ...TASK, intent_type: "human_approval", to_agent: "agent://approver" });
  const flow = { name: "flow", executor_id: "far", checkpoints: [{ name: "look", checkpoint_id: "look" }] };
  const created = await bench.ask("/api/workflows", { method: "POST", body: flow });
  assert.equal(created.status, 200, created.text);
  const paths = [
    [`/api/intents/${String(id)}/wait`, { status: "timed_out_waiting" }],
    [`/api/intents/${String(people["intent_id"])}/wait`, { status: "timed_out_waiting" }],
    ["/api/intents/inbox?agent=agent:idle", { intents: [] }],
    [`/api/approvals/${String(people["approval_id"])}/wait`, { is_over: false }],
    [`/api/workflows/${String(created.body["workflow_id"])}/wait`, { is_over: false }],
  ] as const;
  const answers = paths.map(async ([path]) => {
    const answer = await fetch(`${bench.url}${path}${path.includes("?") ? "&" : "?"}hold_seconds=25`);
    return { status: answer.status, body: await answer.json() };
  });
  await heldAre(bench, paths.length);
  await bench.close();
  for (const [index, answer] of (await Promise.all(answers)).entries())
    assert.partialDeepStrictEqual(answer, { status: 200, body: paths[index]?.[1] });
});

/** A request that waits, whose key is revoked while it does. */
async function revokedWhileHeld(bench: Bench, path: string) {
  const { runtime } = await bench.server.office();
  const bearer = (text: string) => ({ authorization: `Bearer ${text}` });
  const watching = await issueApiKey(runtime, {
    principal: "agent:watch",
    name: "w",
    roles: ["auditor"],
    by,
  });
  const key = await issueApiKey(runtime, { principal: "agent:doer", name: "one", roles: ["executor"], by });
  const held = bench.ask(path, { headers: bearer(key.text) });
  await heldAre(bench, 1, bearer(watching.text));
  await revokeApiKey(runtime, key.key.id, { by, reason: "lost" });
  return { held, runtime };
}

test("a request that waits under a key that was revoked is answered 401, though what it waited for came", async (t) => {
  const bench = await serverBench(t, { noAuth: false });
  const path = "/api/intents/inbox?hold_seconds=25";
  const { held, runtime } = await revokedWhileHeld(bench, path);
  const { text } = await issueApiKey(runtime, {
    principal: "agent:planner",
    name: "p",
    roles: ["executor"],
    by,
  });
  const { from: _, ...task } = TASK;
  const headers = { authorization: `Bearer ${text}` };
  const came = await bench.ask("/api/intents", { method: "POST", headers, body: task });
  assert.equal(came.status, 201, came.text);
  const answer = await held;
  assert.deepEqual([answer.status, answer.body["code"]], [401, "unauthenticated"], answer.text);
});

test("a request that waits does not wait on once its credential is lost: that is asked at each beat", async () => {
  const holds = createLongPolls(
    { each: 1, all: 1 },
    new AbortController().signal,
    () => new Promise(setImmediate),
  );
  let asked = 0;
  const mayStill = async () => {
    asked += 1;
    if (asked === 1) throw new Error("the store is busy");
    if (asked > 2) throw new HoldpointError("unauthenticated", "There is no credential that is valid here.");
  };
  const gone = () => new AbortController().signal;
  const holding = { tenant: "t", who: { principal: "agent:a", credential: "k" }, gone, mayStill };
  // What it waits for never comes.
  const wait = ({ signal }: WaitLimit) => once(signal, "abort");
  await assert.rejects(holds.during(holding, 25, wait), { code: "unauthenticated" });
  assert.equal(holds.size(), 0);
});
