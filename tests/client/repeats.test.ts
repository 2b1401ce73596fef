import assert from "node:assert/strict";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { type TestContext, test } from "node:test";
import { type Client, type ClientOptions, createClient, isClientError } from "../../src/client/client.ts";
import { serverBench } from "../fixtures/server.ts";

type Seen = {
  readonly line: string;
  readonly key: string | undefined;
  readonly credential: string | undefined;
};
type Behaviour = (response: ServerResponse, request: IncomingMessage) => void;

/** Answers as it is told, one behaviour a request; then as the last. */
async function puppet(t: Pick<TestContext, "after">, ...behaviours: readonly Behaviour[]) {
  const seen: Seen[] = [];
  const server = createServer((request, response) => {
    request.resume().on("end", () => {
      const key = request.headers["idempotency-key"];
      const { authorization: credential } = request.headers;
      const line = `${request.method} ${request.url}`;
      seen.push({ line, key: typeof key === "string" ? key : undefined, credential });
      behaviours[Math.min(seen.length, behaviours.length) - 1]?.(response, request);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen };
}

const json =
  (status: number, body: unknown): Behaviour =>
  (response) =>
    void response.writeHead(status, { "content-type": "application/problem+json" }).end(JSON.stringify(body));
const problem = (status: number, code: string, more: object = {}): Behaviour =>
  json(status, { code, detail: "Not now.", retryable: true, ...more });
const cut: Behaviour = (response) => void response.destroy();
const cutWithin: Behaviour = (response) => {
  response.writeHead(200, { "content-type": "application/json", "content-length": "100" });
  response.write('{"stat', () => response.destroy());
};
const page: Behaviour = (response) =>
  void response.writeHead(502, { "content-type": "text/html" }).end("<h1>Bad gateway</h1>");
const silent: Behaviour = () => undefined;
const fine = json(200, { status: "fine" });

function patient(url: string, options: Partial<ClientOptions> = {}): { client: Client; pauses: number[] } {
  const pauses: number[] = [];
  const pause = async (ms: number) => void pauses.push(ms);
  return { client: createClient({ server: url, pause, random: () => 0.5, ...options }), pauses };
}

test("a read is sent again after a broken connection, a broken answer, a proxy's page, 429 and 503", async (t) => {
  const { url, seen } = await puppet(t, cut, cutWithin, page, problem(503, "store_busy"), fine);
  const { client, pauses } = patient(url);
  assert.deepEqual(await client.server.health(), { status: "fine" });
  assert.equal(seen.length, 5);
  assert.ok(
    pauses.every((ms, at) => at === 0 || ms > (pauses[at - 1] ?? 0)),
    `each later: ${pauses}`,
  );
});

test("the server says how long to wait, and is waited for so long", async (t) => {
  const { url } = await puppet(t, problem(429, "rate_limited", { retry_after: 7 }), fine);
  const { client, pauses } = patient(url);
  await client.server.health();
  assert.ok((pauses[0] ?? 0) >= 7_000, String(pauses));
});

test("what changes something is sent again under one key that the client made, and never under another", async (t) => {
  const { url, seen } = await puppet(t, cut, cutWithin, problem(503, "commit_unknown"), fine, fine);
  const { client } = patient(url);
  await client.approvals.vote("apr_1", { decision: "approve" });
  await client.approvals.vote("apr_1", { decision: "approve" });
  const keys = seen.map(({ key }) => key);
  assert.match(String(keys[0]), /^[0-9a-f]{32}$/);
  assert.equal(new Set(keys.slice(0, 4)).size, 1);
  assert.notEqual(keys[4], keys[0]);
  await client.approvals.vote("apr_1", { decision: "approve" }, { idempotencyKey: "mine" });
  assert.equal(seen.at(-1)?.key, "mine");
});

test("what the server would do twice is not sent again, and the error says that nobody knows", async (t) => {
  const { url, seen } = await puppet(t, cut);
  const { client } = patient(url);
  const issue = client.keys.issue({ principal: "agent:a", name: "a" });
  await assert.rejects(issue, (error) => {
    assert.ok(isClientError(error, "no_answer"));
    assert.match(error.data, /not known/);
    return true;
  });
  await assert.rejects(client.budgets.limit("b", { limit: { currency: "USD", micros: "1" } }));
  await assert.rejects(client.people.change("person:a", { name: "A" }));
  await assert.rejects(client.session.open({ link: "x" }));
  assert.equal(seen.length, 4);
  assert.ok(seen.every(({ key }) => key === undefined));
});

test("what was refused for good is not sent again", async (t) => {
  const { url, seen } = await puppet(t, json(409, { code: "wrong_state", detail: "No.", retryable: false }));
  const { client } = patient(url);
  await assert.rejects(client.server.health(), { code: "wrong_state" });
  assert.equal(seen.length, 1);
});

test("it gives up after so many tries, and says what happened last", async (t) => {
  const { url, seen } = await puppet(t, cut);
  const { client } = patient(url, { retries: 2 });
  await assert.rejects(client.server.health(), { code: "no_answer" });
  assert.equal(seen.length, 3);
});

test("a server that never answers is given up, and the caller's signal ends it at once", async (t) => {
  const { url, seen } = await puppet(t, silent);
  const { client } = patient(url, { timeoutSeconds: 0.05, retries: 1 });
  await assert.rejects(client.server.health(), { code: "no_answer" });
  assert.equal(seen.length, 2);
  const over = new AbortController();
  const asked = createClient({ server: url }).server.health({ signal: over.signal });
  over.abort(new Error("enough"));
  await assert.rejects(asked, /enough/);
});

test("an answer that is not Holdpoint's is not taken for one", async (t) => {
  const portal: Behaviour = (response) =>
    void response.writeHead(200, { "content-type": "text/html" }).end("<h1>Log in</h1>");
  const { url, seen } = await puppet(t, portal);
  await assert.rejects(patient(url).client.server.health(), { code: "strange_answer", status: 200 });
  assert.equal(seen.length, 1);
});

test("a redirect is not followed: the credential goes nowhere else", async (t) => {
  const elsewhere = await puppet(t, fine);
  const move: Behaviour = (response) =>
    void response.writeHead(307, { location: `${elsewhere.url}/api/health` }).end();
  const { url, seen } = await puppet(t, move);
  const { client } = patient(url, { credential: { key: "secret" }, retries: 0 });
  await assert.rejects(client.server.health(), { code: "no_answer" });
  assert.equal(seen[0]?.credential, "Bearer secret");
  assert.deepEqual(elsewhere.seen, []);
});

test("an intent whose answer was lost twice is sent once", async (t) => {
  const { url } = await serverBench(t);
  let lost = 0;
  const lossy: typeof fetch = async (input, init) => {
    const response = await fetch(input, init);
    if (init?.method === "POST" && lost++ < 2) throw new TypeError("the answer was lost");
    return response;
  };
  const { client } = patient(url, { fetch: lossy });
  const intent = { intent_type: "look", to_agent: "agent:b", from: "agent:a" };
  const { intent_id } = await client.intents.send(intent);
  assert.equal(lost, 3);
  const { intents } = await client.intents.list();
  assert.deepEqual(
    intents.map((one) => one.intent_id),
    [intent_id],
  );
});
