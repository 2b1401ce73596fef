// The first minute: the example asks, a person decides over HTTP, and what was decided happens once.
import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { readSettings } from "../../src/api/settings.ts";
import { addPerson, offerLogin } from "../fixtures/people.ts";
import { type Answered, type Bench, type BenchOptions, serverBench } from "../fixtures/server.ts";

const ANN = "person:ann";

type Site = Bench & { readonly folder: string };

async function site(t: TestContext, options: BenchOptions = {}): Promise<Site> {
  const folder = options.folder ?? mkdtempSync(join(tmpdir(), "holdpoint-example-"));
  const bench = await serverBench(t, { example: true, noAuth: false, ...options, folder });
  if (options.folder === undefined) t.after(() => rmSync(folder, { recursive: true, force: true }));
  return { ...bench, folder };
}

/** A browser with a session. */
async function loggedIn({ ask, server }: Site): Promise<Bench["ask"]> {
  const { runtime } = await server.office();
  await addPerson(runtime, { person: ANN, roles: ["supervisor", "admin"], by: ANN });
  const { link } = await offerLogin(runtime, ANN, { by: ANN });
  const opened = await ask("/api/session", { method: "POST", body: { link } });
  const [cookie = ""] = String(opened.headers["set-cookie"]).split(";");
  const headers = { cookie, "x-csrf-token": String(opened.body["csrf_token"]) };
  return (path, sent) => ask(path, { ...sent, headers: { ...headers, ...sent?.headers } });
}

async function until(look: () => Promise<Answered>, is: (answer: Answered) => boolean): Promise<Answered> {
  for (let n = 0; n < 1_000; n++) {
    const answer = await look();
    if (is(answer)) return answer;
    await new Promise<void>((resolve) => setTimeout(resolve, 10));
  }
  return assert.fail("it did not come about");
}

const ended = (ask: Bench["ask"], workflow: unknown) =>
  until(
    () => ask(`/api/workflows/${workflow}`),
    ({ body }) => body["status"] === "completed",
  );

function happened(folder: string): readonly Record<string, unknown>[] {
  const file = join(folder, "data/example-refunds.log");
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, "utf8").trim().split("\n");
  return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
}

async function decide(
  ask: Bench["ask"],
  said: Readonly<Record<string, unknown>>,
): Promise<{ readonly voted: Answered; readonly workflow: unknown }> {
  const { body } = await ask("/api/example");
  assert.equal(body["is_there"], true);
  const approval = await ask(`/api/approvals/${body["approval_id"]}`);
  const { binding } = approval.body;
  const voted = await ask(`/api/approvals/${body["approval_id"]}/votes`, {
    method: "POST",
    body: { ...said, binding },
  });
  return { voted, workflow: body["workflow_id"] };
}

test("on an empty store the example asks once by itself, in words and with a rule, and an approval pays once", async (t) => {
  const here = await site(t);
  const ask = await loggedIn(here);
  const { body } = await ask("/api/example");
  assert.equal(await here.server.asked(), body["approval_id"]);
  const { body: asked } = await ask(`/api/approvals/${body["approval_id"]}`);
  assert.equal(asked["tool"], "example.issue_refund");
  assert.equal(asked["agent"], "agent:refund-agent");
  assert.match(
    JSON.stringify(asked),
    /large_refund.*Over 1000 USD a person decides|Over 1000 USD a person decides.*large_refund/,
  );
  assert.deepEqual(happened(here.folder), []);
  const { voted, workflow } = await decide(ask, { decision: "approve" });
  assert.equal(voted.status, 200, voted.text);
  const { body: done } = await ended(ask, workflow);
  assert.deepEqual(done["result"], { refunded_usd: 1200 });
  assert.deepEqual(
    happened(here.folder).map(({ key: _, ...entry }) => entry),
    [
      { refunded_usd: 1200, user_id: 42 },
      { message: "We have paid 1200 USD back to you.", user_id: 42 },
    ],
  );
  assert.deepEqual((await ask("/api/example")).body, {
    is_there: true,
    approval_id: null,
    workflow_id: null,
  });
});

test("a person who changes it to 800 has 800 paid; more than was paid is refused with the rule, and the question stays", async (t) => {
  const here = await site(t);
  const ask = await loggedIn(here);
  const refused = await decide(ask, { decision: "approve", edit: { amount_usd: 1300 } });
  assert.match(refused.voted.text, /more_than_was_paid/);
  const { voted, workflow } = await decide(ask, { decision: "approve", edit: { amount_usd: 800 } });
  assert.equal(voted.status, 200, voted.text);
  assert.deepEqual((await ended(ask, workflow)).body["result"], { refunded_usd: 800 });
  assert.deepEqual(
    happened(here.folder).map((entry) => entry["refunded_usd"] ?? entry["message"]),
    [800, "We have paid 800 USD back to you."],
  );
});

