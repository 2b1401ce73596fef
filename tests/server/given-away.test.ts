// What somebody could take or give that is not theirs: names, places, roles, and a say in their own affair.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { createLongPolls } from "../../src/api/events/long-polls.ts";
import { addPerson, issueApiKey } from "../fixtures/people.ts";
import { type Bench, serverBench } from "../fixtures/server.ts";

const by = "person:ann";
const bearer = (text: string) => ({ authorization: `Bearer ${text}` });
const post = (body: object, headers: Record<string, string> = {}) =>
  ({ method: "POST", body, headers }) as const;

test("a proposal of the reserved name `final` is turned away, and nothing is written", async (t) => {
  const bench = await serverBench(t);
  const { runtime } = await bench.server.office();
  const before = await runtime.store.position();
  const refused = await bench.ask("/api/actions", post({ tool: "final", args: {}, agent: "agent:a" }));
  assert.equal(refused.status, 400, refused.text);
  assert.match(refused.text, /final/);
  assert.equal(await runtime.store.position(), before);
});

test("where there are several tenants, none takes more than half of the places", async () => {
  const over = new AbortController();
  const who = (principal: string) => ({ principal, credential: "" });
  const asked = (tenant: string, name: string) => ({
    ...{ tenant, who: who(name), gone: () => over.signal },
    mayStill: async () => undefined,
  });
  const pause = (signal: AbortSignal) =>
    new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
  const wait = ({ signal }: { signal: AbortSignal }) =>
    new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
  for (const [tenants, most] of [
    [1, 4],
    [2, 2],
  ] as const) {
    const end = new AbortController();
    const holds = createLongPolls({ each: 10, all: 4, tenants: () => tenants }, end.signal, pause);
    const held = Array.from({ length: most }, () => holds.during(asked("evil", "agent:a"), 5, wait));
    await assert.rejects(holds.during(asked("evil", "agent:b"), 5, wait), { code: "server_busy" });
    if (tenants > 1) held.push(holds.during(asked("home", "agent:c"), 5, wait));
    end.abort();
    await Promise.all(held);
    assert.equal(holds.size(), 0);
  }
});

async function staffed(bench: Bench) {
  const { runtime } = await bench.server.office();
  await addPerson(runtime, { person: by, roles: ["admin"], by });
  await addPerson(runtime, { person: "person:bob", roles: ["supervisor"], by });
  const narrow = await issueApiKey(runtime, { principal: by, name: "n", scopes: ["people:write"], by });
  const wide = await issueApiKey(runtime, { principal: by, name: "w", by });
  const agent = await issueApiKey(runtime, { principal: "agent:far", name: "f", roles: ["executor"], by });
  const roles = ["executor", "poster"] as const;
  const posting = await issueApiKey(runtime, { principal: "agent:far", name: "p", roles, by });
  const bob = await issueApiKey(runtime, { principal: "person:bob", name: "b", by });
  return {
    narrow: bearer(narrow.text),
    wide: bearer(wide.text),
    agent: bearer(agent.text),
    posting: bearer(posting.text),
    bob: bearer(bob.text),
  };
}

test("a key narrowed to people:write gives nobody a role that brings more than it has", async (t) => {
  const bench = await serverBench(t, { noAuth: false });
  const { narrow, wide } = await staffed(bench);
  const path = "/api/people/person:bob";
  const patch = (headers: Record<string, string>, body: object) =>
    bench.ask(path, { method: "PATCH", headers, body });
  const made = await patch(narrow, { roles: ["supervisor", "admin"] });
  assert.equal(made.status, 403, made.text);
  const added = await bench.ask("/api/people", post({ person: "person:sue", roles: ["admin"] }, narrow));
  assert.equal(added.status, 403, added.text);
  assert.equal((await bench.ask("/api/people/person:sue", { headers: wide })).status, 404);
  assert.deepEqual((await bench.ask(path, { headers: wide })).body["roles"], ["supervisor"]);
  // What somebody has stays theirs, and a role may be taken away.
  assert.equal((await patch(narrow, { roles: ["supervisor"], groups: ["desk"] })).status, 200);
  assert.equal((await patch(narrow, { roles: [] })).status, 200);
  assert.equal((await patch(wide, { roles: ["admin"] })).status, 200);
});

