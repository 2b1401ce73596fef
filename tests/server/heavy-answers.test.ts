// Answers that carry much, and whoever does not read them.
import assert from "node:assert/strict";
import { once } from "node:events";
import { IncomingMessage, ServerResponse } from "node:http";
import { connect, Socket } from "node:net";
import { test } from "node:test";
import { createResponseBackpressure } from "../../src/api/guards/quotas.ts";
import { issueApiKey } from "../fixtures/people.ts";
import { type Bench, serverBench } from "../fixtures/server.ts";
import { setSwitch } from "../fixtures/verbs.ts";

const BLOB = "x".repeat(900_000);
const by = "person:root";

async function keyOf(bench: Bench, principal: string) {
  const { runtime } = await bench.server.office();
  const roles = ["executor", "auditor"] as const;
  const { text } = await issueApiKey(runtime, { principal, name: "one", roles: [...roles], by });
  return { authorization: `Bearer ${text}` };
}

async function proposed(bench: Bench, count: number, more: object = {}): Promise<void> {
  for (let n = 0; n < count; n++) {
    const body = { tool: "note.write", args: { n, blob: BLOB }, ...more };
    const answer = await bench.ask("/api/actions", { method: "POST", body });
    assert.equal(answer.body["waiting_for"], "approval", answer.text);
  }
}

async function allPages(bench: Bench, path: string, field: string) {
  const pages: Record<string, unknown>[][] = [];
  let cursor: unknown = null;
  do {
    const on: string = cursor === null ? "" : `&cursor=${String(cursor)}`;
    const { status, body, text } = await bench.ask(`${path}?limit=1000${on}`);
    assert.equal(status, 200, text.slice(0, 300));
    assert.ok(text.length < 6_000_000, `one page has ${text.length} characters`);
    pages.push(body[field] as Record<string, unknown>[]);
    cursor = body["next_cursor"];
  } while (cursor !== null);
  return pages;
}

test("a page of what waits ends at its bytes, and the next goes on after it: each once", async (t) => {
  const bench = await serverBench(t);
  await proposed(bench, 10, { agent: "agent:a" });
  const pages = await allPages(bench, "/api/approvals/pending", "pending_approvals");
  assert.ok(pages.length >= 3);
  const ids = pages.flat().map((one) => one["request_id"]);
  assert.equal(ids.length, 10);
  assert.equal(new Set(ids).size, 10);
});

test("pages of the journal and of an inbox end at their bytes too", async (t) => {
  const bench = await serverBench(t);
  const send = { intent_type: "task", to_agent: "agent://doer", from: "agent:a" };
  for (let n = 0; n < 90; n++) {
    const payload = { n, blob: "x".repeat(60_000) };
    const { status, text } = await bench.ask("/api/intents", { method: "POST", body: { ...send, payload } });
    assert.equal(status, 201, text);
  }
  const pages = await allPages(bench, "/api/journal", "entries");
  const positions = pages.flat().map((one) => Number(one["position"]));
  assert.ok(pages.length >= 2);
  assert.equal(new Set(positions).size, positions.length);
  assert.ok(positions.length >= 90);
  const first = await bench.ask("/api/intents/inbox?agent=agent:doer");
  const handed = first.body["intents"] as Record<string, unknown>[];
  assert.ok(handed.length > 0 && handed.length < 90, `${handed.length} at once`);
});

/** Asks more than the system's own buffers take, and reads nothing. */
function unread(bench: Bench, path: string, headers: Record<string, string>) {
  const socket = connect(bench.port, "127.0.0.1");
  socket.on("error", () => undefined);
  socket.pause();
  const lines = Object.entries({ host: `127.0.0.1:${bench.port}`, ...headers }).map(([k, v]) => `${k}: ${v}`);
  socket.write(`GET ${path} HTTP/1.1\r\n${lines.join("\r\n")}\r\n\r\n`.repeat(8));
  return socket;
}

