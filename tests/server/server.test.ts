import assert from "node:assert/strict";
import { connect, type Socket } from "node:net";
import { test } from "node:test";
import { readSettings } from "../../src/api/settings.ts";
import type { Holdpoint } from "../../src/index.ts";
import { type Bench, serverBench } from "../fixtures/server.ts";

const read = (flags: Record<string, string[]>, variables: Record<string, string> = {}) =>
  readSettings({ flags: new Map(Object.entries(flags)), environment: (name) => variables[name] });

test("a flag wins over the environment, and that over the default; everything wrong is named at once", () => {
  assert.equal(read({}).port, 8_000);
  assert.equal(read({}, { HOLDPOINT_PORT: "81", PORT: "82" }).port, 81);
  assert.equal(read({ port: ["83"] }, { HOLDPOINT_PORT: "81" }).port, 83);
  assert.deepEqual(read({}, { HOLDPOINT_ALLOW_HOST: "a.example, b.example:1" }).allowHost, [
    "a.example",
    "b.example:1",
  ]);
  assert.equal(read({}, { DATABASE_URL: "postgres://x/y" }).database, "postgres://x/y");
  assert.equal(read({ data: ["d"] }, { DATABASE_URL: "postgres://x/y" }).database, undefined);
  assert.throws(
    () => read({ port: ["x"], log: ["loud"] }, { HOLDPOINT_RATE: "0", HOLDPOINT_NO_AUTH: "maybe" }),
    (error: Error) =>
      ["--port", "--log", "HOLDPOINT_RATE", "HOLDPOINT_NO_AUTH"].every((name) =>
        error.message.includes(name),
      ),
  );
});

test("settings that are wrong together, files that are not there and where messages go are named with the rest", () => {
  const flags = { port: ["x"], "no-auth": [""], host: ["0.0.0.0"], policy: ["none.yaml"] };
  const variables = {
    HOLDPOINT_DEFINITIONS: "none.ts",
    HOLDPOINT_SMTP_URL: "http://user:secret@mail.example",
    HOLDPOINT_PUBLIC_URL: "nowhere",
    HOLDPOINT_ALLOW_PRIVATE: "maybe",
  };
  const environment = (name: string) => (variables as Record<string, string>)[name];
  const all = { flags: new Map(Object.entries(flags)), environment, isFile: () => false };
  const said = ["--port:", "--no-auth: only", "--policy: there is no file none.yaml", "--definitions:"];
  const outside = ["SMTP_URL", "MAIL_FROM", "PUBLIC_URL", "ALLOW_PRIVATE"].map(
    (name) => `HOLDPOINT_${name}:`,
  );
  assert.throws(
    () => readSettings(all),
    ({ message }: Error) => {
      for (const part of [...said, ...outside]) assert.ok(message.includes(part), `${part} in ${message}`);
      return !message.includes("secret");
    },
  );
  for (const allowed of ["1", "true", "0", "FALSE", ""]) read({}, { HOLDPOINT_ALLOW_PRIVATE: allowed });
});

test("the database's address may stand in a file, which nothing is said of but where it is", () => {
  const files: Record<string, string> = {
    "/run/db": "postgres://u:secret@h/d\n",
    "/run/odd": "secret words",
    "/run/two": "postgres://u:secret@h/d\npostgres://u:secret@h/e",
  };
  const readText = (path: string) =>
    files[path] ?? assert.fail(Object.assign(new Error(path), { code: "ENOENT" }));
  const from = (variables: Record<string, string>, flags: Record<string, string[]> = {}) =>
    readSettings({ flags: new Map(Object.entries(flags)), environment: (name) => variables[name], readText });
  const file = { HOLDPOINT_DATABASE_FILE: "/run/db" };
  assert.equal(from(file).database, "postgres://u:secret@h/d");
  assert.equal(from({ ...file, DATABASE_URL: "postgres://x/y" }).database, "postgres://u:secret@h/d");
  assert.equal(from(file, { database: ["postgres://x/y"] }).database, "postgres://x/y");
  assert.equal(from(file, { data: ["d"] }).database, undefined);
  const wrong = (variables: Record<string, string>, said: RegExp) =>
    assert.throws(
      () => from(variables),
      ({ message }: Error) => said.test(message) && !message.includes("secret"),
    );
  wrong({ ...file, HOLDPOINT_DATABASE: "postgres://x/y" }, /exclude each other/);
  // A file that is not there never means a folder instead.
  wrong({ HOLDPOINT_DATABASE_FILE: "/run/none" }, /\/run\/none .* cannot be read \(ENOENT\)/);
  for (const odd of ["/run/odd", "/run/two"])
    wrong({ HOLDPOINT_DATABASE_FILE: odd }, /does not hold the address of a PostgreSQL database/);
});

