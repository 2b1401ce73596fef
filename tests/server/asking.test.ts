// Who is asked at a checkpoint of an agent from outside, and to whom a seat may be handed, over HTTP.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Role } from "../../src/people/stream.ts";
import { addPerson, issueApiKey, setStanding } from "../fixtures/people.ts";

import { type Answered, type Bench, serverBench } from "../fixtures/server.ts";

const by = "person:root";
const post = (body: unknown) => ({ method: "POST", body }) as const;

function ok({ status, body, text }: Answered): Record<string, unknown> {
  assert.equal(status, 200, text);
  return body;
}

async function underWay(bench: Bench, more: object = {}): Promise<string> {
  const creation = { name: "report", executor_id: "reporter", ...more };
  const id = String(ok(await bench.ask("/api/workflows", post(creation)))["workflow_id"]);
  ok(await bench.ask(`/api/workflows/${id}/start`, post({})));
  return id;
}

const STAGES = [
  { from: ["person:ann", "person:bob"], quorum: 2, timeout_seconds: 7_200, remind_every: "30m" },
  { from: ["person:cat"], escalate_at_half: ["person:dan"] },
];

type Entry = { readonly type: string; readonly body: Record<string, unknown> };

async function entriesOf(bench: Bench, approval: string, headers = {}): Promise<readonly Entry[]> {
  const read = ok(await bench.ask(`/api/journal/approval/${approval}`, { headers }));
  return read["entries"] as readonly Entry[];
}

async function questionAt(bench: Bench, id: string, body: object) {
  const said = await bench.ask(`/api/workflows/${id}/checkpoints`, post(body));
  const approval = String(ok(said)["approval_id"]);
  const [first] = await entriesOf(bench, approval);
  return { approval, asked: first?.body ?? {} };
}

const EXPECTED = [
  {
    quorum: 2,
    from: ["person:ann", "person:bob"],
    veto: true,
    remindEveryMs: 1_800_000,
    decideWithinMs: 7_200_000,
  },
  { quorum: 1, from: ["person:cat"], veto: true, escalateAtHalf: ["person:dan"], decideWithinMs: 3_600_000 },
];

test("a declared checkpoint has stages, more people at half time and reminders, as a policy's escalation has", async (t) => {
  const bench = await serverBench(t);
  const id = await underWay(bench, {
    checkpoints: [{ name: "Review", stages: STAGES, timeout_seconds: 3_600, on_timeout: "escalate" }],
  });
  const { approval, asked } = await questionAt(bench, id, { checkpoint_id: "Review", summary: "Look" });
  assert.deepEqual(asked["stages"], EXPECTED);
  assert.equal(asked["onTimeout"], "escalate");
  for (const name of ["ann", "bob", "cat"]) {
    const seen = ok(await bench.ask(`/api/approvals/${approval}`));
    assert.equal(seen["stage"], name === "cat" ? 2 : 1);
    ok(
      await bench.ask(
        "/api/approvals/submit",
        post({ request_id: approval, decision: "APPROVED", approved_by: name }),
      ),
    );
  }
  assert.equal(ok(await bench.ask(`/api/workflows/${id}`))["status"], "executing");
});

test("at a checkpoint that nobody declared the agent says who is asked; under its request_id it is asked once", async (t) => {
  const bench = await serverBench(t);
  const id = await underWay(bench);
  const stand = { checkpoint_id: "Own", request_id: "one", stages: STAGES, timeout_seconds: 3_600 };
  const { approval, asked } = await questionAt(bench, id, stand);
  assert.deepEqual(asked["stages"], EXPECTED);
  assert.equal((await questionAt(bench, id, stand)).approval, approval);
  const other = { ...stand, stages: [{ from: ["person:eve"] }] };
  assert.equal((await bench.ask(`/api/workflows/${id}/checkpoints`, post(other))).status, 409);
  const plain = await underWay(bench);
  const rule = { from: ["person:ann"], escalate_at_half: ["role:admin"], remind_every: "2h" };
  const own = await questionAt(bench, plain, { checkpoint_id: "Own", approvers: rule });
  const { escalate_at_half: escalateAtHalf } = rule;
  const wanted = { quorum: 1, from: ["person:ann"], veto: true, escalateAtHalf, remindEveryMs: 7_200_000 };
  assert.deepEqual(own.asked["approvers"], wanted);
  assert.deepEqual(ok(await bench.ask(`/api/approvals/${own.approval}`))["approvers"], {
    ...{ quorum: 1, from: ["person:ann"], veto: true },
    ...{ escalate_at_half: ["role:admin"], remind_every_seconds: 7_200 },
  });
});

test("an agent cannot choose who decides at a checkpoint that was declared for it", async (t) => {
  const bench = await serverBench(t);
  const id = await underWay(bench, {
    checkpoints: [{ name: "Review", approvers: { from: ["person:ann"] } }],
  });
  for (const mine of [
    { approvers: { from: ["person:pal"] } },
    { stages: STAGES },
    { timeout_seconds: null },
  ]) {
    const said = await bench.ask(
      `/api/workflows/${id}/checkpoints`,
      post({ checkpoint_id: "Review", ...mine }),
    );
    assert.equal(said.status, 400, said.text);
    assert.match(String(said.body["detail"]), /was declared: who is asked there/);
  }
  assert.equal(ok(await bench.ask(`/api/workflows/${id}`))["status"], "executing");
});

