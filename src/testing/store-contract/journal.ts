/** Contract tests of the journal: hash chains, reading, seals, and separation of tenants. */

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { bodyDigest, GENESIS, type StoredEntry } from "../../journal/entry.ts";
import type { Seal, SealDraft } from "../../journal/seal.ts";
import { sha256 } from "../../kernel/canonical-json.ts";
import { actionStream, streamName } from "../../kernel/stream.ts";
import type { JournalEntry, Store } from "../../stores/store.ts";
import {
  type CreateDatabase,
  commitResult,
  count,
  countedEvent,
  countStateOf,
  openFixture,
  START,
  TENANT,
  times,
} from "./fixture.ts";

/** Recomputes every hash of a stream from the stored bytes. */
export function checkChain(entries: readonly StoredEntry[] | undefined): void {
  let prev = GENESIS;
  for (const [index, entry] of (entries ?? assert.fail("no entries")).entries()) {
    const header = JSON.parse(entry.header);
    assert.equal(sha256(entry.header), entry.hash);
    assert.equal(header.prev, prev);
    assert.equal(header.seq, index + 1);
    assert.equal(header.body, bodyDigest(entry.salt ?? "", entry.body ?? ""));
    prev = entry.hash;
  }
}

const ODD_IDS = [
  "ünïcödé/äöü",
  "日本語",
  "👩‍👩‍👧‍👦",
  "a/b/../c",
  "' OR 1=1 --",
  '"quoted"\\',
  "%_*?",
  "new\nline\ttab",
  "nul\u0000inside",
  " ",
  "__proto__",
  "\u00e9",
  "e\u0301",
  "ID",
  "id",
  "x".repeat(2000),
];

export function chainClaims(create: CreateDatabase): void {
  describe("the chain", () => {
    test("every entry follows the one before it, and every hash can be computed again", async (t) => {
      const { store, another } = await openFixture(t, create);
      const other = await another();
      for (let step = 0; step < 20; step++)
        await count(step % 3 === 0 ? store : other, `act-${step % 2}`, { step });
      for (const id of ["act-0", "act-1"]) checkChain(await store.read(TENANT, actionStream(id)));
    });

    test("no two entries have the same salt", async (t) => {
      const { store } = await openFixture(t, create);
      for (let step = 0; step < 10; step++) await count(store, "one");
      const salts = (await store.read(TENANT, actionStream("one"))).map(({ salt }) => salt);
      assert.equal(new Set(salts).size, 10);
      assert.match(salts[0] ?? "", /^[0-9a-f]{32}$/);
    });

    test("ids in any script, with any sign, stay apart and come back as they were", async (t) => {
      const { store, another } = await openFixture(t, create);
      for (const [index, id] of ODD_IDS.entries()) assert.equal(await count(store, id, { index }), 1, id);
      const other = await another();
      for (const [index, id] of ODD_IDS.entries()) {
        const [entry, ...more] = await other.read(TENANT, actionStream(id));
        assert.deepEqual(more, []);
        assert.equal(JSON.parse(entry?.header ?? "").stream, streamName(actionStream(id)));
        assert.deepEqual(JSON.parse(entry?.body ?? ""), { index });
      }
      const moved = await other.follow(0, new AbortController().signal);
      assert.deepEqual(moved.streams.map(({ stream }) => stream.id).sort(), ODD_IDS.toSorted());
    });

    test("text that is not valid Unicode is refused", async (t) => {
      const { store } = await openFixture(t, create);
      const half = "half \ud800";
      await assert.rejects(count(store, half), { code: "invalid_input" });
      await assert.rejects(count(store, "one", {}, half), { code: "invalid_input" });
      await assert.rejects(
        store.transact(TENANT, { names: [half] }, () => ({ kind: "commit", append: [], result: null })),
        { code: "invalid_input" },
      );
      assert.equal(await store.position(), 0);
    });

    test("a body of a megabyte comes back byte for byte", async (t) => {
      const { store, another } = await openFixture(t, create);
      const text = "äß∂👍 0123456789".repeat(60_000);
      await count(store, "one", { text });
      const [entry] = await (await another()).read(TENANT, actionStream("one"));
      assert.ok(entry?.body);
      assert.equal(JSON.parse(entry.body).text, text);
      checkChain([entry]);
    });
  });
}