test("the first admin is a person, with or without saying so", () => {
  assert.equal(read({ "first-admin": ["ann"] }).firstAdmin, "person:ann");
  assert.equal(read({}, { HOLDPOINT_FIRST_ADMIN: "person:ann" }).firstAdmin, "person:ann");
  assert.equal(read({}).firstAdmin, undefined);
  for (const name of ["agent:ann", "service:ci", "", "person:"])
    assert.throws(() => read({ "first-admin": [name] }), /--first-admin: is not a person's name/, name);
});

test("--no-auth refuses every address but loopback", () => {
  for (const host of ["0.0.0.0", "::", "192.168.1.2", "example.org", "127.0.0.1.example.org"])
    assert.throws(() => read({ "no-auth": [""], host: [host] }), /loopback/, host);
  for (const host of ["127.0.0.1", "::1", "localhost"])
    assert.equal(read({ "no-auth": [""], host: [host] }).noAuth, true);
});

function define(hp: Holdpoint): void {
  const pay = hp.gate({ name: "pay", policy: "approve", run: () => "paid" });
  hp.workflow("flow", async (ctx) => {
    await ctx.call(pay, { amount: 1 });
    await ctx.checkpoint("look", { outputs: { done: true } });
  });
}

async function until<Value>(look: () => Promise<Value | undefined>): Promise<Value> {
  for (let tries = 0; tries < 500; tries++) {
    const found = await look();
    if (found !== undefined) return found;
    await new Promise<void>((resolve) => setTimeout(resolve, 10));
  }
  throw new Error("it does not come");
}

test("what is counted and logged comes from the journal: checkpoints, how long people took, actions by outcome", async (t) => {
  let flow: { start(input: undefined): Promise<{ id: string }> } | undefined;
  const bench = await serverBench(t, {
    define(hp) {
      define(hp);
      const other = hp.workflow("other", async (ctx) =>
        ctx.checkpoint("second", { outputs: { done: true } }),
      );
      flow = other as unknown as typeof flow;
    },
  });
  const { id } = (await flow?.start(undefined)) ?? assert.fail();
  const approval = await until(async () => {
    const { body } = await bench.ask("/api/approvals");
    return (body["approvals"] as { request_id: string }[])[0]?.request_id;
  });
  await bench.ask(`/api/approvals/${approval}/votes`, {
    method: "POST",
    body: { decision: "approve", approved_by: "ann" },
  });
  const text = await until(async () => {
    const metrics = (await bench.ask("/metrics")).text;
    return metrics.includes('holdpoint_approval_latency_seconds_count{outcome="approved"} 1')
      ? metrics
      : undefined;
  });
  assert.match(text, /holdpoint_checkpoints_total\{outcome="reached"\} 1/);
  assert.match(
    text,
    /holdpoint_http_request_duration_seconds_count\{method="GET",route="\/api\/approvals",status="200"\}/,
  );
  assert.match(text, /holdpoint_effects_in_doubt 0/);
  const line = bench.lines.find(({ message }) => message === "approval");
  assert.equal(line?.["workflow_id"], id);
  assert.equal(line?.["checkpoint_name"], "second");
  assert.equal(typeof line?.["latency_seconds"], "number");
  const timeline = await bench.ask(`/api/workflows/${id}/timeline`);
  assert.ok((timeline.body["rows"] as unknown[]).length >= 1);
  assert.equal((await bench.ask("/api/journal/verify", { method: "POST", body: {} })).body["ok"], true);
});

test("health, readiness, the reference page and OpenAPI need no credential, and load nothing from elsewhere", async (t) => {
  const bench = await serverBench(t, { noAuth: false });
  const health = await bench.ask("/api/health");
  assert.deepEqual(health.body, { status: "healthy", service: "Holdpoint", version: "9.9.9" });
  assert.equal((await bench.ask("/api/ready")).status, 200);
  const page = await bench.ask("/docs");
  assert.equal(page.status, 200);
  assert.doesNotMatch(page.text, /<script|<link|<img|src=|https?:/i);
  assert.match(String(page.headers["content-security-policy"]), /style-src 'sha256-/);
  const document = (await bench.ask("/api/openapi.json")).body;
  assert.equal(document["openapi"], "3.1.0");
  for (const path of Object.keys(document["paths"] as object))
    assert.ok(page.text.includes(`<code>${path}</code>`), path);
  const ids = Object.values(document["paths"] as Record<string, Record<string, { operationId: string }>>)
    .flatMap((methods) => Object.values(methods))
    .map(({ operationId }) => operationId);
  assert.equal(new Set(ids).size, ids.length);
});

function opened(bench: Bench): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(bench.port, "127.0.0.1", () => resolve(socket));
    socket.on("error", reject);
  });
}

