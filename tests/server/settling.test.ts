// A workflow that goes back while something that it began has not ended: its agent is told to ask again.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Holdpoint } from "../../src/index.ts";
import { type Answered, type Bench, serverBench } from "../fixtures/server.ts";

const post = (body: unknown) => ({ method: "POST", body }) as const;

function ok({ status, body, text }: Answered): Record<string, unknown> {
  assert.equal(status, 200, text);
  return body;
}

async function stands(bench: Bench, id: string) {
  const { compensations, settling } = ok(await bench.ask(`/api/workflows/${id}/compensations`));
  return [(compensations as { undoes: string }[]).map(({ undoes }) => undoes), settling];
}

async function permitted(bench: Bench, id: string, n: number): Promise<Record<string, unknown>> {
  const answer = ok(await bench.ask(`/api/workflows/${id}/actions`, post({ tool: "book", args: { n } })));
  assert.equal(answer["status"], "permitted");
  return answer;
}

const report = async (bench: Bench, action: unknown, status: string) =>
  ok(await bench.ask(`/api/actions/${String(action)}/outcome`, post({ status, reason: "as it is" })));

test("while nothing can be taken back yet the list is empty and settling, and then it is neither", async (t) => {
  const define = (hp: Holdpoint) => hp.remote.tool({ name: "book", policy: "approve", undo: true });
  const bench = await serverBench(t, { define });
  const made = ok(await bench.ask("/api/workflows", post({ name: "Trip", executor_id: "far" })));
  const id = String(made["workflow_id"]);
  ok(await bench.ask(`/api/workflows/${id}/start`, post({})));
  const done = await permitted(bench, id, 1);
  await report(bench, done["action_id"], "applied");
  const open = await permitted(bench, id, 2);
  assert.deepEqual(await stands(bench, id), [[], false], "it does not go back");

  ok(await bench.ask(`/api/workflows/${id}/rollback`, post({ reason: "rain", by: "ann", after: "fail" })));
  assert.deepEqual(await stands(bench, id), [[], true], "the second has not ended");
  await report(bench, open["action_id"], "not_applied");
  assert.deepEqual(await stands(bench, id), [[done["action_id"]], false]);
  const start = `/api/workflows/${id}/compensations/${String(done["action_id"])}/start`;
  await report(bench, ok(await bench.ask(start, post({})))["action_id"], "applied");
  assert.equal(ok(await bench.ask(`/api/workflows/${id}`))["status"], "failed");
  assert.deepEqual(await stands(bench, id), [[], false], "nothing is left");
});
