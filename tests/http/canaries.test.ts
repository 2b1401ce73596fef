// Secrets by every way that they come in over HTTP: in no answer, log, event, metric, message, journal or file.
import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { createLog } from "../../src/api/log.ts";
import { type Holdpoint, NotApplied, secret } from "../../src/index.ts";
import { type Ear, listenTo } from "../fixtures/listen.ts";
import { addPerson, issueApiKey, offerLogin } from "../fixtures/people.ts";
import { type Bench, type Sent, serverBench } from "../fixtures/server.ts";
import { startReceiver } from "../messages/receiver.ts";
import { readMail, startMailServer } from "../messages/smtp-receiver.ts";

const by = "person:ann";
const canary = (path: string): string => `canary-${path}-5d0c9e41f7`;
const bearer = (text: string) => ({ authorization: `Bearer ${text}` });

const TOKEN = canary("handle");
const PASSWORD = canary("smtp");
/** Letters of base64 that decode to 24 bytes, as a webhook's secret has to. */
const WEBHOOK = "canarywebhook5d0c9e41f7AAAAAAAAA";

/** Every spelling in which it might turn up. */
const spellings = (value: string): readonly string[] => [
  value,
  encodeURIComponent(value),
  Buffer.from(value).toString("base64").replace(/=+$/, ""),
  Buffer.from(value).toString("hex"),
];

/** The tools that get the value itself; what they give back and throw has it in it. */
function define(hp: Holdpoint) {
  const seen: string[] = [];
  const take = ({ token }: { readonly token: string }): string => {
    seen.push(token);
    return token;
  };
  const returns = hp.gate({
    name: "returns",
    policy: "approve",
    run: (args: { token: string }) => take(args),
  });
  const fails = hp.gate({
    name: "fails",
    policy: "approve",
    run(args: { token: string }) {
      throw new NotApplied(`it said ${take(args)}`);
    },
  });
  const breaks = hp.gate({
    name: "breaks",
    policy: "approve",
    run(args: { token: string }) {
      throw new Error(`it said ${take(args)}`);
    },
  });
  const asks = hp.gate({ name: "asks", policy: "escalate", run: (args: { token: string }) => take(args) });
  return { seen, returns, fails, breaks, asks };
}

type Tools = ReturnType<typeof define>;

async function until<Value>(look: () => Promise<Value | undefined> | Value | undefined): Promise<Value> {
  for (let tries = 0; tries < 1_000; tries++) {
    const found = await look();
    if (found !== undefined) return found;
    await new Promise<void>((resolve) => setTimeout(resolve, 10));
  }
  return assert.fail("it does not come");
}

/** Runs what is approved, and answers the approvals of what is not. */
async function work({ returns, fails, breaks, asks }: Tools): Promise<readonly string[]> {
  const token = secret("env:HOLDPOINT_TEST_TOKEN");
  await returns({ token }, { requestId: "returns" });
  await fails({ token }, { requestId: "fails" });
  await breaks({ token }, { requestId: "breaks" });
  const approvals: string[] = [];
  for (const n of [1, 2]) {
    const answer = await asks({ token }, { requestId: `asks-${n}`, waitMs: 0, rationale: `with ${TOKEN}` });
    approvals.push(String(answer.status === "pending" ? answer.approval : ""));
  }
  return approvals;
}

/** For the environment of this test alone. */
function setEnvironment(t: TestContext, values: { readonly [name: string]: string }): void {
  for (const [name, value] of Object.entries(values)) process.env[name] = value;
  t.after(() => {
    for (const name of Object.keys(values)) delete process.env[name];
  });
}

function storedIn(folder: string): string {
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).map((name) => join(folder, name));
  const kept = files.filter((file) => statSync(file).isFile() && !file.endsWith("key.json"));
  assert.ok(
    kept.some((file) => file.endsWith("-wal")),
    "the log of the file is looked at too",
  );
  return kept.map((file) => readFileSync(file, "latin1")).join("\n");
}

type Site = {
  readonly bench: Bench;
  readonly folder: string;
  readonly tools: Tools;
  readonly ear: Ear;
  /** What was answered, but for what shows a secret once, to whoever made it. */
  readonly answers: string[];
  readonly logged: string[];
  readonly key: string;
  readonly cookie: string;
  readonly csrf: string;
  readonly link: string;
};

