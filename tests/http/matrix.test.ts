// Made from the list of routes: who may ask for what, and that a tenant sees nothing of another.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { ROLES, type Role } from "../../src/core/roster.ts";
import { ROLE_SCOPES } from "../../src/core/scopes.ts";
import { getApproval } from "../../src/engine/approvals.ts";
import { issue, revoke } from "../../src/engine/identity/keys.ts";
import { addPerson, getPerson, setStanding } from "../../src/engine/identity/people.ts";
import { getBudget } from "../../src/engine/operate.ts";
import type { Runtime } from "../../src/engine/runtime.ts";
import { getWorkflow } from "../../src/engine/workflow/operate-workflows.ts";
import { LIBRARY_VERBS, scopeOfVerb } from "../../src/server/library.ts";
import { type Answered, type Bench, type Sent, serverBench } from "../fixtures/server.ts";
import { bodyFields, bodySchemaOf, type Listed, listRoutes } from "./listed.ts";
import { addressOf, bodyOf, hasIds, type Ids, idsOf, unknownIds } from "./requests.ts";
import { CANARY, define, furnish, type World } from "./world.ts";

const OWN = "acme";
const OTHER = "globex";
const by = "person:root";
const FAST = { rate: 1_000_000, burst: 1_000_000, listeners: 1_000 };

/** Whatever decides about people or rules is theirs: said here once more, apart from the table. */
const OF_PEOPLE =
  /^(approvals:decide|effects:resolve|grants:write|switch:write|budgets:write|policies:write|alerts:acknowledge|people:write|keys:write)$/;

const bearer = (text: string) => ({ authorization: `Bearer ${text}` });
const isStream = ({ operation }: Listed): boolean =>
  JSON.stringify(operation.responses).includes("text/event-stream");

type Bearer = { readonly who: string; readonly role: Role; readonly text: string };

async function bearersOf(runtime: Runtime): Promise<readonly Bearer[]> {
  const bearers: Bearer[] = [];
  for (const role of ROLES) {
    await addPerson(runtime, { person: `person:${role}`, roles: [role], by });
    for (const kind of ["person", "agent", "service"]) {
      const roles = kind === "person" ? {} : { roles: [role] };
      const { text } = await issue(runtime, { principal: `${kind}:${role}`, name: role, ...roles, by });
      bearers.push({ who: kind, role, text });
    }
  }
  return bearers;
}

/** None of them is anybody. */
async function nobodies(runtime: Runtime): Promise<readonly (readonly [string, Record<string, string>])[]> {
  const key = { principal: "agent:gone", name: "gone", roles: ROLES, by };
  const revoked = await issue(runtime, key);
  await revoke(runtime, revoked.key.id, { by, reason: "lost" });
  const expired = await issue(runtime, { ...key, forMs: 1 });
  await addPerson(runtime, { person: "person:away", roles: ROLES, by });
  const suspended = await issue(runtime, { principal: "person:away", name: "away", by });
  await setStanding(runtime, true, { person: "person:away", by, reason: "away" });
  const { text } = await issue(runtime, key);
  return [
    ["nobody", {}],
    ["a revoked key", bearer(revoked.text)],
    ["an expired key", bearer(expired.text)],
    ["a suspended person's key", bearer(suspended.text)],
    ["a key with another secret", bearer(`${text.slice(0, -20)}${"A".repeat(14)}${text.slice(-6)}`)],
    ["a key of another tenant's name", bearer(text.replace(`_${OWN}_`, `_${OTHER}_`))],
    ["a cookie that is none", { cookie: "__Host-holdpoint=acme.ses_01ARZ3NDEKTSV4RRFFQ69G5FAV.x" }],
  ];
}

const isScopeRefusal = ({ status, body }: Answered): boolean =>
  status === 403 && body["code"] === "forbidden" && String(body["detail"]).startsWith("This needs the scope");

function mayAsk({ who, role }: Bearer, { scope, orScope = "" }: Listed): boolean {
  if (scope === null || scope === "any") return true;
  const brought: readonly string[] = ROLE_SCOPES[role];
  return [scope, orScope].some((one) => brought.includes(one) && (who === "person" || !OF_PEOPLE.test(one)));
}

/** What is done to a name: the same name elsewhere is another budget, another person. */
const NAMES_OF_ONES_OWN = new Set([
  "GET /api/budgets/{name}",
  "PUT /api/budgets/{name}",
  "POST /api/people/{person}/suspend",
  "POST /api/people/{person}/reinstate",
]);
/** Those that name what they are about in the body. */
const IDS_IN_BODY = new Set(["POST /api/approvals/submit"]);