test("rejected, nothing happens, and it can be asked again", async (t) => {
  const here = await site(t);
  const ask = await loggedIn(here);
  const { voted, workflow } = await decide(ask, { decision: "reject", reason: "Not this time." });
  assert.equal(voted.status, 200, voted.text);
  const { body: done } = await ended(ask, workflow);
  assert.match(JSON.stringify(done["result"]), /"refunded_usd":0.*Not this time/);
  assert.deepEqual(happened(here.folder), []);

  const again = await ask("/api/example", { method: "POST", body: {} });
  assert.equal(again.status, 202, again.text);
  const { body } = await until(
    () => ask("/api/example"),
    (answer) => answer.body["approval_id"] !== null,
  );
  assert.equal(body["workflow_id"], again.body["workflow_id"]);
  await decide(ask, { decision: "approve" });
  await ended(ask, body["workflow_id"]);
  assert.equal(happened(here.folder).length, 2);
});

test("started again, the question is the same one, and no second one is asked", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "holdpoint-example-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const first = await site(t, { folder });
  const asked = await first.server.asked();
  assert.ok(asked !== null);
  await first.close();
  const second = await site(t, { folder });
  assert.equal(await second.server.asked(), asked);
  const ask = await loggedIn(second);
  assert.equal((await ask("/api/stats")).body["pending_approvals"], 1);
  const { workflow } = await decide(ask, { decision: "approve" });
  await ended(ask, workflow);
  await second.close();
  const third = await site(t, { folder });
  assert.equal(await third.server.asked(), null, "what was decided is not asked again");
});

test("in a store in which somebody has done something it does not ask by itself", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "holdpoint-example-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const before = await site(t, { folder, example: false, noAuth: true });
  const body = { tool: "note.write", args: {}, agent: "agent:a" };
  await before.ask("/api/actions", { method: "POST", body });
  await before.close();
  const after = await site(t, { folder });
  assert.equal(await after.server.asked(), null);
  const ask = await loggedIn(after);
  assert.equal((await ask("/api/example")).body["is_there"], true);
});

test("a server without it says so, and says how to have it", async (t) => {
  const here = await site(t, { example: false });
  const ask = await loggedIn(here);
  assert.deepEqual((await ask("/api/example")).body, {
    is_there: false,
    approval_id: null,
    workflow_id: null,
  });
  const refused = await ask("/api/example", { method: "POST", body: {} });
  assert.equal(refused.status, 404);
  assert.match(refused.text, /--example/);
  assert.equal(await here.server.asked(), null);
});

test("it goes with a data folder, and not with a database that others may share", () => {
  const flags = new Map([["example", []]]);
  const database = (name: string) => (name === "DATABASE_URL" ? "postgres://host/db" : undefined);
  assert.throws(() => readSettings({ flags, environment: database }), /--example: only with a data folder/);
  const folder = new Map([...flags, ["data", ["here"]]]);
  assert.equal(readSettings({ flags: folder, environment: database }).example, true);
  assert.equal(readSettings({ flags: new Map(), environment: () => undefined }).example, false);
});

test("what agents outside propose is asked of people beside the example as without it", async (t) => {
  const here = await site(t, { noAuth: true });
  const body = { tool: "note.write", args: { text: "x" }, agent: "agent:a" };
  const { body: answer } = await here.ask("/api/actions", { method: "POST", body });
  assert.equal(answer["waiting_for"], "approval");
});

test("what another agent asks under the example's names is not the example's question", async (t) => {
  const here = await site(t, { noAuth: true });
  const asked = await here.server.asked();
  assert.ok(asked !== null);
  const args = { user_id: 42, amount_usd: 1100, reason: "mine" };
  for (const agent of ["agent:other", "agent:refund-agent"]) {
    const body = { tool: "example.issue_refund", args, agent };
    const { body: answer, text } = await here.ask("/api/actions", { method: "POST", body });
    assert.equal(answer["waiting_for"], "approval", text);
    assert.equal((await here.ask("/api/example")).body["approval_id"], asked);
  }
});

test("the example has no more questions before people than any agent may have", async (t) => {
  const bench = await site(t, { pending: 3, rate: 1_000_000, burst: 1_000_000 });
  const ask = await loggedIn(bench);
  const refused = await until(
    () => ask("/api/example", { method: "POST", body: {} }),
    ({ status }) => status !== 202,
  );
  assert.deepEqual([refused.status, refused.body["code"]], [429, "rate_limited"]);
  assert.match(refused.text, /agent:refund-agent has 3 questions before people already/);
});