const one = actionStream("one");
const seqs = (entries: readonly JournalEntry[]) =>
  entries.map(({ header }): number => JSON.parse(header).seq);
const names = (entries: readonly JournalEntry[]) =>
  entries.map(({ header }): string => JSON.parse(header).stream);
const positions = (entries: readonly JournalEntry[]) => entries.map(({ position }) => position);

function checkRising(numbers: readonly number[]): void {
  for (const [at, number] of numbers.entries()) assert.ok(number > (numbers[at - 1] ?? 0), `${numbers}`);
}

export function readClaims(create: CreateDatabase): void {
  describe("reading", () => {
    test("a stream is read from any entry on, as many as wanted", async (t) => {
      const { store } = await openFixture(t, create);
      for (let step = 0; step < 5; step++) await count(store, "one");
      assert.deepEqual(seqs(await store.read(TENANT, one)), [1, 2, 3, 4, 5]);
      assert.deepEqual(seqs(await store.read(TENANT, one, { fromSeq: 3 })), [3, 4, 5]);
      assert.deepEqual(seqs(await store.read(TENANT, one, { fromSeq: 2, limit: 2 })), [2, 3]);
      assert.deepEqual(await store.read(TENANT, one, { fromSeq: 9 }), []);
      assert.deepEqual(await store.read(TENANT, actionStream("none")), []);
    });

    test("the log has a tenant's entries in the order of their commits", async (t) => {
      const { store, another } = await openFixture(t, create);
      const other = await another();
      await count(store, "one");
      await count(other, "two");
      await count(store, "one", {}, "globex");
      await count(store, "one");
      const log = await other.log(TENANT, 0, 100);
      assert.deepEqual(names(log), ["action/one", "action/two", "action/one"]);
      const [first = 0, second = 0, fourth = 0] = positions(log);
      assert.deepEqual(await other.log(TENANT, first, 1), log.slice(1, 2));
      const [third = 0, ...more] = positions(await other.log("globex", 0, 100));
      assert.deepEqual(more, []);
      checkRising([first, second, third, fourth]);
      assert.deepEqual(await other.log("nobody", 0, 100), []);
      assert.equal(await other.position(), fourth);
    });

    test("a stream of a thousand entries is read whole, and verifies", async (t) => {
      const { store, another } = await openFixture(t, create);
      const other = await another();
      for (let part = 0; part < 4; part++) {
        const events = times(256, (index) => countedEvent({ index }));
        await store.transact(TENANT, { write: [one] }, () => commitResult(null, { stream: one, events }));
      }
      const entries = await other.read(TENANT, one);
      assert.equal(entries.length, 1024);
      checkChain(entries);
      checkRising(positions(entries));
      assert.deepEqual(await other.log(TENANT, 0, 5000), entries);
      assert.equal(await count(other, "one"), 1025);
    });
  });
}

const signDraft = (draft: SealDraft): Seal => ({
  n: draft.n,
  jws: `signed ${JSON.stringify(draft)}`,
  leaves: draft.leaves,
});

const draftInSeal = (seal: Seal | undefined): SealDraft =>
  JSON.parse((seal?.jws ?? "").slice("signed ".length));

