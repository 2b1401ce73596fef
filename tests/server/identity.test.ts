import assert from "node:assert/strict";
import { Agent, get, request } from "node:http";
import { test } from "node:test";
import type { Holdpoint } from "../../src/index.ts";
import { firstAdminLogin, namedFirstAdminLogin } from "../../src/people/verbs.ts";
import type { Runtime } from "../../src/runtime/runtime.ts";
import { listenTo } from "../fixtures/listen.ts";
import {
  addPerson,
  changePerson,
  issueApiKey,
  listKeys,
  offerLogin,
  revokeApiKey,
} from "../fixtures/people.ts";
import { type Bench, serverBench } from "../fixtures/server.ts";

const by = "person:ann";
const bearer = (text: string) => ({ authorization: `Bearer ${text}` });

function define(hp: Holdpoint): void {
  const pay = hp.gate({ name: "pay", policy: "escalate", run: () => "paid" });
  for (const n of [1, 2]) pay({ amount: n }, { requestId: `pay-${n}`, waitMs: 0 }).catch(() => undefined);
}

async function staffed(bench: Bench): Promise<{ runtime: Runtime; ann: string; agent: string }> {
  const { runtime } = await bench.server.office();
  await addPerson(runtime, { person: by, roles: ["admin", "supervisor"], by });
  await addPerson(runtime, { person: "person:bob", roles: ["supervisor"], by });
  const ann = await issueApiKey(runtime, { principal: by, name: "cli", by });
  const agent = await issueApiKey(runtime, {
    principal: "agent:mailer",
    name: "a",
    roles: ["admin", "supervisor", "executor"],
    by,
  });
  return { runtime, ann: ann.text, agent: agent.text };
}

async function waiting(bench: Bench, headers: Record<string, string>): Promise<readonly string[]> {
  for (let look = 0; look < 400; look++) {
    const { body } = await bench.ask("/api/approvals", { headers });
    const list = (body["approvals"] ?? []) as { request_id: string }[];
    if (list.length >= 2) return list.map(({ request_id }) => request_id);
    await new Promise<void>((resolve) => setTimeout(resolve, 10));
  }
  throw new Error("nothing waits");
}

test("whoever votes is the person whose key it is: nobody else's name counts, and no agent votes", async (t) => {
  const bench = await serverBench(t, { noAuth: false, define });
  const { ann, agent } = await staffed(bench);
  const [first = ""] = await waiting(bench, bearer(ann));
  const vote = (headers: Record<string, string>, body: object) =>
    bench.ask(`/api/approvals/${first}/votes`, { method: "POST", headers, body });
  const foreign = await vote(bearer(ann), { decision: "approve", approved_by: "person:bob" });
  assert.equal(foreign.status, 403);
  assert.equal(foreign.body["code"], "forbidden");
  assert.equal((await vote(bearer(agent), { decision: "approve" })).status, 403);
  assert.equal((await vote(bearer(agent), { decision: "approve", approved_by: "person:ann" })).status, 403);
  const own = await vote(bearer(ann), { decision: "approve", approved_by: "ann" });
  assert.equal(own.status, 200, own.text);
  const { body: approval } = await bench.ask(`/api/approvals/${first}`, { headers: bearer(ann) });
  const [cast] = approval["votes"] as { by: string; via: string }[];
  assert.deepEqual([cast?.by, cast?.via], ["person:ann", "api_key"]);
});

test("a login link makes one session, in a cookie for this host alone, that changes nothing without its token", async (t) => {
  const bench = await serverBench(t, { noAuth: false, define });
  const { runtime } = await staffed(bench);
  const { link } = await offerLogin(runtime, by, { by });
  const opened = await bench.ask("/api/session", { method: "POST", body: { link } });
  assert.equal(opened.status, 201, opened.text);
  const set = String(opened.headers["set-cookie"]);
  for (const part of ["Path=/", "Secure", "HttpOnly", "SameSite=Strict"]) assert.ok(set.includes(part), set);
  assert.match(set, /^__Host-holdpoint=/);
  assert.equal((await bench.ask("/api/session", { method: "POST", body: { link } })).status, 401);
  const cookie = { cookie: set.split(";")[0] ?? "" };
  const standing = await bench.ask("/api/session", { headers: cookie });
  assert.equal(standing.body["principal"], by);
  assert.equal(standing.body["csrf_token"], opened.body["csrf_token"]);
  const [first = ""] = await waiting(bench, cookie);
  const vote = (headers: Record<string, string>) =>
    bench.ask(`/api/approvals/${first}/votes`, { method: "POST", headers, body: { decision: "approve" } });
  assert.equal((await vote(cookie)).status, 403);
  assert.equal((await vote({ ...cookie, "x-csrf-token": "x".repeat(43) })).status, 403);
  const token = { "x-csrf-token": String(opened.body["csrf_token"]) };
  assert.equal((await vote({ ...cookie, ...token })).status, 200);
  const out = await bench.ask("/api/session", { method: "DELETE", headers: { ...cookie, ...token } });
  assert.equal(out.body["ended"], true);
  assert.equal((await bench.ask("/api/session", { headers: cookie })).status, 401);
});

