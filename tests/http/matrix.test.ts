// Made from the list of routes: who may ask for what, and that a tenant sees nothing of another.

import assert from "node:assert/strict";
import { test } from "node:test";
import { getApproval } from "../../src/approvals/read.ts";
import { budgetVerbs } from "../../src/budgets/verbs.ts";
import { ROLES } from "../../src/people/stream.ts";
import type { Runtime } from "../../src/runtime/runtime.ts";
import { getWorkflow } from "../../src/workflows/read.ts";
import { listenTo } from "../fixtures/listen.ts";
import { addPerson, getPerson, issueApiKey, revokeApiKey, setStanding } from "../fixtures/people.ts";
import type { Answered, Sent } from "../fixtures/server.ts";
import { verbsOn } from "../fixtures/verbs.ts";
import { bodyFields, bodySchemaOf, type Listed } from "./listed.ts";
import { addressOf, bodyOf, hasIds, type Ids, idsOf, unknownIds } from "./requests.ts";
import {
  bearer,
  bearersOf,
  by,
  isScopeRefusal,
  mayAsk,
  OF_HOME,
  OTHER,
  OWN,
  openSite,
  type Site,
} from "./site.ts";
import { CANARY, type World } from "./world.ts";

const isStream = ({ operation }: Listed): boolean =>
  JSON.stringify(operation.responses).includes("text/event-stream");

/** Written by readers of the log in the background, of what was there before. */
const isBackground = (stream: string): boolean => /^(message|monitor|notifier)\//.test(stream);

/** Types of the entries of both tenants after a position. */
async function writtenSince({ own, other }: Site, from: number): Promise<readonly string[]> {
  const logs = await Promise.all([own, other].map(({ store, tenant }) => store.log(tenant, from, 1_000)));
  const headers = logs.flat().map(({ header }) => JSON.parse(header) as { stream: string; type: string });
  return headers.filter(({ stream }) => !isBackground(stream)).map(({ type }) => type);
}

/** None of them is anybody. */
async function nobodies(runtime: Runtime): Promise<readonly (readonly [string, Record<string, string>])[]> {
  const key = { principal: "agent:gone", name: "gone", roles: ROLES, by };
  const revoked = await issueApiKey(runtime, key);
  await revokeApiKey(runtime, revoked.key.id, { by, reason: "lost" });
  const expired = await issueApiKey(runtime, { ...key, forMs: 1 });
  await addPerson(runtime, { person: "person:away", roles: ROLES, by });
  const suspended = await issueApiKey(runtime, { principal: "person:away", name: "away", by });
  await setStanding(runtime, true, { person: "person:away", by, reason: "away" });
  const { text } = await issueApiKey(runtime, key);
  return [
    ["nobody", {}],
    ["a revoked key", bearer(revoked.text)],
    ["an expired key", bearer(expired.text)],
    ["a suspended person's key", bearer(suspended.text)],
    ["a key with another secret", bearer(`${text.slice(0, -20)}${"A".repeat(14)}${text.slice(-6)}`)],
    ["a key of another tenant's name", bearer(text.replace(`_${OWN}_`, `_${OTHER}_`))],
    ["a key in the cookie of a session", { cookie: `__Host-holdpoint=${text}` }],
    ["a cookie that is none", { cookie: "__Host-holdpoint=acme.ses_01ARZ3NDEKTSV4RRFFQ69G5FAV.x" }],
  ];
}

/** What is done to a name: the same name elsewhere is another budget, another person, another workflow. */
const NAMES_OF_ONES_OWN = new Set([
  "POST /api/definitions/{name}/start",
  "GET /api/budgets/{name}",
  "PUT /api/budgets/{name}",
  "POST /api/people/{person}/suspend",
  "POST /api/people/{person}/reinstate",
]);
/** Those that name what they are about in the body. */
const IDS_IN_BODY = new Set(["POST /api/approvals/submit", "POST /api/policies/explain"]);

const isForAll = (route: Listed): boolean => !hasIds(route) || route.scope === null;

/** What is for everybody is about nobody, whatever its address says. */
const isAboutIds = (route: Listed): boolean =>
  route.scope !== null &&
  route.scope !== OF_HOME &&
  (IDS_IN_BODY.has(route.name) || (hasIds(route) && !NAMES_OF_ONES_OWN.has(route.name)));

