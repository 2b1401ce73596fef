// `holdpoint tenants`, and `--tenant`: what reaches another tenant, and what says that it does not.
import assert from "node:assert/strict";
import { dirname } from "node:path";
import { test } from "node:test";
import { admin } from "../../src/admin.ts";
import { temporaryFolder } from "../fixtures/folder.ts";
import { addPerson, issueApiKey } from "../fixtures/people.ts";
import { serverBench } from "../fixtures/server.ts";
import { errorOf, linesOf, runCli } from "./bench.ts";

test("a tenant is made, listed, looked into and closed where its store is", async (t) => {
  const folder = temporaryFolder(t);
  await admin(folder.open()).seals.create();
  const run = (...args: readonly string[]) => runCli(folder, args);
  const made = await run("tenants", "add", "acme", "--admin", "zoe", "--for", "30m");
  assert.equal(made.code, 0, made.err);
  assert.match(made.out, /^http:\/\/127\.0\.0\.1:8000\/login#hpl_acme_\S+\n$/);
  const issued = await run(
    ...["keys", "issue", "agent:mailer", "--name", "m", "--role", "executor", "--tenant", "acme"],
  );
  assert.match(issued.out, /^hpk_acme_/, issued.err);
  assert.match(issued.err, / --tenant acme/);
  assert.equal((await run("people")).out, "");
  assert.match((await run("people", "--tenant", "acme")).out, /^person:zoe\tzoe\tadmin,supervisor\t/);

  const mistyped = await run("people", "add", "eve", "--tenant", "acne", "--json");
  assert.equal(mistyped.code, 3, mistyped.err);
  assert.equal(errorOf(mistyped)["code"], "unknown_id");
  for (const args of [["serve"], ["init", "x"], ["whoami"], ["policy", "test"]]) {
    const refused = await run(...args, "--tenant", "acme", "--json");
    assert.equal(errorOf(refused)["code"], "usage", args.join(" "));
  }

  const closed = await run("tenants", "close", "acme", "--reason", "moved away");
  assert.equal(closed.code, 0, closed.err);
  const rows = linesOf((await run("tenants")).out).map((line) => line.split("\t").slice(0, 2));
  assert.deepEqual(rows, [
    ["acme", "closed"],
    ["default", "home"],
  ]);
  const late = await run("login-link", "zoe", "--tenant", "acme", "--json");
  assert.equal(errorOf(late)["code"], "not_eligible");
  assert.equal((await run("verify", "--tenant", "acme")).code, 0);
});

test("at a server an admin of the home tenant does the same, and the flag is refused there", async (t) => {
  const folder = temporaryFolder(t);
  await admin(folder.open()).seals.create();
  const bench = await serverBench(t, { folder: dirname(folder.path), noAuth: false });
  const { runtime } = await bench.server.office();
  const by = "person:root";
  await addPerson(runtime, { person: by, roles: ["admin"], by });
  const { text } = await issueApiKey(runtime, { principal: by, name: "terminal", by });
  const env = { HOLDPOINT_DATA: "", HOLDPOINT_SERVER: bench.url, HOLDPOINT_API_KEY: text };
  const there = (...args: readonly string[]) => runCli(folder, args, { env });
  const made = await there("tenants", "add", "acme", "--admin", "zoe", "--json");
  assert.equal(made.code, 0, made.err);
  const { url, admin: first, tenant } = JSON.parse(made.out);
  assert.ok(String(url).startsWith(`${bench.url}/login#hpl_acme_`), url);
  assert.deepEqual([first, tenant.name, tenant.by], ["person:zoe", "acme", by]);
  const refused = await there("people", "--tenant", "acme", "--json");
  assert.equal(errorOf(refused)["code"], "usage");
  const closed = await there("tenants", "close", "acme", "--reason", "moved away", "--json");
  assert.equal(JSON.parse(closed.out).status, "closed", closed.err);
  assert.equal(linesOf((await there("tenants", "list", "--json")).out).length, 2);
});
