/** A server that meets what a newer one wrote: a clear error for that very thing, and everything else as always. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import type { Holdpoint } from "../../src/index.ts";
import { actionStream, approvalStream } from "../../src/kernel/stream.ts";
import { serverBench } from "../fixtures/server.ts";
import { annotate, caseStream, openNewer } from "./newer-program.ts";

const define = (hp: Holdpoint) =>
  void hp.gate({ name: "refund", policy: "escalate", run: (_: { n: number }) => "done" });

test("one thing that a newer server wrote to is answered with 503 and what to do; lists and the rest are answered", {
  timeout: 60_000,
}, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "holdpoint-newer-"));
  const bench = await serverBench(t, { folder, define });
  const newer = await openNewer({ folder: join(folder, "data") });
  t.after(async () => {
    await newer.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const propose = async (n: number) => {
    const body = { tool: "refund", args: { n }, request_id: `r${n}`, agent: "agent:a" };
    const { body: answer, status } = await bench.ask("/api/actions", { method: "POST", body });
    assert.equal(status, 200, JSON.stringify(answer));
    return answer as { readonly action_id: string; readonly approval_id: string };
  };
  const [one, two, three] = [await propose(1), await propose(2), await propose(3)];
  await annotate(newer, approvalStream(String(one.approval_id)));
  await annotate(newer, actionStream(String(two.action_id)));
  await annotate(newer, caseStream("17"), { type: "case.opened" });

  const refused = await bench.ask(`/api/approvals/${one.approval_id}`);
  assert.equal(refused.status, 503);
  assert.partialDeepStrictEqual(refused.body, { code: "unknown_event", data: "The stream was left alone." });
  assert.match(String(refused.body["next"]), /at least as new/);
  const vote = { decision: "approve", approved_by: "person:ann" };
  const voted = await bench.ask(`/api/approvals/${one.approval_id}/votes`, { method: "POST", body: vote });
  assert.equal(voted.body["code"], "unknown_event");

  const list = await bench.ask("/api/approvals");
  assert.deepEqual(
    (list.body["approvals"] as readonly { request_id: string }[]).map(({ request_id }) => request_id),
    [one.approval_id, two.approval_id, three.approval_id],
  );
  const pending = await bench.ask("/api/approvals/pending");
  assert.equal(pending.status, 200);
  assert.deepEqual(
    (pending.body["pending_approvals"] as readonly { request_id: string }[]).map((item) => item.request_id),
    [two.approval_id, three.approval_id],
  );
  const fine = await bench.ask(`/api/approvals/${three.approval_id}/votes`, { method: "POST", body: vote });
  assert.equal(fine.status, 200, fine.text);
  assert.equal((await bench.ask("/api/journal/verify", { method: "POST" })).status < 500, true);
  assert.equal((await bench.ask("/api/ready")).status, 200);
});