/** Of a server that was started with it. */
const OF_THE_EXAMPLE = "POST /api/example";

/** A problem without what differs between any two requests. */
function toldOf({ body, status }: Answered, ids: Ids): object {
  const { instance: _, correlation_id: __, ...rest } = body;
  let text = JSON.stringify({ status, ...rest });
  for (const [parameter, value] of Object.entries(ids)) text = text.replaceAll(value, parameter);
  return JSON.parse(text);
}

/** The field in which a request may say which person it is. */
function namesPerson(route: Listed): string | undefined {
  const fields = bodyFields(bodySchemaOf(route));
  return ["by", "approved_by"].find((field) => fields.has(field));
}

test("every route", async (t) => {
  const site = await openSite(t);
  const { bench, routes, world } = site;
  const asked = (route: Listed, ids: Ids, headers: Record<string, string>, more: Partial<Sent> = {}) =>
    bench.ask(addressOf(route, ids), { method: route.method, headers, ...bodyOf(route, world), ...more });

  const opened = async (route: Listed, text: string) => {
    const ear = await listenTo(`${bench.url}${addressOf(route, idsOf(route, world))}`, {
      headers: bearer(text),
    });
    ear.stop();
    await ear.ended;
  };

  await t.test("has a case", () => {
    for (const route of routes) addressOf(route, idsOf(route, world));
  });

  await t.test("is closed to whoever is nobody, unless it is for everybody", async () => {
    let guesses = 0;
    for (const [who, headers] of await nobodies(site.own))
      for (const route of routes) {
        if (route.scope === null) continue;
        // Everybody guesses from an address of their own: how often that goes is another test's matter.
        const from = `10.0.${guesses >> 8}.${guesses++ & 255}`;
        const { status, body, text } = await asked(route, idsOf(route, world), headers, { from });
        assert.equal(status, 401, `${who}, ${route.name}: ${text}`);
        assert.equal(body["code"], "unauthenticated");
      }
  });

  await t.test("is open to each role as the scopes say, and to no program where people decide", async () => {
    // Nothing of what is there is changed by it.
    const nothing: World = { ...world, ...unknownIds({ approval: world.approval, text: world.text }) };
    for (const one of await bearersOf(site.own))
      for (const route of routes) {
        if (isStream(route) || route.scope === null) continue;
        const ids = unknownIds(idsOf(route, world));
        const answer = await asked(route, ids, bearer(one.text), bodyOf(route, nothing));
        const label = `${one.who} as ${one.role}, ${route.name}: ${answer.text}`;
        assert.equal(isScopeRefusal(answer), !mayAsk(one, route), label);
        assert.notEqual(answer.status, 401, label);
        assert.ok(answer.status < 500, label);
      }
  });

  await t.test("asked by GET moves no stream: nothing is decided by opening an address", async () => {
    const read = routes.filter(({ method }) => method === "GET");
    assert.ok(read.length > 60, String(read.length));
    const moved = async (route: Listed, text: string) => {
      const from = await site.own.store.position();
      await (isStream(route) ? opened(route, text) : asked(route, idsOf(route, world), bearer(text)));
      return (await writtenSince(site, from)).map((type) => `${route.name} ${type}`);
    };
    for (const { who, role, text } of await bearersOf(site.own))
      for (const route of read) assert.deepEqual(await moved(route, text), [], `${who} as ${role}`);
    // What the recipient itself is given is recorded as delivered, and as nothing else.
    const doer = { principal: "agent:doer", name: "doer", roles: ["executor" as const], by };
    const { text } = await issueApiKey(site.own, doer);
    const delivered = new Set<string>();
    for (const route of read) for (const type of await moved(route, text)) delivered.add(type);
    assert.deepEqual([...delivered], ["GET /api/intents/inbox intent.delivered"]);
  });

  await t.test("about a workflow is closed to every program that has no part in it", async () => {
    const done = routes.filter(({ name }) => name.startsWith("POST /api/workflows/{id}/"));
    assert.ok(done.length >= 8, String(done.length));
    const before = await Promise.all([world.driven, world.workflow].map((id) => getWorkflow(site.own, id)));
    for (const role of ROLES)
      for (const principal of ["agent:stranger", "service:stranger"]) {
        const { text } = await issueApiKey(site.own, { principal, name: role, roles: [role], by });
        for (const route of done) {
          const ids = { id: world.driven, action: world.permitted };
          const answer = await asked(route, ids, bearer(text));
          const label = `${principal} as ${role}, ${route.name}: ${answer.text}`;
          assert.equal(answer.status, 403, label);
          if (!/cancel|rollback/.test(route.path)) continue;
          assert.equal(answer.body["code"], "forbidden", label);
          const waiting = await asked(route, { id: world.workflow }, bearer(text));
          assert.deepEqual([waiting.status, waiting.body["code"]], [403, "forbidden"], label);
        }
      }
    const after = await Promise.all([world.driven, world.workflow].map((id) => getWorkflow(site.own, id)));
    assert.deepEqual(after, before);
  });

  await t.test("knows nothing of another tenant: what is there is as if it were nowhere", async () => {
    const stranger = bearer((await issueApiKey(site.other, { principal: by, name: "root", by })).text);
    for (const route of routes.filter((one) => !isStream(one) && one.name !== "DELETE /api/session")) {
      const ids = idsOf(route, world);
      const there = await asked(route, ids, stranger);
      const label = `${route.name}: ${there.text}`;
      if (isForAll(route)) assert.ok(!there.text.includes(CANARY), label);
      if (route.scope === OF_HOME) assert.ok(isScopeRefusal(there), label);
      if (isAboutIds(route)) assert.equal(there.status, 404, label);
      if (!isAboutIds(route) || !hasIds(route)) continue;
      const unknown = unknownIds(ids);
      const nowhere = await asked(route, unknown, stranger);
      assert.deepEqual(toldOf(there, ids), toldOf(nowhere, unknown), label);
    }
    assert.equal((await verbsOn(site.own, budgetVerbs).get(CANARY)).limit.micros, 1_000_000n);
    assert.equal((await getPerson(site.own, world.person)).suspended, false);
    assert.equal((await getApproval(site.own, world.approval)).status, "pending");
  });

  await t.test("about tenants is open to people who are admins at home, and to nobody else", async () => {
    const about = routes.filter(({ scope }) => scope === OF_HOME);
    assert.equal(about.length, 4);
    const { runtime } = await bench.server.office();
    await addPerson(runtime, { person: by, roles: ROLES, by });
    for (const one of await bearersOf(runtime))
      for (const route of about) {
        const answer = await asked(route, { tenant: "nowhere" }, bearer(one.text), { body: undefined });
        const may = one.who === "person" && one.role === "admin";
        assert.equal(
          isScopeRefusal(answer),
          !may,
          `${one.who} as ${one.role}, ${route.name}: ${answer.text}`,
        );
      }
  });

  await t.test("refuses whoever says that they are somebody else", async () => {
    const root = bearer((await issueApiKey(site.own, { principal: by, name: "root", by })).text);
    const named = routes.filter((route) => namesPerson(route) !== undefined);
    assert.ok(named.length > 15);
    for (const route of named) {
      const field = namesPerson(route) ?? "";
      const { body } = bodyOf(route, world);
      const lie = { body: { ...(body as object), [field]: "person:somebody-else" } };
      const answer = await asked(route, idsOf(route, world), root, lie);
      assert.equal(answer.status, 403, `${route.name} ${field}: ${answer.text}`);
    }
  });

  await t.test("answers its own tenant: the cases are about what is there", async () => {
    const root = bearer((await issueApiKey(site.own, { principal: by, name: "root", by })).text);
    const wrong: string[] = [];
    const inOrder = routes.toSorted((a, b) => Number(a.method !== "GET") - Number(b.method !== "GET"));
    for (const route of inOrder) {
      if (isStream(route) || route.scope === null || route.name === OF_THE_EXAMPLE) continue;
      const { status, text } = await asked(route, idsOf(route, world), root);
      if (status >= 500 || [400, 401, 404].includes(status)) wrong.push(`${route.name}: ${text}`);
    }
    assert.deepEqual(wrong, []);
  });
});
