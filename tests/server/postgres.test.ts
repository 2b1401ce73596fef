// Two servers on one database.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { createClient } from "../../src/client/client.ts";
import type { Holdpoint, Workflow } from "../../src/index.ts";
import { listenTo } from "../fixtures/listen.ts";
import { issueApiKey } from "../fixtures/people.ts";
import { type PostgresServer, startPostgres } from "../fixtures/postgres-server.ts";
import { serverBench } from "../fixtures/server.ts";
import { setBudget } from "../fixtures/verbs.ts";

let database: PostgresServer;
const folder = mkdtempSync(join(tmpdir(), "holdpoint-server-pg-"));
before(async () => {
  database = await startPostgres();
});
after(async () => {
  await database.stop();
  rmSync(folder, { recursive: true, force: true });
});

test("what one server commits the other's listeners hear, in order and once, and a key is worked on once by both", async (t) => {
  const place = {
    database: database.url,
    data: undefined,
    folder,
    noAuth: false,
    rate: 100_000,
    burst: 100_000,
  };
  const one = await serverBench(t, place);
  const two = await serverBench(t, place);
  const { runtime } = await one.server.office();
  await Promise.all([runtime.epoch(), (await two.server.office()).runtime.epoch()]);
  const by = "person:ann";
  const { text } = await issueApiKey(runtime, {
    principal: "agent:a",
    name: "a",
    roles: ["auditor", "executor"],
    by,
  });
  const headers = { authorization: `Bearer ${text}` };
  const ears = [
    await listenTo(`${one.url}/api/events?stream=budget`, { headers }),
    await listenTo(`${two.url}/api/events?stream=budget`, { headers }),
  ];
  const other = (await two.server.office()).runtime;
  await Promise.all(
    Array.from({ length: 60 }, (_, n) =>
      setBudget(n % 2 === 0 ? runtime : other, `b${n}`, { currency: "USD", micros: 1n }, by),
    ),
  );
  await Promise.all(ears.map((ear) => ear.heard(60)));
  const log = await runtime.store.log("default", 0, 1_000);
  const wanted = log.filter(({ header }) => header.includes("budget/")).map(({ position }) => position);
  for (const ear of ears) {
    assert.deepEqual(
      ear.events.map(({ id }) => id),
      wanted,
    );
    ear.stop();
  }
  const path = "/api/receipts/act_01ARZ3NDEKTSV4RRFFQ69G5FAV/sign";
  const answers = await Promise.all(
    [one, two, one, two].map((server) =>
      server.ask(path, { method: "POST", headers: { ...headers, "idempotency-key": "k" } }),
    ),
  );
  assert.deepEqual(
    answers.map(({ status }) => status),
    [404, 404, 404, 404],
  );
  assert.equal(new Set(answers.map(({ body }) => body["correlation_id"])).size, 1);
});

test("whoever waits at one server hears what is decided at the other", async (t) => {
  const place = { database: database.url, data: undefined, folder, noAuth: true };
  const one = await serverBench(t, place);
  const two = await serverBench(t, place);
  const waiting = createClient({ server: one.url });
  const deciding = createClient({ server: two.url });
  const proposal = { tool: "wire", args: { amount: 9 }, request_id: "rent", agent: "agent:rent" };
  const asked = await deciding.actions.propose(proposal);
  assert.ok(asked.status === "pending" && asked.waiting_for === "approval");
  const heard = Promise.withResolvers<void>();
  const over = new AbortController();
  const events = waiting.events({ streams: ["approval"], onOpen: () => heard.resolve() }, over.signal);
  const first = events.next();
  await heard.promise;
  const decided = waiting.waitForApproval(asked.approval_id);
  await deciding.approvals.vote(asked.approval_id, { decision: "approve", approved_by: "ann" });
  assert.equal((await decided).approval.status, "approved");
  assert.equal((await first).value?.stream, `approval/${asked.approval_id}`);
  over.abort();
});

