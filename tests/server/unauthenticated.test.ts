// Under --no-auth everybody is believed: what they decide says so, whatever it is.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { addPerson, issueApiKey } from "../fixtures/people.ts";
import { type Bench, type Sent, serverBench } from "../fixtures/server.ts";
import { define, furnish, type World } from "../http/world.ts";

const by = "person:root";
const said = { by, reason: "because" };

async function furnished(context: Pick<TestContext, "after">) {
  const folder = mkdtempSync(join(tmpdir(), "holdpoint-unauthenticated-"));
  let begin: (() => Promise<World>) | undefined;
  const bench = await serverBench(context, {
    ...{ noAuth: true, folder, rate: 1_000, burst: 1_000 },
    define(hp) {
      const declared = define(hp);
      hp.remote.tool({ name: "wire", policy: "escalate" });
      begin = () => furnish(hp, declared, { folder, tenant: "default" });
    },
  });
  context.after(() => rmSync(folder, { recursive: true, force: true }));
  await bench.server.office();
  return { bench, world: (await begin?.()) ?? assert.fail() };
}

async function done(bench: Bench, path: string, body: object, method: Sent["method"] = "POST") {
  const answer = await bench.ask(path, { method, body });
  assert.ok(answer.status < 300, `${path}: ${answer.text}`);
  return answer.body;
}

/** Agreed to, and not begun. */
async function approved(bench: Bench): Promise<string> {
  const { approval_id: id } = await done(bench, "/api/actions", { tool: "wire", args: {}, agent: "far" });
  await done(bench, `/api/approvals/${String(id)}/votes`, { decision: "approve", approved_by: "root" });
  return String(id);
}

/** How the newest entry of that type says that it was done. */
async function viaOf(bench: Bench, type: string): Promise<unknown> {
  const { store, tenant } = (await bench.server.office()).runtime;
  const entries = await store.log(tenant, 0, 10_000);
  const found = entries.findLast(({ header }) => (JSON.parse(header) as { type: string }).type === type);
  assert.ok(found?.body != null, `there is no ${type}`);
  return (JSON.parse(found.body) as { via?: unknown }).via;
}

type Step = readonly [type: string, path: string, body: object, method?: Sent["method"]];

function stepsOf(world: World, given: string): readonly Step[] {
  const { approval, budget, driven, effect, grant, workflow } = world;
  const limit = { currency: "USD", micros: "2000000" };
  return [
    ["switch.stopped", "/api/kill-switch/pause", said],
    ["switch.released", "/api/kill-switch/resume", said],
    ["grant.given", "/api/grants", { tool: "pay", uses: 1, for_seconds: 60, ...said }],
    ["grant.revoked", `/api/grants/${grant}/revoke`, said],
    ["effect.resolved", `/api/effects/${effect}/resolve`, { status: "applied", ...said }],
    ["approval.cancelled", `/api/approvals/${approval}/cancel`, said],
    ["approval.revoked", `/api/approvals/${given}/revoke`, said],
    ["budget.limited", `/api/budgets/${budget}`, { limit, by }, "PUT"],
    ["workflow.failed", `/api/workflows/${workflow}/cancel`, said],
    ["rollback.began", `/api/workflows/${driven}/rollback`, said],
  ];
}

test("whatever is decided without authentication is marked as that in the journal", async (t) => {
  const { bench, world } = await furnished(t);
  for (const [type, path, body, method] of stepsOf(world, await approved(bench))) {
    await done(bench, path, body, method);
    assert.equal(await viaOf(bench, type), "unauthenticated", type);
  }
});

test("what is decided with a key says so too", async (t) => {
  const bench = await serverBench(t, { noAuth: false });
  const { runtime } = await bench.server.office();
  await addPerson(runtime, { person: by, roles: ["admin"], by });
  const { text } = await issueApiKey(runtime, { principal: by, name: "root", by });
  const headers = { authorization: `Bearer ${text}` };
  const { status } = await bench.ask("/api/kill-switch/pause", {
    ...{ method: "POST", headers, body: { reason: "drill" } },
  });
  assert.equal(status, 200);
  assert.equal(await viaOf(bench, "switch.stopped"), "api_key");
});