export function sealClaims(create: CreateDatabase): void {
  describe("seals", () => {
    test("a seal covers the heads that moved, in the order of their names", async (t) => {
      const { store } = await openFixture(t, create);
      for (const id of ["b", "a", "\u{1f600}", "￭", "b"]) await count(store, id);
      const draft = draftInSeal(await store.seal(TENANT, signDraft));
      const { leaves, ...rest } = draft;
      const { incarnation } = store;
      assert.deepEqual(rest, {
        tenant: TENANT,
        n: 1,
        at: START,
        prev: GENESIS,
        incarnation,
        position: await store.position(),
        entries: 5,
      });
      assert.deepEqual(
        leaves.map(({ stream }) => stream),
        ["action/a", "action/b", "action/\u{1f600}", "action/￭"],
      );
      const head = (await store.read(TENANT, actionStream("b"))).at(-1);
      assert.deepEqual(leaves[1], { stream: "action/b", seq: 2, hash: head?.hash });
    });

    test("seals are chained, count every entry, and are kept", async (t) => {
      const { store, another, clock } = await openFixture(t, create);
      await count(store, "a");
      await count(store, "b");
      const first = await store.seal(TENANT, signDraft);
      await count(store, "b");
      clock.set(START - 1000);
      const second = await (await another()).seal(TENANT, signDraft);
      const draft = draftInSeal(second);
      assert.equal(draft.prev, sha256(first?.jws ?? ""));
      assert.deepEqual(
        [draft.n, draft.entries, draft.position, draft.at],
        [2, 3, await store.position(), START],
      );
      assert.deepEqual(
        draft.leaves.map(({ stream, seq }) => [stream, seq]),
        [["action/b", 2]],
      );
      assert.deepEqual(await store.seals(TENANT), [first, second]);
      assert.deepEqual(await store.seals(TENANT, 1), [second]);
      assert.deepEqual(await store.seals(TENANT, 2), []);
      const [oldest] = await store.log(TENANT, 0, 1);
      assert.deepEqual(await store.sealOver(TENANT, oldest?.position ?? 0), first);
      assert.deepEqual(await store.sealOver(TENANT, "last"), second);
      assert.deepEqual(await store.sealOver(TENANT, await store.position()), second);
      assert.equal(await store.sealOver(TENANT, (await store.position()) + 1), undefined);
      assert.equal(await store.sealOver("nobody", "last"), undefined);
    });

    test("nothing is sealed when nothing moved", async (t) => {
      const { store } = await openFixture(t, create);
      assert.equal(await store.seal(TENANT, signDraft), undefined);
      await count(store, "a");
      await store.seal(TENANT, signDraft);
      assert.equal(await store.seal(TENANT, signDraft), undefined);
      assert.equal((await store.seals(TENANT)).length, 1);
    });

    test("of two sealers at once, one seals and the other finds nothing left", async (t) => {
      const { store, another } = await openFixture(t, create);
      const other = await another();
      await count(store, "a");
      const seals = await Promise.all([
        store.seal(TENANT, signDraft),
        other.seal(TENANT, signDraft),
        store.seal(TENANT, signDraft),
      ]);
      assert.equal(seals.filter((seal) => seal !== undefined).length, 1);
      assert.equal((await other.seals(TENANT)).length, 1);
    });

    test("a signature that fails seals nothing", async (t) => {
      const { store } = await openFixture(t, create);
      await count(store, "a");
      const failing = store.seal(TENANT, () => {
        throw new RangeError("no key");
      });
      await assert.rejects(failing, RangeError);
      await assert.rejects(
        store.seal(TENANT, (draft) => ({ ...signDraft(draft), n: 9 })),
        { code: "broken_rule" },
      );
      assert.deepEqual(await store.seals(TENANT), []);
      assert.equal(draftInSeal(await store.seal(TENANT, signDraft)).n, 1);
    });
  });
}

const bytes = Buffer.from("a secret");

const signDraftAsJson = (draft: SealDraft): Seal => ({
  n: draft.n,
  jws: JSON.stringify(draft),
  leaves: draft.leaves,
});

