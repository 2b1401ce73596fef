// The script that the compose file has PostgreSQL run on an empty volume, and a server that works with what it gives.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { readRoot } from "../docs/markdown.ts";
import { makePlace, ROOT } from "../e2e/program.ts";
import { postgresBench } from "../fixtures/postgres-bench.ts";

const bench = postgresBench();
const PASSWORD = 'a\'b\\c "d"$e';
const script = readRoot("deploy/postgres/role.sql");
const [, command = ""] = /^\\set password `([^`]+)`$/m.exec(script) ?? [];

/** What psql puts in the place of `:'password'`. */
const literal = (text: string) => ` E'${text.replaceAll("\\", "\\\\").replaceAll("'", "''")}'`;
const sql = script.replaceAll(/^(?:\\|--).*\n/gm, "").replace(" :'password'", () => literal(PASSWORD));

describe("the role of the compose file", { concurrency: false }, () => {
  test("is what the guide on PostgreSQL asks for, under another name", () => {
    const guide = /```sql\n([^`]*)```/.exec(readRoot("docs/guide/postgres.md"))?.[1] ?? "";
    const asked = guide
      .replaceAll(/^ +/gm, "")
      .replaceAll(/\bapp\b/g, "holdpoint")
      .trim();
    assert.equal(sql.replace(/^CREATE ROLE holdpoint LOGIN PASSWORD .*\n/m, "").trim(), asked);
  });

  test("has the password of the same file that Node reads it from", () => {
    const place = makePlace();
    try {
      const file = join(place.folder, "database.env");
      writeFileSync(file, "PGPASSWORD=0123abcdef\n");
      const inside = /\/run\/secrets\/database\.env/;
      assert.match(command, inside);
      const read = spawnSync("sh", ["-c", command.replace(inside, file)], { encoding: "utf8" });
      assert.equal(read.stdout, "0123abcdef\n");
      const node = spawnSync(process.execPath, [`--env-file=${file}`, "-p", "process.env.PGPASSWORD"], {
        encoding: "utf8",
      });
      assert.equal(node.stdout, read.stdout);
    } finally {
      place.remove();
    }
  });

  test("is enough for a server, which shows the password to nobody", async (t) => {
    const { sql: connect, server } = bench(t);
    await (await connect()).query(sql);
    await server.authenticate("host all holdpoint 127.0.0.1/32 scram-sha-256");
    const place = makePlace();
    t.after(place.remove);
    const database = server.url.replace("postgres@", "holdpoint@");
    const env = {
      ...place.env,
      HOLDPOINT_DATABASE: database,
      HOLDPOINT_HOST: "127.0.0.1",
      HOLDPOINT_LOG: "json",
    };
    const start = (password: string) =>
      spawn(process.execPath, [join(ROOT, "bin/holdpoint.mjs"), "serve", "--port", "0"], {
        env: { ...env, PGPASSWORD: password },
        cwd: place.folder,
        stdio: ["ignore", "pipe", "pipe"],
      });
    const refused = start("another");
    assert.deepEqual(await once(refused, "exit"), [4, null]);

    const child = start(PASSWORD);
    t.after(() => child.kill("SIGKILL"));
    let said = "";
    for (const stream of [child.stdout, child.stderr])
      stream.on("data", (chunk: Buffer) => {
        said += chunk.toString();
      });
    while (!said.includes("reference")) {
      assert.equal(child.exitCode, null, said);
      await new Promise<void>((resolve) => setTimeout(resolve, 20));
    }
    const [, url = ""] = /listens on (\S+)/.exec(said) ?? [];
    assert.equal((await fetch(`${url}/api/ready`)).status, 200);
    const ended = once(child, "exit");
    child.kill("SIGTERM");
    assert.deepEqual(await ended, [0, null], said);
    assert.ok(!said.includes(PASSWORD));
    const { rows } = await (await connect()).query(
      "SELECT rolsuper OR rolcreatedb OR rolcreaterole OR rolbypassrls OR rolreplication AS mighty FROM pg_roles WHERE rolname LIKE 'holdpoint%'",
    );
    assert.deepEqual(rows, [{ mighty: false }, { mighty: false }]);
  });
});