test("whoever an action was done for does not decide about its undo", async (t) => {
  const bench = await serverBench(t, {
    noAuth: false,
    define(hp) {
      hp.remote.tool({ name: "refund", policy: "approve", undo: { policy: "escalate" } });
    },
  });
  const { posting, bob } = await staffed(bench);
  const ask = async (path: string, body: object) => {
    const answer = await bench.ask(path, post(body, posting));
    assert.equal(answer.status, 200, answer.text);
    return answer.body;
  };
  const flow = `/api/workflows/${String((await ask("/api/workflows", { name: "u", rollback_enabled: true }))["workflow_id"])}`;
  await ask(`${flow}/start`, {});
  const done = await ask(`${flow}/actions`, {
    tool: "refund",
    args: { amount: 1 },
    on_behalf_of: ["person:bob"],
  });
  assert.equal(done["status"], "permitted");
  await ask(`/api/actions/${String(done["action_id"])}/outcome`, { status: "applied" });
  await ask(`${flow}/fail`, { reason: "x" });
  const undo = await ask(`${flow}/compensations/${String(done["action_id"])}/start`, {});
  assert.equal(undo["waiting_for"], "approval", JSON.stringify(undo));
  const path = `/api/approvals/${String(undo["approval_id"])}`;
  const { requester } = (await bench.ask(path, { headers: bob })).body as { requester: string[] };
  assert.ok(requester.includes("person:bob"), JSON.stringify(requester));
  const vote = await bench.ask(`${path}/votes`, post({ decision: "approve" }, bob));
  assert.equal(vote.body["code"], "not_eligible", vote.text);
});

test("an agent that only executes takes nobody's vote away by saying that it acts for them", async (t) => {
  const bench = await serverBench(t, { noAuth: false });
  const { agent, posting, bob } = await staffed(bench);
  const { runtime } = await bench.server.office();
  const made = await bench.ask("/api/workflows", post({ name: "w" }, agent));
  const flow = `/api/workflows/${String(made.body["workflow_id"])}`;
  await bench.ask(`${flow}/start`, post({}, agent));
  const doors = ["/api/actions", `${flow}/actions`];
  const propose = (door: string, headers: Record<string, string>, on_behalf_of?: readonly string[]) =>
    bench.ask(door, post({ tool: "pay", args: { amount: 9 }, on_behalf_of }, headers));
  const before = await runtime.store.position();
  for (const door of doors)
    for (const on_behalf_of of [["person:bob"], ["agent:far", "person:bob"], ["agent:other"], ["far"]]) {
      const refused = await propose(door, agent, on_behalf_of);
      assert.deepEqual([refused.status, refused.body["code"]], [403, "forbidden"], refused.text);
      assert.match(String(refused.body["detail"]), /proposes actions only for itself/);
    }
  assert.equal(await runtime.store.position(), before, "nothing was written");
  for (const door of doors)
    for (const on_behalf_of of [undefined, [], ["agent:far"]]) {
      const asked = await propose(door, agent, on_behalf_of);
      assert.equal(asked.body["waiting_for"], "approval", asked.text);
      const votes = `/api/approvals/${String(asked.body["approval_id"])}/votes`;
      const vote = await bench.ask(votes, post({ decision: "reject", reason: "no" }, bob));
      assert.equal(vote.status, 200, vote.text);
    }
  for (const door of doors)
    assert.equal(
      (await propose(door, posting, ["person:bob"])).body["waiting_for"],
      "approval",
      "a poster says it",
    );
});

test("a rule knows who posted a workflow: the name of one that an agent made for itself is no way around it", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "holdpoint-poster-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const policy = join(folder, "policy.yaml");
  writeFileSync(
    policy,
    `policy: shop
default: { verdict: block, reason: "only what pat posted" }
rules:
  - { id: of-pat, tool: pay, when: "workflow.name == 'Payout' && workflow.poster == 'person:pat'", verdict: approve }
`,
  );
  const bench = await serverBench(t, { noAuth: false, policy });
  const { agent } = await staffed(bench);
  const { runtime } = await bench.server.office();
  await addPerson(runtime, { person: "person:pat", roles: ["poster"], by });
  const pat = bearer((await issueApiKey(runtime, { principal: "person:pat", name: "p", by })).text);
  for (const [headers, status] of [
    [pat, "permitted"],
    [agent, "refused"],
  ] as const) {
    const made = await bench.ask("/api/workflows", post({ name: "Payout", executor_id: "far" }, headers));
    assert.equal(made.status, 200, made.text);
    const flow = `/api/workflows/${String(made.body["workflow_id"])}`;
    assert.equal((await bench.ask(`${flow}/start`, post({}, agent))).status, 200);
    const answer = await bench.ask(`${flow}/actions`, post({ tool: "pay", args: {} }, agent));
    assert.equal(answer.body["status"], status, answer.text);
  }
});
