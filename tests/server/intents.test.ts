import assert from "node:assert/strict";
import { test } from "node:test";
import { type Bench, serverBench } from "../fixtures/server.ts";

const PLANNER = "agent:planner";
const DOER = "agent:doer";
const TASK = { intent_type: "task", to_agent: "agent://doer", payload: { sort: "mail" }, from: PLANNER };

async function send(bench: Bench, body: object): Promise<Record<string, unknown>> {
  const { status, body: sent, text } = await bench.ask("/api/intents", { method: "POST", body });
  assert.equal(status, 201, text);
  return sent;
}

const say = (bench: Bench, id: unknown, verb: string, body: object) =>
  bench.ask(`/api/intents/${String(id)}/${verb}`, { method: "POST", body });

test("an intent is sent, handed over, acknowledged, answered and waited for over HTTP", async (t) => {
  const bench = await serverBench(t);
  const inbox = bench.ask(`/api/intents/inbox?agent=${DOER}&hold_seconds=20`);
  const sent = await send(bench, { ...TASK, request_id: "t-1", within_seconds: 3_600 });
  assert.partialDeepStrictEqual(sent, { lifecycle_status: "CREATED", to: DOER, from: PLANNER });
  const id = sent["intent_id"];
  const [handed] = (await inbox).body["intents"] as Record<string, unknown>[];
  assert.partialDeepStrictEqual(handed, { intent_id: id, lifecycle_status: "DELIVERED" });
  assert.equal((await send(bench, { ...TASK, request_id: "t-1", within_seconds: 3_600 }))["intent_id"], id);

  const early = await bench.ask(`/api/intents/${String(id)}/wait`);
  assert.partialDeepStrictEqual(early.body, { status: "timed_out_waiting", data: null });
  const waited = bench.ask(`/api/intents/${String(id)}/wait?hold_seconds=20`);
  assert.equal((await say(bench, id, "acknowledge", { by: DOER })).body["lifecycle_status"], "ACKNOWLEDGED");
  const left = await bench.ask(`/api/intents/inbox?agent=${DOER}`);
  assert.deepEqual(left.body, { intents: [] });
  assert.equal((await say(bench, id, "waiting", { by: DOER, on: "int_x" })).body["waits_on"], "int_x");
  assert.equal((await say(bench, id, "answer", { by: "agent:else", data: 1 })).status, 403);
  const done = await say(bench, id, "answer", { by: DOER, data: { sorted: 3 } });
  assert.partialDeepStrictEqual(done.body, {
    lifecycle_status: "COMPLETED",
    end: { status: "completed", by: DOER, data: { sorted: 3 } },
  });
  assert.partialDeepStrictEqual((await waited).body, { status: "completed", data: { sorted: 3 } });
  assert.equal((await say(bench, id, "cancel", { by: PLANNER, reason: "late" })).status, 409);
});

test("where nobody is authenticated a bare name is an agent's, in every field of an intent that says who", async (t) => {
  const bench = await serverBench(t);
  const sent = await send(bench, { ...TASK, from: "planner" });
  assert.partialDeepStrictEqual(sent, { to: DOER, from: PLANNER });
  const id = sent["intent_id"];
  const inbox = await bench.ask("/api/intents/inbox?agent=doer");
  assert.equal((inbox.body["intents"] as unknown[]).length, 1, inbox.text);
  const { body: had } = await say(bench, id, "acknowledge", { by: "doer" });
  assert.partialDeepStrictEqual(had, { acknowledged: { by: DOER } });
  assert.equal((await say(bench, id, "waiting", { by: "doer", on: "int_x" })).status, 200);
  const { body: done } = await say(bench, id, "answer", { by: "doer", data: 1 });
  assert.partialDeepStrictEqual(done, { end: { by: DOER } });
  const other = await send(bench, TASK);
  const taken = await say(bench, other["intent_id"], "cancel", { by: "planner", reason: "late" });
  assert.partialDeepStrictEqual(taken.body, { end: { by: PLANNER } }, taken.text);
});

test("an intent to people is an approval over HTTP too, and its decision is the answer", async (t) => {
  const bench = await serverBench(t);
  const body = { intent_type: "human_approval", to_agent: "agent://approver", from: PLANNER };
  const sent = await send(bench, { ...body, payload: { task: "Deploy", risk_level: "high" } });
  assert.equal(sent["lifecycle_status"], "WAITING");
  const [id, approval] = [sent["intent_id"], String(sent["approval_id"])];
  const asked = await bench.ask(`/api/approvals/${approval}`);
  assert.partialDeepStrictEqual(asked.body, { about: "intent", intent_id: id, workflow_id: null });
  assert.equal((await say(bench, id, "answer", { by: "person:ann", data: { approved: true } })).status, 409);
  const vote = { decision: "reject", reason: "not today", approved_by: "ann" };
  const rejected = await bench.ask(`/api/approvals/${approval}/votes`, { method: "POST", body: vote });
  assert.equal(rejected.status, 200, rejected.text);
  const waited = await bench.ask(`/api/intents/${String(id)}/wait`);
  assert.partialDeepStrictEqual(waited.body, {
    status: "completed",
    data: { approved: false, rationale: "not today" },
  });
});

test("intents are listed in pages, and what is wrong is said", async (t) => {
  const bench = await serverBench(t);
  for (let n = 0; n < 3; n++) await send(bench, { ...TASK, payload: { n } });
  const page = await bench.ask("/api/intents?to=agent:doer&limit=2&order=oldest");
  assert.equal((page.body["intents"] as unknown[]).length, 2);
  const rest = await bench.ask(
    `/api/intents?to=agent:doer&limit=2&order=oldest&cursor=${String(page.body["next_cursor"])}`,
  );
  assert.equal((rest.body["intents"] as unknown[]).length, 1);
  for (const [path, body, status] of [
    ["/api/intents", { ...TASK, from: undefined }, 400],
    ["/api/intents", { ...TASK, to_agent: "agent://" }, 400],
    ["/api/intents", { ...TASK, intent_type: "human_approval" }, 400],
    ["/api/intents/int_none/answer", { by: DOER, data: 1 }, 404],
    ["/api/intents/int_none/answer", { by: DOER }, 400],
  ] as const)
    assert.equal((await bench.ask(path, { method: "POST", body })).status, status, `${path} ${status}`);
  assert.equal((await bench.ask("/api/intents/int_none")).status, 404);
  assert.equal((await bench.ask("/api/intents/int_none/wait?hold_seconds=26")).status, 400);
});
