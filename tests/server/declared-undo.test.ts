// An agent that speaks only HTTP says how it would take back what it performs, and is sent that when its workflow goes back.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { z } from "zod";
import { questionBinding } from "../../src/approvals/rules/ask.ts";
import type { Holdpoint } from "../../src/index.ts";
import type { Role } from "../../src/people/stream.ts";
import { issueApiKey } from "../fixtures/people.ts";
import { type Answered, type Bench, serverBench } from "../fixtures/server.ts";

const post = (body: unknown, headers: object = {}) =>
  ({ method: "POST", body, headers: { ...headers } }) as const;
const UNDO = { tool: "hotel.cancel", args: { booking: 7, fee: "none" } };
const HOLDER = { holder: "a".repeat(22) };
const BOOK = { tool: "hotel.book", args: { hotel: 1 }, request_id: "book", undo: UNDO };

function ok({ status, body, text }: Answered): Record<string, unknown> {
  assert.equal(status, 200, text);
  return body;
}

async function underWay(bench: Bench): Promise<string> {
  const id = String(
    ok(await bench.ask("/api/workflows", post({ name: "Trip", executor_id: "far" })))["workflow_id"],
  );
  ok(await bench.ask(`/api/workflows/${id}/start`, post({})));
  return id;
}

const propose = (bench: Bench, id: string, body: object = BOOK) =>
  bench.ask(`/api/workflows/${id}/actions`, post({ ...body, ...HOLDER }));
const approve = (bench: Bench, approval: unknown, more: object = {}) =>
  bench.ask(
    "/api/approvals/submit",
    post({ request_id: approval, decision: "APPROVED", approved_by: "ann", ...more }),
  );

/** Done, and sent back. Answers what it did. */
async function doneAndBack(
  bench: Bench,
  id: string,
  body: object = BOOK,
  more: object = {},
): Promise<string> {
  const asked = ok(await propose(bench, id, body));
  if (asked["waiting_for"] === "approval") ok(await approve(bench, asked["approval_id"], more));
  const action = String(asked["action_id"]);
  assert.equal(ok(await bench.ask(`/api/actions/${action}/start`, post(HOLDER)))["status"], "permitted");
  ok(await bench.ask(`/api/actions/${action}/outcome`, post({ status: "applied", result: { booking: 7 } })));
  ok(await bench.ask(`/api/workflows/${id}/rollback`, post({ reason: "rain", by: "ann" })));
  return action;
}

const undoing = (bench: Bench, id: string, action: string) =>
  bench.ask(`/api/workflows/${id}/compensations/${action}/start`, post(HOLDER));

