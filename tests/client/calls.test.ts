import assert from "node:assert/strict";
import { test } from "node:test";
import { type Route, routeName } from "../../src/api/route.ts";
import { allRoutes, type RouteParts } from "../../src/api/routes.ts";
import { CALLS, type CallFacts } from "../../src/client/calls.ts";
import { type Client, createClient, isClientError } from "../../src/client/client.ts";
import type { Holdpoint } from "../../src/index.ts";

import { serverBench } from "../fixtures/server.ts";
import { PAGES, STREAMS } from "../http/by-hand.ts";

const nothing = {} as unknown;
const ROUTES: readonly Route[] = allRoutes({
  condition: { version: "0", ready: async () => undefined },
  ...{ audience: nothing, hands: nothing, metrics: nothing },
} as unknown as RouteParts);
const TABLE: readonly CallFacts[] = Object.values(CALLS).flatMap((calls) => Object.values(calls));

test("every route has a call and every call a route", () => {
  const called = [...TABLE.map(({ route }): string => route), ...PAGES, ...STREAMS];
  assert.deepEqual(called.toSorted(), ROUTES.map(routeName).toSorted());
});

test("the table says of each call what its route says", () => {
  for (const { route: name, takes, unkept, isText } of TABLE) {
    const route = ROUTES.find((one) => routeName(one) === name) ?? assert.fail(name);
    assert.ok(route.query === undefined || route.body === undefined, `${name} takes a query or a body`);
    const given = route.query === undefined ? "nothing" : "query";
    assert.equal(takes, route.body === undefined ? given : "body", name);
    const isUnkept = route.method === "POST" && (route.whenLost === "none" || route.scope === "public");
    assert.equal(unkept !== undefined, isUnkept, `${name}: whether its answer is kept`);
    assert.equal(isText === true, typeof route.answers[200] === "string", `${name}: whether it is text`);
  }
});

function define(hp: Holdpoint): void {
  const pay = hp.gate({
    name: "pay",
    policy: { verdict: "escalate", decideWithinMs: 600_000 },
    run: (args: { amount: number }) => ({ paid: args.amount }),
  });
  for (const n of [1, 2]) pay({ amount: n }, { requestId: `pay ${n}/ü` }).catch(() => undefined);
}

async function pending(client: Client, count: number): Promise<readonly string[]> {
  for (let look = 0; look < 400; look++) {
    const { approvals } = await client.approvals.list({ status: "pending", limit: 10 });
    if (approvals.length >= count) return approvals.map(({ request_id }) => request_id);
    await new Promise<void>((resolve) => setTimeout(resolve, 10));
  }
  throw new Error("nothing waits");
}

test("a person decides, an agent waits and reads its receipt, by calls that know their types", async (t) => {
  const { url } = await serverBench(t, { define });
  const client = createClient({ server: `${url}/` });
  const [first = "", second = ""] = await pending(client, 2);
  const asked = await client.approvals.get(first);
  assert.deepEqual(asked.args, { amount: 1 });
  const { binding } = asked;
  const voted = await client.approvals.vote(first, { decision: "approve", binding, approved_by: "ann" });
  assert.deepEqual(voted, { kind: "recorded", approval_id: first, status: "approved" });
  assert.equal((await client.approvals.get(first)).decided?.by[0], "person:ann");
  // An id with a space, a slash and an umlaut arrives as it is.
  const { is_over, action } = await client.waitForAction("pay 1/ü");
  assert.deepEqual([is_over, action.phase, action.outcome?.result], [true, "applied", { paid: 1 }]);
  const receipt = await client.receipts.get(action.action_id);
  assert.equal(receipt.human_approved, true);
  await client.approvals.vote(second, { decision: "reject", reason: "no", approved_by: "ann" });
  assert.equal((await client.waitForApproval(second)).approval.status, "rejected");
  await client.budgets.limit("ads", { limit: { currency: "USD", micros: "5" }, by: "ann" });
  assert.equal((await client.budgets.get("ads")).limit.micros, "5");
  assert.equal((await client.server.health()).status, "healthy");
  assert.match(await client.server.metrics(), /^# HELP/m);
  assert.equal((await client.journal.verify({ require_sealed: false })).ok, true);
});

test("a problem is thrown with its code, its status and what to do next", async (t) => {
  const { url } = await serverBench(t);
  const client = createClient({ server: url });
  await assert.rejects(client.approvals.get("apr_none"), (error) => {
    assert.ok(isClientError(error, "unknown_id"));
    assert.equal(error.status, 404);
    assert.match(error.next, /holdpoint approvals/);
    assert.match(String(error.correlationId), /./);
    return true;
  });
  const wrong = { status: "no such" } as unknown as { status: "pending" };
  await assert.rejects(client.approvals.list(wrong), (error) => {
    assert.ok(isClientError(error, "invalid_input"));
    assert.match(JSON.stringify(error.details["errors"]), /query.status/);
    return true;
  });
  // Such a name would be another path by the time it is sent.
  for (const id of ["", ".", ".."]) await assert.rejects(client.approvals.get(id), TypeError);
});

test("addresses that are none, or that hold a password, are refused", () => {
  for (const server of ["", "localhost:8000", "ftp://a", "http://u:p@localhost"])
    assert.throws(() => createClient({ server }), TypeError, server);
  assert.equal(createClient({ server: "https://a.example/hold/" }).address, "https://a.example/hold");
});
