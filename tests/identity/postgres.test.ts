// People and keys on PostgreSQL: the same rules, and rows that nobody sees without naming their tenant, the owner included.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { describe, test } from "node:test";
import { admin } from "../../src/admin.ts";
import { holdpoint } from "../../src/index.ts";
import { wallClock } from "../../src/kernel/clock.ts";
import { authenticate } from "../../src/people/authenticate.ts";
import { formatCredential, formatSession } from "../../src/people/rules/credential.ts";
import { logIn } from "../../src/people/sessions/sessions.ts";
import type { Projection } from "../../src/stores/store.ts";
import { FOLDS, PROJECTIONS } from "../../src/streams.ts";

import { postgresBench } from "../fixtures/postgres-bench.ts";

const bench = postgresBench();
const BY = "person:root";
const real = { folds: FOLDS, projections: PROJECTIONS as readonly unknown[] as readonly Projection[] };

describe("people and keys on PostgreSQL", { concurrency: false }, () => {
  test("a key works, is rotated and revoked, and is of its tenant alone", async (t) => {
    const { open } = bench(t);
    const store = await open(real);
    const [acme, globex] = ["acme", "globex"].map((tenant) => holdpoint({ store, tenant, notify: () => {} }));
    assert.ok(acme !== undefined && globex !== undefined);
    const { key, text } = await admin(acme).keys.issue({
      principal: "agent:a",
      name: "n",
      roles: ["poster"],
      by: BY,
    });
    assert.partialDeepStrictEqual(await authenticate({ store, clock: wallClock }, text), { tenant: "acme" });
    assert.deepEqual((await admin(globex).keys.list()).items, []);
    await assert.rejects(admin(globex).keys.revoke(key.id, { by: BY, reason: "not mine" }), {
      code: "unknown_id",
    });
    const next = await admin(acme).keys.rotate(key.id, { by: BY, overlapMs: 0 });
    assert.deepEqual(await authenticate({ store, clock: wallClock }, text), { refused: "expired" });
    await admin(acme).keys.revoke(next.key.id, { by: BY, reason: "lost" });
    assert.deepEqual(await authenticate({ store, clock: wallClock }, next.text), { refused: "revoked" });
    const [first] = (await admin(acme).keys.list({ limit: 1 })).items;
    assert.equal(first?.id, next.key.id);
  });

  test("whoever makes up tenants leaves nothing behind: not by a key, a session or a login link", async (t) => {
    const { open, sql, schema } = bench(t);
    const store = await open(real);
    const client = await sql();
    const { rows: before } = await client.query(`SELECT tenant FROM ${schema}.hp_tenants`);
    const place = { store, clock: wallClock };
    const secret = randomBytes(32);
    const made = (tenant: string, id: string) => ({ tenant, id: `${id}_${"0".repeat(26)}`, secret });
    const key = formatCredential("hpk", made("nowhere-1", "key")) ?? "";
    const session = formatSession(made("nowhere-2", "ses")) ?? "";
    const link = formatCredential("hpl", made("nowhere-3", "lgn")) ?? "";
    for (const text of [key, session])
      assert.deepEqual(await authenticate(place, text), { refused: "unknown" });
    const random = (bytes: number) => randomBytes(bytes);
    assert.deepEqual(await logIn({ ...place, random }, link), { refused: "unknown" });
    const { rows: after } = await client.query(`SELECT tenant FROM ${schema}.hp_tenants`);
    assert.deepEqual(after, before);
  });

  test("even the owner of the tables, who names no tenant, sees no row of a tenant's table", async (t) => {
    const { open, sql, server, schema } = bench(t);
    const client = await sql();
    await client.query(
      `CREATE ROLE owner_${schema} LOGIN CREATEROLE; CREATE SCHEMA ${schema} AUTHORIZATION owner_${schema}`,
    );
    const database = server.url.replace("postgres@", `owner_${schema}@`);
    const store = await open({ ...real, database, role: `worker_${schema}` });
    const hp = holdpoint({ store, tenant: "acme", notify: () => {} });
    await admin(hp).people.add({ person: "person:ann", roles: ["admin"], by: BY });
    await admin(hp).keys.issue({ principal: "agent:a", name: "n", roles: ["poster"], by: BY });
    const { rows } = await client.query(
      `SELECT c.relname AS name, pg_get_userbyid(c.relowner) AS owner FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
       WHERE n.nspname = $1 AND c.relkind = 'r' AND EXISTS
         (SELECT 1 FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attname = 'tid')`,
      [schema],
    );
    const count = async (table: string) =>
      Number((await client.query(`SELECT count(*) AS n FROM ${schema}.${table}`)).rows[0].n);
    assert.ok(rows.length >= 11, `${rows.length} tables`);
    assert.ok((await count("hp_entries")) >= 2, "a superuser sees them");
    await client.query(`SET ROLE owner_${schema}`);
    for (const { name, owner } of rows) {
      assert.equal(owner, `owner_${schema}`);
      assert.equal(await count(name), 0, name);
    }
    await client.query("RESET ROLE");
  });
});
