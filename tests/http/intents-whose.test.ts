// Whose an intent is: who is handed it, who hears of it, who answers it and who takes it back.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Role } from "../../src/people/stream.ts";
import { addPerson, issueApiKey, setStanding } from "../fixtures/people.ts";

import { type Answered, type Bench, type Sent, serverBench } from "../fixtures/server.ts";
import { startReceiver } from "../messages/receiver.ts";

process.env["HOLDPOINT_ALLOW_PRIVATE"] = "1";

const by = "person:root";
const post = (body: unknown): Sent => ({ method: "POST", body });
const ok = ({ status, body, text }: Answered): Record<string, unknown> => {
  assert.ok(status < 300, text);
  return body;
};

/** Each asks with a key of their own. */
async function staffed(bench: Bench, people: { readonly [name: string]: Role }) {
  const { runtime } = await bench.server.office();
  await addPerson(runtime, { person: by, roles: ["admin"], by });
  for (const [name, role] of Object.entries(people))
    await addPerson(runtime, { person: `person:${name}`, roles: [role], by });
  const keys = new Map<string, string>();
  const keyOf = async (principal: string) => {
    const roles = principal.startsWith("person:") ? {} : { roles: ["executor"] as const };
    const text =
      keys.get(principal) ?? (await issueApiKey(runtime, { principal, name: "k", ...roles, by })).text;
    keys.set(principal, text);
    return text;
  };
  const as = async (principal: string, path: string, sent: Sent = {}) =>
    bench.ask(path, { ...sent, headers: { authorization: `Bearer ${await keyOf(principal)}` } });
  return { runtime, as };
}

const TO_PEOPLE = {
  intent_type: "human_approval",
  to_agent: "agent://approver",
  payload: { task: "Deploy" },
};

test("a service is handed what is for it and answers it, and so does a person", async (t) => {
  const bench = await serverBench(t, { noAuth: false });
  const { as } = await staffed(bench, { ann: "supervisor", bob: "supervisor" });
  for (const to of ["service:billing", "person:ann"]) {
    const sent = ok(await as("agent:planner", "/api/intents", post({ intent_type: "look", to_agent: to })));
    const id = String(sent["intent_id"]);
    assert.equal(sent["to"], to);
    const { intents } = ok(await as(to, "/api/intents/inbox"));
    assert.deepEqual(
      (intents as Record<string, unknown>[]).map((one) => one["intent_id"]),
      [id],
    );
    const path = `/api/intents/${id}/answer`;
    assert.equal((await as("service:other", path, post({ data: 1 }))).status, 403);
    if (to === "person:ann") assert.equal((await as("person:bob", path, post({ data: 1 }))).status, 403);
    const answered = ok(await as(to, path, post({ data: { seen: to } })));
    assert.partialDeepStrictEqual(answered, { end: { by: to } });
    const waited = ok(await as("agent:planner", `/api/intents/${id}/wait`));
    assert.partialDeepStrictEqual(waited, { status: "completed", data: { seen: to } });
  }
  for (const to_agent of ["role:supervisor", "group:finance", "service:"])
    assert.equal(
      (await as("agent:planner", "/api/intents", post({ intent_type: "look", to_agent }))).status,
      400,
      to_agent,
    );
});

test("what people are to approve is refused at sending where nobody could decide it, with the reason", async (t) => {
  const bench = await serverBench(t, { noAuth: false });
  const { as, runtime } = await staffed(bench, { ann: "supervisor", eve: "auditor" });
  const sent = (to_agent: string) => as("agent:planner", "/api/intents", post({ ...TO_PEOPLE, to_agent }));
  ok(await sent("agent://approver"));
  ok(await sent("person:ann"));
  await setStanding(runtime, true, { person: "person:ann", by, reason: "away" });
  for (const [to, why] of [
    ["agent://approver", /person:ann is suspended/],
    ["person:ann", /person:ann is suspended/],
    ["person:nobody", /person:nobody is not in the list of people/],
    ["role:auditor", /person:eve has no role that decides/],
    ["group:finance", /group:finance has no members/],
  ] as const) {
    const { status, body, text } = await sent(to);
    assert.equal(status, 400, text);
    assert.equal(body["code"], "unsatisfiable_quorum", text);
    assert.match(String(body["detail"]), why);
  }
  const listed = ok(await as(by, "/api/intents"));
  assert.equal((listed["intents"] as unknown[]).length, 2, "nothing was written of those that were refused");
});

test("a poster does not take back what others ask of people; its sender and an admin do", async (t) => {
  const bench = await serverBench(t, { noAuth: false });
  const { as } = await staffed(bench, { ann: "supervisor", pat: "poster" });
  const ask = async (from: string) =>
    String(ok(await as(from, "/api/intents", post(TO_PEOPLE)))["intent_id"]);
  const cancel = (who: string, id: string) =>
    as(who, `/api/intents/${id}/cancel`, post({ reason: "not needed" }));
  const id = await ask("agent:planner");
  const refused = await cancel("person:pat", id);
  assert.deepEqual([refused.status, refused.body["code"]], [403, "not_eligible"], refused.text);
  assert.equal(ok(await as(by, `/api/intents/${id}`))["lifecycle_status"], "WAITING");
  assert.equal(ok(await cancel(by, id))["lifecycle_status"], "CANCELED");
  for (const who of ["agent:planner", "person:pat"])
    assert.equal(ok(await cancel(who, await ask(who)))["lifecycle_status"], "CANCELED", who);
});

test("a webhook of an agent hears nothing of what other agents ask of people, neither as intents nor as approvals", async (t) => {
  const bench = await serverBench(t);
  const [doer, planner] = [await startReceiver(t), await startReceiver(t)];
  for (const [receiver, owner] of [
    [doer, "agent:doer"],
    [planner, "agent:planner"],
  ] as const)
    ok(
      await bench.ask(
        "/api/endpoints",
        post({ url: receiver.url, owner, events: ["intent.*", "approval.*"], by: "ann" }),
      ),
    );
  const asked = ok(await bench.ask("/api/intents", post({ ...TO_PEOPLE, from: "agent:planner" })));
  const vote = { decision: "reject", reason: "not today", approved_by: "ann" };
  ok(await bench.ask(`/api/approvals/${String(asked["approval_id"])}/votes`, post(vote)));
  const own = { intent_type: "look", to_agent: "agent://doer", from: "agent:boss" };
  const last = String(ok(await bench.ask("/api/intents", post(own)))["intent_id"]);
  // Told in the order of commits: what comes before it would have been first.
  const [first] = await doer.reached(1);
  assert.equal(first?.payload.data["intent"], last);
  const heard = await planner.reached(2);
  assert.ok(heard.some(({ payload }) => payload.type.startsWith("approval.")));
  assert.ok(doer.got.every(({ payload }) => payload.data["intent"] === last));
});
