/** People with sessions, keys and links, replies kept for their idempotency key, messages, an alert, and other tenants. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { admin } from "../../../src/admin.ts";
import { readSettings } from "../../../src/api/settings.ts";
import type { Holdpoint } from "../../../src/index.ts";
import { startServer } from "../../../src/serve.ts";
import { until } from "../../fixtures/until.ts";
import { RULED, WATCH } from "./definitions.ts";
import { ask, type Leaving } from "./leave-approvals.ts";

const BY_ANN = { by: "person:ann" };

type Served = {
  readonly served: { readonly data: string } | { readonly database: string };
  readonly keyFile: string;
};

async function openServer({ served, keyFile }: Served) {
  const settings = readSettings({ flags: new Map(), environment: () => undefined });
  return startServer({
    settings: { ...settings, ...served, port: 0, log: "off" },
    version: "writer",
    log: () => undefined,
    keyFile,
  });
}

export async function leaveIdentities(hp: Holdpoint, place: Served) {
  const { people, keys } = admin(hp);
  const person = "person:ann";
  await people.add({ person, name: "Ann", roles: ["admin", "supervisor"], ...BY_ANN });
  await people.add({ person: "person:bob", name: "Bob", roles: ["supervisor"], ...BY_ANN });
  const offer = { principal: "agent:courier", name: "van", roles: ["executor"], ...BY_ANN } as const;
  const { text: key } = await keys.issue(offer);
  const { link } = await people.loginLink(person, BY_ANN);
  const { link: unused } = await people.loginLink("person:bob", BY_ANN);
  const server = await openServer(place);
  const headers = { host: "localhost", "content-type": "application/json" };
  const post = async (url: string, body: object, more: object = { authorization: `Bearer ${key}` }) => {
    const payload = JSON.stringify(body);
    // biome-ignore lint/nursery/useAwaitThenable: it can be awaited; the checker does not see so.
    return await server.app.inject({ method: "POST", url, headers: { ...headers, ...more }, payload });
  };
  const opened = await post("/api/session", { link }, {});
  const cookie = String(opened.headers["set-cookie"]).split(";")[0] ?? "";
  const proposal = {
    tool: "courier.letter",
    args: { to: "Bob" },
    request_id: "letter",
    agent: "agent:courier",
  };
  const keyed = (name: string) => ({ authorization: `Bearer ${key}`, "idempotency-key": name });
  const proposed = await post("/api/actions", proposal, keyed("propose-1"));
  const approval = String(JSON.parse(proposed.payload).approval_id);
  const path = `/api/approvals/${approval}/comments`;
  const comment = { text: "It has a stamp." };
  const { payload: answered } = await post(path, comment, keyed("letter-1"));
  await server.close();
  const more = { link: unused, proposal: { body: proposal, approval } };
  return { left: { cookie, key, path, comment, answered }, more };
}

/** Takes requests, and answers none of them. */
async function startSilentReceiver() {
  const { promise: reached, resolve } = Promise.withResolvers<void>();
  const server = createServer(() => resolve());
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, reached };
}

export async function leaveMessages({ hp, tools }: Leaving, url: string) {
  const { endpoints, monitor, deliver, messages, alerts } = admin(hp);
  const add = async (to: string) => (await endpoints.add({ url: to, events: ["approval.*"], ...BY_ANN })).id;
  const endpoint = await add(url);
  const silent = await startSilentReceiver();
  const unanswered = await add(silent.url);
  const watch = await monitor(WATCH);
  const noise = hp.gate({ name: "noise", policy: "approve", effect: "read", run: () => "heard" });
  for (let n = 0; n < 4; n++) await noise({}, { requestId: `noise ${n}` });
  await watch.caughtUp();
  // Until the program is killed: the receiver that is silent has one, and has not said so.
  void deliver(new AbortController().signal, { allowPrivate: true });
  const told = await ask(tools.told, "told");
  await silent.reached;
  const to = (id: string) =>
    until(async () => {
      const { items } = await messages.list({ status: "waiting" });
      return items.find((one) => one.endpoint === id)?.id;
    }, "a message");
  const alert = await until(async () => (await alerts.list()).items[0]?.id, "an alert");
  return {
    left: { endpoint, told, message: await to(endpoint), alert },
    more: { endpoint: unanswered, message: await to(unanswered) },
  };
}

/** Seals what is not sealed yet, and answers the last seal. */
export async function lastSeal(hp: Holdpoint) {
  const seal = await admin(hp).seals.save();
  return seal ?? assert.fail("nothing was sealed");
}

/** One that a program has made by writing to it, and one that was added and has a policy document. */
export async function leaveTenants(
  hp: Holdpoint,
  open: (tenant: string, options?: object) => Promise<Holdpoint>,
) {
  await admin(hp).tenants.add({ name: "ruled", admin: "person:ann", ...BY_ANN });
  const left: string[] = [];
  for (const tenant of ["acme", "ruled"]) {
    const own = await open(tenant, tenant === "ruled" ? { policy: RULED } : {});
    const pay = own.gate({ name: "pay", policy: "escalate", run: (_: Record<string, unknown>) => "never" });
    left.push(await ask(pay, `of ${tenant}`));
    await own.close();
  }
  const [acme = "", ruled = ""] = left;
  return { acme, ruled };
}