test("a connection whose answer is not read is cut, and what waited for it is free again", async (t) => {
  const outflow = { each: 500_000_000, all: 500_000_000, stillMs: 300 };
  const bench = await serverBench(t, { noAuth: false, options: { outflow } });
  const headers = await keyOf(bench, "agent:a");
  for (let n = 0; n < 10; n++) {
    const body = { tool: "note.write", args: { n, blob: BLOB } };
    assert.equal((await bench.ask("/api/actions", { method: "POST", body, headers })).status, 200);
  }
  const cut = new Promise<void>((resolve) => {
    bench.server.app.server.on("connection", (socket) => void once(socket, "close").then(() => resolve()));
  });
  const socket = unread(bench, "/api/approvals/pending?limit=1000", headers);
  await cut;
  socket.destroy();
  assert.equal((await bench.ask("/api/session", { headers })).status, 200);
});

test("whoever leaves answers unread gets no more of them, and others do, until all together are too many", () => {
  const outflow = createResponseBackpressure({ each: 10, all: 15, stillMs: 1_000 });
  const unreadBy = (name: string, bytes: number) => {
    const response = new ServerResponse(new IncomingMessage(new Socket()));
    outflow.check(name, bytes);
    outflow.follow(name, bytes, response);
    return response;
  };
  const first = unreadBy("a", 12);
  assert.throws(() => outflow.check("a", 0), { code: "rate_limited", details: { retry_after: 5 } });
  outflow.check("b", 3);
  assert.throws(() => outflow.check("b", 4), { code: "server_busy", details: { retry_after: 5 } });
  first.emit("finish");
  first.emit("close");
  const second = unreadBy("a", 9);
  assert.throws(() => outflow.check("a", 2), { code: "rate_limited" });
  second.emit("close");
  unreadBy("b", 10);
});

test("a principal has only so many questions before people; what it asked before is answered, and others go on", async (t) => {
  const bench = await serverBench(t, { noAuth: false, pending: 3 });
  const [own, other] = [await keyOf(bench, "agent:a"), await keyOf(bench, "agent:b")];
  const ask = (headers: Record<string, string>, request_id: string) =>
    bench.ask("/api/actions", {
      method: "POST",
      headers,
      body: { tool: "note.write", args: {}, request_id },
    });
  for (const id of ["one", "two", "three"]) assert.equal((await ask(own, id)).status, 200);
  const more = await ask(own, "four");
  assert.equal(more.status, 429, more.text);
  assert.match(String(more.body["detail"]), /agent:a has 3 questions before people/);
  assert.ok(Number(more.headers["retry-after"]) >= 1);
  const human = { intent_type: "human_approval", to_agent: "agent://approver" };
  assert.equal((await bench.ask("/api/intents", { method: "POST", headers: own, body: human })).status, 429);
  assert.equal((await ask(own, "two")).body["waiting_for"], "approval");
  assert.equal((await ask(other, "five")).body["waiting_for"], "approval");
  assert.equal((await bench.ask("/api/actions/four", { headers: other })).status, 404);
});

test("what was held and goes on counts as a question like any other, however it is taken up", async (t) => {
  const bench = await serverBench(t, { noAuth: false, pending: 3 });
  const own = await keyOf(bench, "agent:a");
  const { runtime } = await bench.server.office();
  const turn = (isOn: boolean) => setSwitch(runtime, isOn, { by, reason: "a look" });
  const propose = (request_id: string) =>
    bench.ask("/api/actions", {
      ...{ method: "POST", headers: { ...own, "idempotency-key": `key of ${request_id}` } },
      body: { tool: "note.write", args: {}, request_id },
    });
  const start = (id: string) =>
    bench.ask(`/api/actions/${id}/start`, { method: "POST", headers: own, body: {} });
  await turn(true);
  const held: string[] = [];
  for (const id of ["one", "two", "three", "four"]) {
    const { body } = await propose(id);
    assert.equal(body["waiting_for"], "kill_switch");
    held.push(String(body["action_id"]));
  }
  await turn(false);
  const [first = "", second = "", third = "", fourth = ""] = held;
  for (const id of [first, second, third]) assert.equal((await start(id)).body["waiting_for"], "approval");
  const again = { method: "POST", headers: own } as const;
  const body = { tool: "note.write", args: {}, request_id: "four" };
  for (const more of [
    await start(fourth),
    await propose("four"),
    await bench.ask("/api/actions", { ...again, body }),
  ])
    assert.equal(more.status, 429, more.text);
  for (const asked of [await start(first), await propose("one")])
    assert.equal(asked.body["waiting_for"], "approval");
});
