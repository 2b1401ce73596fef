// What was asked, decided and done, as a page shows it.
import assert from "node:assert/strict";
import { test } from "node:test";
import { z } from "zod";
import { readActivity } from "../../src/api/activity/routes.ts";
import type { Clock } from "../../src/kernel/clock.ts";
import { issueApiKey } from "../fixtures/people.ts";
import { type Bench, serverBench } from "../fixtures/server.ts";
import { approve, refundsBench, reject } from "./refunds.ts";

type Body = Record<string, unknown>;

async function activity(bench: Bench, days = 30): Promise<Body> {
  const { status, text, body } = await bench.ask(`/api/activity?days=${days}`);
  assert.equal(status, 200, text);
  return body;
}

test("what was asked, decided and done is counted by day, tool, agent and person", async (t) => {
  const { bench, hp, refund } = await refundsBench(t);
  const empty = await activity(bench, 7);
  assert.equal((empty["days"] as Body[]).length, 7);
  assert.partialDeepStrictEqual(empty, {
    ...{ is_all: true, tools: [], agents: [], people: [] },
    now: { pending: 0, in_doubt: 0, oldest_pending_at: null },
  });
  await refund(20);
  await refund(150, approve("person:ann"));
  await refund(160, (own, id) => own.approvals.approve(id, { by: "person:bob", edit: { amount_usd: 101 } }));
  await refund(900, reject);
  await refund(170);
  const { requestedAt } = await hp.approvals.get((await hp.approvals.list()).items[0]?.id ?? "");
  const counts = { actions: 5, asked: 4, approved: 1, modified: 1, rejected: 1, applied: 3, refused: 1 };
  const found = await activity(bench, 30);
  const days = found["days"] as Body[];
  assert.equal(days.length, 30);
  assert.partialDeepStrictEqual(days.at(-1), {
    ...counts,
    ...{ by_policy: 1, expired: 0, verdicts: { approve: 1, revise: 0, block: 0, escalate: 4 } },
  });
  assert.equal(typeof days.at(-1)?.["waited_p50_seconds"], "number");
  assert.partialDeepStrictEqual(found, {
    tools: [{ name: "refund", ...counts }],
    agents: [counts],
    people: [
      { person: "person:ann", decided: 2, rejected: 1, hasty: 2 },
      { person: "person:bob", decided: 1, rejected: 0, hasty: 1 },
    ],
    now: { pending: 1, in_doubt: 0, oldest_pending_at: new Date(requestedAt).toISOString() },
  });
  assert.match(String(found["since"]), /T00:00:00\.000Z$/);
});

test("what policy said is counted by day: what it changed apart from what it let through", async (t) => {
  const sizes = [1, 2, 20, 300];
  const calls: Promise<unknown>[] = [];
  const bench = await serverBench(t, {
    define(hp) {
      const post = hp.gate({
        name: "post",
        input: z.object({ size: z.number() }),
        policy({ args: { size } }: { readonly args: { readonly size: number } }) {
          if (size > 100) return { verdict: "block", rule: "huge", reason: "too large" };
          if (size > 10) return { verdict: "revise", rule: "cap", set: { size: 10 }, reason: "capped" };
          return "approve";
        },
        run: () => null,
      });
      calls.push(...sizes.map((size) => post({ size })));
    },
  });
  await Promise.allSettled(calls);
  const days = (await activity(bench, 7))["days"] as Body[];
  assert.deepEqual(days.at(-1)?.["verdicts"], { approve: 2, revise: 1, block: 1, escalate: 0 });
});