test("what one server asks for is found, commented and counted at the other, with filters and cursors", async (t) => {
  const place = { database: database.url, data: undefined, folder, noAuth: true };
  const near = createClient({ server: (await serverBench(t, place)).url });
  const far = createClient({ server: (await serverBench(t, place)).url });
  const before = await far.approvals.attention();
  const ids: string[] = [];
  for (const n of [1, 2, 3]) {
    const asked = await near.actions.propose({ tool: `ledger.${n}`, args: { n }, agent: "agent:books" });
    assert.ok(asked.status === "pending" && asked.waiting_for === "approval");
    ids.push(asked.approval_id);
  }
  await far.approvals.comment(ids[1] ?? "", { text: "which one?", by: "ann" });
  assert.equal((await near.approvals.get(ids[1] ?? "")).comments[0]?.text, "which one?");
  const first = await far.approvals.list({ mine: "true", q: "LEDGER", agent: "books", limit: 2 });
  const rest = { q: "LEDGER", agent: "books", limit: 2, cursor: first.next_cursor ?? "" };
  const second = await far.approvals.list(rest);
  const found = [...first.approvals, ...second.approvals];
  assert.deepEqual([found.map((one) => one.request_id), second.next_cursor], [ids, null]);
  assert.partialDeepStrictEqual(found[0], { effect_class: "once", is_mine: true, workflow_id: null });
  const byDeadline = { q: "LEDGER", order: "deadline", limit: 2 } as const;
  const soonest = await far.approvals.list(byDeadline);
  const last = await far.approvals.list({ ...byDeadline, cursor: soonest.next_cursor ?? "" });
  assert.deepEqual(
    [...soonest.approvals, ...last.approvals].map((one) => one.request_id),
    ids,
  );
  const after = await far.approvals.attention();
  for (const n of [1, 0, 2])
    await near.approvals.vote(ids[n] ?? "", { decision: "reject", reason: "no", approved_by: "ann" });
  const byDecision = { q: "LEDGER", status: "decided", order: "decided", limit: 2 } as const;
  const latest = await far.approvals.list(byDecision);
  const earlier = await far.approvals.list({ ...byDecision, cursor: latest.next_cursor ?? "" });
  assert.deepEqual(
    [...latest.approvals, ...earlier.approvals].map((one) => one.request_id),
    [ids[2], ids[0], ids[1]],
  );
  assert.deepEqual([after.pending - before.pending, after.mine - before.mine], [3, 3]);
});

test("every server shows the card and tries edits as far as it knows the tools, and none writes anything", async (t) => {
  const place = { database: database.url, data: undefined, folder, noAuth: true };
  let flow: Workflow<object, unknown> | undefined;
  const define = (hp: Holdpoint) => {
    const note = hp.gate({ name: "note", policy: "approve", run: (_: object) => 1, undo: { run: () => 1 } });
    const wire = hp.gate({ name: "wire.out", policy: "escalate", run: (_: object) => 1 });
    flow ??= hp.workflow("wiring", async (ctx, _: object) => {
      await ctx.call(note, { n: 1 });
      await ctx.call(wire, { amount: 9 });
    }) as Workflow<object, unknown>;
  };
  const one = await serverBench(t, { ...place, define });
  const two = await serverBench(t, place);
  await flow?.start({});
  const client = createClient({ server: two.url });
  let id: string | undefined;
  while (id === undefined)
    id = (await client.approvals.pending({})).pending_approvals.find(
      ({ checkpoint_name }) => checkpoint_name === "wire.out",
    )?.request_id;
  const { store } = (await two.server.office()).runtime;
  const stream = { kind: "approval", id } as const;
  const before = await store.read("default", stream);
  const [here, there] = [
    await createClient({ server: one.url }).approvals.card(id),
    await client.approvals.card(id),
  ];
  assert.equal(here.card.workflow?.done[0]?.can_undo, true);
  assert.equal(there.card.workflow?.done[0]?.can_undo, false, "only whoever has the tool knows its undo");
  assert.deepEqual(there.approval, here.approval);
  const tried = await createClient({ server: one.url }).approvals.tryEdit(id, { edit: { amount: 8 } });
  assert.equal(tried.outcome, "stands");
  assert.equal((await client.approvals.tryEdit(id, { edit: { amount: 8 } })).outcome, "unknown");
  assert.deepEqual(await store.read("default", stream), before);
  await client.approvals.vote(id, { decision: "reject", reason: "enough", approved_by: "ann" });
});

