// Whose credential it is, in one process and in several: what was revoked, ended or taken away is worth nothing.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { isHoldpointError } from "../../src/index.ts";
import {
  authenticate,
  type CredentialReading,
  identify,
  isOwnPage,
  MOST_KEPT,
} from "../../src/people/authenticate.ts";
import { parseCredential } from "../../src/people/rules/credential.ts";
import { endSession, type LoggedIn, logIn } from "../../src/people/sessions/sessions.ts";
import { issueApiKey } from "../fixtures/people.ts";
import { machine, type Process } from "../fixtures/runtime.ts";

const BY = "person:root";
const MAILER = { principal: "agent:mailer", name: "web-1", roles: ["executor"], by: BY } as const;
const SAID = { by: BY, reason: "test" };
const who = (process: Process, text: string) => authenticate(process.runtime, text);

async function loggedIn(process: Process, person: string): Promise<LoggedIn> {
  const { link: text } = await process.people.loginLink(person, { by: BY });
  const answer = await logIn(process.runtime, text);
  assert.ok(!("refused" in answer));
  return answer;
}

/** Counts what a store is asked while something is done. */
async function looksDuring(process: Process, work: () => Promise<unknown>): Promise<number> {
  const { store } = process.runtime;
  const transact = store.transact.bind(store);
  let looks = 0;
  Object.assign(store, {
    transact: (...given: Parameters<typeof transact>) => {
      looks += 1;
      return transact(...given);
    },
  });
  await work();
  Object.assign(store, { transact });
  return looks;
}

