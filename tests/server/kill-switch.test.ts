// The kill switch of one workflow, and of a service, over HTTP: what an agent from outside is answered meanwhile.
import assert from "node:assert/strict";
import { test } from "node:test";
import { createRemoteWorkflowNow } from "../../src/agents/remote-workflow.ts";
import type { Holdpoint } from "../../src/index.ts";
import { issueApiKey, setStanding } from "../fixtures/people.ts";
import { type Answered, type Bench, serverBench } from "../fixtures/server.ts";
import { setSwitch } from "../fixtures/verbs.ts";

const post = (body: unknown, key?: string, headers: object = {}) =>
  ({
    method: "POST",
    body,
    headers: { ...headers, ...(key === undefined ? {} : { "idempotency-key": key }) },
  }) as const;
const define = (hp: Holdpoint) => {
  hp.remote.tool({ name: "wire", policy: "approve", undo: true });
  hp.remote.tool({ name: "ask", policy: "escalate" });
};
const WORD = { reason: "a leak", by: "ann" };

function ok({ status, body, text }: Answered): Record<string, unknown> {
  assert.equal(status, 200, text);
  return body;
}

async function underWay(bench: Bench): Promise<string> {
  const made = await bench.ask(
    "/api/workflows",
    post({ name: "Trip", executor_id: "far", checkpoint_names: ["Plan"] }),
  );
  const id = String(ok(made)["workflow_id"]);
  ok(await bench.ask(`/api/workflows/${id}/start`, post({})));
  return id;
}

test("while one workflow is stopped its agent gets no permit, kept or new; elsewhere it does", async (t) => {
  const bench = await serverBench(t, { define });
  const agent = "agent:far";
  const [id, other] = [await underWay(bench), await underWay(bench)];
  const holder = "a".repeat(22);
  const wire = (n: number) => ({ tool: "wire", args: { n }, agent, holder });
  const kept = await bench.ask(`/api/workflows/${id}/actions`, post(wire(1), "kept"));
  assert.equal(kept.body["status"], "permitted", kept.text);
  const action = String(kept.body["action_id"]);
  const asked = ok(await bench.ask(`/api/workflows/${id}/actions`, post({ tool: "ask", args: {}, agent })));
  const vote = { request_id: asked["approval_id"], decision: "APPROVED", approved_by: "bob" };

  const stopped = ok(await bench.ask("/api/kill-switch/pause", post({ ...WORD, workflow_id: id })));
  assert.deepEqual(stopped, { changed: true });
  assert.equal(ok(await bench.ask(`/api/kill-switch?workflow_id=${id}`))["paused"], true);
  assert.equal(ok(await bench.ask("/api/kill-switch"))["paused"], false);
  ok(await bench.ask("/api/approvals/submit", post(vote)));
  const asks = async () => {
    const answers = await Promise.all([
      bench.ask(`/api/workflows/${id}/actions`, post(wire(1), "kept")),
      bench.ask(`/api/actions/${action}/start`, post({ agent, holder }, "start")),
      bench.ask(`/api/actions/${String(asked["action_id"])}/start`, post({ agent, holder })),
      bench.ask(`/api/workflows/${id}/actions`, post({ ...wire(2), request_id: "two" })),
      bench.ask(`/api/workflows/${other}/actions`, post({ ...wire(3), request_id: "three" })),
      bench.ask("/api/actions", post({ ...wire(4), request_id: "four" })),
    ]);
    return answers.map(({ body, text }) => body["waiting_for"] ?? body["status"] ?? text);
  };
  assert.deepEqual(await asks(), [...Array(4).fill("kill_switch"), "permitted", "permitted"]);
  const [held] = [await bench.ask(`/api/actions/${action}/start`, post({ agent, holder }))];
  assert.equal(held.body["by"], `kill switch (workflow:${id})`);
  ok(await bench.ask("/api/kill-switch/resume", post({ ...WORD, workflow_id: id })));
  assert.deepEqual(new Set(await asks()), new Set(["permitted"]));
});

test("what a stopped workflow has to take back is not begun until it is released", async (t) => {
  const bench = await serverBench(t, { define });
  const agent = "agent:far";
  const id = await underWay(bench);
  const permit = ok(await bench.ask(`/api/workflows/${id}/actions`, post({ tool: "wire", args: {}, agent })));
  const action = String(permit["action_id"]);
  ok(await bench.ask(`/api/actions/${action}/outcome`, post({ status: "applied", agent })));
  ok(await bench.ask(`/api/workflows/${id}/rollback`, post({ reason: "wrong", by: "ann" })));
  ok(await bench.ask("/api/kill-switch/pause", post({ ...WORD, workflow_id: id })));
  const undo = () => bench.ask(`/api/workflows/${id}/compensations/${action}/start`, post({ agent }));
  assert.equal(ok(await undo())["waiting_for"], "kill_switch");
  ok(await bench.ask("/api/kill-switch/resume", post({ ...WORD, workflow_id: id })));
  assert.equal(ok(await undo())["status"], "permitted");
});

