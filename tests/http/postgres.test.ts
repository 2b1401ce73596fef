// Two servers on one database: an agent and people meet wherever they ask, and the outside is told once.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { type PostgresServer, startPostgres } from "../fixtures/postgres-server.ts";
import { type Answered, type Bench, type Sent, serverBench } from "../fixtures/server.ts";
import { startReceiver } from "../messages/receiver.ts";

const HOLDER = "0123456789abcdefghijkl";

process.env["HOLDPOINT_ALLOW_PRIVATE"] = "1";

let database: PostgresServer;
const folder = mkdtempSync(join(tmpdir(), "holdpoint-http-pg-"));
before(async () => {
  database = await startPostgres();
});
after(async () => {
  await database.stop();
  rmSync(folder, { recursive: true, force: true });
});

const ok = ({ status, body, text }: Answered): Record<string, unknown> => {
  assert.ok(status < 300, text);
  return body;
};
const post = (body?: unknown): Sent => ({ method: "POST", ...(body === undefined ? {} : { body }) });

async function until<Value>(look: () => Promise<Value | undefined>): Promise<Value> {
  for (let tries = 0; tries < 2_000; tries++) {
    const found = await look();
    if (found !== undefined) return found;
    await new Promise<void>((resolve) => setTimeout(resolve, 10));
  }
  return assert.fail("it does not come");
}

async function statusOf(bench: Bench, id: string, wanted: string): Promise<Record<string, unknown>> {
  return until(async () => {
    const workflow = ok(await bench.ask(`/api/workflows/${id}`));
    return workflow["status"] === wanted ? workflow : undefined;
  });
}

test("a workflow is driven, decided, sent back and undone over two servers", {
  timeout: 240_000,
}, async (t) => {
  const define: NonNullable<Parameters<typeof serverBench>[1]>["define"] = (hp) =>
    hp.remote.tool({ name: "book", policy: "approve", undo: true });
  const place = { database: database.url, data: undefined, folder, define };
  const [one, two] = [await serverBench(t, place), await serverBench(t, place)];
  const receiver = await startReceiver(t);
  ok(await one.ask("/api/endpoints", post({ url: receiver.url, events: ["approval.requested"], by: "ann" })));

  const parties = { poster_id: "ann", executor_id: "travel" };
  const made = ok(
    await one.ask("/api/workflows", post({ name: "Trip", checkpoint_names: ["Plan"], ...parties })),
  );
  const id = String(made["workflow_id"]);
  ok(await two.ask(`/api/workflows/${id}/start`, post()));
  const permit = ok(
    await one.ask(
      `/api/workflows/${id}/actions`,
      post({ tool: "book", args: { hotel: 1 }, request_id: "b", holder: HOLDER }),
    ),
  );
  const same = ok(
    await two.ask(
      `/api/workflows/${id}/actions`,
      post({ tool: "book", args: { hotel: 1 }, request_id: "b", holder: HOLDER }),
    ),
  );
  assert.deepEqual(same, permit);
  const action = String(permit["action_id"]);
  ok(await two.ask(`/api/actions/${action}/outcome`, post({ status: "applied", result: { ref: "H1" } })));
  const stand = { checkpoint_id: "Plan", outputs: { nights: 3 }, request_id: "plan-1" };
  const [stood, again] = await Promise.all(
    [one, two].map(async (bench) => ok(await bench.ask(`/api/workflows/${id}/checkpoints`, post(stand)))),
  );
  assert.equal(stood?.["approval_id"], again?.["approval_id"], "reached once, whichever server was first");
  const ballot = {
    request_id: stood?.["approval_id"],
    decision: "REJECTED",
    rationale: "nearer",
    approved_by: "bob",
  };
  ok(await two.ask("/api/approvals/submit", post(ballot)));

  const intent = await until(async () => {
    const { intents } = ok(await one.ask("/api/intents/inbox?agent=agent:travel"));
    return (intents as Record<string, unknown>[])[0];
  });
  const { start } = intent["payload"] as { start: string };
  const undo = ok(await two.ask(start, post()));
  ok(await one.ask(`/api/actions/${String(undo["action_id"])}/outcome`, post({ status: "applied" })));
  const back = await statusOf(two, id, "executing");
  assert.equal(back["attempt"], 2);
  const answered = ok(await two.ask(`/api/intents/${String(intent["intent_id"])}`));
  assert.equal(answered["lifecycle_status"], "COMPLETED");
  const { intents } = ok(await two.ask("/api/intents?to=agent:travel"));
  assert.equal((intents as unknown[]).length, 1, "both servers saw to it, and asked once");

  const second = ok(
    await two.ask(`/api/workflows/${id}/checkpoints`, post({ ...stand, request_id: "plan-2" })),
  );
  const changed = {
    request_id: second["approval_id"],
    decision: "MODIFIED",
    modifications: { nights: 2 },
    approved_by: "bob",
  };
  ok(await one.ask("/api/approvals/submit", post(changed)));
  const decided = ok(await two.ask(`/api/workflows/${id}`))["last_decision"] as Record<string, unknown>;
  assert.deepEqual(decided["modifications"], { nights: 2 });
  assert.equal(ok(await one.ask(`/api/workflows/${id}/complete`, post()))["status"], "completed");
  await until(async () => {
    const { messages } = ok(await two.ask("/api/messages?status=delivered"));
    return (messages as unknown[]).length === 2 ? true : undefined;
  });
  assert.equal(receiver.got.length, 2, "two questions, each told once by whichever server");
});
