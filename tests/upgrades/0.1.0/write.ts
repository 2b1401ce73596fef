/**
 * A program of 0.1.0 that leaves everything waiting: `node write.ts <program> <options as JSON>`. It says `waiting` and what
 * it left as a line of JSON. With `dies` it then keeps effects under way until it is killed, else it ends in good order.
 */
import { appendFileSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import os from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import type {
  Holdpoint,
  Program,
  Server,
  ServerProgram,
  SettingsProgram,
  StoreProgram,
  Tool,
} from "./api.ts";
import { defineErrands } from "./errands.ts";
import { leaveOutside } from "./outside.ts";

type Options = {
  readonly store: { readonly folder: string } | { readonly database: string };
  readonly keyFile: string;
  /** Every effect adds a line to it. */
  readonly log: string;
  /** Where messages are to go. */
  readonly receiver: string;
  readonly dies: boolean;
};

// What it writes names no machine.
os.hostname = () => "machine";
syncBuiltinESMExports();

const [root = "", json = "{}"] = process.argv.slice(2);
const { store, keyFile, log, receiver, dies } = JSON.parse(json) as Options;
const load = (file: string): Promise<unknown> => import(pathToFileURL(join(root, file)).href);
const { holdpoint } = (await load("src/index.ts")) as Program;

/** The present version waits until the lease of this program has lapsed. */
const LEASE_MS = 6_000;

async function open(tenant: string): Promise<Holdpoint> {
  const { openStore } = (await load("src/open.ts")) as StoreProgram;
  const own = await openStore({ ...store, leaseMs: LEASE_MS });
  return holdpoint({ store: own, keyFile, tenant, agent: "writer", notify: () => undefined });
}

const hp = await open("default");
const ran = (line: string) => appendFileSync(log, `${line}\n`);
const ANN = { by: "person:ann" };
const usd = (micros: bigint) => ({ currency: "USD", micros });
const DAY = 24 * 3_600_000;

async function ask(tool: Tool, requestId: string, args = {}): Promise<string> {
  const answer = await tool({ requestId, ...args }, { requestId, waitMs: 0 });
  if (answer.approval === undefined) throw new Error(`${requestId}: nobody was asked`);
  return answer.approval;
}

/** Approvals in every state in which they wait. */
async function leaveApprovals() {
  const run = (args: Record<string, unknown>) => {
    ran(`pay ${args["requestId"]} ${args["amount"] ?? ""}`.trim());
    return { paid: args["requestId"] };
  };
  const pay = hp.gate({ name: "pay", policy: "escalate", run });
  const approvers = { quorum: 2, from: ["person:ann", "person:bob"] };
  const both = hp.gate({ name: "pay.both", policy: { verdict: "escalate", approvers }, run });
  const stages = [
    { quorum: 1, from: ["person:ann"] },
    { quorum: 1, from: ["person:bob"] },
  ];
  const staged = hp.gate({ name: "pay.staged", policy: { verdict: "escalate", stages }, run });
  const left = {
    pending: await ask(pay, "pending"),
    approved: await ask(pay, "approved"),
    modified: await ask(pay, "modified", { amount: 9 }),
    large: await ask(pay, "large", { text: "x".repeat(100_000) }),
    quorum: await ask(both, "quorum"),
    staged: await ask(staged, "staged"),
  };
  await hp.approvals.approve(left.approved, ANN);
  await hp.approvals.approve(left.modified, { ...ANN, edit: { amount: 5 } });
  await hp.approvals.approve(left.quorum, ANN);
  await hp.approvals.approve(left.staged, ANN);
  return left;
}

/** Money that is spent and kept, a grant that is partly used, an effect in doubt, and a result of over 64 KiB. */
async function leaveEffects() {
  const cost = () => ({ budget: "trip", amount: usd(2_000_000n) });
  await hp.budgets.limit("trip", usd(7_000_000n));
  const spend = hp.gate({ name: "spend", policy: "approve", cost, run: ({ n }) => ran(`spend ${n}`) });
  await spend({ n: 1 }, { requestId: "spend 1" });
  const lost = () => {
    ran("lost");
    throw new Error("no answer");
  };
  const doubts = hp.gate({ name: "doubts", policy: "approve", cost, run: lost });
  const { effect } = await doubts({}, { requestId: "doubts" });
  const refund = hp.gate({ name: "refund", policy: "escalate", run: ({ n }) => ran(`refund ${n}`) });
  await ask(refund, "asked before the grant");
  const offer = { tool: "refund", uses: 3, forMs: 90 * DAY, ...ANN, reason: "small ones" };
  const { id: grant } = await hp.grants.give(offer);
  await refund({ n: 1 }, { requestId: "refund 1" });
  const report = hp.gate({ name: "report", policy: "approve", run: () => ({ text: "y".repeat(100_000) }) });
  await report({}, { requestId: "report" });
  return { effect, grant };
}

/** A person with a session, a key, and an answer that is kept for its idempotency key. */
async function leaveIdentities() {
  await hp.people.add({
    person: "person:ann",
    name: "Ann",
    roles: ["admin", "supervisor"],
    by: "person:ann",
  });
  await hp.people.add({ person: "person:bob", name: "Bob", roles: ["supervisor"], by: "person:ann" });
  const roles = ["executor"];
  const issued = await hp.keys.issue({ principal: "agent:courier", name: "van", roles, by: "person:ann" });
  const { text: link } = await hp.people.loginLink("person:ann", { by: "person:ann" });
  const server = await openServer();
  const headers = { host: "localhost", "content-type": "application/json" };
  const session = { method: "POST", url: "/api/session", headers, payload: JSON.stringify({ link }) };
  const opened = await server.app.inject(session);
  const cookie = String((opened.headers as Record<string, unknown>)["set-cookie"]).split(";")[0];
  const authorized = { ...headers, authorization: `Bearer ${issued.text}` };
  const post = async (url: string, body: object, more = {}) => {
    const payload = JSON.stringify(body);
    return server.app.inject({ method: "POST", url, headers: { ...authorized, ...more }, payload });
  };
  const letter = {
    tool: "courier.letter",
    args: { to: "Bob" },
    request_id: "letter",
    agent: "agent:courier",
  };
  const asked = JSON.parse((await post("/api/actions", letter)).payload) as { readonly approval_id: string };
  const path = `/api/approvals/${asked.approval_id}/comments`;
  const comment = { text: "It has a stamp." };
  const { payload: answered } = await post(path, comment, { "idempotency-key": "letter-1" });
  await server.close();
  return { cookie, key: issued.text, path, comment, answered };
}

async function openServer(): Promise<Server> {
  const { startServer } = (await load("src/serve.ts")) as ServerProgram;
  const { readSettings } = (await load("src/server/settings.ts")) as SettingsProgram;
  const settings = readSettings({ flags: new Map(), environment: () => undefined });
  const place = "folder" in store ? { data: store.folder } : { database: store.database };
  return startServer({
    settings: { ...settings, ...place, port: 0, log: "off" },
    version: "0.1.0",
    log: () => undefined,
    keyFile,
  });
}

async function until<Value>(what: string, look: () => Promise<Value | undefined>): Promise<Value> {
  for (let round = 0; round < 3_000; round++) {
    const found = await look();
    if (found !== undefined) return found;
    await sleep(10);
  }
  throw new Error(`it did not come to that: ${what}`);
}

/** Messages that nobody took, and an alert that stands. */
async function leaveMessages() {
  const { id: endpoint } = await hp.endpoints.add({
    url: receiver,
    events: ["approval.*"],
    by: "person:ann",
  });
  const rule = { kind: "rate", name: "many calls", of: "calls", windowMs: 60_000, above: 2 };
  const monitor = await hp.monitor({ name: "watch", rules: [rule] });
  const noise = hp.gate({ name: "noise", policy: "approve", effect: "read", run: () => "heard" });
  for (let n = 0; n < 4; n++) await noise({}, { requestId: `noise ${n}` });
  await monitor.caughtUp();
  const over = new AbortController();
  const delivering = hp.deliver(over.signal, { allowPrivate: true });
  const asking = hp.gate({ name: "told", policy: "escalate", run: () => ran("told") });
  const told = await ask(asking, "told");
  const message = await until("a message", async () => {
    const { items } = await hp.messages.list({ status: "waiting" });
    return items[0]?.id;
  });
  over.abort();
  await delivering;
  const alert = await until("an alert", async () => (await hp.alerts.list()).items[0]?.id);
  return { endpoint, told, message, alert };
}

/** Their outcome is unknown: the program is killed first. */
async function leaveRunning(): Promise<void> {
  const never = (name: string) => () => {
    ran(name);
    return new Promise<never>(() => undefined);
  };
  for (const effect of ["idempotent", "once"])
    void hp.gate({ name: `hangs.${effect}`, policy: "approve", effect, run: never(`hangs.${effect}`) })(
      {},
      { requestId: `hangs.${effect}` },
    );
  await sleep(200);
}

async function leaveOtherTenant(): Promise<string> {
  const other = await open("acme");
  const approval = await ask(
    other.gate({ name: "pay", policy: "escalate", run: () => ran("pay of acme") }),
    "of acme",
  );
  await other.close();
  return approval;
}

const left = {
  identities: await leaveIdentities(),
  // Early: what was not delivered is tried again five seconds later.
  messages: await leaveMessages(),
  approvals: await leaveApprovals(),
  effects: await leaveEffects(),
  outside: await leaveOutside(hp),
  errands: await defineErrands(hp, ran).leave(),
  acme: await leaveOtherTenant(),
};
if (dies) await leaveRunning();
else await hp.close();
console.log(`waiting ${JSON.stringify(left)}`);
if (dies) setInterval(() => undefined, 60_000);
