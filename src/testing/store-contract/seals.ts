import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { GENESIS } from "../../journal/entry.ts";
import type { Seal, SealDraft } from "../../journal/seal.ts";

import { sha256 } from "../../kernel/canonical-json.ts";
import { actionStream } from "../../kernel/stream.ts";

import { bench, type CreateDatabase, count, START, TENANT } from "./bench.ts";

const sign = (draft: SealDraft): Seal => ({
  n: draft.n,
  jws: `signed ${JSON.stringify(draft)}`,
  leaves: draft.leaves,
});
const draftOf = (seal: Seal | undefined): SealDraft => JSON.parse((seal?.jws ?? "").slice("signed ".length));

export function sealClaims(create: CreateDatabase): void {
  describe("seals", () => {
    test("a seal covers the heads that moved, in the order of their names", async (t) => {
      const { store } = await bench(t, create);
      for (const id of ["b", "a", "\u{1f600}", "￭", "b"]) await count(store, id);
      const draft = draftOf(await store.seal(TENANT, sign));
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
      const { store, another, clock } = await bench(t, create);
      await count(store, "a");
      await count(store, "b");
      const first = await store.seal(TENANT, sign);
      await count(store, "b");
      clock.set(START - 1000);
      const second = await (await another()).seal(TENANT, sign);
      const draft = draftOf(second);
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
      const { store } = await bench(t, create);
      assert.equal(await store.seal(TENANT, sign), undefined);
      await count(store, "a");
      await store.seal(TENANT, sign);
      assert.equal(await store.seal(TENANT, sign), undefined);
      assert.equal((await store.seals(TENANT)).length, 1);
    });

    test("of two sealers at once, one seals and the other finds nothing left", async (t) => {
      const { store, another } = await bench(t, create);
      const other = await another();
      await count(store, "a");
      const seals = await Promise.all([
        store.seal(TENANT, sign),
        other.seal(TENANT, sign),
        store.seal(TENANT, sign),
      ]);
      assert.equal(seals.filter((seal) => seal !== undefined).length, 1);
      assert.equal((await other.seals(TENANT)).length, 1);
    });

    test("a signature that fails seals nothing", async (t) => {
      const { store } = await bench(t, create);
      await count(store, "a");
      const failing = store.seal(TENANT, () => {
        throw new RangeError("no key");
      });
      await assert.rejects(failing, RangeError);
      await assert.rejects(
        store.seal(TENANT, (draft) => ({ ...sign(draft), n: 9 })),
        { code: "broken_rule" },
      );
      assert.deepEqual(await store.seals(TENANT), []);
      assert.equal(draftOf(await store.seal(TENANT, sign)).n, 1);
    });
  });
}
