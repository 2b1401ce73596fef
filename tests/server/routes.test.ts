// Made from the list of routes: what holds for every one of them.
import assert from "node:assert/strict";
import { test } from "node:test";
import { ROLES } from "../../src/core/roster.ts";
import { ROLE_SCOPES } from "../../src/core/scopes.ts";
import { issue } from "../../src/engine/identity/keys.ts";
import { addPerson } from "../../src/engine/identity/people.ts";
import type { Runtime } from "../../src/engine/runtime.ts";
import type { OpenApi, Operation } from "../../src/server/reference/openapi.ts";
import { type Bench, serverBench } from "../fixtures/server.ts";
import { fuzz } from "./fuzz.ts";
import { randomFrom, sample } from "./sample.ts";

type Listed = { readonly method: "GET" | "POST"; readonly path: string; readonly operation: Operation };

async function routesOf(bench: Bench): Promise<readonly Listed[]> {
  const { body } = await bench.ask("/api/openapi.json");
  return Object.entries((body as unknown as OpenApi).paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      method: method.toUpperCase() as "GET",
      path: path.replaceAll(/\{\w+\}/g, "none"),
      operation,
    })),
  );
}

const isPublic = ({ operation }: Listed): boolean => operation["x-scope"] === null;
/** Enough to get as far as the handler. */
function bodyOf({ operation }: Listed): { body?: unknown } {
  const schema = operation.requestBody?.content["application/json"]?.schema;
  return schema === undefined ? {} : { body: sample(schema, randomFrom(1)) };
}

async function runtimeOf(bench: Bench): Promise<Runtime> {
  return (await bench.server.office()).runtime;
}

const bearer = (text: string) => ({ authorization: `Bearer ${text}` });

const FOREIGN: readonly Record<string, string>[] = [
  { host: "evil.example" },
  { host: "localhost.evil.example" },
  { host: "evil.example:8000" },
  { host: "127.0.0.1.evil.example" },
  { host: "localhost@evil.example" },
  { origin: "https://evil.example" },
  { origin: "null" },
  { origin: "http://localhost:9999" },
  { origin: "http://localhost.evil.example" },
  { origin: "file://localhost" },
  { origin: "http://localhost/x" },
];

test("every route answers a foreign Host or Origin with 403, whoever asks", async (t) => {
  const bench = await serverBench(t, { noAuth: false });
  const { text } = await issue(await runtimeOf(bench), {
    principal: "agent:all",
    name: "all",
    roles: ROLES,
    by: "person:ann",
  });
  for (const { method, path } of await routesOf(bench))
    for (const headers of FOREIGN) {
      const answer = await bench.ask(path, { method, headers: { ...bearer(text), ...headers } });
      assert.equal(answer.status, 403, `${method} ${path} ${JSON.stringify(headers)} ${answer.text}`);
      assert.equal(answer.body["code"], "foreign_origin");
    }
});

test("every route answers 401 without a credential, or with one that is wrong, unless it is public", async (t) => {
  const bench = await serverBench(t, { noAuth: false });
  const wrong = [
    {},
    bearer("x"),
    bearer(`hpk_default_01ARZ3NDEKTSV4RRFFQ69G5FAV_${"a".repeat(49)}`),
    { authorization: "Basic YTpi" },
    { cookie: "__Host-holdpoint=default.ses_01ARZ3NDEKTSV4RRFFQ69G5FAV.x" },
  ];
  for (const route of (await routesOf(bench)).filter((one) => !isPublic(one))) {
    const headers = wrong[route.path.length % wrong.length] ?? {};
    const answer = await bench.ask(route.path, { method: route.method, headers });
    assert.equal(answer.status, 401, `${route.method} ${route.path} ${answer.text}`);
    assert.equal(answer.headers["www-authenticate"], 'Bearer realm="Holdpoint"');
  }
});

test("every route says that nothing of it is to be kept, framed, sniffed or sent on", async (t) => {
  const bench = await serverBench(t, { noAuth: false });
  for (const { method, path } of await routesOf(bench)) {
    const { headers } = await bench.ask(path, { method });
    assert.equal(headers["cache-control"], "no-store");
    assert.equal(headers["x-content-type-options"], "nosniff");
    assert.match(String(headers["content-security-policy"]), /frame-ancestors 'none'/);
    assert.doesNotMatch(String(headers["content-security-policy"]), /unsafe|https?:/);
    assert.equal(headers["access-control-allow-origin"], undefined);
  }
});

test("every route × every role: a credential without the scope is refused, one with it is not", {
  timeout: 300_000,
}, async (t) => {
  const bench = await serverBench(t, { noAuth: false });
  const runtime = await runtimeOf(bench);
  await addPerson(runtime, { person: "person:root", roles: ["admin"], by: "person:root" });
  for (const role of ROLES) {
    const by = "person:root";
    const agent = await issue(runtime, { principal: `agent:${role}`, name: role, roles: [role], by });
    await addPerson(runtime, { person: `person:${role}`, roles: [role], by });
    const person = await issue(runtime, { principal: `person:${role}`, name: role, by });
    const OF_PEOPLE =
      /^(approvals:decide|effects:resolve|grants:write|switch:write|budgets:write|policies:write|alerts:acknowledge|people:write|keys:write)$/;
    for (const route of (await routesOf(bench)).filter(
      (one) => !isPublic(one) && one.path !== "/api/events",
    )) {
      const scope = route.operation["x-scope"] ?? "";
      const has = scope === "any" || (ROLE_SCOPES[role] as readonly string[]).includes(scope);
      const asked = { method: route.method, ...bodyOf(route) };
      const byPerson = await bench.ask(route.path, { ...asked, headers: bearer(person.text) });
      assert.equal(
        byPerson.status === 403 &&
          byPerson.body["code"] === "forbidden" &&
          String(byPerson.body["detail"]).includes("scope"),
        !has,
        `person ${role} ${route.method} ${route.path} ${byPerson.text}`,
      );
      const byAgent = await bench.ask(route.path, { ...asked, headers: bearer(agent.text) });
      const mayAgent = has && !OF_PEOPLE.test(scope);
      assert.equal(
        String(byAgent.body["detail"]).includes("needs the scope"),
        !mayAgent,
        `agent ${role} ${route.method} ${route.path} ${byAgent.text}`,
      );
    }
  }
});

test("5,000 malformed requests: no answer of 5xx, nothing lands in the prototype of all objects", {
  timeout: 600_000,
}, async (t) => {
  const bench = await serverBench(t, { rate: 1_000_000, burst: 1_000_000 });
  const count = Number(process.env["HOLDPOINT_FUZZ"] ?? 5_000);
  const seed = Number(process.env["HOLDPOINT_FUZZ_SEED"] ?? 4711);
  const { bad, byStatus } = await fuzz(bench, count, randomFrom(seed));
  assert.deepEqual(bad.slice(0, 5), []);
  assert.ok((byStatus.get(400) ?? 0) > count / 5, JSON.stringify([...byStatus]));
  assert.ok((byStatus.get(200) ?? 0) > 0);
  assert.equal(({} as Record<string, unknown>)["admin"], undefined);
  assert.equal((await bench.ask("/api/health")).status, 200);
});
