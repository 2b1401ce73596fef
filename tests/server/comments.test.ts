// Comments over HTTP: people ask for more, the agent answers with its own key, and nobody else has a say.
import assert from "node:assert/strict";
import { test } from "node:test";
import { addPerson, issueApiKey } from "../fixtures/people.ts";
import { type Bench, serverBench } from "../fixtures/server.ts";

const by = "person:root";
const bearer = (text: string) => ({ authorization: `Bearer ${text}` });

async function keysOf(bench: Bench) {
  const { runtime } = await bench.server.office();
  await addPerson(runtime, { person: by, roles: ["admin"], by });
  await addPerson(runtime, { person: "person:ann", roles: ["supervisor"], by });
  await addPerson(runtime, { person: "person:eve", roles: ["poster"], by });
  const keyOf = async (principal: string, roles: readonly "executor"[] = []) => {
    const more = roles.length === 0 ? {} : { roles };
    return bearer((await issueApiKey(runtime, { principal, name: "one", ...more, by })).text);
  };
  return {
    ann: await keyOf("person:ann"),
    eve: await keyOf("person:eve"),
    far: await keyOf("agent:far", ["executor"]),
    other: await keyOf("agent:other", ["executor"]),
  };
}

type Comments = readonly { readonly by: string; readonly text: string; readonly via: string }[];

test("a person asks, the agent answers with its key, and both stand with the approval and in the events", async (t) => {
  const bench = await serverBench(t, { noAuth: false });
  const { ann, eve, far, other } = await keysOf(bench);
  const proposed = await bench.ask("/api/actions", {
    ...{ method: "POST", headers: far },
    body: { tool: "bank.wire", args: { amount: 9 }, request_id: "rent" },
  });
  const id = String(proposed.body["approval_id"]);
  const path = `/api/approvals/${id}/comments`;
  const write = (headers: { readonly authorization: string }, body: object) =>
    bench.ask(path, { method: "POST", headers, body });

  const asked = await write(ann, { text: "  to whom?  " });
  assert.equal(asked.status, 200, asked.text);
  const answered = await write(far, { text: "to the landlord" });
  assert.equal(answered.status, 200, answered.text);
  const comments = answered.body["comments"] as Comments;
  assert.deepEqual(
    comments.map((one) => [one.by, one.text, one.via]),
    [
      ["person:ann", "to whom?", "api_key"],
      ["agent:far", "to the landlord", "api_key"],
    ],
  );
  assert.deepEqual((await bench.ask(`/api/approvals/${id}`, { headers: far })).body["comments"], comments);

  const sorted = await write(ann, { text: "too much?", category: "concern" });
  assert.deepEqual(
    (sorted.body["comments"] as readonly { category?: string }[]).map(({ category }) => category),
    [undefined, undefined, "concern"],
  );
  const unsorted = await write(ann, { text: "too much?", category: "urgent" });
  assert.equal(unsorted.status, 400, unsorted.text);
  assert.match(unsorted.text, /category/);

  const strange = await write(other, { text: "let me see" });
  assert.deepEqual([strange.status, strange.body["code"]], [403, "not_eligible"], strange.text);
  const outside = await write(eve, { text: "let me see" });
  assert.equal(outside.status, 403, outside.text);
  for (const body of [{}, { text: " " }, { text: "x".repeat(10_001) }, { text: "x", reason: "x" }])
    assert.equal((await write(ann, body)).status, 400, JSON.stringify(body).slice(0, 40));
  assert.equal((await write(ann, { text: "x", by: "person:eve" })).status, 403);

  const seen = await bench.ask(`/api/journal/approval/${id}`, { headers: ann });
  const types = (seen.body["entries"] as { type: string }[]).map(({ type }) => type);
  assert.deepEqual(types.slice(1), [
    ...["approval.commented", "approval.commented", "approval.commented", "approval.comment_refused"],
  ]);
});

test("without authentication the body says who writes, and the same request again writes nothing more", async (t) => {
  const bench = await serverBench(t);
  const proposed = await bench.ask("/api/actions", {
    method: "POST",
    body: { tool: "bank.wire", args: { amount: 9 }, agent: "far" },
  });
  const path = `/api/approvals/${String(proposed.body["approval_id"])}/comments`;
  assert.equal((await bench.ask(path, { method: "POST", body: { text: "?" } })).status, 400);
  const headers = { "idempotency-key": "one" };
  for (let time = 0; time < 2; time++) {
    const sent = { method: "POST", headers, body: { text: "to whom?", by: "ann" } } as const;
    assert.equal((await bench.ask(path, sent)).status, 200);
  }
  const answered = await bench.ask(path, { method: "POST", body: { text: "Zoë", by: "agent:far" } });
  assert.deepEqual(
    (answered.body["comments"] as Comments).map((one) => one.by),
    ["person:ann", "agent:far"],
  );
});

test("what was shown is recorded with each vote, alone and of several", async (t) => {
  const bench = await serverBench(t);
  const shown = "ab".repeat(32);
  const ids: string[] = [];
  for (const n of [1, 2, 3]) {
    const body = { tool: "bank.wire", args: { n }, agent: "far" };
    ids.push(String((await bench.ask("/api/actions", { method: "POST", body })).body["approval_id"]));
  }
  const [one = "", two = "", three = ""] = ids;
  const post = (path: string, body: object) => bench.ask(path, { method: "POST", body });
  const said = { decision: "approve", approved_by: "ann" };
  const wrong = await post(`/api/approvals/${one}/votes`, { ...said, shown: "ab" });
  assert.equal(wrong.status, 400);
  assert.equal((await post(`/api/approvals/${one}/votes`, { ...said, shown })).status, 200);
  const { body: voted } = await bench.ask(`/api/approvals/${one}`);
  assert.partialDeepStrictEqual(voted["votes"], [{ by: "person:ann", shown }]);
  const { body } = await bench.ask(`/api/approvals/${two}`);
  const decisions = [{ request_id: two, binding: body["binding"], decision: "approve", shown }];
  assert.equal((await post("/api/approvals/batch", { decisions, approved_by: "ann" })).status, 200);
  const submitted = { request_id: three, decision: "REJECTED", rationale: "no", approved_by: "ann" };
  assert.equal((await post("/api/approvals/submit", submitted)).status, 200);
  for (const [id, digest] of [
    [two, shown],
    [three, undefined],
  ] as const) {
    const { votes } = (await bench.ask(`/api/approvals/${id}`)).body as { votes: { shown: unknown }[] };
    assert.equal(votes[0]?.shown, digest);
  }
});