test("a workflow that one server stops is stopped at the other, far below it too; and its journal verifies", async (t) => {
  const place = { database: database.url, data: undefined, folder, noAuth: true };
  const flows: Workflow<object, unknown>[] = [];
  const done: string[] = [];
  // Deeper than a decision on this store may ask for more.
  const define = (hp: Holdpoint) => {
    const send = hp.gate({ name: "send", policy: "approve", run: () => void done.push("send") });
    let last = hp.workflow("deep-0", async (ctx, _: object) => {
      await ctx.checkpoint("Look", {});
      return (await ctx.call(send, {})).status;
    }) as Workflow<object, unknown>;
    for (let depth = 1; depth <= 12; depth++) {
      const below = last;
      last = hp.workflow(`deep-${depth}`, (ctx, _: object) => ctx.spawn(below, {})) as typeof last;
    }
    flows.push(last);
  };
  const one = await serverBench(t, { ...place, define });
  const two = await serverBench(t, place);
  const { id, result } = (await flows[0]?.start({})) ?? assert.fail();
  const pending = async () => {
    const { body } = await two.ask("/api/approvals/pending");
    return (body["pending_approvals"] as { request_id: string; checkpoint_name: string }[]).find(
      ({ checkpoint_name }) => checkpoint_name === "Look",
    );
  };
  const until = async <Found>(look: () => Promise<Found | undefined>): Promise<Found> => {
    for (;;) {
      const found = await look();
      if (found !== undefined) return found;
      await new Promise<void>((resolve) => setTimeout(resolve, 50));
    }
  };
  const question = await until(pending);
  const post = (path: string, body: object) => two.ask(path, { method: "POST", body });
  const word = { reason: "drill", by: "ann", workflow_id: id };
  assert.equal((await post("/api/kill-switch/pause", word)).status, 200);
  const vote = { request_id: question.request_id, decision: "APPROVED", approved_by: "ann" };
  assert.equal((await post("/api/approvals/submit", vote)).status, 200);
  await until(async () => {
    const { body } = await two.ask("/api/actions");
    return (body["actions"] as { name?: string; tool?: string }[]).find(({ tool }) => tool === "send");
  });
  assert.deepEqual(done, []);
  assert.equal((await post("/api/kill-switch/resume", word)).status, 200);
  assert.partialDeepStrictEqual(await result(), { status: "completed", result: "done" });
  assert.deepEqual(done, ["send"]);
  const { runtime } = await one.server.office();
  assert.ok((await runtime.store.position()) > 1_000_000, "positions are not counted one by one here");
  assert.equal((await post("/api/journal/verify", {})).body["ok"], true);
});

test("a back-test is kept by the server that ran it; activity is the same at both", async (t) => {
  const fast = { rate: 100_000, burst: 100_000 };
  const place = { database: database.url, data: undefined, folder, noAuth: true, ...fast };
  const one = await serverBench(t, {
    ...place,
    define: (hp: Holdpoint) => hp.remote.tool({ name: "ship", policy: "escalate" }),
  });
  const two = await serverBench(t, place);
  const post = (body: unknown) => ({ method: "POST", body }) as const;
  const asked = await one.ask("/api/actions", post({ tool: "ship", args: { n: 1 }, agent: "far" }));
  assert.equal(asked.body["waiting_for"], "approval", asked.text);
  const begun = await one.ask("/api/policies/trials", post({ text: "policy: p\ndefault: approve\n" }));
  const path = `/api/policies/trials/${String(begun.body["trial_id"])}`;
  let trial = await one.ask(path);
  for (let look = 0; look < 3_000 && trial.body["state"] === "running"; look++) {
    await new Promise<void>((resolve) => setTimeout(resolve, 10));
    trial = await one.ask(path);
  }
  const { changes } = trial.body["report"] as { readonly changes: readonly Record<string, unknown>[] };
  assert.ok(
    changes.some(({ action_id }) => action_id === asked.body["action_id"]),
    trial.text,
  );
  assert.equal((await two.ask(path)).status, 404);
  const [here, there] = await Promise.all([one.ask("/api/activity"), two.ask("/api/activity")]);
  assert.deepEqual(here.body["tools"], there.body["tools"]);
  assert.deepEqual(here.body["now"], there.body["now"]);
});
