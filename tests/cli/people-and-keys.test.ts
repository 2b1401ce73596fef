// People and keys from a terminal.
import assert from "node:assert/strict";
import { userInfo } from "node:os";
import { describe, test } from "node:test";
import { admin } from "../../src/admin.ts";
import { wallClock } from "../../src/kernel/clock.ts";
import { authenticate, type Identity, type NotIdentified } from "../../src/people/authenticate.ts";
import { logIn } from "../../src/people/sessions/sessions.ts";
import { pooledRandom } from "../../src/runtime/runtime.ts";
import { openSqliteStore } from "../../src/stores/sqlite/open.ts";
import { FOLDS, PROJECTIONS } from "../../src/streams.ts";

import { temporaryFolder } from "../fixtures/folder.ts";
import { errorOf, linesOf, runCli } from "./bench.ts";

const ME = `person:${userInfo().username}`;
const random = pooledRandom();
const storeIn = (folder: string) =>
  openSqliteStore({
    folder,
    folds: FOLDS,
    projections: PROJECTIONS,
    clock: wallClock,
    random,
    mode: "existing",
  });

describe("people and keys", () => {
  test("somebody is added, gets a key that works, which is rotated and revoked", async (t) => {
    const folder = temporaryFolder(t);
    await folder.open().close();
    await admin(folder.open()).people.list();
    const cli = (...line: readonly string[]) => runCli(folder, line);
    const added = await cli(
      "people",
      "add",
      "ann",
      "--role",
      "supervisor",
      "--role",
      "auditor",
      "--group",
      "finance",
    );
    assert.equal(added.code, 0, added.err);
    assert.match(added.out, /In the list of people: person:ann {2}ann {2}supervisor,auditor {2}finance {2}-/);
    const changed = await cli(
      "people",
      "change",
      "ann",
      "--role",
      "none",
      "--mail",
      "ann@example.com",
      "--json",
    );
    assert.partialDeepStrictEqual(JSON.parse(changed.out), {
      roles: [],
      mail: "ann@example.com",
      groups: ["finance"],
    });
    const cells = linesOf((await cli("people")).out).map((line) => line.split("\t"));
    assert.deepEqual(cells[0]?.slice(0, 6), ["person:ann", "ann", "-", "finance", "ann@example.com", "good"]);

    const issued = await cli(
      "keys",
      "issue",
      "agent:mailer",
      "--name",
      "web 1",
      "--role",
      "executor",
      "--for",
      "90d",
    );
    assert.equal(issued.code, 0, issued.err);
    const text = issued.out.trim();
    assert.match(issued.err, /shown this once[\s\S]*Authorization: Bearer/);
    const store = await storeIn(folder.path);
    t.after(() => store.close());
    const who = (credential: string): Promise<Identity | NotIdentified> =>
      authenticate({ store, clock: wallClock }, credential);
    const identity = await who(text);
    assert.partialDeepStrictEqual(identity, {
      principal: "agent:mailer",
      tenant: "default",
      roles: ["executor"],
    });
    assert.ok("id" in identity);
    const rotated = await cli("keys", "rotate", identity.id.slice(0, -2), "--overlap", "0", "--json");
    const next = JSON.parse(rotated.out) as { key: { id: string; by: string }; text: string };
    assert.equal(next.key.by, ME);
    assert.partialDeepStrictEqual(await who(next.text), { principal: "agent:mailer" });
    const listed = linesOf((await cli("keys", "list")).out);
    assert.deepEqual(
      listed.map((line) => line.split("\t")[0]),
      [next.key.id],
    );
    assert.equal(linesOf((await cli("keys", "--all", "--of", "agent:mailer")).out).length, 2);
    const revoked = await cli("keys", "revoke", next.key.id, "--reason", "laptop stolen");
    assert.match(revoked.out, /Revoked: key_.*within a second/);
    const journal = await cli("journal", next.key.id);
    assert.match(journal.out, /key\.issued[\s\S]*key\.revoked/);
    assert.ok(!journal.out.includes(next.text.slice(-49, -6)));
    await store.close();
    const later = await storeIn(folder.path);
    t.after(() => later.close());
    assert.deepEqual(await authenticate({ store: later, clock: wallClock }, next.text), {
      refused: "revoked",
    });

    const link = await cli("login-link", "ann", "--url", "https://holdpoint.example/");
    const url = new URL(link.out.trim());
    assert.equal(url.pathname, "/login");
    const session = await logIn({ store: later, clock: wallClock, random }, url.hash.slice(1));
    assert.partialDeepStrictEqual(session, { person: "person:ann", tenant: "default" });
    assert.match((await cli("people", "suspend", "ann", "--reason", "on leave")).out, /Suspended/);
    assert.match((await cli("people", "reinstate", "ann", "--reason", "back")).out, /Reinstated/);
    assert.match((await cli("people", "remove", "ann", "--reason", "left")).out, /Removed/);
    assert.equal((await cli("people")).err, "The list of people is empty.\n");
  });

  test("what is wrong is said with what to type instead, and nothing is written", async (t) => {
    const folder = temporaryFolder(t);
    const hp = folder.open();
    await admin(hp).people.add({ person: "person:root", roles: ["admin"], by: "person:root" });
    const cases: readonly (readonly [readonly string[], number, RegExp])[] = [
      [["people", "add"], 2, /name is needed/],
      [["people", "add", "ann", "--role", "boss"], 2, /"boss" is no role/],
      [["people", "add", "ann", "--mail", "ann"], 2, /not a mail address/],
      [["people", "add", "ann", "--reason", "x"], 2, /--reason does not go with/],
      [["people", "change", "root"], 2, /Nothing to change/],
      [["people", "change", "root", "--role", "none"], 1, /last admin/],
      [["people", "remove", "root", "--reason", "x"], 1, /last admin/],
      [["people", "remove", "eve", "--reason", "x"], 3, /not in the list/],
      [["keys", "issue", "--name", "x"], 2, /For whom/],
      [["keys", "issue", "mailer", "--name", "x", "--role", "executor"], 2, /is not a principal/],
      [["keys", "issue", "agent:mailer", "--role", "executor"], 2, /needs --name/],
      [
        ["keys", "issue", "agent:m", "--name", "x", "--role", "admin", "--scope", "approvals:decide"],
        1,
        /do not bring/,
      ],
      [["keys", "issue", "person:ann", "--name", "x"], 1, /not in the list/],
      [["keys", "issue", "agent:m", "--name", "x", "--role", "poster", "--for", "ever"], 2, /span of time/],
      [["keys", "rotate", "key_ABCDEF"], 3, /No id begins/],
      [["keys", "revoke", "grt_ABCDEFGH", "--reason", "x"], 3, /those begin with key_/],
      [["login-link", "ann"], 1, /not in the list/],
      [["login-link", "root", "--url", "javascript:x"], 2, /not a server's address/],
      [["login-link", ""], 2, /A person's name is needed/],
    ];
    const ran = await Promise.all(cases.map(([line]) => runCli(folder, [...line, "--json"])));
    for (const [at, [line, code, said]] of cases.entries()) {
      const one = ran[at] ?? assert.fail();
      assert.match(`${errorOf(one)["what"]} ${errorOf(one)["next"]}`, said, line.join(" "));
      assert.equal(one.code, code, `${line.join(" ")}: ${one.err}`);
    }
    assert.deepEqual((await admin(hp).keys.list()).items, []);
    assert.equal((await admin(hp).people.list()).length, 1);
  });
});
