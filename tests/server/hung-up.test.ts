// A client that hangs up before its answer: nothing is started for it, and what was approved can still be used.
import assert from "node:assert/strict";
import { once } from "node:events";
import { request } from "node:http";
import type { Socket } from "node:net";
import { test } from "node:test";
import { readPermitCaller } from "../../src/agents/remote-checks.ts";
import { proposeRemoteAction, takeUpPermit } from "../../src/agents/remote-proposal.ts";

import { type Holdpoint, isHoldpointError } from "../../src/index.ts";
import { type Bench, serverBench } from "../fixtures/server.ts";

const post = (body: object) => ({ method: "POST", body }) as const;
const isGone = (error: unknown) => isHoldpointError(error, "caller_gone");

/** A preview that waits while it is told to: the server holds the request that much longer. */
function heldPreview() {
  const entered = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  let holds = false;
  return {
    entered: entered.promise,
    hold() {
      holds = true;
    },
    release: () => released.resolve(),
    async preview() {
      if (holds) {
        entered.resolve();
        await released.promise;
      }
      return { moves: 900 };
    },
  };
}

async function approved(bench: Bench): Promise<{ action: string; approval: string }> {
  const wire = { tool: "wire", args: {}, request_id: "r", agent: "far" };
  const { body, text } = await bench.ask("/api/actions", post(wire));
  assert.equal(body["waiting_for"], "approval", text);
  const approval = String(body["approval_id"]);
  const vote = { request_id: approval, decision: "APPROVED", approved_by: "ann" };
  assert.equal((await bench.ask("/api/approvals/submit", post(vote))).status, 200);
  return { action: String(body["action_id"]), approval };
}

/** Asks over a real connection, and closes it once `when` has come; answers when the server has noticed. */
async function hangsUp(bench: Bench, path: string, when: Promise<void>): Promise<void> {
  const connected = once(bench.server.app.server, "connection") as Promise<[Socket]>;
  const headers = { "content-type": "application/json" };
  const asking = request(`${bench.url}${path}`, { method: "POST", headers });
  asking.on("error", () => undefined);
  asking.end(JSON.stringify({ agent: "far" }));
  const [socket] = await connected;
  await when;
  const closed = once(socket, "close");
  asking.destroy();
  await closed;
}

async function untilIdle({ server }: Bench): Promise<void> {
  const { runtime } = await server.office();
  const isAtWork = () => [...runtime.performing].some((name) => name.startsWith("call "));
  while (isAtWork()) await new Promise<void>((resolve) => setImmediate(resolve));
}

test("a client that hangs up while its start is held consumes no approval, and the next request gets the permit", async (t) => {
  const { preview, entered, hold, release } = heldPreview();
  const bench = await serverBench(t, {
    define: (hp: Holdpoint) => hp.remote.tool({ name: "wire", policy: "escalate", preview }),
  });
  const { action, approval } = await approved(bench);
  hold();
  await hangsUp(bench, `/api/actions/${action}/start`, entered);
  release();
  await untilIdle(bench);
  const { body } = await bench.ask(`/api/approvals/${approval}`);
  assert.equal(body["status"], "approved");
  assert.equal((await bench.ask(`/api/actions/${action}`)).body["phase"], "waiting");
  const next = await bench.ask(`/api/actions/${action}/start`, post({ agent: "far" }));
  assert.partialDeepStrictEqual(next.body, { status: "permitted", begun: true, handed_out: 1 });
});

test("nothing is proposed, begun or handed out in the commit of a caller that is gone", async (t) => {
  const bench = await serverBench(t, {
    define: (hp: Holdpoint) => hp.remote.tool({ name: "wire", policy: "approve", effect: "idempotent" }),
  });
  const { runtime } = await bench.server.office();
  const [agent, holder] = ["agent:far", "0123456789abcdefghijkl"];
  const wire = { tool: "wire", args: {}, requestId: "r", agent, holder };
  const gone = { isGone: () => true };
  await assert.rejects(proposeRemoteAction(runtime, wire, gone), isGone);
  assert.equal((await bench.ask("/api/actions/r")).status, 404);
  const permit = await proposeRemoteAction(runtime, wire);
  assert.partialDeepStrictEqual(permit, { status: "permitted", begun: false });
  const begins = (connection: object) =>
    takeUpPermit(runtime, permit.action, {
      agent,
      caller: readPermitCaller(runtime, { holder, begin: true }, connection),
    });
  await assert.rejects(begins(gone), isGone);
  assert.deepEqual(await proposeRemoteAction(runtime, wire), permit);
  assert.partialDeepStrictEqual(await begins({}), { status: "permitted", begun: true, handedOut: 1 });
  await assert.rejects(begins(gone), isGone);
  assert.partialDeepStrictEqual(await begins({}), { status: "permitted", handedOut: 2 });
});