test("the cookie holds sessions only and the header keys only: one in the other's place is no credential", async (t) => {
  const bench = await serverBench(t, { noAuth: false, define });
  const { runtime, ann } = await staffed(bench);
  const { link } = await offerLogin(runtime, by, { by });
  const opened = await bench.ask("/api/session", { method: "POST", body: { link } });
  const session = String(opened.headers["set-cookie"]).split(";")[0] ?? "";
  const token = { "x-csrf-token": String(opened.body["csrf_token"]) };
  // One connection: what was read of a credential before is used again on it.
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  t.after(() => agent.destroy());
  const send = (method: string, path: string, headers: Record<string, string>, body = "") =>
    new Promise<{ status: number | undefined; told: Record<string, unknown> }>((resolve, reject) => {
      const type = body === "" ? {} : { "content-type": "application/json" };
      const sent = request(`${bench.url}${path}`, { method, agent, headers: { ...type, ...headers } });
      sent.on("error", reject).on("response", async (answer) => {
        const text = (await answer.setEncoding("utf8").toArray()).join("");
        const { correlation_id: _id, ...told } = JSON.parse(text) as Record<string, unknown>;
        resolve({ status: answer.statusCode, told });
      });
      sent.end(body);
    });
  const stop = JSON.stringify({ reason: "all of it" });
  const [first = ""] = await waiting(bench, bearer(ann));
  const POST = ["POST", "/api/kill-switch/pause"] as const;
  const nobody = await send(...POST, {}, stop);
  const misplaced = [
    { cookie: `__Host-holdpoint=${ann}` },
    { cookie: `__Host-holdpoint=${ann}`, ...token },
    { cookie: `__Host-holdpoint=${ann}; ${session}` },
    bearer(session.slice("__Host-holdpoint=".length)),
    { ...bearer(session.slice("__Host-holdpoint=".length)), ...token },
    { ...bearer(session.slice("__Host-holdpoint=".length)), cookie: session, ...token },
  ];
  assert.equal((await send("GET", "/api/session", bearer(ann))).told["principal"], by);
  assert.equal((await send("GET", "/api/session", { cookie: session })).told["principal"], by);
  for (const headers of misplaced) {
    const answer = await send(...POST, headers, stop);
    assert.equal(answer.status, 401, JSON.stringify(headers));
    assert.deepEqual(answer, nobody, "it is answered as any wrong credential");
    for (const path of ["/api/session", "/api/approvals"])
      assert.equal((await send("GET", path, headers)).status, 401, path);
    const page = await fetch(`${bench.url}/approvals/${first}/plain`, { headers });
    assert.equal(page.status, 401, await page.text());
    assert.equal((await listenTo(`${bench.url}/api/events`, { headers })).status, 401);
  }
  const { body } = await bench.ask("/api/kill-switch", { headers: bearer(ann) });
  assert.equal(body["paused"], false, JSON.stringify(body));
  // Each in its own place, on the same connection.
  assert.equal((await send(...POST, { cookie: session }, stop)).status, 403);
  assert.equal((await send(...POST, { cookie: session, ...token }, stop)).status, 200);
  assert.equal((await send("POST", "/api/kill-switch/resume", bearer(ann), stop)).status, 200);
});