describe("an undo that the agent says with its proposal", () => {
  test("is shown to whoever approves, comes back as an intent, and is permitted as it was approved", async (t) => {
    const bench = await serverBench(t);
    const id = await underWay(bench);
    const asked = ok(await propose(bench, id));
    assert.equal(asked["waiting_for"], "approval");
    const approval = ok(await bench.ask(`/api/approvals/${String(asked["approval_id"])}`));
    assert.partialDeepStrictEqual(approval["undo"], UNDO);
    const [pending] = ok(await bench.ask("/api/approvals/pending"))["pending_approvals"] as {
      undo: unknown;
    }[];
    assert.deepEqual(pending?.undo, UNDO);
    const action = await doneAndBack(bench, id);
    const { compensations } = ok(await bench.ask(`/api/workflows/${id}/compensations`)) as {
      compensations: unknown[];
    };
    assert.partialDeepStrictEqual(compensations, [{ undoes: action, tool: "hotel.book", undo: UNDO }]);
    const inbox = ok(await bench.ask("/api/intents/inbox?agent=far&hold_seconds=20"))["intents"] as {
      payload: object;
    }[];
    assert.partialDeepStrictEqual(inbox[0]?.payload, {
      ...{ workflow_id: id, undoes: action, tool: "hotel.book", undo_tool: "hotel.cancel", attempt: 1 },
      start: `/api/workflows/${id}/compensations/${action}/start`,
    });
    const permit = ok(await undoing(bench, id, action));
    assert.partialDeepStrictEqual(permit, { status: "permitted", tool: "hotel.cancel", args: UNDO.args });
    assert.deepEqual(ok(await undoing(bench, id, action))["action_id"], permit["action_id"]);
    ok(await bench.ask(`/api/actions/${String(permit["action_id"])}/outcome`, post({ status: "applied" })));
    assert.partialDeepStrictEqual(ok(await bench.ask(`/api/workflows/${id}`)), {
      status: "executing",
      attempt: 2,
    });
  });

  test("is part of what is approved: another undo is another binding, and another content of the request id", async (t) => {
    const bench = await serverBench(t);
    const id = await underWay(bench);
    const asked = ok(await propose(bench, id));
    assert.deepEqual(ok(await propose(bench, id)), asked);
    for (const undo of [undefined, { ...UNDO, tool: "hotel.keep" }, { ...UNDO, args: { booking: 8 } }])
      assert.equal((await propose(bench, id, { ...BOOK, undo })).status, 409, JSON.stringify(undo));
    const read = await bench.ask(`/api/journal/approval/${String(asked["approval_id"])}`);
    const [{ body }] = ok(read)["entries"] as [{ body: never }];
    const question = body as Parameters<typeof questionBinding>[1] & { readonly binding: string };
    assert.equal(questionBinding("default", question), question.binding);
    const { undo: said, ...without } = question;
    assert.ok(said !== undefined);
    assert.notEqual(questionBinding("default", without), question.binding);
    const other = { ...said, argsDigest: "0".repeat(64) };
    assert.notEqual(questionBinding("default", { ...question, undo: other }), question.binding);
  });

  test("of what policy let through by itself is no way around the rules of the tool that it names", async (t) => {
    const define = (hp: Holdpoint) => {
      hp.remote.tool({ name: "note", policy: "approve" });
      hp.remote.tool({ name: "wire", policy: "escalate" });
      hp.remote.tool({ name: "erase", policy: "block" });
    };
    for (const [tool, told] of [
      ["wire", "approval"],
      ["erase", "refused"],
      ["anything", "approval"],
    ] as const) {
      const bench = await serverBench(t, { define });
      const id = await underWay(bench);
      const action = await doneAndBack(bench, id, { tool: "note", args: {}, undo: { tool, args: { n: 1 } } });
      const { waiting_for, status } = ok(await undoing(bench, id, action));
      assert.equal(waiting_for ?? status, told, tool);
    }
  });

  test("of an action whose arguments people changed was said of others: they are asked again", async (t) => {
    const bench = await serverBench(t);
    const id = await underWay(bench);
    const change = { decision: "MODIFIED", modifications: { hotel: 2 }, rationale: "nearer" };
    const action = await doneAndBack(bench, id, BOOK, change);
    assert.equal(ok(await undoing(bench, id, action))["waiting_for"], "approval");
  });

  test("is validated by the schema of its tool, and refused where there is nothing to say", async (t) => {
    const define = (hp: Holdpoint) => {
      hp.remote.tool({ name: "hotel.cancel", input: z.object({ booking: z.number() }) });
      hp.remote.tool({ name: "look", effect: "read" });
      hp.remote.tool({ name: "own", undo: true });
      hp.gate({ name: "here", run: () => 1 });
    };
    const bench = await serverBench(t, { define });
    const id = await underWay(bench);
    const statuses = async (body: object) =>
      (await propose(bench, id, { ...BOOK, request_id: null, ...body })).status;
    assert.equal(await statuses({ undo: { tool: "hotel.cancel", args: { booking: "x" } } }), 400);
    assert.equal(await statuses({ undo: { tool: "no name", args: {} } }), 400);
    assert.equal(await statuses({ undo: { tool: "own.undo", args: {} } }), 400);
    assert.equal(await statuses({ undo: { tool: "hotel.cancel", when: "now" } }), 400);
    for (const tool of ["look", "own", "here"]) assert.equal(await statuses({ tool }), 400, tool);
    const alone = await bench.ask("/api/actions", post({ ...BOOK, agent: "far" }));
    assert.equal(alone.status, 400);
    assert.match(String(alone.body["detail"]), /names no workflow/);
    assert.deepEqual(ok(await bench.ask("/api/approvals/pending"))["pending_approvals"], []);
  });
});

async function keyOf(bench: Bench, principal: string, role: Role) {
  const { runtime } = await bench.server.office();
  const { text } = await issueApiKey(runtime, { principal, name: role, roles: [role], by: "person:root" });
  return { authorization: `Bearer ${text}` };
}

test("an executor's key creates the workflows that it drives itself, and for nobody else", async (t) => {
  const bench = await serverBench(t, { noAuth: false });
  const [far, clock] = [
    await keyOf(bench, "agent:far", "executor"),
    await keyOf(bench, "service:clock", "executor"),
  ];
  const poster = await keyOf(bench, "agent:desk", "poster");
  const make = (headers: object, more: object = {}) =>
    bench.ask("/api/workflows", post({ name: "Trip", ...more }, headers));
  const id = String(ok(await make(far))["workflow_id"]);
  const seen = ok(await bench.ask(`/api/workflows/${id}`, { headers: far }));
  assert.partialDeepStrictEqual(seen["parties"], { poster: "agent:far", executor: "agent:far" });
  ok(await bench.ask(`/api/workflows/${id}/start`, post({}, far)));
  ok(await make(far, { executor_id: "far", poster_id: "agent:far", on_behalf_of: ["agent:far"] }));
  for (const more of [
    { executor_id: "other" },
    { on_behalf_of: ["person:eve"] },
    { poster_id: "person:eve" },
  ])
    assert.equal((await make(far, more)).status, 403, JSON.stringify(more));
  assert.equal((await make(clock, { executor_id: "clock" })).status, 403, "a bare name is an agent's");
  ok(await make(clock));
  ok(await make(poster, { executor_id: "far", on_behalf_of: ["person:eve"] }));
  const end = (headers: object) => bench.ask(`/api/workflows/${id}/cancel`, post({ reason: "x" }, headers));
  assert.equal((await end(clock)).status, 403, "it is another's");
  assert.equal((await end(far)).status, 200, "and its own it ends");
  assert.equal((await make(await keyOf(bench, "agent:reader", "auditor"))).status, 403);
});
