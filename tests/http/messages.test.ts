// What happens is told to the outside by the server itself; endpoints, messages, sessions and seats over HTTP.
import assert from "node:assert/strict";
import { test } from "node:test";
import { verifyWebhook } from "../../src/client/verify-webhook.ts";
import { addPerson, issueApiKey, offerLogin } from "../fixtures/people.ts";

import { type Answered, type Bench, type Sent, serverBench } from "../fixtures/server.ts";
import { startReceiver } from "../messages/receiver.ts";

process.env["HOLDPOINT_ALLOW_PRIVATE"] = "1";

const ok = ({ status, body, text }: Answered): Record<string, unknown> => {
  assert.ok(status < 300, text);
  return body;
};
const by = "person:root";

/** People and an agent with keys; `as` asks with one of them. */
async function staffed(bench: Bench) {
  const { runtime } = await bench.server.office();
  await addPerson(runtime, { person: by, roles: ["admin"], by });
  for (const person of ["person:ann", "person:bob", "person:cat"])
    await addPerson(runtime, { person, roles: ["supervisor"], by });
  const keys = new Map<string, string>();
  for (const person of [by, "person:ann", "person:bob", "person:cat"])
    keys.set(person, (await issueApiKey(runtime, { principal: person, name: "k", by })).text);
  const roles = ["admin", "executor", "poster"] as const;
  for (const principal of ["agent:a", "service:s"])
    keys.set(principal, (await issueApiKey(runtime, { principal, name: "k", roles, by })).text);
  const as = (principal: string) => (path: string, sent: Sent) =>
    bench.ask(path, {
      ...sent,
      headers: { ...sent.headers, authorization: `Bearer ${keys.get(principal)}` },
    });
  return { runtime, as };
}

const post = (body?: unknown): Sent => ({ method: "POST", ...(body === undefined ? {} : { body }) });

async function until<Value>(look: () => Promise<Value | undefined>): Promise<Value> {
  for (let tries = 0; tries < 1_000; tries++) {
    const found = await look();
    if (found !== undefined) return found;
    await new Promise<void>((resolve) => setTimeout(resolve, 10));
  }
  return assert.fail("it does not come");
}

async function question(bench: Bench, tool = "wire"): Promise<string> {
  const asked = ok(await bench.ask("/api/actions", post({ tool, args: { amount: 1 }, agent: "a" })));
  return String(asked["approval_id"]);
}

test("the server sends what happens to the endpoints that were added over HTTP, signed", async (t) => {
  const bench = await serverBench(t);
  const receiver = await startReceiver(t);
  const added = ok(
    await bench.ask("/api/endpoints", post({ url: receiver.url, events: ["approval.*"], by: "ann" })),
  );
  const id = String(added["endpoint_id"]);
  assert.match(String(added["secret"]), /^whsec_/);
  const approval = await question(bench);
  const [got] = await receiver.reached(1);
  assert.equal(got?.payload.type, "approval.requested");
  assert.equal(got?.payload.data["approval"], approval);
  const { headers, body } = got ?? assert.fail();
  const secret = String(added["secret"]);
  assert.deepEqual(await verifyWebhook({ secret, headers: headers as never, body }), { id: got?.id });

  const listed = ok(await bench.ask("/api/endpoints"))["endpoints"] as Record<string, unknown>[];
  assert.deepEqual(
    listed.map(({ endpoint_id: one, status, secret: shown }) => [one, status, shown]),
    [[id, "on", undefined]],
  );
  const tested = ok(await bench.ask(`/api/endpoints/${id}/test`, post({ by: "ann" })));
  assert.deepEqual([tested["arrived"], tested["status"]], [true, 204]);
  await until(async () => {
    const { messages } = ok(await bench.ask("/api/messages?status=delivered"));
    return (messages as unknown[]).length === 2 ? true : undefined;
  });
  const changed = ok(
    await bench.ask(`/api/endpoints/${id}`, { method: "PATCH", body: { name: "here", by: "ann" } }),
  );
  assert.equal(changed["name"], "here");
  assert.notEqual(ok(await bench.ask(`/api/endpoints/${id}/rotate`, post({ by: "ann" })))["secret"], secret);
  assert.equal(ok(await bench.ask(`/api/endpoints/${id}/off`, post({ by: "ann" })))["status"], "off");
  assert.equal(ok(await bench.ask(`/api/endpoints/${id}/on`, post({ by: "ann" })))["status"], "on");
  assert.equal(ok(await bench.ask(`/api/endpoints/${id}/remove`, post({ by: "ann" })))["status"], "removed");
});

test("what was given up is listed as dead, and is sent again under the same id", async (t) => {
  const bench = await serverBench(t);
  const receiver = await startReceiver(t);
  receiver.answer = () => 410;
  const added = ok(await bench.ask("/api/endpoints", post({ url: receiver.url, by: "ann" })));
  await question(bench);
  const dead = await until(async () => {
    const { messages } = ok(await bench.ask("/api/messages?status=dead"));
    return (messages as { message_id: string }[])[0];
  });
  const early = await bench.ask("/api/messages/msg_00000000000000000000000000/retry", post({ by: "ann" }));
  assert.equal(early.status, 404);
  receiver.answer = () => 204;
  ok(await bench.ask(`/api/endpoints/${String(added["endpoint_id"])}/on`, post({ by: "ann" })));
  ok(await bench.ask(`/api/messages/${dead.message_id}/retry`, post({ by: "ann" })));
  await until(async () => {
    const message = ok(await bench.ask(`/api/messages/${dead.message_id}`));
    return message["status"] === "delivered" ? true : undefined;
  });
  assert.deepEqual(new Set(receiver.got.map(({ id }) => id)), new Set([dead.message_id]));
});

