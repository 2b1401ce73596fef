// Every change of people, keys, endpoints and intents over HTTP says how whoever made it had shown who they are.
import assert from "node:assert/strict";
import { test } from "node:test";
import { addPerson, issueApiKey } from "../fixtures/people.ts";
import { type Answered, type Bench, type Sent, serverBench } from "../fixtures/server.ts";

type Entry = { readonly stream: string; readonly type: string; readonly body: Record<string, unknown> };
type Ask = (path: string, body?: unknown, method?: Sent["method"]) => Promise<Record<string, unknown>>;

function ok({ status, body, text }: Answered): Record<string, unknown> {
  assert.ok(status === 200 || status === 201, text);
  return body;
}

async function change(ask: Ask, by: object, agent: object): Promise<void> {
  const word = { reason: "drill", ...by };
  await ask("/api/people", { person: "person:bob", roles: ["supervisor"], ...by });
  await ask("/api/people/person:bob", { groups: ["desk"], ...by }, "PATCH");
  for (const verb of ["suspend", "reinstate"]) await ask(`/api/people/person:bob/${verb}`, word);
  await ask("/api/people/person:bob/login-link", by);
  await ask("/api/people/person:bob/remove", word);
  const made = await ask("/api/keys", { principal: "agent:a", name: "one", roles: ["executor"], ...by });
  const { key_id: first } = made["key"] as { key_id: string };
  const { key: next } = (await ask(`/api/keys/${first}/rotate`, by)) as { key: { key_id: string } };
  await ask(`/api/keys/${next.key_id}/revoke`, word);
  const end = await ask("/api/endpoints", {
    url: "https://example.invalid/hook",
    events: ["alert.raised"],
    ...by,
  });
  const endpoint = `/api/endpoints/${String(end["endpoint_id"])}`;
  await ask(endpoint, { name: "hook", ...by }, "PATCH");
  for (const verb of ["rotate", "off", "on", "remove"]) await ask(`${endpoint}/${verb}`, by);
  const sent = { intent_type: "task", to_agent: "agent://a", payload: {}, ...agent };
  const intentOf = async () => `/api/intents/${String((await ask("/api/intents", sent))["intent_id"])}`;
  const [one, two] = [await intentOf(), await intentOf()];
  await ask(`${one}/acknowledge`, by);
  await ask(`${one}/waiting`, { on: "something", ...by });
  await ask(`${one}/answer`, { data: 1, ...by });
  await ask(`${two}/cancel`, word);
}

const KINDS = ["roster", "key", "login", "endpoint", "intent"];
/** What nobody does by a request of their own. */
const FOLLOWS = ["intent.delivered"];

async function written(bench: Bench, headers: object, after: number): Promise<readonly Entry[]> {
  const { runtime } = await bench.server.office();
  const log = await runtime.store.log(runtime.tenant, after, 1_000);
  assert.ok(log.length > 0);
  const read = ok(await bench.ask("/api/journal?limit=1000", { headers: { ...headers } }));
  const late = (read["entries"] as (Entry & { position: number })[]).filter(
    ({ position }) => position > after,
  );
  return late.filter(
    ({ stream, type }) => KINDS.includes(stream.split("/")[0] ?? "") && !FOLLOWS.includes(type),
  );
}

const TYPES = [
  ...["person.added", "person.changed", "person.suspended", "person.reinstated", "person.removed"],
  ...["login.offered", "key.issued", "key.retired", "key.revoked"],
  ...[
    "endpoint.added",
    "endpoint.changed",
    "endpoint.rotated",
    "endpoint.switched_off",
    "endpoint.switched_on",
  ],
  ...["endpoint.removed", "intent.sent", "intent.acknowledged", "intent.waiting", "intent.completed"],
  "intent.cancelled",
];

for (const [via, noAuth] of [
  ["api_key", false],
  ["unauthenticated", true],
] as const)
  test(`changes of people, keys, endpoints and intents are marked: ${via}`, async (t) => {
    const bench = await serverBench(t, { noAuth });
    const { runtime } = await bench.server.office();
    await addPerson(runtime, { person: "person:ann", roles: ["admin"], by: "person:root" });
    const { text } = await issueApiKey(runtime, { principal: "person:ann", name: "x", by: "person:ann" });
    const headers = noAuth ? {} : { authorization: `Bearer ${text}` };
    const before = await runtime.store.position();
    const ask: Ask = async (path, body, method = "POST") =>
      ok(await bench.ask(path, { method, headers: { ...headers }, body }));
    await change(ask, noAuth ? { by: "person:ann" } : {}, noAuth ? { from: "person:ann" } : {});
    const entries = await written(bench, headers, before);
    for (const { type, body } of entries) assert.equal(body["via"], via, type);
    const seen = new Set(entries.map(({ type }) => type));
    assert.deepEqual(
      TYPES.filter((type) => !seen.has(type)),
      [],
    );
    const keys = ok(await bench.ask("/api/keys", { headers }));
    assert.ok(!JSON.stringify(keys).includes("via"), "states do not keep it");
  });

for (const [via, noAuth] of [
  ["api_key", false],
  ["unauthenticated", true],
] as const)
  test(`all that is written when a tenant is made is marked, its admin and their link too: ${via}`, async (t) => {
    const bench = await serverBench(t, { noAuth });
    const { runtime } = await bench.server.office();
    await addPerson(runtime, { person: "person:ann", roles: ["admin"], by: "person:root" });
    const { text } = await issueApiKey(runtime, { principal: "person:ann", name: "x", by: "person:ann" });
    const body = { name: "acme", admin: "person:zoe", ...(noAuth ? { by: "person:ann" } : {}) };
    const headers = noAuth ? {} : { authorization: `Bearer ${text}` };
    ok(await bench.ask("/api/tenants", { method: "POST", headers, body }));
    const log = await runtime.store.log("acme", 0, 100);
    const marks = log.map(({ header, body: said }) => [
      (JSON.parse(header) as { type: string }).type,
      (JSON.parse(said ?? "{}") as { via?: string }).via,
    ]);
    for (const type of ["tenant.added", "person.added", "login.offered"])
      assert.deepEqual(
        marks.filter(([name]) => name === type),
        [[type, via]],
      );
  });
