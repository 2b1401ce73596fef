// The edges of the first surface: what it converts, what it refuses, and what it never contradicts.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Holdpoint } from "../../src/index.ts";
import { listenTo } from "../fixtures/listen.ts";
import { type Answered, type Bench, type Sent, serverBench } from "../fixtures/server.ts";

const ok = ({ status, body, text }: Answered): Record<string, unknown> => {
  assert.equal(status, 200, text);
  return body;
};
const post = (body: unknown, headers: Record<string, string> = {}): Sent => ({
  method: "POST",
  body,
  headers,
});
const parties = { poster_id: "user_123", executor_id: "agent_456" };

async function create(bench: Bench, more: object = {}): Promise<string> {
  return String(
    ok(await bench.ask("/api/workflows", post({ name: "W", ...parties, ...more })))["workflow_id"],
  );
}

async function standing(bench: Bench, more: object = {}): Promise<{ id: string; request: string }> {
  const id = await create(bench, { checkpoint_names: ["Look"], ...more });
  ok(await bench.ask(`/api/workflows/${id}/start`, { method: "POST" }));
  const stand = { checkpoint_id: "Look", outputs: { threshold: 100, deep: { a: 1 } } };
  const stood = ok(await bench.ask(`/api/workflows/${id}/checkpoints`, post(stand)));
  return { id, request: String(stood["approval_id"]) };
}

const submit = (bench: Bench, ballot: object) =>
  bench.ask("/api/approvals/submit", post({ approved_by: "ann", rationale: "seen", ...ballot }));

test("an escrow in dollars is kept in micros, exactly", async (t) => {
  const bench = await serverBench(t);
  for (const [amount, micros] of [
    [100.0, "100000000"],
    [0.1, "100000"],
    [19.99, "19990000"],
    [1_234_567.891234, "1234567891234"],
    [0, "0"],
    [1e9, "1000000000000000"],
  ] as const) {
    const id = await create(bench, { escrow_amount: amount });
    const { escrow, x402_setup: setup } = ok(await bench.ask(`/api/workflows/${id}`));
    assert.deepEqual(escrow, { currency: "USD", micros });
    assert.deepEqual(setup, { job_id: `job_${id.slice(3)}`, escrow_id: null });
  }
  assert.equal(ok(await bench.ask(`/api/workflows/${await create(bench)}`))["escrow"], null);
  for (const amount of [-1, "100", 1e10, [1]])
    assert.equal(
      (await bench.ask("/api/workflows", post({ name: "W", ...parties, escrow_amount: amount }))).status,
      400,
    );
});

test("a workflow is created once under a request id or an Idempotency-Key", async (t) => {
  const bench = await serverBench(t);
  const id = await create(bench, { request_id: "mine" });
  assert.equal(await create(bench, { request_id: "mine" }), id);
  const other = await bench.ask("/api/workflows", post({ name: "X", ...parties, request_id: "mine" }));
  assert.deepEqual([other.status, other.body["code"]], [409, "request_conflict"]);
  const key = { "idempotency-key": "k1" };
  const first = await bench.ask("/api/workflows", post({ name: "W", ...parties }, key));
  const again = await bench.ask("/api/workflows", post({ name: "W", ...parties }, key));
  assert.deepEqual(again.body, first.body);
  assert.equal(again.headers["idempotency-replayed"], "true");
  assert.equal(ok(await bench.ask("/api/workflows"))["total"], 2);
});

test("checkpoints are given by name or in full, with 300 seconds unless they say", async (t) => {
  const bench = await serverBench(t);
  const full = [
    { name: "Data", description: "Look", timeout_seconds: 600, can_rollback: false },
    { name: "Log", requires_approval: false },
    { name: "Long", timeout_seconds: null, checkpoint_id: "cp_long", approvers: { quorum: 2 } },
  ];
  const made = ok(await bench.ask("/api/workflows", post({ name: "W", ...parties, checkpoints: full })));
  assert.equal(made["checkpoints"], 3);
  const id = String(made["workflow_id"]);
  ok(await bench.ask(`/api/workflows/${id}/start`, { method: "POST" }));
  const at = async (checkpoint: string) =>
    ok(
      await bench.ask(
        `/api/workflows/${id}/checkpoints`,
        post({ checkpoint_id: checkpoint, request_id: checkpoint }),
      ),
    );
  assert.equal((await at("Log"))["result"], "passed");
  const long = await at("cp_long");
  assert.deepEqual([long["checkpoint_name"], long["result"]], ["Long", "waiting"]);
  const approval = ok(await bench.ask(`/api/approvals/${String(long["approval_id"])}`));
  assert.equal(approval["decide_by"], null);
  const request = { request_id: long["approval_id"], decision: "APPROVED" };
  const one = ok(await submit(bench, request));
  assert.deepEqual([one["workflow_status"], one["status"]], ["awaiting_approval", "pending"]);
  assert.equal(one["message"], "Vote APPROVED - more people have to decide");
  const two = ok(await submit(bench, { ...request, approved_by: "bob" }));
  assert.deepEqual([two["workflow_status"], two["status"]], ["executing", "consumed"]);
  assert.equal((await at("cp_long"))["result"], "passed", "asked again, it says what became of it");
  const data = await at("Data");
  const { decide_by: by, requested_at: from } = ok(
    await bench.ask(`/api/approvals/${String(data["approval_id"])}`),
  );
  assert.equal(Date.parse(String(by)) - Date.parse(String(from)), 600_000);
  const rejected = ok(await submit(bench, { request_id: data["approval_id"], decision: "REJECTED" }));
  assert.equal(rejected["workflow_status"], "failed", "it cannot be rolled back");
  for (const wrong of [
    { checkpoint_names: ["A"], checkpoints: full },
    { checkpoint_names: ["A", "A"] },
    { checkpoint_names: ["start"] },
    { checkpoints: [{ name: "A", approvers: { quorum: 2, from: ["person:ann"] } }] },
    { surprise: 1 },
    { poster_id: "a\nb" },
  ]) {
    const { status, text } = await bench.ask("/api/workflows", post({ name: "W", ...parties, ...wrong }));
    assert.ok(status === 400 || status === 422 || status === 409, `${status} ${text}`);
  }
});