test("no agent says where the outside is told; a service may", async (t) => {
  const bench = await serverBench(t, { noAuth: false });
  const { as } = await staffed(bench);
  const offer = post({ to: ["role:supervisor"] });
  assert.equal((await as("agent:a")("/api/endpoints", offer)).status, 403);
  assert.equal((await as("person:ann")("/api/endpoints", offer)).status, 403);
  assert.equal((await as("service:s")("/api/endpoints", offer)).status, 201);
  assert.equal((await as(by)("/api/endpoints", post({ to: ["approvers"] }))).status, 201);
});

test("somebody sees and ends their own sessions, and nobody else's", async (t) => {
  const bench = await serverBench(t, { noAuth: false });
  const { runtime, as } = await staffed(bench);
  const logIn = async (person: string) => {
    const { link } = await offerLogin(runtime, person, { by });
    const opened = await bench.ask("/api/session", post({ link }));
    const cookie = String(opened.headers["set-cookie"]).split(";")[0] ?? "";
    return { cookie, "x-csrf-token": String(ok(opened)["csrf_token"]) };
  };
  const [first, second, bobs] = [
    await logIn("person:ann"),
    await logIn("person:ann"),
    await logIn("person:bob"),
  ];
  const own = async (headers: Record<string, string>) =>
    ok(await bench.ask("/api/sessions", { headers }))["sessions"] as {
      session_id: string;
      is_this: boolean;
    }[];
  const listed = await own(first);
  assert.deepEqual(listed.map(({ is_this: is }) => is).toSorted(), [false, true]);
  const other = listed.find(({ is_this: is }) => !is)?.session_id ?? "";
  const end = (id: string, headers: Record<string, string>) =>
    bench.ask(`/api/sessions/${id}`, { method: "DELETE", headers });
  assert.equal((await end(other, bobs)).status, 404);
  assert.equal((await end(other, { cookie: first.cookie })).status, 403, "without the token");
  assert.equal(ok(await end(other, first))["ended"], true);
  assert.equal((await bench.ask("/api/session", { headers: second })).status, 401);
  assert.equal((await own(first)).length, 1);
  await logIn("person:ann");
  const narrow = { principal: "person:ann", name: "reads", scopes: ["approvals:read"], by } as const;
  const reads = { authorization: `Bearer ${(await issueApiKey(runtime, narrow)).text}` };
  const refused = await bench.ask("/api/sessions", { method: "DELETE", headers: reads });
  assert.deepEqual([refused.status, refused.body["code"]], [403, "forbidden"]);
  assert.equal((await end(String((await own(first))[0]?.session_id), reads)).status, 403);
  assert.equal((await own(first)).length, 2);
  const all = await as("person:ann")("/api/sessions", { method: "DELETE" });
  assert.equal(ok(all)["ended"], 2);
  assert.equal((await bench.ask("/api/session", { headers: first })).status, 401);
  assert.equal((await own(bobs)).length, 1);
  assert.equal((await as("agent:a")("/api/sessions", {})).status, 403);
});

test("a seat is handed over and taken back; several are decided at once, each on its own binding", async (t) => {
  const bench = await serverBench(t, {
    noAuth: false,
    define: (hp) => {
      hp.remote.tool({ name: "wire", policy: { verdict: "escalate", approvers: { from: ["person:ann"] } } });
      hp.remote.tool({ name: "mail", policy: "escalate" });
    },
  });
  const { as } = await staffed(bench);
  const propose = async (tool: string) =>
    String(ok(await as("agent:a")("/api/actions", post({ tool, args: {} })))["approval_id"]);
  const handed = await propose("wire");
  const cast = (person: string) =>
    as(person)(`/api/approvals/${handed}/votes`, post({ decision: "approve" }));
  assert.equal((await cast("person:bob")).status, 403);
  const handing = post({ to: "bob", reason: "on leave" });
  assert.equal((await as("agent:a")(`/api/approvals/${handed}/delegate`, handing)).status, 403);
  ok(await as("person:ann")(`/api/approvals/${handed}/delegate`, handing));
  ok(await as("person:ann")(`/api/approvals/${handed}/take-back`, post({ reason: "back" })));
  assert.equal((await cast("person:bob")).status, 403);
  ok(await as("person:ann")(`/api/approvals/${handed}/delegate`, handing));
  assert.equal(ok(await cast("person:bob"))["status"], "approved");

  const open = [await propose("mail"), await propose("mail"), await propose("mail")];
  const bindings = await Promise.all(
    open.map(async (id) => String(ok(await as(by)(`/api/approvals/${id}`, {}))["binding"])),
  );
  const decisions = open.map((request_id, at) => ({
    request_id,
    binding: at === 1 ? "0".repeat(64) : bindings[at],
    decision: at === 2 ? "reject" : "approve",
    note: "seen",
  }));
  const batch = post({ decisions });
  assert.equal((await as("agent:a")("/api/approvals/batch", batch)).status, 403);
  const answers = ok(await as("person:cat")("/api/approvals/batch", batch))["decisions"] as Record<
    string,
    unknown
  >[];
  assert.deepEqual(
    answers.map(({ ok: isOk, decided }) => [isOk, (decided as { status?: string } | undefined)?.status]),
    [
      [true, "approved"],
      [false, undefined],
      [true, "rejected"],
    ],
  );
  assert.equal((answers[1]?.["error"] as { code?: string } | undefined)?.code, "decision_conflict");
});
