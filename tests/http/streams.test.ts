// Streams, of one's own tenant and of another: who may open them, and that nothing of another tenant is ever heard.
import assert from "node:assert/strict";
import { test } from "node:test";
import { sendIntentNow } from "../../src/agents/intents/send-and-answer.ts";
import { ROLE_SCOPES } from "../../src/people/rules/scopes.ts";
import type { Runtime } from "../../src/runtime/runtime.ts";
import { type Ear, listenTo } from "../fixtures/listen.ts";
import { issueApiKey } from "../fixtures/people.ts";
import { setSwitch } from "../fixtures/verbs.ts";
import { type Bearer, bearer, bearersOf, by, mayAsk, openSite } from "./site.ts";
import { CANARY } from "./world.ts";

/** Said here once more, apart from the table: who hears of what. Everything else is for readers of the journal. */
const READ_BY: { readonly [kind: string]: string } = {
  action: "actions:read",
  alert: "alerts:read",
  approval: "approvals:read",
  budget: "budgets:read",
  grant: "grants:read",
  intent: "intents:read",
  policy: "policies:read",
  switch: "switch:read",
  workflow: "workflows:read",
};

const kindOf = ({ data }: Ear["events"][number]): string => String(data["stream"]).split("/")[0] ?? "";

function hears({ role }: Bearer, kind: string): boolean {
  const scopes: readonly string[] = ROLE_SCOPES[role];
  return scopes.includes("journal:read") || scopes.includes(READ_BY[kind] ?? "journal:read");
}

/** Until an event is heard that was made after all others. */
async function heardUntil(ear: Ear, isLast: (event: Ear["events"][number]) => boolean): Promise<void> {
  for (let count = 1; !ear.events.some(isLast); count++) await ear.heard(count);
}

const task = (runtime: Runtime, toAgent: string, word: string) =>
  sendIntentNow(runtime, {
    intentType: "task",
    toAgent,
    to: toAgent,
    payload: { word },
    from: "agent:planner",
  });

test("streams", async (t) => {
  const { bench, world, own, other, routes } = await openSite(t);
  const { url } = bench;
  const bearers = await bearersOf(own);
  const stream = routes.find(({ name }) => name === "GET /api/intents/stream") ?? assert.fail();
  const stranger = bearer((await issueApiKey(other, { principal: by, name: "root", by })).text);
  const rootKey = bearer((await issueApiKey(own, { principal: by, name: "root", by })).text);

  await t.test(
    "of events are open to every role, and each hears what its scopes read, no more and no less",
    async () => {
      const last = `${CANARY}-last`;
      await setSwitch(own, true, { by, reason: last });
      await setSwitch(own, false, { by, reason: last });
      const root = await listenTo(`${url}/api/events?after=0`, { headers: rootKey });
      const isLast = (one: Ear["events"][number]) => one.type === "switch.released";
      await heardUntil(root, isLast);
      root.stop();
      const kinds = new Set(root.events.map(kindOf));
      assert.ok(kinds.size >= 10, [...kinds].join());
      for (const one of bearers) {
        const ear = await listenTo(`${url}/api/events?after=0`, { headers: bearer(one.text) });
        const label = `${one.who} as ${one.role}`;
        assert.equal(ear.status, 200, label);
        await heardUntil(ear, isLast);
        ear.stop();
        const heard = new Set(ear.events.map(kindOf));
        for (const kind of kinds) assert.equal(heard.has(kind), hears(one, kind), `${label} hears ${kind}`);
        for (const kind of ["person", "key", "budget", "workflow"].filter((name) => kinds.has(name))) {
          const asked = await listenTo(`${url}/api/events?stream=${kind}`, { headers: bearer(one.text) });
          asked.stop();
          assert.equal(asked.status, hears(one, kind) ? 200 : 403, `${label} asks for ${kind}`);
        }
      }
    },
  );

  await t.test("of intents are open to those who answer them, each their own", async () => {
    for (const one of bearers) {
      const headers = bearer(one.text);
      const label = `${one.who} as ${one.role}`;
      const ear = await listenTo(`${url}/api/intents/stream`, { headers });
      assert.equal(ear.status, mayAsk(one, stream) ? 200 : 403, label);
      if (ear.status === 200) {
        const { id } = await task(own, `${one.who}:${one.role}`, "own");
        await ear.heard(1);
        assert.deepEqual(
          ear.events.map(({ data }) => data["intent_id"]),
          [id],
          label,
        );
      }
      ear.stop();
      const others = await listenTo(`${url}/api/intents/stream?agent=agent:doer`, { headers });
      others.stop();
      assert.equal(others.status, 403, label);
    }
  });

  await t.test("are closed to whoever is nobody", async () => {
    for (const path of ["/api/events", "/api/intents/stream"])
      for (const headers of [{}, bearer("hpk_acme_none"), { cookie: "__Host-holdpoint=acme.ses_x.y" }])
        assert.equal((await listenTo(`${url}${path}`, { headers })).status, 401, path);
  });

  await t.test("of another tenant are heard by nobody, and its ids are nowhere", async () => {
    const ear = await listenTo(`${url}/api/events?after=0`, { headers: stranger });
    await task(own, "agent:doer", `${CANARY}-now`);
    const marker = await task(other, "agent:doer", "ours");
    await heardUntil(ear, ({ data }) => data["stream"] === `intent/${marker.id}`);
    ear.stop();
    assert.ok(!ear.text().includes(CANARY), "an event of another tenant");
    for (const id of Object.values(world)) assert.ok(!ear.text().includes(id), id);

    const { text } = await issueApiKey(other, {
      principal: "agent:doer",
      name: "doer",
      roles: ["executor"],
      by,
    });
    const doer = await listenTo(`${url}/api/intents/stream`, { headers: bearer(text) });
    await doer.heard(1);
    const late = await task(other, "agent:doer", "ours too");
    await doer.heard(2);
    doer.stop();
    assert.deepEqual(
      doer.events.map(({ data }) => data["intent_id"]),
      [marker.id, late.id],
    );
    assert.ok(!doer.text().includes(CANARY));

    const nowhere = world.workflow.replace(/.{8}$/, "ZZZZZZZZ");
    for (const id of [world.workflow, world.driven, nowhere])
      assert.equal(
        (await listenTo(`${url}/api/events?workflow=${id}`, { headers: stranger })).status,
        404,
        id,
      );
    const there = await listenTo(`${url}/api/events?workflow=${world.workflow}`, { headers: rootKey });
    there.stop();
    assert.equal(there.status, 200);
  });
});