test("a decision fits its kind; the first one stands, the same again is the same, any other is 409", async (t) => {
  const bench = await serverBench(t);
  const { id, request } = await standing(bench);
  const asked = { request_id: request };
  for (const wrong of [
    { ...asked, decision: "MODIFIED", modifications: null },
    { ...asked, decision: "MODIFIED" },
    { ...asked, decision: "APPROVED", modifications: { threshold: 1 } },
    { ...asked, decision: "REJECTED", rationale: " " },
    { ...asked, decision: "approved" },
    { ...asked, decision: "EXPIRED" },
    { ...asked, decision: "MODIFIED", modifications: [1] },
    { ...asked, decision: "APPROVED", approved_by: undefined },
  ])
    assert.equal((await submit(bench, wrong)).status, 400, JSON.stringify(wrong));
  const unknown = { request_id: "apr_00000000000000000000000000", decision: "APPROVED" };
  assert.equal((await submit(bench, unknown)).status, 404);
  const own = { ...asked, decision: "APPROVED", approved_by: "agent:agent_456" };
  assert.equal((await submit(bench, own)).status, 400, "an agent is no person");
  const ballot = { ...asked, decision: "MODIFIED", modifications: { deep: { b: 2 } } };
  const first = ok(await submit(bench, ballot));
  assert.equal(first["status"], "consumed");
  const last = ok(await bench.ask(`/api/workflows/${id}`))["last_decision"] as Record<string, unknown>;
  assert.deepEqual(last["modifications"], { deep: { b: 2 } });
  assert.deepEqual(last["outputs"], { threshold: 100, deep: { b: 2 } });
  const late = await submit(bench, { ...asked, decision: "REJECTED" });
  assert.deepEqual([late.status, late.body["current_status"]], [409, "consumed"]);
  const { request: next } = await standing(bench);
  const again = { request_id: next, decision: "APPROVED" };
  ok(await submit(bench, again));
  assert.equal(ok(await submit(bench, again))["status"], "consumed");
  assert.equal((await submit(bench, { ...again, approved_by: "bob" })).status, 409);
});

test("what changes nothing is an approval", async (t) => {
  const bench = await serverBench(t);
  const { id, request } = await standing(bench);
  const answer = ok(await submit(bench, { request_id: request, decision: "MODIFIED", modifications: {} }));
  assert.equal(answer["workflow_status"], "executing");
  const last = ok(await bench.ask(`/api/workflows/${id}`))["last_decision"] as Record<string, unknown>;
  assert.deepEqual(last["outputs"], { threshold: 100, deep: { a: 1 } });
});

function define(hp: Holdpoint): void {
  const flow = hp.workflow("flow", async (ctx) => ctx.ask("colour", "Which colour?"));
  flow.start(undefined).catch(() => undefined);
}