/** Calls every method that writes. */
async function fill(store: Store, tenant: string): Promise<void> {
  await store.transact(tenant, { write: [one], names: ["request"] }, () => ({
    kind: "commit",
    append: [{ stream: one, events: [countedEvent({ due: 1 })] }],
    names: [{ name: "request", stream: one }],
    artifacts: [{ hash: sha256(bytes), bytes }],
    result: null,
  }));
  await store.putSecret(tenant, "token", bytes);
  await store.seal(tenant, signDraftAsJson);
}

export function tenantClaims(create: CreateDatabase): void {
  describe("tenants", () => {
    test("a tenant sees nothing of another by any method, under the same names", async (t) => {
      const { store } = await openFixture(t, create);
      for (const tenant of ["older", "ACME"]) await store.putSecret(tenant, "else", bytes);
      await fill(store, "acme");
      for (const tenant of ["newer", "acme "]) await store.putSecret(tenant, "else", bytes);
      for (const tenant of ["older", "ACME", "newer", "acme ", "never seen"]) {
        const seen = await store.transact(tenant, { read: [one], names: ["request"] }, (sight) =>
          commitResult([countStateOf(sight, one).count, sight.name("request")]),
        );
        assert.deepEqual(seen, [0, undefined]);
        assert.deepEqual(await store.read(tenant, one), []);
        assert.deepEqual(await store.log(tenant, 0, 100), []);
        assert.deepEqual(await store.query(tenant, { view: "tallies", limit: 9 }), []);
        assert.deepEqual(
          await store.query(tenant, { view: "tallies", bucket: "open", dueBy: 9, limit: 9 }),
          [],
        );
        assert.equal(await store.count(tenant, "tallies", "open"), 0);
        assert.equal(await store.artifact(tenant, sha256(bytes)), undefined);
        assert.equal(await store.getSecret(tenant, "token"), undefined);
        assert.deepEqual(await store.seals(tenant), []);
        assert.equal(await store.seal(tenant, signDraftAsJson), undefined);
      }
      assert.deepEqual(await store.tenants(), ["acme"]);
    });

    test("two tenants use the same ids without touching each other", async (t) => {
      const { store, another } = await openFixture(t, create);
      const other = await another();
      await fill(store, "acme");
      await fill(other, "globex");
      assert.equal(await count(store, "one", {}, "globex"), 2);
      assert.equal(await count(other, "one", {}, "acme"), 2);
      for (const tenant of ["acme", "globex"]) {
        const entries = await store.read(tenant, one);
        assert.deepEqual(
          entries.map(({ header }) => JSON.parse(header).tenant),
          [tenant, tenant],
        );
        assert.deepEqual(await store.log(tenant, 0, 100), entries);
        assert.equal((await store.query(tenant, { view: "tallies", limit: 9 })).length, 1);
        assert.deepEqual(
          (await store.seals(tenant)).map(({ n }) => n),
          [1],
        );
      }
      assert.deepEqual(await other.tenants(), ["acme", "globex"]);
    });

    test("a tenant that only looked, or only keeps a secret, has no entries", async (t) => {
      const { store } = await openFixture(t, create);
      await store.transact("looker", { read: [one] }, () => commitResult(null));
      await store.putSecret("keeper", "token", bytes);
      assert.deepEqual(await store.tenants(), []);
    });

    test("a secret's row is kept, replaced and found by every process", async (t) => {
      const { store, another } = await openFixture(t, create);
      const other = await another();
      await store.putSecret("acme", "token", Buffer.from([1, 0, 255]));
      assert.deepEqual(await other.getSecret("acme", "token"), Uint8Array.from([1, 0, 255]));
      await other.putSecret("acme", "token", Buffer.from([2]));
      assert.deepEqual(await store.getSecret("acme", "token"), Uint8Array.from([2]));
      assert.equal(await store.getSecret("acme", "other"), undefined);
      assert.equal(await store.position(), 0);
    });
  });
}