test("somebody new gets in over the network by a link that an admin makes, once; nobody else makes one", async (t) => {
  const bench = await serverBench(t, { noAuth: false });
  const { runtime, ann, agent } = await staffed(bench);
  const make = (headers: Record<string, string>, body: object = {}, person = "person:eve") =>
    bench.ask(`/api/people/${encodeURIComponent(person)}/login-link`, { method: "POST", headers, body });
  assert.equal((await make(bearer(ann))).status, 404);
  await addPerson(runtime, { person: "person:eve", roles: ["auditor"], by });

  const bob = await issueApiKey(runtime, { principal: "person:bob", name: "b", by: "person:bob" });
  const narrow = await issueApiKey(runtime, { principal: by, name: "n", scopes: ["people:write"], by });
  for (const text of [agent, bob.text, narrow.text]) assert.equal((await make(bearer(text))).status, 403);
  assert.equal((await make(bearer(ann), { for_seconds: 86_401 })).status, 400);
  assert.equal((await make(bearer(ann), { by: "person:bob" })).status, 403);

  const keyed = { ...bearer(ann), "idempotency-key": "link-1" };
  const made = await make(keyed, { by });
  assert.equal(made.status, 201, made.text);
  const life = Date.parse(String(made.body["expires_at"])) - runtime.clock.now();
  assert.ok(life > 0 && life <= 10 * 60_000, String(life));
  const link = String(made.body["link"]);
  // The answer is not kept: asked again there is another link.
  assert.notEqual((await make(keyed, { by })).body["link"], link);
  const open = () => bench.ask("/api/session", { method: "POST", body: { link } });
  const opened = await open();
  assert.equal(opened.body["person"], "person:eve", opened.text);
  assert.equal((await open()).status, 401);
  const journal = await bench.ask("/api/journal?limit=1000", { headers: bearer(ann) });
  for (const text of [JSON.stringify(bench.lines), journal.text]) assert.ok(!text.includes(link));
});

test("a key that was revoked is refused, its stream of events ends, and no key is in the log or the journal's answers", async (t) => {
  const bench = await serverBench(t, { noAuth: false, define, options: { audience: { beatMs: 20 } } });
  const { runtime, ann } = await staffed(bench);
  const made = await bench.ask("/api/keys", {
    method: "POST",
    headers: bearer(ann),
    body: { principal: "agent:a", name: "a", roles: ["executor"] },
  });
  assert.equal(made.status, 201, made.text);
  const { key: issued, text: key } = made.body as { key: { key_id: string }; text: string };
  const ear = await listenTo(`${bench.url}/api/events`, { headers: bearer(key) });
  assert.equal(ear.status, 200);
  const denied = await listenTo(`${bench.url}/api/events?stream=key`, { headers: bearer(key) });
  assert.equal(denied.status, 403);
  await revokeApiKey(runtime, issued.key_id, { by, reason: "lost" });
  await ear.ended;
  assert.equal((await bench.ask("/api/session", { headers: bearer(key) })).status, 401);
  const journal = await bench.ask("/api/journal?limit=1000", { headers: bearer(ann) });
  const secret = key.slice(-49, -6);
  for (const text of [JSON.stringify(bench.lines), journal.text, ear.text()])
    for (const part of [key, ann, secret]) assert.ok(!text.includes(part));
});

test("a stream ends when whoever listens may no longer read a kind that it was opened with", async (t) => {
  const bench = await serverBench(t, { noAuth: false, define, options: { audience: { beatMs: 20 } } });
  const { runtime } = await staffed(bench);
  const person = "person:cy";
  await addPerson(runtime, { person, roles: ["admin", "supervisor"], by });
  const { text } = await issueApiKey(runtime, { principal: person, name: "cli", by });
  const headers = bearer(text);
  const open = (query: string) => listenTo(`${bench.url}/api/events${query}`, { headers });
  const ears = await Promise.all([open(""), open("?stream=key"), open("?stream=approval")]);
  assert.deepEqual(
    ears.map(({ status }) => status),
    [200, 200, 200],
  );
  await changePerson(runtime, person, { roles: ["poster"], by });
  const [all, keys, approvals] = ears;
  await Promise.all([all?.ended, keys?.ended]);
  assert.equal((await open("?stream=key")).status, 403);
  const isOver = await Promise.race([approvals?.ended.then(() => true), Promise.resolve(false)]);
  assert.equal(isOver, false, "what one may still read goes on");
});