describe("a key", () => {
  test("says who acts, in which tenant, with which roles and scopes", async () => {
    const process = machine().process({ tenant: "Acme_1" });
    const { key, text } = await process.keys.issue({ ...MAILER, scopes: ["actions:propose"] });
    assert.deepEqual(await who(process, text), {
      principal: "agent:mailer",
      roles: ["executor"],
      scopes: ["actions:propose"],
      tenant: "Acme_1",
      id: key.id,
      credential: "key",
      csrf: null,
    });
  });

  test("that is wrong costs one look a second, however often it is shown, and works at once when it is made", async () => {
    const [{ clock, process }, elsewhere] = [machine(), machine()];
    const one = process();
    // The same randomness at the same moment makes the same key: here it is known before it is there.
    const random = (bytes: number) => new Uint8Array(bytes).fill(7);
    const { text } = await issueApiKey({ ...elsewhere.process().runtime, random }, MAILER);
    const wrong = async (shown: string) => {
      for (let n = 0; n < 50; n++) assert.deepEqual(await who(one, shown), { refused: "unknown" });
    };
    assert.equal(await looksDuring(one, () => wrong(text)), 1);
    await issueApiKey({ ...one.runtime, random }, MAILER);
    assert.ok("principal" in (await who(one, text)), "at once");
    const { text: other } = await elsewhere.process().keys.issue(MAILER);
    for (let second = 0; second < 3; second++) {
      assert.equal(await looksDuring(one, () => wrong(other)), 1);
      await clock.advance(1_000);
    }
  });

  test("in use is not read again because of many that are wrong", async () => {
    const { process } = machine();
    const one = process();
    const { text } = await one.keys.issue(MAILER);
    const { hash, tenant } = parseCredential("hpk", text) as { hash: string; tenant: string };
    const wrong = (n: number): CredentialReading => ({
      ...{ tenant, hash, csrf: null },
      credential: "key",
      id: `key_${String(n).padStart(26, "0")}`,
    });
    for (let n = 0; n < MOST_KEPT; n++) {
      if (n === MOST_KEPT / 2) await who(one, text);
      await identify(one.runtime, wrong(n));
    }
    assert.equal(await looksDuring(one, () => who(one, text)), 0);
  });

  test("that this process revokes is refused at once, by another process within a second", async () => {
    const { clock, process } = machine();
    const [one, other] = [process(), process()];
    const { key, text } = await one.keys.issue(MAILER);
    for (const each of [one, other]) assert.ok("principal" in (await who(each, text)));
    await one.keys.revoke(key.id, SAID);
    assert.deepEqual(await who(one, text), { refused: "revoked" });
    await clock.advance(999);
    assert.ok("principal" in (await who(other, text)), "known for a second");
    await clock.advance(1);
    assert.deepEqual(await who(other, text), { refused: "revoked" });
  });

  test("is over at its time to the millisecond, however lately it was looked at", async () => {
    const { clock, process } = machine();
    const one = process();
    const { text } = await one.keys.issue({ ...MAILER, forMs: 1_500 });
    await clock.advance(1_000);
    assert.ok("principal" in (await who(one, text)));
    await clock.advance(499);
    assert.ok("principal" in (await who(one, text)));
    await clock.advance(1);
    assert.deepEqual(await who(one, text), { refused: "expired" });
  });

  test("that was rotated works until the overlap is over; the new one goes on", async () => {
    const { clock, process } = machine();
    const one = process();
    const old = await one.keys.issue({ ...MAILER, forMs: 3_600_000 });
    const { key, text } = await one.keys.rotate(old.key.id, { by: BY, overlapMs: 5_000 });
    assert.equal(key.replaces, old.key.id);
    assert.equal((await one.keys.get(old.key.id)).replacedBy, key.id);
    for (const each of [old.text, text])
      assert.partialDeepStrictEqual(await who(one, each), { roles: ["executor"] });
    await clock.advance(5_000);
    assert.deepEqual(await who(one, old.text), { refused: "expired" });
    assert.ok("principal" in (await who(one, text)));
    await assert.rejects(one.keys.rotate(old.key.id, { by: BY }), { code: "wrong_state" });
  });

  test("of another tenant opens nothing here, also with this tenant's name written into it", async () => {
    const { process } = machine();
    const [acme, globex] = [process({ tenant: "acme" }), process({ tenant: "globex" })];
    const { text, key } = await acme.keys.issue(MAILER);
    assert.partialDeepStrictEqual(await who(globex, text), { tenant: "acme" });
    const moved = text.replace("_acme_", "_globex_");
    assert.deepEqual(await who(globex, moved), { refused: "wrong_checksum" });
    await assert.rejects(globex.keys.get(key.id), (error) => isHoldpointError(error, "unknown_id"));
    assert.deepEqual((await globex.keys.list()).items, []);
  });

  test("mutated ten thousand times is refused ten thousand times, mostly without a look at the store", async () => {
    const process = machine().process();
    const { text } = await process.keys.issue(MAILER);
    const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    const random = process.runtime.random;
    let tried = 0;
    const looks = await looksDuring(process, async () => {
      while (tried < 10_000) {
        const letters = [...text];
        for (const byte of random(1 + (tried % 4)))
          letters[4 + ((byte * 7 + tried) % (text.length - 4))] = alphabet[(byte + tried) % 64] ?? "A";
        const mutant = letters.join("");
        if (mutant === text) continue;
        tried += 1;
        assert.ok("refused" in (await who(process, mutant)), mutant);
      }
    });
    assert.equal(looks, 0);
  });

  test("with a right checksum and a wrong secret is as unknown as one that never was", async () => {
    const { process } = machine();
    const [one, other] = [process({ tenant: "acme" }), process({ tenant: "acme" })];
    const { key } = await one.keys.issue(MAILER);
    const forged = await issueApiKey(
      { ...other.runtime, random: () => new Uint8Array(32).fill(1), tenant: "globex" },
      MAILER,
    );
    const parsed = parseCredential("hpk", forged.text);
    assert.ok(typeof parsed !== "string");
    assert.notEqual(parsed.id, key.id);
    const { formatCredential: printText } = await import("../../src/people/rules/credential.ts");
    const guess = printText("hpk", { tenant: "acme", id: key.id, secret: new Uint8Array(32).fill(1) }) ?? "";
    const never =
      printText("hpk", { tenant: "acme", id: parsed.id, secret: new Uint8Array(32).fill(1) }) ?? "";
    assert.deepEqual(await who(one, guess), { refused: "unknown" });
    assert.deepEqual(await who(one, never), { refused: "unknown" });
  });

  test("asked about a thousand times in a second costs one look", async () => {
    const { clock, process } = machine();
    const one = process();
    const { text } = await one.keys.issue(MAILER);
    const thousand = () => Promise.all(Array.from({ length: 1_000 }, () => who(one, text)));
    assert.equal(await looksDuring(one, thousand), 1);
    assert.equal(await looksDuring(one, thousand), 0);
    await clock.advance(1_000);
    assert.equal(await looksDuring(one, thousand), 1);
  });

  test("is asked about again after a look that failed", async () => {
    const one = machine().process();
    const { text } = await one.keys.issue(MAILER);
    const { store } = one.runtime;
    const transact = store.transact.bind(store);
    Object.assign(store, { transact: () => Promise.reject(new Error("away")) });
    await assert.rejects(who(one, text), /away/);
    Object.assign(store, { transact });
    assert.ok("principal" in (await who(one, text)));
  });
});

