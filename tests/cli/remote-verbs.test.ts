// The verbs that the command line uses, at a server and on its store: what one does the other sees, and both answer the same.
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { admin } from "../../src/admin.ts";
import { remoteHoldpoint } from "../../src/cli/remote/remote.ts";
import type { Instance } from "../../src/cli/shell/command.ts";
import { createClient } from "../../src/client/client.ts";
import { type Holdpoint, isHoldpointError } from "../../src/index.ts";
import { serverBench } from "../fixtures/server.ts";

const ann = "person:ann";
const said = { by: ann, reason: "look" };

type Both = { readonly near: Instance; readonly far: Instance };

async function both(t: TestContext): Promise<Both> {
  let near: Holdpoint | undefined;
  const { url } = await serverBench(t, {
    define(hp) {
      near = hp;
    },
  });
  assert.ok(near !== undefined);
  return {
    near: { ...near, ...admin(near) },
    far: remoteHoldpoint({ client: createClient({ server: url }), principal: null }),
  };
}

async function pendingOf({ near }: Both, count: number): Promise<readonly string[]> {
  for (let look = 0; look < 400; look++) {
    const { items } = await near.approvals.list();
    if (items.length >= count) return items.map(({ id }) => id);
    await new Promise<void>((resolve) => setTimeout(resolve, 10));
  }
  throw new Error("nothing waits");
}

/** Asks both, and compares as JSON knows it. */
async function same<Answer>({ near, far }: Both, ask: (hp: Instance) => Promise<Answer>): Promise<Answer> {
  const [here, there] = await Promise.all([ask(near), ask(far)]);
  assert.deepEqual(there, here);
  return there;
}

test("approvals: read, decided with an edit, rejected, given time, handed over, taken back and decided together", async (t) => {
  const site = await both(t);
  const { near, far } = site;
  const terms = { verdict: "escalate", decideWithinMs: 600_000, approvers: { quorum: 1 } } as const;
  const pay = near.gate({ name: "pay", policy: terms, run: (args: { amount: number }) => args.amount });
  for (const n of [1, 2, 3, 4, 5]) void pay({ amount: n }, { requestId: `pay-${n}` }).catch(() => undefined);
  const [one = "", two = "", three = "", four = "", five = ""] = await pendingOf(site, 5);
  await same(site, async (hp) => (await hp.approvals.list({ limit: 2 })).items);
  assert.equal(await same(site, (hp) => hp.approvals.count()), 5);
  assert.deepEqual(await same(site, (hp) => hp.approvals.find(one.slice(0, 20))), [one]);
  const { binding } = await same(site, (hp) => hp.approvals.get(one));

  await same(site, (hp) => hp.approvals.list({ person: ann, mine: true, text: "PAY" }));
  await far.approvals.comment(one, { by: ann, text: "why?" });
  assert.equal((await near.approvals.get(one)).comments[0]?.text, "why?");
  const shown = "0f".repeat(32);
  const edited = { note: "less", edit: { amount: 9 }, shown };
  const voted = await far.approvals.approve(one, { by: ann, binding, ...edited });
  assert.ok(["recorded", "edit_open"].includes(voted.kind));
  assert.equal((await far.approvals.approve(two, { by: ann })).kind, "recorded");
  const again = await far.approvals.approve(two, { by: ann }).catch((error: unknown) => error);
  assert.ok(isHoldpointError(again) || (again as { kind: string }).kind === "same");
  assert.equal((await far.approvals.reject(three, { ...said, shown })).status, "rejected");
  assert.equal((await near.approvals.get(three)).votes[0]?.shown, shown);
  const { decideBy } = await far.approvals.extend(four, { by: ann, byMs: 60_000 });
  assert.equal(decideBy, (await near.approvals.get(four)).decideBy);
  await far.approvals.delegate(four, { by: ann, to: "person:bob", reason: "away" });
  assert.equal((await near.approvals.get(four)).delegations.length, 1);
  await far.approvals.takeBack(four, said);
  const [four2, five2] = [await near.approvals.get(four), await near.approvals.get(five)];
  const answers = await far.approvals.decideAll(
    [
      { id: four, binding: four2.binding, decision: "approve" },
      { id: five, binding: four2.binding, decision: "approve" },
    ],
    { by: ann },
  );
  assert.deepEqual(
    answers.map(({ id, ok }) => [id, ok]),
    [
      [four, true],
      [five, false],
    ],
  );
  const [, refused] = answers;
  assert.ok(refused?.ok === false && isHoldpointError(refused.error, "decision_conflict"));
  await far.approvals.cancel(five, said);
  assert.equal((await same(site, (hp) => hp.approvals.get(five))).status, "cancelled");
  assert.equal(five2.status, "pending");
});

test("what follows approvals at a server hears of each, from a turn that comes at once", async (t) => {
  const site = await both(t);
  const over = new AbortController();
  const turns = site.far.approvals.follow(over.signal);
  assert.deepEqual((await turns.next()).value, []);
  const pay = site.near.gate({ name: "pay", policy: "escalate", run: () => "paid" });
  void pay({ amount: 1 }, { requestId: "pay-1" }).catch(() => undefined);
  const [id] = await pendingOf(site, 1);
  assert.deepEqual((await turns.next()).value, [id]);
  over.abort();
  await turns.next();
});

