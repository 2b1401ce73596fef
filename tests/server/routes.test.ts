// Made from the list of routes: what holds for every one of them.
import assert from "node:assert/strict";
import { test } from "node:test";
import { ROLES } from "../../src/core/roster.ts";
import { issue } from "../../src/engine/identity/keys.ts";
import type { Runtime } from "../../src/engine/runtime.ts";
import type { OpenApi, Operation } from "../../src/server/reference/openapi.ts";
import { type Bench, serverBench } from "../fixtures/server.ts";
import { fuzz } from "./fuzz.ts";
import { randomFrom } from "./sample.ts";

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