test("terms that cannot be are refused before anybody is asked", async (t) => {
  const bench = await serverBench(t);
  const id = await underWay(bench);
  for (const odd of [
    { stages: [] },
    { approvers: { remind_every: "10s" } },
    { approvers: { remind_every: "soon" } },
    { approvers: { escalate_at_half: ["person:ann"] } },
    { approvers: {}, stages: STAGES },
    { stages: [{ from: ["person:ann"], quorum: 2 }] },
    { stages: [{ from: ["role:king"] }] },
  ]) {
    const { status, text } = await bench.ask(
      `/api/workflows/${id}/checkpoints`,
      post({ checkpoint_id: "Own", ...odd }),
    );
    assert.ok(status === 400 || status === 422, `${status} ${text}`);
  }
  assert.deepEqual(ok(await bench.ask("/api/approvals/pending"))["pending_approvals"], []);
});

async function headersOf(bench: Bench, principal: string, role: Role) {
  const { runtime } = await bench.server.office();
  const isPerson = principal.startsWith("person:");
  if (isPerson) await addPerson(runtime, { person: principal, roles: [role], by });
  const roles = isPerson ? {} : { roles: [role] };
  const { text } = await issueApiKey(runtime, { principal, name: role, ...roles, by });
  return { authorization: `Bearer ${text}` };
}

test("a seat is not handed to anybody who could not decide with it, and the refusal is recorded with its reason", async (t) => {
  const bench = await serverBench(t, {
    noAuth: false,
    define: (hp) => void hp.remote.tool({ name: "wire" }),
  });
  const ann = await headersOf(bench, "person:ann", "supervisor");
  const agent = await headersOf(bench, "agent:a", "executor");
  for (const [name, role] of [
    ["dan", "supervisor"],
    ["eve", "auditor"],
    ["fay", "supervisor"],
  ] as const)
    await headersOf(bench, `person:${name}`, role);
  const { runtime } = await bench.server.office();
  await setStanding(runtime, true, { person: "person:fay", by, reason: "away" });
  const asked = await bench.ask("/api/actions", { ...post({ tool: "wire", args: {} }), headers: agent });
  const id = String(ok(asked)["approval_id"]);
  const hand = (to: string) =>
    bench.ask(`/api/approvals/${id}/delegate`, { ...post({ to, reason: "on leave" }), headers: ann });
  const refusals = [
    ["nobody", /person:nobody may not decide this: they are not in the list/],
    ["eve", /person:eve may not decide this: they have no role that decides/],
    ["fay", /person:fay may not decide this: they are suspended/],
    ["agent:a", /agent:a may not decide this: only people decide/],
    ["service:clock", /service:clock may not decide this: only people decide/],
  ] as const;
  for (const [to, reason] of refusals) {
    const { status, body } = await hand(to);
    assert.deepEqual([status, body["code"]], [403, "not_eligible"]);
    assert.match(String(body["detail"]), reason);
  }
  const recorded = (await entriesOf(bench, id, ann)).filter(
    ({ type }) => type === "approval.delegate_refused",
  );
  assert.equal(recorded.length, refusals.length);
  for (const [at, { body }] of recorded.entries())
    assert.match(String(body["reason"]), refusals[at]?.[1] ?? /^$/);
  ok(await hand("dan"));
});

test("whoever reads an approval sees all its stages as they stand, and whose seat was handed to whom", async (t) => {
  const bench = await serverBench(t);
  const id = await underWay(bench, { checkpoints: [{ name: "Review", stages: STAGES }] });
  const { approval } = await questionAt(bench, id, { checkpoint_id: "Review", summary: "Look" });
  const read = async () => {
    const one = ok(await bench.ask(`/api/approvals/${approval}`));
    const stages = one["stages"] as { stage: number; state: string; approvers: object }[];
    const delegations = one["delegations"] as Record<string, unknown>[];
    const handed = delegations.map(({ by, to, reason }) => ({ by, to, reason }));
    const { pending_approvals: all } = ok(await bench.ask("/api/approvals/pending"));
    for (const other of all as Record<string, unknown>[]) {
      assert.partialDeepStrictEqual(other["all_stages"], stages);
      const seats = (other["delegations"] as Record<string, unknown>[]).map(({ at: _, ...seat }) => seat);
      assert.deepEqual(
        seats,
        handed.map(({ by, ...seat }) => ({ from: by, stage: 1, ...seat })),
      );
    }
    return { states: stages.map(({ state }) => state), handed, stages };
  };
  const says = (path: string, body: object) => bench.ask(`/api/approvals/${approval}/${path}`, post(body));
  const first = await read();
  assert.deepEqual([first.states, first.handed], [["asked", "later"], []]);
  assert.partialDeepStrictEqual(first.stages, [
    { stage: 1, approvers: { quorum: 2, from: ["person:ann", "person:bob"] } },
    { stage: 2, approvers: { quorum: 1, from: ["person:cat"], escalate_at_half: ["person:dan"] } },
  ]);
  ok(await says("delegate", { to: "dan", reason: "on leave", by: "ann" }));
  const handed = [{ by: "person:ann", to: "person:dan", reason: "on leave" }];
  assert.deepEqual((await read()).handed, handed);
  for (const name of ["dan", "bob"]) ok(await says("votes", { decision: "approve", approved_by: name }));
  assert.deepEqual((await read()).states, ["met", "asked"]);
  ok(await says("votes", { decision: "reject", reason: "no", approved_by: "cat" }));
  assert.deepEqual((await read()).states, ["met", "ended"]);
});