test("a workflow that is not there, or is named beside an agent, is not stopped", async (t) => {
  const bench = await serverBench(t, { define });
  const id = await underWay(bench);
  const stop = async (more: object) =>
    (await bench.ask("/api/kill-switch/pause", post({ ...WORD, ...more }))).status;
  assert.equal(await stop({ workflow_id: "wf_01ARZ3NDEKTSV4RRFFQ69G5FAV" }), 404);
  assert.equal(await stop({ workflow_id: "elsewhere" }), 400);
  assert.equal(await stop({ workflow_id: id, agent: "far" }), 400);
});

test("of a workflow that is not there, or is another tenant's, nobody is told whether it is stopped", async (t) => {
  const bench = await serverBench(t, { define });
  const id = await underWay(bench);
  const { runtime: elsewhere } = await bench.server.office("acme");
  const theirs = await createRemoteWorkflowNow(elsewhere, {
    name: "flow",
    executor: "agent:far",
    by: "person:ann",
  });
  const asks = async (workflow: string) => {
    const { status } = await bench.ask(`/api/kill-switch?workflow_id=${workflow}`);
    return status;
  };
  for (const other of ["wf_01ARZ3NDEKTSV4RRFFQ69G5FAV", theirs]) assert.equal(await asks(other), 404, other);
  assert.equal(await asks(id), 200);
});

test("a service is stopped by its name, and an agent of the same name is not", async (t) => {
  const bench = await serverBench(t, { define, noAuth: false });
  const { runtime } = await bench.server.office();
  const by = "person:root";
  const keyOf = async (principal: string) => {
    const { text } = await issueApiKey(runtime, { principal, name: "x", roles: ["executor"], by });
    return { authorization: `Bearer ${text}` };
  };
  const [service, agent] = [await keyOf("service:clock"), await keyOf("agent:clock")];
  const propose = async (headers: object) => {
    const { body } = await bench.ask("/api/actions", post({ tool: "wire", args: {} }, undefined, headers));
    return [body["waiting_for"] ?? body["status"], body["by"]];
  };
  await setSwitch(runtime, true, { by, reason: "drill", agent: "service:clock" });
  assert.deepEqual(await propose(service), ["kill_switch", "kill switch (service:clock)"]);
  assert.equal((await propose(agent))[0], "permitted");
  await setSwitch(runtime, false, { by, reason: "over", agent: "service:clock" });
  assert.equal((await propose(service))[0], "permitted");
});

test("whoever was suspended may stop, and releases nothing: a node may not have heard of it yet", async (t) => {
  const bench = await serverBench(t, { define });
  const { runtime } = await bench.server.office();
  await setStanding(runtime, true, { person: "person:ann", by: "person:root", reason: "left" });
  ok(await bench.ask("/api/kill-switch/pause", post(WORD)));
  const released = await bench.ask("/api/kill-switch/resume", post(WORD));
  assert.deepEqual([released.status, released.body["code"]], [403, "not_eligible"]);
  assert.equal((await bench.ask("/api/kill-switch")).body["paused"], true);
  ok(await bench.ask("/api/kill-switch/resume", post({ ...WORD, by: "bob" })));
});

test("all that is stopped is listed, with who said so and why, and leaves the list when it is released", async (t) => {
  const bench = await serverBench(t, { define });
  const id = await underWay(bench);
  const listed = async (query = "") => {
    const { pauses: stops, next_cursor } = ok(await bench.ask(`/api/kill-switch/pauses${query}`));
    return { stops: stops as Record<string, unknown>[], next: next_cursor };
  };
  const attention = async () => ok(await bench.ask("/api/attention"))["stopped"];
  assert.deepEqual(await listed(), { stops: [], next: null });
  const turn = async (way: string, whose: object) =>
    ok(await bench.ask(`/api/kill-switch/${way}`, post({ ...WORD, ...whose })));
  for (const whose of [{ agent: "zebra" }, { workflow_id: id }, {}]) await turn("pause", whose);
  const { stops } = await listed();
  assert.deepEqual(
    new Set(stops.map(({ agent, workflow_id }) => agent ?? workflow_id ?? "tenant")),
    new Set(["tenant", id, "agent:zebra"]),
  );
  for (const stop of stops)
    assert.partialDeepStrictEqual(stop, { paused: true, by: "person:ann", reason: WORD.reason });
  assert.equal(await attention(), 2, "the tenant's own is no agent's and no workflow's");
  const first = await listed("?limit=2");
  const rest = await listed(`?cursor=${String(first.next)}`);
  assert.deepEqual([...first.stops, ...rest.stops], stops);
  await turn("resume", { agent: "agent:zebra" });
  assert.equal((await listed()).stops.length, 2);
  assert.equal(await attention(), 1);
});
