// Who ends a workflow over the network, and who sends one back.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Role } from "../../src/people/stream.ts";
import { addPerson, issueApiKey } from "../fixtures/people.ts";

import { type Bench, serverBench } from "../fixtures/server.ts";

const by = "person:root";
const CREATION = { name: "parcel", executor_id: "agent:driver" };
type Headers = { readonly authorization: string };

async function keyOf(bench: Bench, principal: string, role: Role): Promise<Headers> {
  const { runtime } = await bench.server.office();
  const isPerson = principal.startsWith("person:");
  if (isPerson) await addPerson(runtime, { person: principal, roles: [role], by });
  const { text } = await issueApiKey(runtime, {
    principal,
    name: role,
    ...(isPerson ? {} : { roles: [role] }),
    by,
  });
  return { authorization: `Bearer ${text}` };
}

/** Posted by one, under way by agent:driver. */
async function underWay(bench: Bench, poster: Headers, driver: Headers): Promise<string> {
  const made = await bench.ask("/api/workflows", { method: "POST", headers: poster, body: CREATION });
  const id = String(made.body["workflow_id"]);
  const begun = await bench.ask(`/api/workflows/${id}/start`, { method: "POST", headers: driver, body: {} });
  assert.equal(begun.status, 200, begun.text);
  return id;
}

const RANKS: readonly (readonly [string, Role, cancel: number, rollback: number])[] = [
  ["agent:poster", "poster", 200, 403],
  ["agent:driver", "poster", 200, 403],
  ["agent:stranger", "admin", 403, 403],
  ["service:stranger", "supervisor", 403, 403],
  ["person:other", "poster", 403, 403],
  ["person:sue", "supervisor", 200, 200],
  ["person:ada", "admin", 200, 200],
];

test("an agent's key ends only what it posted or executes, and sends nothing back; supervisors and admins do both", async (t) => {
  const bench = await serverBench(t, { noAuth: false });
  const poster = await keyOf(bench, "agent:poster", "poster");
  const driver = await keyOf(bench, "agent:driver", "executor");
  for (const [principal, role, ...expected] of RANKS) {
    const headers = await keyOf(bench, principal, role);
    const statuses: number[] = [];
    for (const verb of ["cancel", "rollback"]) {
      const id = await underWay(bench, poster, driver);
      const said = { method: "POST", headers, body: { reason: "enough" } } as const;
      const { status, body } = await bench.ask(`/api/workflows/${id}/${verb}`, said);
      if (status === 403) assert.equal(body["code"], "forbidden");
      statuses.push(status);
      const seen = await bench.ask(`/api/workflows/${id}`, { headers: poster });
      assert.equal(seen.body["status"] === "executing", status === 403, `${principal} ${verb}`);
    }
    assert.deepEqual(statuses, expected, `${principal} as ${role}`);
  }
});

test("a person who is a poster ends and sends back what they posted", async (t) => {
  const bench = await serverBench(t, { noAuth: false });
  const pat = await keyOf(bench, "person:pat", "poster");
  const driver = await keyOf(bench, "agent:driver", "executor");
  for (const verb of ["cancel", "rollback"]) {
    const id = await underWay(bench, pat, driver);
    const said = { method: "POST", headers: pat, body: { reason: "enough" } } as const;
    assert.equal((await bench.ask(`/api/workflows/${id}/${verb}`, said)).status, 200, verb);
  }
});

test("an executor ends the workflow that it made itself, and another's it does not", async (t) => {
  const bench = await serverBench(t, { noAuth: false });
  const poster = await keyOf(bench, "agent:poster", "poster");
  const driver = await keyOf(bench, "agent:driver", "executor");
  const other = await keyOf(bench, "agent:other", "executor");
  const said = { method: "POST", body: { reason: "enough" } } as const;
  for (const creator of [driver, poster]) {
    const id = await underWay(bench, creator, driver);
    assert.equal((await bench.ask(`/api/workflows/${id}/cancel`, { ...said, headers: other })).status, 403);
    assert.equal(
      (await bench.ask(`/api/workflows/${id}/rollback`, { ...said, headers: driver })).status,
      403,
    );
    const ended = await bench.ask(`/api/workflows/${id}/cancel`, { ...said, headers: driver });
    assert.partialDeepStrictEqual(ended, { status: 200, body: { status: "failed" } });
    assert.partialDeepStrictEqual(await bench.ask(`/api/workflows/${id}`, { headers: driver }), {
      body: { failure: { code: "cancelled", by: "agent:driver" } },
    });
  }
});