test("actions, receipts, workflows, the journal, the kill switch and policies answer the same", async (t) => {
  const site = await both(t);
  const { near, far } = site;
  const pay = near.gate({ name: "pay", policy: "approve", run: () => "paid" });
  const lost = near.gate({
    name: "lost",
    policy: "approve",
    run: () => {
      throw new Error("no answer");
    },
  });
  await pay({ amount: 1 }, { requestId: "pay-1" });
  await lost({ amount: 1 }, { requestId: "lost-1" });
  const flow = near.workflow("flow", async (ctx, _: object) => ctx.checkpoint("Look", { outputs: { n: 1 } }));
  const { id } = await flow.start({}, { requestId: "flow-1" });
  await pendingOf(site, 1);

  await same(site, (hp) => hp.actions.get("pay-1"));
  await same(site, (hp) => hp.receipts.get("pay-1"));
  await same(site, (hp) => hp.actions.list({ phase: "applied" }));
  assert.deepEqual(await same(site, (hp) => hp.actions.abandoned()), []);
  const doubt = await same(site, (hp) => hp.actions.get("lost-1"));
  assert.ok(doubt.effect !== null);
  const resolved = await far.actions.resolve(doubt.effect.id, { ...said, status: "not_applied" });
  assert.equal(resolved.phase, "not_applied");
  assert.match(String((await far.receipts.sign("pay-1")).receipt), /^ey/);

  assert.deepEqual(await same(site, (hp) => hp.workflows.find("flow-1")), [id]);
  await same(site, (hp) => hp.workflows.get(id));
  await same(site, (hp) => hp.workflows.list());
  await same(site, (hp) => hp.workflows.timeline(id));
  await same(site, (hp) => hp.workflows.timeline(id, { seq: 2 }));
  await same(site, (hp) => hp.workflows.at(id, { seq: 2 }));
  await same(site, (hp) => hp.workflows.snapshot(id, "Look"));
  await same(site, (hp) => hp.journal.read(id));
  await same(site, (hp) => hp.policies.list());
  await same(site, (hp) => hp.policies.tools());
  assert.equal(await far.workflows.cancel(id, said), "failed");

  assert.equal(await far.pause({ ...said, agent: "agent:a" }), true);
  assert.equal((await same(site, (hp) => hp.paused("agent:a"))).paused, true);
  assert.equal(await far.resume({ ...said, agent: "agent:a" }), true);
  await same(site, (hp) => hp.paused());
  assert.equal(await far.pause({ ...said, workflow: id }), true);
  assert.equal((await same(site, (hp) => hp.paused({ workflow: id }))).paused, true);
  assert.equal(await far.resume({ ...said, workflow: id }), true);
  assert.equal((await far.journal.verify()).ok, true);
  await assert.rejects(far.journal.verify({ keys: [] }), { code: "invalid_input" });
});

test("grants, intents, people, keys, endpoints and messages are read and changed", async (t) => {
  const site = await both(t);
  const { near, far } = site;
  const pay = near.gate({ name: "pay", policy: "escalate", run: (args: { amount: number }) => args.amount });
  void pay({ amount: 1 }, { requestId: "pay-1" }).catch(() => undefined);
  await pendingOf(site, 1);
  const total = { currency: "USD", micros: 5_000_000n };
  const grant = await far.grants.give({
    ...said,
    tool: "pay",
    uses: 2,
    forMs: 60_000,
    total,
    amount: "args.amount",
  });
  // Whole numbers of any size arrive as such.
  assert.equal(grant.limit?.total.micros, 5_000_000n);
  await same(site, (hp) => hp.grants.get(grant.id));
  await same(site, (hp) => hp.grants.uses(grant.id));
  assert.equal((await far.grants.revoke(grant.id, said)).status, "revoked");

  const sent = await far.intents.send({
    intentType: "look",
    toAgent: "agent://doer",
    payload: { n: 1 },
    from: ann,
  });
  await same(site, (hp) => hp.intents.get(sent.id));
  assert.equal((await far.intents.answer(sent.id, { by: "agent:doer", data: 7 })).end?.status, "completed");

  await far.people.add({ person: "person:bob", roles: ["supervisor"], mail: "bob@example.com", by: ann });
  const bob = await far.people.change("person:bob", { roles: ["auditor"], by: ann });
  assert.deepEqual([bob.roles, bob.mail], [["auditor"], "bob@example.com"]);
  await far.people.suspend("person:bob", said);
  assert.equal((await same(site, (hp) => hp.people.get("person:bob"))).suspended, true);

  const issued = await far.keys.issue({
    principal: "agent:a",
    name: "a",
    roles: ["executor"],
    forMs: 60_000,
    by: ann,
  });
  assert.match(issued.text, /^hpk_/);
  const rotated = await far.keys.rotate(issued.key.id, { by: ann, overlapMs: 0 });
  assert.notEqual(rotated.text, issued.text);
  await far.keys.revoke(rotated.key.id, said);
  await same(site, (hp) => hp.keys.list());

  const end = await far.endpoints.add({ url: "https://example.invalid/hook", name: "hook", by: ann });
  assert.match(String(end.secret), /^whsec_/);
  await far.endpoints.switchOff(end.id, said);
  await same(site, (hp) => hp.endpoints.get(end.id));
  await far.endpoints.remove(end.id, said);
  await same(site, (hp) => hp.endpoints.list({ status: "removed" }));
  await same(site, (hp) => hp.messages.list());
});

test("what is not there says so when it is called, and errors are the library's", async (t) => {
  const { far } = await both(t);
  await assert.rejects(async () => far.journal.rebuildViews(), /not done at a distance/);
  await assert.rejects(far.restored(), /not done at a distance/);
  await assert.rejects(far.workflows.get("wf_none"), (error) => isHoldpointError(error, "unknown_id"));
  await assert.rejects(far.approvals.list({ limit: -1 }), (error) =>
    isHoldpointError(error, "invalid_input"),
  );
});
