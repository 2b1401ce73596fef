// Proposals over HTTP are answered with the statuses of a call.
import assert from "node:assert/strict";
import { test } from "node:test";
import { defineStatuses, EXPECTED } from "../fixtures/five-statuses.ts";
import { serverBench } from "../fixtures/server.ts";

test("a proposal is answered with the status of its call, and with what a pending one waits for", async (t) => {
  const bench = await serverBench(t, { define: (hp) => void defineStatuses(hp) });
  const propose = (tool: string, requestId: string) =>
    bench.ask("/api/actions", {
      method: "POST",
      body: { tool, args: {}, request_id: requestId, agent: "far" },
    });
  for (const { tool, status, waitingFor } of EXPECTED)
    for (const turn of ["first", "second"]) {
      const answer = await propose(tool, `call-${tool}`);
      assert.equal(answer.status, 200, answer.text);
      assert.equal(answer.body["status"], status, `${tool}, ${turn}: ${answer.text}`);
      assert.equal(answer.body["waiting_for"], waitingFor, `${tool}, ${turn}: ${answer.text}`);
    }
  await bench.ask("/api/kill-switch/pause", { method: "POST", body: { by: "ann", reason: "drill" } });
  const held = await propose("read", "call-held");
  assert.partialDeepStrictEqual(held.body, { status: "pending", waiting_for: "kill_switch", retry: true });
});