const isAboutIds = (route: Listed): boolean =>
  IDS_IN_BODY.has(route.name) || (hasIds(route) && !NAMES_OF_ONES_OWN.has(route.name));

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

type Site = {
  readonly bench: Bench;
  readonly routes: readonly Listed[];
  readonly world: World;
  readonly own: Runtime;
  readonly other: Runtime;
};

async function openSite(context: Pick<TestContext, "after">): Promise<Site> {
  const folder = mkdtempSync(join(tmpdir(), "holdpoint-matrix-"));
  let instance: Parameters<typeof define>[0] | undefined;
  let declared: ReturnType<typeof define> | undefined;
  const bench = await serverBench(context, {
    ...{ noAuth: false, folder, ...FAST },
    define(hp) {
      instance = hp;
      declared = define(hp);
    },
  });
  context.after(() => rmSync(folder, { recursive: true, force: true }));
  const { runtime: other } = await bench.server.office(OTHER);
  await addPerson(other, { person: by, roles: ROLES, by });
  const { runtime: own } = await bench.server.office(OWN);
  assert.ok(instance !== undefined && declared !== undefined);
  const world = await furnish(instance, declared, { folder, tenant: OWN });
  return { bench, routes: await listRoutes(bench), world, own, other };
}

test("every route", async (t) => {
  const site = await openSite(t);
  const { bench, routes, world } = site;
  const asked = (route: Listed, ids: Ids, headers: Record<string, string>, more: Partial<Sent> = {}) =>
    bench.ask(addressOf(route, ids), { method: route.method, headers, ...bodyOf(route, world), ...more });

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
    const nothing: World = { ...world, ...unknownIds({ approval: world.approval }) };
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

  await t.test("about a workflow is closed to every program that has no part in it", async () => {
    const done = routes.filter(({ name }) => name.startsWith("POST /api/workflows/{id}/"));
    assert.ok(done.length >= 8, String(done.length));
    const before = await Promise.all([world.driven, world.workflow].map((id) => getWorkflow(site.own, id)));
    for (const role of ROLES)
      for (const principal of ["agent:stranger", "service:stranger"]) {
        const { text } = await issue(site.own, { principal, name: role, roles: [role], by });
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

  await t.test("that answers for the library asks for the scope of each verb", async () => {
    for (const role of ROLES) {
      const { text } = await issue(site.own, { principal: "agent:reader", name: role, roles: [role], by });
      for (const verb of LIBRARY_VERBS) {
        const answer = await bench.ask(`/api/library?verb=${verb}`, { headers: bearer(text) });
        const may = ROLE_SCOPES[role].includes(scopeOfVerb(verb));
        assert.equal(isScopeRefusal(answer), !may, `${role}, ${verb}: ${answer.text}`);
      }
    }
  });

  await t.test("knows nothing of another tenant: what is there is as if it were nowhere", async () => {
    const stranger = bearer((await issue(site.other, { principal: by, name: "root", by })).text);
    for (const route of routes.filter((one) => !isStream(one) && one.name !== "DELETE /api/session")) {
      const ids = idsOf(route, world);
      const there = await asked(route, ids, stranger);
      const label = `${route.name}: ${there.text}`;
      if (!hasIds(route)) assert.ok(!there.text.includes(CANARY), label);
      if (isAboutIds(route)) assert.equal(there.status, 404, label);
      if (!isAboutIds(route) || !hasIds(route)) continue;
      const unknown = unknownIds(ids);
      const nowhere = await asked(route, unknown, stranger);
      assert.deepEqual(toldOf(there, ids), toldOf(nowhere, unknown), label);
    }
    assert.equal((await getBudget(site.own, CANARY)).limit?.micros, 1_000_000n);
    assert.equal((await getPerson(site.own, world.person)).suspended, false);
    assert.equal((await getApproval(site.own, world.approval)).status, "pending");
  });

  await t.test("refuses whoever says that they are somebody else", async () => {
    const root = bearer((await issue(site.own, { principal: by, name: "root", by })).text);
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
    const root = bearer((await issue(site.own, { principal: by, name: "root", by })).text);
    const wrong: string[] = [];
    const inOrder = routes.toSorted((a, b) => Number(a.method !== "GET") - Number(b.method !== "GET"));
    for (const route of inOrder) {
      if (isStream(route) || route.scope === null) continue;
      const { status, text } = await asked(route, idsOf(route, world), root);
      if (status >= 500 || [400, 401, 404].includes(status)) wrong.push(`${route.name}: ${text}`);
    }
    assert.deepEqual(wrong, []);
  });
});
