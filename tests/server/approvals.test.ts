import assert from "node:assert/strict";
import { test } from "node:test";
import type { Holdpoint } from "../../src/index.ts";
import { type Bench, serverBench } from "../fixtures/server.ts";

/** A tool that people are asked about, and one call of it. */
function define(hp: Holdpoint): void {
  const pay = hp.gate({
    name: "pay",
    policy: { verdict: "escalate", decideWithinMs: 60_000 },
    run: (args: { amount: number }) => ({ paid: args.amount }),
  });
  for (const n of [1, 2, 3]) pay({ amount: n }, { requestId: `pay-${n}` }).catch(() => undefined);
}

async function waiting(bench: Bench, count: number): Promise<readonly string[]> {
  for (let look = 0; look < 400; look++) {
    const { body } = await bench.ask("/api/approvals");
    const list = body["approvals"] as { request_id: string }[];
    if (list.length >= count) return list.map(({ request_id }) => request_id);
    await new Promise<void>((resolve) => setTimeout(resolve, 10));
  }
  throw new Error("nothing waits");
}

async function phaseOf(bench: Bench, requestId: string, wanted: string): Promise<Record<string, unknown>> {
  for (let look = 0; look < 400; look++) {
    const { body } = await bench.ask(`/api/actions/${requestId}`);
    if (body["phase"] === wanted) return body;
    await new Promise<void>((resolve) => setTimeout(resolve, 10));
  }
  throw new Error(`${requestId} does not become ${wanted}`);
}

test("an action inside a workflow is listed and read with its workflow, as among what is pending", async (t) => {
  const begun = Promise.withResolvers<string>();
  const bench = await serverBench(t, {
    define(hp) {
      const pay = hp.gate({ name: "pay", policy: "escalate", run: () => "paid" });
      const flow = hp.workflow("flow", async (ctx, _: object) => ctx.call(pay, { amount: 1 }));
      flow.start({}).then(({ id }) => begun.resolve(id), begun.reject);
    },
  });
  const [id = ""] = await waiting(bench, 1);
  const workflow = await begun.promise;
  const listed = (await bench.ask("/api/approvals")).body["approvals"] as object[];
  const pending = (await bench.ask("/api/approvals/pending")).body["pending_approvals"] as object[];
  const inFull = (await bench.ask(`/api/approvals/${id}`)).body;
  const waited = (await bench.ask(`/api/approvals/${id}/wait?hold_seconds=0`)).body["approval"] as object;
  for (const one of [listed[0], pending[0], inFull, waited])
    assert.partialDeepStrictEqual(one, { request_id: id, workflow_id: workflow });
});

test("an approval is listed in pages, read, approved with an edit, rejected, extended and cancelled over HTTP", async (t) => {
  const bench = await serverBench(t, { define });
  const [first = "", second = "", third = ""] = await waiting(bench, 3);

  const page = await bench.ask("/api/approvals?limit=2");
  assert.equal((page.body["approvals"] as unknown[]).length, 2);
  const rest = await bench.ask(`/api/approvals?limit=2&cursor=${page.body["next_cursor"]}`);
  assert.deepEqual(
    (rest.body["approvals"] as { request_id: string }[]).map(({ request_id }) => request_id),
    [third],
  );
  assert.equal(rest.body["next_cursor"], null);

  const modified = await bench.ask(`/api/approvals/${first}/votes`, {
    method: "POST",
    body: { decision: "approve", edit: { amount: 10 }, note: "less", approved_by: "ann" },
  });
  assert.equal(modified.status, 200, modified.text);
  const one = (await bench.ask(`/api/approvals/${first}`)).body;
  const name = (one["args"] as { amount: number }).amount;
  assert.equal(name, 10);
  const [vote] = one["votes"] as { by: string; via: string }[];
  assert.equal(vote?.by, "person:ann");
  assert.equal(vote?.via, "unauthenticated");

  const extended = await bench.ask(`/api/approvals/${second}/extend`, {
    method: "POST",
    body: { by_seconds: 3_600, by: "ann" },
  });
  assert.equal(extended.status, 200, extended.text);

  const rejected = await bench.ask(`/api/approvals/${second}/votes`, {
    method: "POST",
    body: { decision: "reject", reason: "no", approved_by: "person:ann" },
  });
  assert.equal(rejected.body["status"], "rejected");
  const late = await bench.ask(`/api/approvals/${second}/votes`, {
    method: "POST",
    body: { decision: "approve", approved_by: "bob" },
  });
  assert.equal(late.status, 409);
  assert.equal(late.body["code"], "decision_conflict");
  assert.equal(late.body["current_status"], "rejected");
  assert.equal(late.headers["content-type"], "application/problem+json; charset=utf-8");

  const cancelled = await bench.ask(`/api/approvals/${third}/cancel`, {
    method: "POST",
    body: { reason: "not wanted", by: "ann" },
  });
  assert.equal(cancelled.body["status"], "cancelled");

  const applied = await phaseOf(bench, "pay-1", "applied");
  assert.deepEqual((applied["outcome"] as { result: unknown }).result, { paid: 10 });
  assert.equal(applied["executed_from"], "human_revised");
  const receipt = await bench.ask("/api/receipts/pay-1");
  assert.equal(receipt.body["status"], "applied");
  assert.deepEqual(receipt.body["approved_by"], ["person:ann"]);
  const signed = await bench.ask("/api/receipts/pay-1/sign", { method: "POST" });
  assert.equal(signed.status, 200, signed.text);
  assert.match(String(signed.body["receipt"]), /^ey/);
});