test("the first who starts a server is its admin, and is given a link; afterwards only those in the list are", async (t) => {
  const bench = await serverBench(t, { noAuth: false });
  const { runtime } = await bench.server.office();
  const link = await firstAdminLogin(runtime, "person:root");
  const opened = await bench.ask("/api/session", { method: "POST", body: { link } });
  assert.equal(opened.body["person"], "person:root");
  assert.equal(await firstAdminLogin(runtime, "person:other"), undefined);
  assert.ok((await firstAdminLogin(runtime, "person:root"))?.startsWith("hpl_"));
});

test("whom a setting names is the first admin of an empty store, and is given one link, by one node", async (t) => {
  const bench = await serverBench(t, { noAuth: false });
  const { runtime } = await bench.server.office();
  const links = await Promise.all([1, 2, 3].map(() => namedFirstAdminLogin(runtime, "person:admin")));
  const [link, ...others] = links.filter((one) => one !== undefined);
  assert.deepEqual(others, []);
  const opened = await bench.ask("/api/session", { method: "POST", body: { link } });
  assert.equal(opened.body["person"], "person:admin");
  assert.equal(await namedFirstAdminLogin(runtime, "person:admin"), undefined, "not at every start");
  assert.equal(await namedFirstAdminLogin(runtime, "person:other"), undefined);
});

test("guessing credentials is slowed down, and so is asking too often", async (t) => {
  const bench = await serverBench(t, { noAuth: false, rate: 1, burst: 5 });
  const { ann } = await staffed(bench);
  // All at once: what somebody may ask for comes back with time, and a slow machine gives it that.
  const statuses = async (count: number, path: string, key: string) => {
    const asked = Array.from({ length: count }, () => bench.ask(path, { headers: bearer(key) }));
    return (await Promise.all(asked)).map(({ status }) => status);
  };
  const own = await statuses(20, "/api/session", ann);
  assert.ok(own.includes(200) && own.includes(429), own.join());
  const guesses = await statuses(300, "/api/approvals", "x");
  assert.ok(guesses.includes(401) && guesses.includes(429), guesses.join());
});

test("whoever guesses does not lock out those with a valid credential behind the same address", async (t) => {
  const bench = await serverBench(t, { noAuth: false });
  const { ann } = await staffed(bench);
  const from = "203.0.113.7";
  const wrong = `${ann.slice(0, -20)}${"A".repeat(20)}`;
  const guess = (key: string) => bench.ask("/api/session", { headers: bearer(key), from });
  for (const key of [wrong, "x"]) {
    // At once: what an address may guess comes back with time, and a slow machine gives it that.
    const guesses = await Promise.all(Array.from({ length: 300 }, () => guess(key)));
    assert.ok(guesses.some(({ status }) => status === 429));
    assert.equal((await guess(ann)).status, 200);
  }
});

test("on one connection each request is whoever it shows itself to be, and nobody once its key is revoked", async (t) => {
  const bench = await serverBench(t, { noAuth: false });
  const { runtime, ann, agent } = await staffed(bench);
  const connection = new Agent({ keepAlive: true, maxSockets: 1 });
  t.after(() => connection.destroy());
  const sockets = new Set<unknown>();
  const who = (key: string) =>
    new Promise<string>((resolve, reject) => {
      const sent = get(`${bench.url}/api/session`, { agent: connection, headers: bearer(key) }, (answer) => {
        sockets.add(answer.socket);
        let text = "";
        answer.setEncoding("utf8").on("data", (part: string) => {
          text += part;
        });
        answer.on("end", () => {
          const { principal, code } = JSON.parse(text) as { principal?: string; code?: string };
          resolve(principal ?? code ?? "");
        });
      });
      sent.on("error", reject);
    });
  const wrong = `${agent.slice(0, -7)}${agent.at(-7) === "A" ? "B" : "A"}${agent.slice(-6)}`;
  const shown = [ann, ann, agent, wrong, agent, ann];
  const heard: string[] = [];
  for (const key of shown) heard.push(await who(key));
  const nobody = "unauthenticated";
  assert.deepEqual(heard, [by, by, "agent:mailer", nobody, "agent:mailer", by]);
  const id = (await listKeys(runtime, { principal: "agent:mailer" })).items[0]?.id ?? "";
  assert.equal(await who(agent), "agent:mailer");
  await revokeApiKey(runtime, id, { by, reason: "lost" });
  assert.equal(await who(agent), nobody);
  assert.equal(sockets.size, 1);
});