test("what waits has the same fields, whatever it is about, and comes in pages", async (t) => {
  const bench = await serverBench(t, { define });
  await standing(bench);
  ok(await bench.ask("/api/actions", post({ tool: "wire", args: [1, 2], agent: "a" })));
  const intent = {
    intent_type: "human_approval",
    to_agent: "agent://approver",
    payload: { task: "go" },
    from: "agent:a",
  };
  assert.equal((await bench.ask("/api/intents", post(intent))).status, 201);
  type Row = Record<string, unknown>;
  let rows: readonly Row[] = [];
  for (let look = 0; look < 500 && rows.length < 4; look++) {
    rows = ok(await bench.ask("/api/approvals/pending"))["pending_approvals"] as readonly Row[];
    await new Promise<void>((resolve) => setTimeout(resolve, 10));
  }
  const byKind = new Map(rows.map((row) => [row["about"], row]));
  assert.deepEqual([...byKind.keys()].toSorted(), ["action", "checkpoint", "intent", "question"]);
  assert.deepEqual(byKind.get("action")?.["context"], { value: [1, 2] });
  assert.equal(byKind.get("action")?.["checkpoint_name"], "wire");
  assert.equal(byKind.get("action")?.["workflow_id"], null);
  assert.deepEqual(byKind.get("intent")?.["context"], { task: "go" });
  assert.equal(byKind.get("question")?.["summary"], "Which colour?");
  assert.deepEqual(byKind.get("checkpoint")?.["context"], { threshold: 100, deep: { a: 1 } });
  const page = ok(await bench.ask("/api/approvals/pending?limit=3"));
  assert.deepEqual([(page["pending_approvals"] as Row[]).length, page["total"]], [3, 4]);
  const rest = ok(await bench.ask(`/api/approvals/pending?limit=3&cursor=${String(page["next_cursor"])}`));
  assert.equal((rest["pending_approvals"] as Row[]).length, 1);
  assert.equal(rest["next_cursor"], null);
  const stats = ok(await bench.ask("/api/stats"));
  assert.deepEqual([stats["pending_approvals"], stats["total_workflows"]], [4, 2]);
});

test("the inbox of approvals is the stream of events, filtered", async (t) => {
  const bench = await serverBench(t);
  const ear = await listenTo(`${bench.url}/api/events?stream=approval`);
  const { id, request } = await standing(bench);
  ok(await submit(bench, { request_id: request, decision: "APPROVED" }));
  await ear.heard(4);
  assert.deepEqual(
    ear.events.map(({ type, data }) => [type, data["stream"], data["workflow_id"]]),
    ["approval.requested", "approval.voted", "approval.approved", "approval.consumed"].map((type) => [
      type,
      `approval/${request}`,
      id,
    ]),
  );
  ear.stop();
});

test("what an agent leaves empty is null or absent, and its own notes on calls and resources come back with its memory", async (t) => {
  const bench = await serverBench(t);
  const nothing = { checkpoint_names: ["Look"], description: null, escrow_amount: null, request_id: null };
  const id = await create(bench, { ...nothing, checkpoints: null, supervisor_id: null });
  ok(await bench.ask(`/api/workflows/${id}/start`, { method: "POST" }));
  const state = {
    checkpoint_id: "Look",
    agent_memory: { facts: [1] },
    api_calls: [
      { endpoint: "/a", status: 200, response_summary: "3 found", region: "eu" },
      { endpoint: "/b", status: 500 },
    ],
    resource_consumption: { tokens_used: 5, gpu_hours: 0.5 },
    decision_trace: null,
  };
  const empty = {
    summary: null,
    context: null,
    recommendation: null,
    confidence: null,
    agent: null,
    risk: null,
  };
  ok(
    await bench.ask(
      `/api/workflows/${id}/checkpoints`,
      post({ checkpoint_id: "Look", execution_state: state, ...empty }),
    ),
  );
  const { execution_state: kept } = ok(await bench.ask(`/api/workflows/${id}/checkpoints/Look`));
  assert.deepEqual(kept, {
    agent_memory: {
      checkpoint_id: "Look",
      facts: [1],
      api_calls: [{ region: "eu" }, {}],
      resource_consumption: { gpu_hours: 0.5 },
    },
    api_calls: [
      { endpoint: "/a", status: 200, response_summary: "3 found" },
      { endpoint: "/b", status: 500 },
    ],
    resource_consumption: { tokens_used: 5 },
  });
  const wrong = { checkpoint_id: "Look", execution_state: { resource_consumption: { tokens_used: "many" } } };
  assert.equal((await bench.ask(`/api/workflows/${id}/checkpoints`, post(wrong))).status, 400);
});

test("who drives a workflow is its agent alone, whatever order it is called in", async (t) => {
  const bench = await serverBench(t);
  const id = await create(bench, { checkpoint_names: ["Look"] });
  const at = (path: string, body?: unknown) =>
    bench.ask(`/api/workflows/${id}/${path}`, { method: "POST", ...(body === undefined ? {} : { body }) });
  assert.equal((await at("checkpoints", { checkpoint_id: "Look" })).status, 409, "it was not started");
  assert.equal((await at("start", { agent: "other" })).status, 403);
  ok(await at("start"));
  ok(await at("start"));
  ok(await at("checkpoints", { checkpoint_id: "Look" }));
  assert.equal((await at("complete")).status, 409, "people are asked");
  assert.equal((await at("actions", { tool: "wire", args: {} })).status, 409);
  assert.equal(
    (await bench.ask("/api/workflows/wf_00000000000000000000000000/start", { method: "POST" })).status,
    404,
  );
  assert.equal(
    (await bench.ask("/api/actions/act_00000000000000000000000000/start", { method: "POST" })).status,
    404,
  );
  assert.equal((await bench.ask("/api/actions/nonsense/outcome", post({ status: "applied" }))).status, 404);
  assert.equal((await bench.ask("/api/workflows/wf_00000000000000000000000000/compensations")).status, 404);
});
