// The tenants of a store as programs meet them: made from home, closed for good, and nobody's to move into.
import assert from "node:assert/strict";
import { test } from "node:test";
import { tenantStream } from "../../src/kernel/stream.ts";
import { registerTenant } from "../../src/people/tenants/rules.ts";
import { HOME_TENANT } from "../../src/people/tenants/stream.ts";
import { tenantVerbs } from "../../src/people/tenants/verbs.ts";
import { runCommand } from "../../src/runtime/store-access.ts";
import { bindLibrary } from "../../src/runtime/verb.ts";
import { machine, type Process } from "../fixtures/runtime.ts";

const by = "person:root";
const said = { by, reason: "moved away" };
const made = { name: "acme", admin: "person:zoe", by };
const verbs = ({ runtime }: Process) => bindLibrary(async () => runtime, tenantVerbs);
const typesIn = async ({ store }: Process, tenant: string): Promise<readonly string[]> =>
  (await store.log(tenant, 0, 1_000)).map(({ header }) => (JSON.parse(header) as { type: string }).type);

test("a tenant is made with its first admin, whose link works once, and both journals say so", async () => {
  const home = machine().process({ tenant: HOME_TENANT });
  const { tenant, admin, login } = await verbs(home).add(made);
  assert.partialDeepStrictEqual(tenant, { name: "acme", home: false, status: "open", by });
  assert.equal(admin, "person:zoe");
  assert.match(login.link, /^hpl_acme_/);
  assert.deepEqual(await typesIn(home, HOME_TENANT), ["tenant.added"]);
  assert.deepEqual(await typesIn(home, "acme"), ["tenant.added", "person.added", "login.offered"]);
  const { items } = await verbs(home).list();
  assert.deepEqual(
    items.map(({ name, home: isHome, status }) => [name, isHome, status]),
    [
      ["acme", false, "open"],
      [HOME_TENANT, true, "open"],
    ],
  );
  const first = await verbs(home).list({ limit: 1 });
  assert.equal(first.next, "acme");
  assert.deepEqual((await verbs(home).list({ limit: 1, after: "acme" })).items, [items[1]]);
});

test("a name is taken once; one that a program writes in is not moved into, and odd names are refused", async () => {
  const place = machine();
  const home = place.process({ tenant: HOME_TENANT });
  await verbs(home).add(made);
  await assert.rejects(verbs(home).add({ ...made, admin: "person:eve" }), { code: "wrong_state" });
  const program = place.process({ tenant: "embedded" });
  await program.people.suspend("person:bob", said);
  await assert.rejects(verbs(home).add({ ...made, name: "embedded" }), { code: "wrong_state" });
  assert.deepEqual(await program.people.list(), []);
  assert.equal((await home.store.read(HOME_TENANT, tenantStream("embedded"))).length, 0);
  for (const name of ["", "Acme", "a_b", "-a", "a b", "x".repeat(64), "ä", HOME_TENANT])
    await assert.rejects(verbs(home).add({ ...made, name }), (error: { code: string }) =>
      ["invalid_input", "wrong_state"].includes(error.code),
    );
  await assert.rejects(verbs(home).add({ ...made, admin: "agent:zoe" }), { code: "invalid_input" });
});

test("what was lost after the name was taken is ended by the same command", async () => {
  const home = machine().process({ tenant: HOME_TENANT });
  await runCommand(home.runtime, {}, (draft) => registerTenant(draft, { name: "acme", by }));
  assert.deepEqual(await typesIn(home, "acme"), []);
  assert.equal((await verbs(home).add(made)).tenant.status, "open");
  assert.deepEqual(await typesIn(home, HOME_TENANT), ["tenant.added"]);
});

test("only from the home tenant, which itself is never closed", async () => {
  const place = machine();
  const [home, acme] = [place.process({ tenant: HOME_TENANT }), place.process({ tenant: "acme" })];
  await acme.people.add({ person: "person:zoe", roles: ["admin"], by });
  for (const verb of [
    verbs(acme).list(),
    verbs(acme).add({ ...made, name: "other" }),
    verbs(acme).close("acme", said),
  ])
    await assert.rejects(verb, { code: "not_eligible" });
  await assert.rejects(verbs(home).close(HOME_TENANT, said), { code: "wrong_state" });
  await assert.rejects(verbs(home).close("nobody", said), { code: "unknown_id" });
  assert.equal((await verbs(home).get("acme")).status, "open");
});

test("in a closed tenant a program that runs starts nothing, another does not begin, and nobody releases it", async () => {
  const place = machine();
  const [home, acme] = [place.process({ tenant: HOME_TENANT }), place.process({ tenant: "acme" })];
  let ran = 0;
  const pay = acme.gate({ name: "pay", policy: "approve", run: () => ++ran });
  await pay({}, { requestId: "pay-1" });
  assert.equal(ran, 1);
  const tenant = await verbs(home).close("acme", said);
  assert.partialDeepStrictEqual(tenant, { status: "closed", ...said });
  assert.deepEqual(await verbs(home).close("acme", { by, reason: "again" }), tenant);

  assert.partialDeepStrictEqual(await pay({}, { requestId: "pay-2", waitMs: 0 }), {
    status: "pending",
    code: "stopped",
  });
  await assert.rejects(acme.switch.resume({ by, reason: "go on" }), { code: "tenant_closed" });
  const later = place.process({ tenant: "acme" });
  const late = later.gate({ name: "pay", policy: "approve", run: () => ++ran });
  await assert.rejects(late({}, { requestId: "pay-3", waitMs: 0 }), { code: "tenant_closed" });
  assert.equal(ran, 1);
  await assert.rejects(acme.keys.issue({ principal: "agent:a", name: "a", roles: ["executor"], by }), {
    code: "not_eligible",
  });

  assert.equal((await later.receipts.get("pay-1"))?.status, "applied");
  assert.equal((await later.journal.verify()).findings.length, 0);
  await assert.rejects(verbs(home).add(made), { code: "wrong_state" });
  assert.deepEqual(await typesIn(home, HOME_TENANT), ["tenant.closed"]);
});
