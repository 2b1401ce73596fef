import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { postgresBench } from "../../../tests/fixtures/postgres-bench.ts";
import { actionStream } from "../../kernel/stream.ts";
import { count, TENANT } from "../../testing/store-contract/fixture.ts";

const bench = postgresBench();

/** What the guide gives to a superuser to run. */
function sqlOfTheGuide(): string {
  const guide = readFileSync(new URL("../../../docs/guide/postgres.md", import.meta.url), "utf8");
  const [, sql] = /```sql\n([^`]*)```/.exec(guide) ?? [];
  assert.match(sql ?? "", /CREATE SCHEMA holdpoint AUTHORIZATION app/);
  return sql ?? "";
}

describe("rights in PostgreSQL", { concurrency: false }, () => {
  test("exactly the rights that the guide gives are enough, and before that it is told what to run", async (t) => {
    const { open, sql, server } = bench(t);
    const client = await sql();
    await client.query("CREATE ROLE app LOGIN");
    const store = { database: server.url.replace("postgres@", "app@"), schema: "holdpoint" };
    await assert.rejects(open(store), {
      code: "store_unsuitable",
      what: /may not make the role/,
      next: /CREATE ROLE "holdpoint_worker" NOLOGIN; GRANT "holdpoint_worker" TO app/,
    });
    const [role = "", grant = "", schema = ""] = sqlOfTheGuide().split(/(?<=;)\n/);
    await client.query(role);
    await assert.rejects(open(store), {
      code: "store_unsuitable",
      what: /may not grant/,
      next: /run: GRANT/,
    });
    await client.query(grant);
    await assert.rejects(open(store), {
      code: "store_unsuitable",
      what: /may not make the schema/,
      next: /run: CREATE SCHEMA "holdpoint" AUTHORIZATION app;/,
    });
    await client.query(schema);
    const opened = await open(store);
    assert.equal(await count(opened, "one"), 1);
    assert.equal((await opened.read(TENANT, actionStream("one"))).length, 1);
    assert.deepEqual(await opened.tenants(), [TENANT]);
    assert.equal(await count(await open(store), "one"), 2);
  });

  test("a right that was taken away is not called a read-only store", async (t) => {
    const { open, sql, schema } = bench(t);
    const store = await open();
    await count(store, "one");
    const client = await sql();
    await client.query(`REVOKE INSERT ON ${schema}.hp_entries FROM holdpoint_worker`);
    await assert.rejects(count(store, "one"), {
      code: "store_unsuitable",
      what: /permission denied for table hp_entries/,
    });
    await client.query(`GRANT INSERT ON ${schema}.hp_entries TO holdpoint_worker`);
    assert.equal(await count(store, "one"), 2);
  });

  test("a member of the role that may not take it on is told so; its maker grants it to itself", async (t) => {
    const { open, sql, server, schema } = bench(t);
    const client = await sql();
    await client.query(`CREATE ROLE member LOGIN; CREATE ROLE barred NOLOGIN;
      GRANT barred TO member WITH SET FALSE; CREATE ROLE maker LOGIN CREATEROLE;
      CREATE SCHEMA ${schema} AUTHORIZATION maker;
      SET ROLE maker; CREATE ROLE made NOLOGIN; RESET ROLE`);
    const as = (user: string) => server.url.replace("postgres@", `${user}@`);
    await assert.rejects(open({ database: as("member"), role: "barred", schema: "of_nobody" }), {
      code: "store_unsuitable",
      what: /may not grant itself the role barred/,
      next: /GRANT "barred" TO member WITH SET TRUE;/,
    });
    assert.equal(await count(await open({ database: as("maker"), role: "made" }), "one"), 1);
  });
});