const answered = (socket: Socket): Promise<string> =>
  new Promise((resolve) => {
    let text = "";
    socket.on("data", (chunk) => {
      text += String(chunk);
    });
    socket.once("close", () => resolve(text));
  });

test("bodies that are too large, too deep, not JSON, not UTF-8 or ambiguous are refused", async (t) => {
  const bench = await serverBench(t);
  const path = "/api/kill-switch/pause";
  const post = (body: string, headers = {}) => bench.ask(path, { method: "POST", body, headers });
  assert.equal((await post(`{"reason":"${"x".repeat(1_100_000)}"}`)).status, 413);
  assert.equal((await post(`${"[".repeat(65)}${"]".repeat(65)}`)).body["code"], "invalid_json");
  assert.equal((await post('{"reason":"a","reason":"b","by":"ann"}')).body["code"], "invalid_json");
  assert.equal((await post('{"__proto__":{"a":1}}')).body["code"], "invalid_json");
  const keys = Array.from({ length: 10_001 }, (_, n) => `"k${n}":0`).join();
  assert.equal((await post(`{"reason":{${keys}}}`)).status, 413);
  assert.equal((await post("a=b", { "content-type": "application/x-www-form-urlencoded" })).status, 415);
  const socket = await opened(bench);
  const raw = Buffer.concat([Buffer.from('{"reason":"'), Buffer.from([0xff, 0xfe]), Buffer.from('"}')]);
  socket.write(
    `POST ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: ${raw.length}\r\n\r\n`,
  );
  socket.write(raw);
  assert.match(await answered(socket), /not valid UTF-8/);
});

test("a socket that never finishes its request is closed, and garbage is answered with 400", async (t) => {
  const bench = await serverBench(t);
  const slow = await opened(bench);
  slow.write("GET /api/health HTTP/1.1\r\nHost: loc");
  const garbage = await opened(bench);
  garbage.write("\u0016\u0003\u0001 hello\r\n\r\n");
  assert.match(await answered(garbage), /^HTTP\/1\.1 400 /);
  assert.match(await answered(slow), /^HTTP\/1\.1 408 /);
});

test("when it stops, a request under way gets its answer, idle connections end, and nothing new is taken", async (t) => {
  const bench = await serverBench(t);
  const idle = await opened(bench);
  idle.write("GET /api/health HTTP/1.1\r\nHost: localhost\r\n\r\n");
  await new Promise<void>((resolve) => idle.once("data", () => resolve()));
  const body = JSON.stringify({ reason: "look", by: "ann" });
  const working = await opened(bench);
  working.write(
    `POST /api/kill-switch/pause HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`,
  );
  await new Promise<void>((resolve) => setTimeout(resolve, 50));
  const answer = answered(working);
  const closing = bench.close();
  working.write(body);
  assert.match(await answer, /"changed":true/);
  await closing;
  assert.ok(idle.destroyed || idle.readableEnded || (await answered(idle)) === "");
  await assert.rejects(opened(bench));
});
