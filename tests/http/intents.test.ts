// Intents reach the agent that they are for: over a stream, over its own webhook, and as compensations of its workflow.
import assert from "node:assert/strict";
import { test } from "node:test";
import { listenTo } from "../fixtures/listen.ts";
import { type Answered, type Bench, type Sent, serverBench } from "../fixtures/server.ts";
import { startReceiver } from "../messages/receiver.ts";

process.env["HOLDPOINT_ALLOW_PRIVATE"] = "1";

const ok = ({ status, body, text }: Answered): Record<string, unknown> => {
  assert.ok(status < 300, text);
  return body;
};
const post = (body: unknown): Sent => ({ method: "POST", body });

async function until<Value>(look: () => Promise<Value | undefined>): Promise<Value> {
  for (let tries = 0; tries < 3_000; tries++) {
    const found = await look();
    if (found !== undefined) return found;
    await new Promise<void>((resolve) => setTimeout(resolve, 10));
  }
  return assert.fail("it does not come");
}

async function send(bench: Bench, to: string): Promise<string> {
  const intent = { intent_type: "look", to_agent: `agent://${to}`, payload: { n: 1 }, from: "agent:planner" };
  return String(ok(await bench.ask("/api/intents", post(intent)))["intent_id"]);
}
const statusOf = async (bench: Bench, id: string) =>
  ok(await bench.ask(`/api/intents/${id}`))["lifecycle_status"];
const acknowledge = (bench: Bench, id: string, by: string) =>
  bench.ask(`/api/intents/${id}/acknowledge`, post({ by }));

test("a stream hands an agent what is sent to it, again after a break, and no more once it is acknowledged", async (t) => {
  const bench = await serverBench(t);
  const early = await send(bench, "doer");
  await send(bench, "other");
  const url = `${bench.url}/api/intents/stream?agent=agent:doer`;
  const first = await listenTo(url);
  const late = await send(bench, "doer");
  await first.heard(2);
  const heard = first.events.filter(({ type }) => type === "intent").map(({ data }) => data);
  assert.deepEqual(
    heard.map(({ intent_id: id, payload, times }) => [id, payload, times]),
    [
      [early, { n: 1 }, 1],
      [late, { n: 1 }, 1],
    ],
  );
  assert.equal(await statusOf(bench, late), "DELIVERED");
  first.stop();
  ok(await acknowledge(bench, early, "agent:doer"));
  const second = await listenTo(url);
  await second.heard(1);
  const [again] = second.events.filter(({ type }) => type === "intent");
  assert.equal(again?.data["intent_id"], late);
  second.stop();
});

test("a webhook of an agent is told of its own intents, until the agent says that it has them", {
  timeout: 120_000,
}, async (t) => {
  const bench = await serverBench(t);
  const receiver = await startReceiver(t);
  const owner = { owner: "agent:doer", events: ["intent.sent"], by: "ann" };
  ok(await bench.ask("/api/endpoints", post({ url: receiver.url, ...owner })));
  await send(bench, "other");
  const id = await send(bench, "doer");
  const [got] = await receiver.reached(1);
  assert.partialDeepStrictEqual(got?.payload.data, { intent: id, payload: { n: 1 }, to: "agent:doer" });
  const message = await until(async () => {
    const { messages } = ok(await bench.ask("/api/messages"));
    const [one, more] = messages as {
      message_id: string;
      status: string;
      last: { problem: string } | null;
    }[];
    assert.equal(more, undefined, "nobody else's intent is told");
    return one?.last == null ? undefined : one;
  });
  assert.deepEqual([message.status, message.last?.problem], ["waiting", "not_acknowledged"]);
  assert.equal(await statusOf(bench, id), "DELIVERED");
  await receiver.reached(2);
  assert.equal(new Set(receiver.got.map((one) => one.id)).size, 1, "under the same id");
  ok(await acknowledge(bench, id, "agent:doer"));
  await until(async () => {
    const { status } = ok(await bench.ask(`/api/messages/${message.message_id}`));
    return status === "delivered" ? true : undefined;
  });
  assert.equal(receiver.got.length, 2);
});

test("a webhook whose agent acknowledges while it is told is told once", async (t) => {
  const bench = await serverBench(t);
  const receiver = await startReceiver(t);
  receiver.answer = async ({ payload }) => {
    ok(await acknowledge(bench, String(payload.data["intent"]), "agent:doer"));
    return 204;
  };
  ok(
    await bench.ask(
      "/api/endpoints",
      post({ url: receiver.url, owner: "agent:doer", events: ["intent.sent"], by: "ann" }),
    ),
  );
  await send(bench, "doer");
  await until(async () => {
    const { messages } = ok(await bench.ask("/api/messages?status=delivered"));
    return (messages as unknown[]).length === 1 ? true : undefined;
  });
  assert.equal(receiver.got.length, 1);
});

