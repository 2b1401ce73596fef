import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import type { FastifyRequest } from "fastify";
import { withoutAuthentication } from "../../src/api/authenticate.ts";
import { handleIdempotently } from "../../src/api/idempotency/handle.ts";
import { beginAnswer } from "../../src/api/idempotency/rules.ts";
import type { Route, RouteAnswer } from "../../src/api/route.ts";
import type { Holdpoint } from "../../src/index.ts";
import { digestOf, sha256 } from "../../src/kernel/canonical-json.ts";
import { HoldpointError } from "../../src/kernel/errors.ts";
import { answerStream } from "../../src/kernel/stream.ts";
import { runCommand } from "../../src/runtime/store-access.ts";

import { type Bench, serverBench } from "../fixtures/server.ts";

const MINUTE = 60_000;

function define(hp: Holdpoint): void {
  const pay = hp.gate({
    name: "pay",
    policy: { verdict: "escalate", decideWithinMs: 60 * MINUTE },
    run: () => "paid",
  });
  pay({ amount: 1 }, { requestId: "pay-1", waitMs: 0 }).catch(() => undefined);
}

async function waiting(bench: Bench): Promise<string> {
  for (let look = 0; look < 400; look++) {
    const { body } = await bench.ask("/api/approvals");
    const [first] = body["approvals"] as { request_id: string }[];
    if (first !== undefined) return first.request_id;
    await new Promise<void>((resolve) => setTimeout(resolve, 10));
  }
  throw new Error("nothing waits");
}

const post = (body: unknown, key: string) => ({
  method: "POST" as const,
  body,
  headers: { "idempotency-key": key },
});
const extension = (seconds: number) => ({ by_seconds: seconds, by: "ann" });

test("the same key and body are worked on once: at the same time, later, and after a restart", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "holdpoint-once-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const bench = await serverBench(t, { define, folder });
  const id = await waiting(bench);
  const path = `/api/approvals/${id}/extend`;
  const before = Date.parse(String((await bench.ask(`/api/approvals/${id}`)).body["decide_by"]));
  const answers = await Promise.all(
    Array.from({ length: 20 }, () => bench.ask(path, post(extension(60), "k1"))),
  );
  for (const answer of answers) assert.equal(answer.status, 200, answer.text);
  const texts = new Set(answers.map(({ body }) => JSON.stringify(body["decide_by"])));
  assert.equal(texts.size, 1);
  assert.equal(answers.filter(({ headers }) => headers["idempotency-replayed"] === "true").length, 19);
  assert.equal(Date.parse(String(answers[0]?.body["decide_by"])), before + MINUTE);
  await bench.close();

  const again = await serverBench(t, { define, folder });
  const late = await again.ask(path, post(extension(60), "k1"));
  assert.equal(late.headers["idempotency-replayed"], "true");
  assert.equal(Date.parse(String(late.body["decide_by"])), before + MINUTE);
  const other = await again.ask(path, post(extension(60), "k2"));
  assert.equal(Date.parse(String(other.body["decide_by"])), before + 2 * MINUTE);
});

test("another body or path under the same key is a conflict; a key that is none is refused", async (t) => {
  const bench = await serverBench(t, { define });
  const id = await waiting(bench);
  assert.equal((await bench.ask(`/api/approvals/${id}/extend`, post(extension(60), "k"))).status, 200);
  for (const [path, body] of [
    [`/api/approvals/${id}/extend`, extension(61)],
    [`/api/approvals/${id}/cancel`, { reason: "x", by: "ann" }],
  ] as const) {
    const answer = await bench.ask(path, post(body, "k"));
    assert.equal(answer.status, 409);
    assert.equal(answer.body["code"], "idempotency_conflict");
  }
  for (const key of ["", " ", "a".repeat(201), "ä"])
    assert.equal((await bench.ask(`/api/approvals/${id}/extend`, post(extension(1), key))).status, 400);
});