test("a field is named as the request has it, also where only the verb finds it wrong", async (t) => {
  const bench = await serverBench(t, { define });
  const [first = ""] = await waiting(bench, 3);
  const { binding } = (await bench.ask(`/api/approvals/${first}`)).body;
  const one = { request_id: first, binding, decision: "approve" };
  const fieldsOf = async (decisions: readonly object[]) => {
    const { status, body } = await bench.ask("/api/approvals/batch", {
      method: "POST",
      body: { decisions, approved_by: "person:ann" },
    });
    assert.equal(status, 400);
    return (body["errors"] as { field: string }[]).map(({ field }) => field);
  };
  assert.deepEqual(await fieldsOf([{ ...one, decision: "perhaps" }]), ["body.decisions.0.decision"]);
  assert.deepEqual(await fieldsOf([one, one]), ["body.decisions"]);
  assert.deepEqual(await fieldsOf([{ ...one, binding: "short" }]), ["body.decisions.0.binding"]);
  assert.deepEqual(await fieldsOf([{ ...one, decision: "reject", edit: {} }]), ["body.decisions.0"]);
});

test("what goes wrong says what, what happened to the data and what to do, with every field that does not fit", async (t) => {
  const bench = await serverBench(t, { define });
  const [first = ""] = await waiting(bench, 3);
  const answer = await bench.ask(`/api/approvals/${first}/votes`, {
    method: "POST",
    headers: { "x-request-id": "mine-1" },
    body: { decision: "reject", reason: "", final: 3, surprise: 1 },
  });
  assert.equal(answer.status, 400);
  assert.equal(answer.body["type"], "urn:holdpoint:error:invalid_input");
  assert.equal(answer.body["correlation_id"], "mine-1");
  assert.equal(answer.headers["x-request-id"], "mine-1");
  const fields = (answer.body["errors"] as { field: string }[]).map(({ field }) => field).toSorted();
  assert.deepEqual(fields, ["body.final", "body.reason", "body.surprise"]);
  for (const field of ["title", "status", "detail", "code", "data", "next", "retryable", "instance"])
    assert.ok(field in answer.body, field);
  const unknown = await bench.ask("/api/approvals/apr_00000000000000000000000000");
  assert.equal(unknown.status, 404);
  assert.equal(unknown.body["code"], "unknown_id");
  const grant = { tool: "no name", uses: 0, for_seconds: 60, reason: "small ones", by: "person:ann" };
  const { body } = await bench.ask("/api/grants", { method: "POST", body: grant });
  const uses = "body.uses: A grant has a number of uses: a whole number from 1 to 1000000.";
  assert.equal(
    body["detail"],
    `The request does not fit: body.tool: "no name" is not a tool's name; ${uses}`,
  );
});
