// Tenants over HTTP: made by an admin of the home tenant, entered by a link, closed; on a folder and on PostgreSQL.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import pg from "pg";
import { addPerson, issueApiKey } from "../fixtures/people.ts";
import { type PostgresServer, startPostgres } from "../fixtures/postgres-server.ts";
import { type Answered, type Bench, type Sent, serverBench } from "../fixtures/server.ts";

const by = "person:root";
const bearer = (text: string) => ({ authorization: `Bearer ${text}` });
const ok = ({ status, body, text }: Answered): Record<string, unknown> => {
  assert.ok(status < 300, text);
  return body;
};

type Asks = (path: string, body?: unknown) => Promise<Answered>;
const as =
  ({ ask }: Bench, headers: Record<string, string>): Asks =>
  (path, body) =>
    ask(path, { headers, ...(body === undefined ? {} : ({ method: "POST", body } satisfies Sent)) });

async function atHome(bench: Bench): Promise<Asks> {
  const { runtime } = await bench.server.office();
  await addPerson(runtime, { person: by, roles: ["admin"], by });
  return as(bench, bearer((await issueApiKey(runtime, { principal: by, name: "root", by })).text));
}

/** A session as a page has it. */
async function loggedIn(bench: Bench, link: unknown): Promise<Asks> {
  const login = await bench.ask("/api/session", { method: "POST", body: { link } });
  const { csrf_token } = ok(login);
  const [cookie = ""] = String(login.headers["set-cookie"]).split(";");
  return as(bench, { cookie, "x-csrf-token": String(csrf_token) });
}

const typesOf = (page: Record<string, unknown>): readonly unknown[] =>
  (page["entries"] as { type: string; stream: string }[])
    .filter(({ stream }) => stream.startsWith("tenant/"))
    .map(({ type }) => type);

async function journey(bench: Bench): Promise<void> {
  const root = await atHome(bench);
  const made = ok(await root("/api/tenants", { name: "acme", admin: "person:zoe" }));
  assert.partialDeepStrictEqual(made, { tenant: { name: "acme", status: "open", by }, admin: "person:zoe" });
  const { link: first } = made["login"] as { link: string };
  ok(await root("/api/tenants", { name: "globex", admin: "person:zoe" }));

  const zoe = await loggedIn(bench, first);
  const again = await bench.ask("/api/session", { method: "POST", body: { link: first } });
  assert.equal(again.status, 401);
  const session = ok(await zoe("/api/session"));
  assert.equal(session["tenant"], "acme");
  assert.ok(!(session["scopes"] as string[]).includes("tenants:manage"));
  // Whoever has everything there gives a key and a link, as at home.
  const own = ok(await zoe("/api/keys", { principal: "person:zoe", name: "terminal" }));
  const link = ok(await zoe("/api/people/person:zoe/login-link", {}));
  const given = ok(
    await zoe("/api/keys", { principal: "agent:mailer", name: "mailer", roles: ["executor"] }),
  );
  const agent = as(bench, bearer(String(given["text"])));
  ok(await agent("/api/session"));

  for (const asks of [zoe, agent, as(bench, bearer(String(own["text"])))])
    for (const answer of [
      await asks("/api/tenants"),
      await asks("/api/tenants", { name: "other", admin: "person:zoe" }),
      await asks("/api/tenants/globex"),
      await asks("/api/tenants/nowhere"),
      await asks("/api/tenants/globex/close", { reason: "mine" }),
      await asks("/api/tenants/acme/close", { reason: "mine" }),
    ])
      assert.deepEqual([answer.status, answer.body["code"]], [403, "forbidden"], answer.text);

  const closed = ok(await root("/api/tenants/acme/close", { reason: "moved away" }));
  assert.partialDeepStrictEqual(closed, { status: "closed", by, reason: "moved away" });
  for (const asks of [zoe, agent, as(bench, bearer(String(own["text"])))])
    assert.equal((await asks("/api/session")).status, 401);
  const late = await bench.ask("/api/session", { method: "POST", body: { link: link["link"] } });
  assert.equal(late.status, 401);

  const { tenants } = ok(await root("/api/tenants")) as { tenants: Record<string, unknown>[] };
  assert.deepEqual(
    tenants.map(({ name, status, home }) => [name, status, home]),
    [
      ["acme", "closed", false],
      ["default", "open", true],
      ["globex", "open", false],
    ],
  );
  assert.equal((await root("/api/tenants", { name: "acme", admin: "person:zoe" })).status, 409);
  assert.equal((await root("/api/tenants/default/close", { reason: "no" })).status, 409);
  assert.equal((await root("/api/tenants/nowhere/close", { reason: "no" })).status, 404);
  assert.equal((await root("/api/tenants/nowhere")).status, 404);
  assert.deepEqual(typesOf(ok(await root("/api/journal"))), [
    "tenant.added",
    "tenant.added",
    "tenant.closed",
  ]);
  const { runtime } = await bench.server.office();
  const kept = await runtime.store.log("acme", 0, 100);
  const bodies = kept.map(({ body }) => body).join("\n");
  assert.match(bodies, /moved away/);
  assert.match(bodies, /"via":"api_key"/);
}