async function openSite(t: TestContext): Promise<Site> {
  const folder = mkdtempSync(join(tmpdir(), "holdpoint-canaries-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  let tools: Tools | undefined;
  const logged: string[] = [];
  const log = createLog("json", (text) => void logged.push(text), Date.now);
  const bench = await serverBench(t, {
    ...{ noAuth: false, folder, options: { log } },
    define(hp) {
      tools = define(hp);
    },
  });
  const { runtime } = await bench.server.office();
  await addPerson(runtime, { person: by, mail: "ann@example.com", roles: ["admin", "supervisor"], by });
  const { text: key } = await issueApiKey(runtime, { principal: by, name: "cli", by });
  const { link } = await offerLogin(runtime, by, { by });
  const session = await bench.ask("/api/session", { method: "POST", body: { link } });
  const cookie = String(session.headers["set-cookie"]).split(";")[0] ?? "";
  const csrf = String(session.body["csrf_token"]);
  const ear = await listenTo(`${bench.url}/api/events?after=0`, { headers: bearer(key) });
  assert.ok(tools !== undefined);
  return { bench, folder, tools, ear, answers: [], logged, key, cookie, csrf, link };
}

/** Requests with a secret where one does not belong, or in what a person writes. */
function requestsOf({ key, cookie, csrf, link }: Site, [first = "", second = ""]: readonly string[]) {
  const post = (path: string, body: unknown, headers: Record<string, string> = {}): [string, Sent] => [
    path,
    { method: "POST", headers: { ...bearer(key), ...headers }, body },
  ];
  const get = (path: string, headers: Record<string, string> = bearer(key)): [string, Sent] => [
    path,
    { headers },
  ];
  const once = { "idempotency-key": canary("idempotency") };
  const stop = "/api/kill-switch/pause";
  return [
    get("/api/session", bearer(canary("bearer"))),
    get("/api/session", { authorization: `Basic ${canary("basic")}` }),
    get("/api/session", { cookie }),
    get("/api/session", { cookie: `__Host-holdpoint=default.${canary("cookie")}` }),
    post(stop, { reason: "look" }, { cookie, "x-csrf-token": csrf }),
    get("/api/approvals", {
      ...bearer(key),
      "x-api-key": canary("header"),
      "x-request-id": `${canary("id")} `,
    }),
    get(`/api/approvals?token=${canary("query")}`),
    get(`/api/nowhere?token=${canary("query")}`),
    get(`/api/events?stream=${canary("query")}`),
    post(stop, { reason: "look", password: canary("field") }),
    post(stop, { reason: { password: canary("field") } }),
    post(stop, `{"password":"${canary("field")}"`),
    post(stop, `{"reason":"look"}${canary("field")}`),
    post("/api/session", { link: canary("link") }),
    post("/api/session", { link }),
    post(stop, { reason: "once" }, once),
    post(stop, { reason: "once" }, once),
    post(stop, { reason: "otherwise" }, once),
    post("/api/kill-switch/resume", { reason: "go on" }),
    post(`/api/approvals/${first}/votes`, { decision: "approve", note: `use ${TOKEN}` }),
    post("/api/approvals/submit", { request_id: second, decision: "REJECTED", rationale: `not ${TOKEN}` }),
    get("/api/endpoints"),
    get("/api/messages"),
    get("/api/journal?limit=1000"),
    get("/api/actions/returns"),
    get("/api/actions/fails"),
    get("/api/actions/breaks"),
    get("/api/receipts/returns"),
    get("/metrics"),
  ];
}

test("no secret that comes in over HTTP comes out again, or is kept", { timeout: 120_000 }, async (t) => {
  const receiver = await startReceiver(t);
  const mail = await startMailServer(t);
  setEnvironment(t, {
    HOLDPOINT_TEST_TOKEN: TOKEN,
    HOLDPOINT_SMTP_URL: `smtp://user:${PASSWORD}@127.0.0.1:${mail.port}`,
    HOLDPOINT_MAIL_FROM: "holdpoint@example.com",
    HOLDPOINT_ALLOW_PRIVATE: "1",
  });
  const site = await openSite(t);
  const { bench, key, answers, ear, logged, tools } = site;
  const add = (body: object) => bench.ask("/api/endpoints", { method: "POST", headers: bearer(key), body });
  const hook = await add({ url: receiver.url, secret: `whsec_${WEBHOOK}` });
  assert.equal(hook.status, 201, hook.text);
  assert.equal((await add({ to: ["ann@example.com"] })).status, 201);

  const approvals = await work(tools);
  for (const [path, sent] of requestsOf(site, approvals)) {
    const answer = await bench.ask(path, sent);
    answers.push(`${answer.text}\n${JSON.stringify(answer.headers)}`);
    assert.ok(answer.status < 500, answer.text);
  }
  await tools.asks({ token: secret("env:HOLDPOINT_TEST_TOKEN") }, { requestId: "asks-1" });
  assert.deepEqual(tools.seen, [TOKEN, TOKEN, TOKEN, TOKEN], "the tools got the value itself");
  await until(() => (receiver.got.length >= 3 && mail.got.length >= 2 ? true : undefined));
  await until(() => (ear.text().includes("approval.rejected") ? true : undefined));
  assert.ok(
    mail.commands.some((line) => line.startsWith("AUTH")),
    "the password was used",
  );
  ear.stop();

  const mails = mail.got.map((got) => `${got.raw}\n${readMail(got).text}\n${readMail(got).html}`);
  const places = {
    answers: answers.join("\n"),
    log: logged.join(""),
    events: ear.text(),
    webhooks: JSON.stringify(receiver.got),
    mails: mails.join("\n"),
    store: storedIn(site.folder),
  };
  const paths = ["bearer", "basic", "cookie", "header", "id", "query", "field", "link", "idempotency"];
  const values = [TOKEN, PASSWORD, ...paths.map(canary)].flatMap(spellings);
  const secrets = [
    key.slice(-49, -6),
    site.link.slice(-49, -6),
    site.cookie.split(".").at(-1) ?? "",
    WEBHOOK,
  ];
  for (const one of secrets) assert.ok(one.length >= 32, one);
  for (const [where, text] of Object.entries(places)) {
    assert.ok(text.length > 100, `there is nothing in the ${where}`);
    for (const value of [...values, ...secrets])
      assert.ok(!text.includes(value), `${value} is in the ${where}`);
  }
});