/** A workflow whose agent did one thing and was sent back. */
async function sentBack(bench: Bench): Promise<{ id: string; action: string }> {
  const parties = { poster_id: "ann", executor_id: "travel" };
  const made = ok(
    await bench.ask("/api/workflows", post({ name: "Trip", checkpoint_names: ["Plan"], ...parties })),
  );
  const id = String(made["workflow_id"]);
  ok(await bench.ask(`/api/workflows/${id}/start`, { method: "POST" }));
  const permit = ok(
    await bench.ask(`/api/workflows/${id}/actions`, post({ tool: "book", args: { hotel: 1 } })),
  );
  const action = String(permit["action_id"]);
  ok(await bench.ask(`/api/actions/${action}/outcome`, post({ status: "applied", result: { ref: "H1" } })));
  const stood = ok(
    await bench.ask(`/api/workflows/${id}/checkpoints`, post({ checkpoint_id: "Plan", outputs: {} })),
  );
  const decision = {
    request_id: stood["approval_id"],
    decision: "REJECTED",
    rationale: "nearer",
    approved_by: "bob",
  };
  ok(await bench.ask("/api/approvals/submit", post(decision)));
  return { id, action };
}

const define = (hp: { remote: { tool(tool: { name: string; policy: "approve"; undo: true }): void } }) =>
  hp.remote.tool({ name: "book", policy: "approve", undo: true });

async function inbox(bench: Bench): Promise<Record<string, unknown>> {
  return until(async () => {
    const { intents } = ok(await bench.ask("/api/intents/inbox?agent=agent:travel"));
    return (intents as Record<string, unknown>[])[0];
  });
}

test("what an agent has to take back comes to it as an intent, and is answered by what it does", async (t) => {
  const bench = await serverBench(t, { define });
  const { id, action } = await sentBack(bench);
  const intent = await inbox(bench);
  assert.equal(intent["intent_type"], "compensation");
  assert.partialDeepStrictEqual(intent["payload"], {
    workflow_id: id,
    undoes: action,
    tool: "book",
    reason: "nearer",
  });
  const { start } = intent["payload"] as { start: string };
  const intentId = String(intent["intent_id"]);
  const byHand = await bench.ask(
    `/api/intents/${intentId}/answer`,
    post({ data: { done: 1 }, by: "agent:travel" }),
  );
  assert.equal(byHand.status, 409, byHand.text);
  assert.match(String(byHand.body["detail"]), /answered by what its agent does: start the compensation/);
  assert.equal((await inbox(bench))["intent_id"], intentId, "it is still there to be told");
  const listed = ok(await bench.ask(`/api/workflows/${id}/compensations`))["compensations"] as Record<
    string,
    unknown
  >[];
  assert.deepEqual(
    listed.map(({ undoes, args, result }) => [undoes, args, result]),
    [[action, { hotel: 1 }, { ref: "H1" }]],
  );
  const failing = ok(await bench.ask(start, { method: "POST" }));
  assert.equal(failing["status"], "permitted");
  assert.equal(await statusOf(bench, intentId), "WAITING");
  const undo = String(failing["action_id"]);
  ok(await bench.ask(`/api/actions/${undo}/outcome`, post({ status: "not_applied", reason: "closed" })));
  assert.equal(await statusOf(bench, intentId), "FAILED");
  const second = await inbox(bench);
  assert.equal((second["payload"] as { attempt: number }).attempt, 2);
  const permit = ok(await bench.ask(start, { method: "POST" }));
  ok(await bench.ask(`/api/actions/${String(permit["action_id"])}/outcome`, post({ status: "applied" })));
  assert.equal(await statusOf(bench, String(second["intent_id"])), "COMPLETED");
  const back = ok(await bench.ask(`/api/workflows/${id}`));
  assert.deepEqual([back["status"], back["attempt"]], ["executing", 2]);
});

test("nobody but a workflow sends an intent of the type compensation", async (t) => {
  const bench = await serverBench(t, { define });
  const forged = { intent_type: "compensation", to_agent: "agent:travel", payload: { start: "elsewhere" } };
  const answer = await bench.ask("/api/intents", post({ ...forged, from: "agent:other" }));
  assert.equal(answer.status, 400, answer.text);
  assert.match(answer.text, /Only a workflow that goes back sends/);
});

test("a workflow that is ended on its way back asks nobody any more", async (t) => {
  const bench = await serverBench(t, { define });
  const { id } = await sentBack(bench);
  const intent = await inbox(bench);
  ok(await bench.ask(`/api/workflows/${id}/cancel`, post({ reason: "enough", by: "ann" })));
  await until(async () =>
    (await statusOf(bench, String(intent["intent_id"]))) === "CANCELED" ? true : undefined,
  );
});