test("a tenant is made, entered by its admin's link, worked in, and closed; others see nothing of it", async (t) => {
  await journey(await serverBench(t, { noAuth: false }));
});

test("no program at home makes a tenant, whatever its roles, nor does a key that was narrowed to something else", async (t) => {
  const bench = await serverBench(t, { noAuth: false });
  const root = await atHome(bench);
  const { runtime } = await bench.server.office();
  for (const offer of [
    { principal: "agent:a", roles: ["admin" as const] },
    { principal: "service:a", roles: ["admin" as const] },
    { principal: by, scopes: ["keys:write" as const, "people:write" as const] },
  ]) {
    const asks = as(bench, bearer((await issueApiKey(runtime, { name: "n", by, ...offer })).text));
    assert.equal((await asks("/api/tenants")).status, 403);
    assert.equal((await asks("/api/tenants", { name: "acme", admin: "person:zoe" })).status, 403);
  }
  ok(await root("/api/tenants"));
});

test("a server that starts opens no tenant that was closed", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "holdpoint-tenants-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const place = { noAuth: false, folder };
  const first = await serverBench(t, place);
  const root = await atHome(first);
  for (const tenant of ["acme", "globex"])
    ok(await root("/api/tenants", { name: tenant, admin: "person:zoe" }));
  ok(await root("/api/tenants/acme/close", { reason: "moved away" }));
  await first.close();
  let count = 0;
  const second = await serverBench(t, { ...place, define: () => void count++ });
  assert.equal(count, 2, "home and globex");
  assert.deepEqual(
    second.lines.filter(({ message }) => message === "no upkeep"),
    [],
  );
});

describe("on PostgreSQL", () => {
  let database: PostgresServer;
  before(async () => {
    database = await startPostgres();
  });
  after(() => database.stop());

  test("the same, and a row of one tenant is not seen under another's name", {
    timeout: 240_000,
  }, async (t) => {
    const bench = await serverBench(t, { noAuth: false, database: database.url, data: undefined });
    await journey(bench);
    const client = new pg.Client(database.url);
    await client.connect();
    t.after(() => client.end());
    const { rows } = await client.query<{ tid: number }>("SELECT DISTINCT tid FROM holdpoint.hp_entries");
    assert.equal(rows.length, 3, "a superuser sees all three");
    for (const { tid } of rows) {
      await client.query("BEGIN");
      await client.query("SELECT set_config('role', 'holdpoint_worker', true)");
      await client.query("SELECT set_config('holdpoint.tenant', $1, true)", [String(tid)]);
      const seen = await client.query<{ tid: number }>("SELECT DISTINCT tid FROM holdpoint.hp_entries");
      assert.deepEqual(seen.rows, [{ tid }]);
      await client.query("ROLLBACK");
    }
  });
});