test("a page that asks after every event costs nothing: the answer is kept for some seconds", async (t) => {
  const { bench, refund } = await refundsBench(t);
  const { runtime } = await bench.server.office();
  const query = t.mock.method(runtime.store, "query");
  await Promise.all([activity(bench), activity(bench), activity(bench)]);
  const read = query.mock.callCount();
  await refund(20);
  const before = query.mock.callCount();
  const kept = await activity(bench);
  assert.equal(query.mock.callCount(), before);
  assert.ok(read <= 3, `${read} for one answer`);
  assert.deepEqual(kept["tools"], []);
  const elapsed = performance.now();
  t.mock.method(runtime.clock as Required<Clock>, "elapsed", () => elapsed + 60_000);
  assert.equal(((await activity(bench)) as { tools: Body[] }).tools[0]?.["actions"], 1);
});

test("where there is more than is counted, it is from a later time on, and says so", async (t) => {
  const { bench, refund } = await refundsBench(t);
  for (const amount of [150, 20, 30, 160]) {
    await refund(amount);
    const { runtime } = await bench.server.office();
    const last = runtime.clock.now();
    while (runtime.clock.now() === last) await new Promise<void>((resolve) => setImmediate(resolve));
  }
  const { runtime } = await bench.server.office();
  const some = await readActivity(runtime, 30, 2);
  assert.equal(some.isAll, false);
  assert.equal(some.days.length, 1);
  assert.partialDeepStrictEqual(some.days[0], { actions: 2, asked: 1, byPolicy: 1 });
  const { since, isAll } = await readActivity(runtime, 30, 4);
  assert.ok(isAll && since < some.since);
});

test("it counts actions too: a key without that scope is refused", async (t) => {
  const { bench } = await refundsBench(t, { noAuth: false });
  const { runtime } = await bench.server.office();
  const key = { principal: "agent:a", name: "a", roles: ["executor"], by: "person:ann" } as const;
  const { text } = await issueApiKey(runtime, { ...key, scopes: ["approvals:read"] });
  const { status, body } = await bench.ask("/api/activity", {
    headers: { authorization: `Bearer ${text}` },
  });
  assert.equal(status, 403);
  assert.match(String(body["detail"]), /actions:read/);
});

test("how people decide is told only to who may look at people", async (t) => {
  const { bench, refund } = await refundsBench(t, { noAuth: false });
  await refund(150, approve("person:ann"));
  const { runtime } = await bench.server.office();
  const key = { principal: "agent:a", name: "a", roles: ["executor"], by: "person:ann" } as const;
  const of = async (principal: string, role: "auditor" | "executor") => {
    const { text } = await issueApiKey(runtime, { ...key, principal, roles: [role] });
    return (await bench.ask("/api/activity", { headers: { authorization: `Bearer ${text}` } })).body;
  };
  assert.partialDeepStrictEqual(await of("service:looks", "auditor"), { people: [{ person: "person:ann" }] });
  const told = await of("agent:a", "executor");
  assert.deepEqual(told["people"], []);
  assert.partialDeepStrictEqual(told, { tools: [{ approved: 1 }] });
});

test("however many days are asked for, one answer is made at a time", async (t) => {
  const { bench, refund } = await refundsBench(t);
  await refund(20);
  const { runtime } = await bench.server.office();
  const query = runtime.store.query;
  let [now, most] = [0, 0];
  t.mock.method(runtime.store, "query", async (...asking: Parameters<typeof query>) => {
    const isCounted = asking[1].order === "newest";
    if (isCounted) most = Math.max(most, ++now);
    await new Promise<void>((resolve) => setImmediate(resolve));
    const rows = await query(...asking);
    if (isCounted) now -= 1;
    return rows;
  });
  const found = await Promise.all([7, 30, 90, 366].map((days) => activity(bench, days)));
  assert.deepEqual(
    found.map(({ days }) => (days as Body[]).length),
    [7, 30, 90, 366],
  );
  assert.equal(most, 1);
});

test("so many days as a year has, and no more; and only as many as pages ask for", async (t) => {
  const { bench } = await refundsBench(t);
  assert.equal(((await activity(bench, 366))["days"] as Body[]).length, 366);
  for (const days of ["0", "1", "8", "367", "x", "1.5", ""])
    assert.equal((await bench.ask(`/api/activity?days=${days}`)).status, 400, days);
});
