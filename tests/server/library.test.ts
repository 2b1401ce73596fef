import assert from "node:assert/strict";
import { test } from "node:test";
import { LIBRARY_VERBS, scopeOfVerb } from "../../src/api/library.ts";
import type { Holdpoint } from "../../src/index.ts";
import { issueApiKey } from "../fixtures/people.ts";
import { serverBench } from "../fixtures/server.ts";

function define(hp: Holdpoint): void {
  const pay = hp.gate({ name: "pay", policy: "approve", run: () => "paid" });
  pay({ amount: 1 }, { requestId: "pay-1" }).catch(() => undefined);
}

const asked = (verb: string, args: unknown = []) =>
  `/api/library?verb=${verb}&args=${encodeURIComponent(JSON.stringify(args))}`;

const JUNK = [
  [5],
  [null, 5],
  [{}],
  [[]],
  ["\u0000"],
  ["../x"],
  [{ limit: "x" }],
  ["wf_x", {}],
  ["a", "b", "c", "d"],
];

test("whatever a verb is given over HTTP, it is answered or refused, and nothing breaks", async (t) => {
  const bench = await serverBench(t, { define });
  for (const verb of LIBRARY_VERBS)
    for (const args of [[], ...JUNK]) {
      const { status, text } = await bench.ask(asked(verb, args));
      assert.ok(status < 500, `${verb} ${JSON.stringify(args)}: ${text}`);
    }
  for (const args of [{}, "x", [1, 2, 3, 4, 5]])
    assert.equal((await bench.ask(asked("alerts.list", args))).status, 400);
  assert.equal((await bench.ask(asked("approvals.approve"))).status, 400);
  assert.equal((await bench.ask(asked("approvals.constructor"))).status, 400);
});

test("a moment that is none is refused, also of a workflow that exists", async (t) => {
  let id = "";
  const create = async (hp: Holdpoint) => {
    id = await hp.remote.workflows.create({ name: "Trip", checkpoints: ["Plan"], by: "agent:a" });
  };
  const bench = await serverBench(t, { define: create });
  const time = "2026-01-01T00:00:00Z";
  for (const verb of ["timeline", "at"])
    for (const moment of ["x", "x=5", "seq=x", "time=5", "seq=", `seq=1&time=${time}`])
      assert.equal(
        (await bench.ask(`/api/workflows/${id}/${verb}?${moment}`)).status,
        400,
        `${verb} ${moment}`,
      );
  assert.equal((await bench.ask(`/api/workflows/${id}/timeline?seq=1`)).status, 200);
});

test("a verb needs the scope of what it reads", async (t) => {
  const bench = await serverBench(t, { noAuth: false });
  const { runtime } = await bench.server.office();
  const key = { principal: "agent:a", name: "a", roles: ["executor"], by: "person:ann" } as const;
  const { text } = await issueApiKey(runtime, key);
  const headers = { authorization: `Bearer ${text}` };
  const { body } = await bench.ask("/api/session", { headers });
  const held = body["scopes"] as readonly string[];
  for (const verb of LIBRARY_VERBS) {
    const { status } = await bench.ask(asked(verb), { headers });
    assert.equal(status === 403, !held.includes(scopeOfVerb(verb)), verb);
    assert.equal((await bench.ask(asked(verb))).status, 401);
  }
});