describe("people", () => {
  test("who are suspended or removed have keys and sessions that are worth nothing", async () => {
    const { clock, process } = machine();
    const one = process();
    await one.people.add({ person: BY, roles: ["admin"], by: BY });
    await one.people.add({ person: "person:ann", roles: ["supervisor"], by: BY });
    const { text } = await one.keys.issue({ principal: "person:ann", name: "laptop", by: BY });
    const { cookie } = await loggedIn(one, "person:ann");
    const both = async () => [await who(one, text), await who(one, cookie)];
    for (const each of await both()) assert.partialDeepStrictEqual(each, { roles: ["supervisor"] });
    await one.people.suspend("person:ann", SAID);
    assert.deepEqual(await both(), [{ refused: "suspended" }, { refused: "suspended" }]);
    await one.people.reinstate("person:ann", SAID);
    await one.people.change("person:ann", { roles: ["auditor"], by: BY });
    for (const each of await both()) assert.partialDeepStrictEqual(each, { roles: ["auditor"] });
    await one.people.remove("person:ann", SAID);
    assert.deepEqual(await both(), [{ refused: "removed" }, { refused: "removed" }]);
    await clock.advance(1);
    await one.people.add({ person: "person:ann", roles: ["admin"], by: BY });
    assert.deepEqual(await both(), [{ refused: "removed" }, { refused: "removed" }], "somebody new");
  });

  test("the last admin stays", async () => {
    const one = machine().process();
    await one.people.add({ person: BY, roles: ["admin"], by: BY });
    const last = { code: "last_admin" };
    await assert.rejects(one.people.remove(BY, SAID), last);
    await assert.rejects(one.people.suspend(BY, SAID), last);
    await assert.rejects(one.people.change(BY, { roles: [], by: BY }), last);
    assert.partialDeepStrictEqual(await one.people.list(), [
      { person: BY, roles: ["admin"], suspended: false },
    ]);
  });
});

describe("a session", () => {
  test("comes from a link once, within its time, and ends when it is left", async () => {
    const { clock, process } = machine();
    const one = process();
    await one.people.add({ person: "person:ann", roles: ["supervisor"], by: BY });
    const link = await one.people.loginLink("person:ann", { by: BY });
    const session = await logIn(one.runtime, link.link);
    assert.ok(!("refused" in session));
    assert.deepEqual(await logIn(one.runtime, link.link), { refused: "used" });
    const identity = await who(one, session.cookie);
    assert.partialDeepStrictEqual(identity, {
      principal: "person:ann",
      credential: "session",
      id: session.session,
    });
    assert.ok("principal" in identity && identity.scopes.includes("approvals:decide"));
    assert.ok(isOwnPage(identity, session.csrf));
    for (const token of [undefined, "", session.csrf.slice(1), `${session.csrf}x`, session.cookie.slice(-43)])
      assert.equal(isOwnPage(identity, token), false);
    await endSession(one.runtime, session.session, { by: "person:ann", reason: "logged out" });
    assert.deepEqual(await who(one, session.cookie), { refused: "ended" });
    const late = await one.people.loginLink("person:ann", { by: BY });
    await clock.advance(600_000);
    assert.deepEqual(await logIn(one.runtime, late.link), { refused: "expired" });
    const another = await loggedIn(one, "person:ann");
    await clock.advance(12 * 3_600_000);
    assert.deepEqual(await who(one, another.cookie), { refused: "expired" });
  });

  test("a hundred uses of one link at once make one session", async () => {
    const one = machine().process();
    await one.people.add({ person: "person:ann", by: BY });
    const { link: text } = await one.people.loginLink("person:ann", { by: BY });
    const answers = await Promise.all(Array.from({ length: 100 }, () => logIn(one.runtime, text)));
    assert.equal(answers.filter((answer) => !("refused" in answer)).length, 1);
  });

  test("keys, links and cookies do not pass for one another", async () => {
    const one = machine().process();
    await one.people.add({ person: "person:ann", by: BY });
    const { text } = await one.keys.issue(MAILER);
    const link = await one.people.loginLink("person:ann", { by: BY });
    const { cookie } = await loggedIn(one, "person:ann");
    assert.deepEqual(await who(one, link.link), { refused: "malformed" });
    assert.deepEqual(await logIn(one.runtime, text), { refused: "malformed" });
    assert.deepEqual(await logIn(one.runtime, cookie), { refused: "malformed" });
    const [tenant = "", , secret = ""] = cookie.split(".");
    assert.deepEqual(await who(one, `hpk_${tenant}_${link.id.slice(4)}_${secret}AAAAAA`), {
      refused: "wrong_checksum",
    });
  });
});