test("a refusal is an answer too, and is given again; what failed to be understood is not kept", async (t) => {
  const bench = await serverBench(t, { define });
  const id = await waiting(bench);
  const path = `/api/approvals/${id}/extend`;
  assert.equal((await bench.ask(path, post({ by: "ann", surprise: 1 }, "k"))).status, 400);
  const gone = "/api/approvals/apr_01ARZ3NDEKTSV4RRFFQ69G5FAV/extend";
  const first = await bench.ask(gone, post(extension(60), "k"));
  const second = await bench.ask(gone, post(extension(60), "k"));
  assert.equal(first.status, 404);
  assert.equal(second.status, 404);
  assert.equal(second.headers["idempotency-replayed"], "true");
  assert.equal(second.headers["content-type"], "application/problem+json; charset=utf-8");
  assert.deepEqual(second.body, first.body);
});

test("where the process died that worked on it, what does no harm is done again and the rest is said to be unknown", async (t) => {
  const bench = await serverBench(t, { define });
  const id = await waiting(bench);
  const { runtime } = await bench.server.office();
  const leave = async (path: string, body: unknown) => {
    const name = sha256(Buffer.from("unauthenticated\nlost"));
    const command = {
      ...{ id: name, route: `POST ${path}`, digest: digestOf(body as never), by: "unauthenticated" },
      ...{ epoch: "epo_01ARZ3NDEKTSV4RRFFQ69G5FAV", attempt: "dead", again: null },
    };
    await runCommand(runtime, { write: [answerStream(name)] }, (draft) => beginAnswer(draft, command));
  };
  await leave(`/api/approvals/${id}/extend`, extension(60));
  const unknown = await bench.ask(`/api/approvals/${id}/extend`, post(extension(60), "lost"));
  assert.equal(unknown.status, 409);
  assert.equal(unknown.body["code"], "answer_unknown");
});

test("a vote under a key whose process died is cast again", async (t) => {
  const bench = await serverBench(t, { define });
  const id = await waiting(bench);
  const { runtime } = await bench.server.office();
  const path = `/api/approvals/${id}/votes`;
  const body = { decision: "approve", approved_by: "ann" };
  const name = sha256(Buffer.from("unauthenticated\nlost"));
  const command = {
    ...{ id: name, route: `POST ${path}`, digest: digestOf(body), by: "unauthenticated" },
    ...{ epoch: "epo_01ARZ3NDEKTSV4RRFFQ69G5FAV", attempt: "dead", again: null },
  };
  await runCommand(runtime, { write: [answerStream(name)] }, (draft) => beginAnswer(draft, command));
  const answer = await bench.ask(path, post(body, "lost"));
  assert.equal(answer.status, 200, answer.text);
  assert.equal(answer.body["status"], "approved");
});

test("that a server was closing is not the answer for ever: the next one works on the request", async (t) => {
  const bench = await serverBench(t);
  const office = await bench.server.office();
  const who = await withoutAuthentication({ address: "::1", method: "POST" } as Parameters<
    typeof withoutAuthentication
  >[0]);
  const request = { method: "POST", url: "/api/x", body: {}, id: "r" } as unknown as FastifyRequest;
  const work = (attempt: string, handle: () => Promise<RouteAnswer>) =>
    handleIdempotently(
      "k",
      { request, route: {} as Route, who: who ?? assert.fail(), office, attempt },
      { handle },
    );
  for (const code of ["closed", "epoch_ended", "store_restored"] as const)
    await assert.rejects(
      work(code, () => Promise.reject(new HoldpointError(code, "Not now."))),
      { code },
    );
  const answer = await work("later", async () => ({ status: 200, body: { done: true } }));
  assert.equal(answer.status, 200);
});

