// Made from the list of routes: what holds for every one of them.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { OpenApi, OpenApiOperation } from "../../src/api/openapi.ts";
import { deskRoutes } from "../../src/api/pages/desk.ts";
import { ROLES } from "../../src/people/stream.ts";
import type { Runtime } from "../../src/runtime/runtime.ts";
import { issueApiKey } from "../fixtures/people.ts";

import { type Bench, serverBench } from "../fixtures/server.ts";

type Listed = {
  readonly method: "GET" | "POST";
  readonly path: string;
  readonly operation: OpenApiOperation;
};

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
  const { text } = await issueApiKey(await runtimeOf(bench), {
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

/** What follows the ? of a page is read by the page. */
const PAGES = new Set(
  deskRoutes(undefined)
    .filter(({ query }) => query !== undefined)
    .map(({ path }) => path.replace("{id}", "none")),
);

test("no route takes a parameter that it does not have, those without any included", async (t) => {
  const bench = await serverBench(t);
  for (const { method, path } of await routesOf(bench)) {
    if (method === "GET" && PAGES.has(path as `/${string}`)) continue;
    const { status, body, text } = await bench.ask(
      `${path.replace("journal/none", "journal/action")}?nonesuch=1`,
      { method },
    );
    const label = `${method} ${path}: ${text}`;
    assert.equal(status, 400, label);
    assert.match(JSON.stringify(body), /nonesuch/, label);
  }
});

test("HEAD answers as GET does and without what it says, except for streams", async (t) => {
  const bench = await serverBench(t);
  for (const path of ["/api/health", "/docs", "/api/approvals", "/api/approvals/none", "/login"]) {
    const read = await bench.ask(path);
    const head = await fetch(`${bench.url}${path}`, { method: "HEAD" });
    assert.equal(head.status, read.status, path);
    assert.equal(head.headers.get("content-type"), read.headers["content-type"], path);
    assert.equal(await head.text(), "", path);
  }
  for (const path of ["/api/events", "/api/intents/stream"])
    assert.equal((await bench.ask(path, { method: "HEAD" })).status, 404, path);
});

test("the document names the headers that count: the token of sessions where something changes, the last event", async (t) => {
  const { body } = await (await serverBench(t)).ask("/api/openapi.json");
  const paths = body["paths"] as Record<
    string,
    Record<string, { parameters: { name: string }[]; "x-scope": unknown }>
  >;
  const takes = (path: string, method: string, header: string) =>
    paths[path]?.[method]?.parameters.some(({ name }) => name === header) === true;
  for (const [path, methods] of Object.entries(paths))
    for (const [method, operation] of Object.entries(methods)) {
      const isChange = method !== "get" && operation["x-scope"] !== null;
      assert.equal(takes(path, method, "X-CSRF-Token"), isChange, `${method} ${path}`);
      assert.equal(takes(path, method, "Last-Event-ID"), path === "/api/events", `${method} ${path}`);
    }
});