test("a permit that was not begun is handed out again under its key to its holder, but not while the kill switch is on, nor once it was reported", async (t) => {
  const bench = await serverBench(t, {
    define: (hp: Holdpoint) => hp.remote.tool({ name: "wire", policy: "approve" }),
  });
  const agent = "agent:far";
  const made = await bench.ask(
    "/api/workflows",
    post({ name: "Trip", checkpoint_names: ["Plan"], executor_id: "far" }, "w"),
  );
  const id = String(made.body["workflow_id"]);
  assert.equal((await bench.ask(`/api/workflows/${id}/start`, post({}, "s"))).status, 200, made.text);
  const holder = "a".repeat(22);
  const proposal = { tool: "wire", args: { amount: 1 }, agent, holder };
  const first = await bench.ask("/api/actions", post(proposal, "p1"));
  const action = String(first.body["action_id"]);
  const asks = () => [
    bench.ask("/api/actions", post(proposal, "p1")),
    bench.ask(`/api/workflows/${id}/actions`, post(proposal, "p2")),
    bench.ask(`/api/actions/${action}/start`, post({ agent, holder }, "p3")),
  ];
  const statuses = async () => {
    const answers = await Promise.all(asks());
    return answers.map(({ body, text }) => body["waiting_for"] ?? body["status"] ?? text);
  };
  assert.deepEqual(await statuses(), ["permitted", "permitted", "permitted"]);
  const said = { reason: "a leak", by: "ann" };
  assert.equal((await bench.ask("/api/kill-switch/pause", post(said, "stop"))).status, 200);
  assert.deepEqual(await statuses(), ["kill_switch", "kill_switch", "kill_switch"]);
  assert.equal((await bench.ask("/api/kill-switch/resume", post(said, "go"))).status, 200);
  const [again] = await Promise.all(asks());
  assert.deepEqual(again?.body, first.body);
  const outcome = await bench.ask(`/api/actions/${action}/outcome`, post({ status: "applied", agent }, "o"));
  assert.equal(outcome.status, 200, outcome.text);
  assert.deepEqual(await statuses(), ["done", "permitted", "done"]);
});

test("a proposal that waited or was held is permitted under its key, once people agree or the switch is released", async (t) => {
  const bench = await serverBench(t, {
    define(hp: Holdpoint) {
      hp.remote.tool({ name: "wire", policy: "approve" });
      hp.remote.tool({ name: "ask", policy: "escalate" });
    },
  });
  const agent = "agent:far";
  const made = await bench.ask("/api/workflows", post({ name: "Trip", executor_id: "far" }, "w"));
  const id = String(made.body["workflow_id"]);
  assert.equal((await bench.ask(`/api/workflows/${id}/start`, post({}, "s"))).status, 200, made.text);
  for (const [index, path] of ["/api/actions", `/api/workflows/${id}/actions`].entries()) {
    const statusUnderKey = async (tool: string) => {
      const { body, text } = await bench.ask(
        path,
        post({ tool, args: {}, agent, holder: "a".repeat(22) }, `${tool} ${index}`),
      );
      return [body["waiting_for"] ?? body["status"] ?? text, String(body["approval_id"])] as const;
    };
    const said = { reason: "a leak", by: "ann" };
    const [waits, approval] = await statusUnderKey("ask");
    assert.equal((await bench.ask("/api/kill-switch/pause", post(said, `stop ${index}`))).status, 200);
    assert.deepEqual([waits, (await statusUnderKey("wire"))[0]], ["approval", "kill_switch"]);
    assert.equal((await bench.ask("/api/kill-switch/resume", post(said, `go ${index}`))).status, 200);
    assert.deepEqual(
      [(await statusUnderKey("ask"))[0], (await statusUnderKey("wire"))[0]],
      ["approval", "permitted"],
    );
    const vote = { decision: "approve", approved_by: "ann" };
    const cast = await bench.ask(`/api/approvals/${approval}/votes`, post(vote, `vote ${index}`));
    assert.equal(cast.status, 200, cast.text);
    assert.deepEqual(
      [(await statusUnderKey("ask"))[0], (await statusUnderKey("wire"))[0]],
      ["permitted", "permitted"],
    );
  }
});
