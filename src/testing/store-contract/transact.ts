import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { sha256 } from "../../kernel/canonical-json.ts";
import { actionStream, approvalStream, budgetStream, switchStream } from "../../kernel/stream.ts";
import { decideSwitch } from "../../kill-switch/stream.ts";
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

const one = actionStream("one");
const two = approvalStream("two");
const broken = { code: "broken_rule" };

export function transactClaims(create: CreateDatabase): void {
  describe("deciding", () => {
    test("a decision over several streams writes to all of them", async (t) => {
      const { store } = await openFixture(t, create);
      const answer = await store.transact(TENANT, { write: [one, two] }, () =>
        commitResult(
          "done",
          { stream: one, events: [countedEvent()] },
          { stream: two, events: [countedEvent(), countedEvent()] },
        ),
      );
      assert.equal(answer, "done");
      assert.equal((await store.read(TENANT, one)).length, 1);
      assert.equal((await store.read(TENANT, two)).length, 2);
    });

    test("a decision that throws writes nothing and fails only its own caller", async (t) => {
      const { store } = await openFixture(t, create);
      const failing = store.transact(TENANT, { write: [one] }, () => {
        throw new RangeError("no");
      });
      const answers = await Promise.allSettled([count(store, "a"), failing, count(store, "b")]);
      assert.deepEqual(
        answers.map(({ status }) => status),
        ["fulfilled", "rejected", "fulfilled"],
      );
      await assert.rejects(failing, RangeError);
      assert.deepEqual(await store.read(TENANT, one), []);
      assert.equal((await store.log(TENANT, 0, 100)).length, 2);
    });

    test("when one event of a decision cannot be folded, none of its streams is written", async (t) => {
      const { store } = await openFixture(t, create);
      const strange = { type: "strange", tv: 1, body: {} };
      await assert.rejects(
        store.transact(TENANT, { write: [one, two], names: ["n"] }, () => ({
          kind: "commit",
          append: [
            { stream: one, events: [countedEvent()] },
            { stream: two, events: [strange] },
          ],
          names: [{ name: "n", stream: one }],
          result: null,
        })),
        TypeError,
      );
      assert.equal(await store.position(), 0);
      assert.equal(
        await store.transact(TENANT, { names: ["n"] }, (sight) => commitResult(sight.name("n"))),
        undefined,
      );
    });

    test("a body that JSON cannot hold is refused and not written", async (t) => {
      const { store } = await openFixture(t, create);
      const body = { n: Number.NaN };
      await assert.rejects(count(store, "one", body), { code: "invalid_json" });
      assert.equal(await store.position(), 0);
    });

    test("a look that writes nothing is answered, and one that writes after all has written once", async (t) => {
      const { store, another } = await openFixture(t, create);
      const other = await another();
      await count(other, "one");
      const needs = { write: [one], read: [two], isLook: true } as const;
      const seen = await store.transact(TENANT, needs, (sight) =>
        commitResult(countStateOf(sight, one).count),
      );
      assert.equal(seen, 1);
      assert.equal(await store.position(), await other.position());
      const written = await store.transact(TENANT, needs, (sight) =>
        commitResult(countStateOf(sight, one).count, { stream: one, events: [countedEvent()] }),
      );
      assert.equal(written, 1);
      assert.equal((await other.read(TENANT, one)).length, 2);
    });

    test("a read that asks for more streams gets them, also to write", async (t) => {
      const { store } = await openFixture(t, create);
      await count(store, "one");
      const answer = await store.transact(TENANT, { read: [one] }, (sight) => {
        const more = sight.missing({ read: [two] }) ?? sight.missing({ write: [one] });
        if (more !== undefined) return { kind: "need", needs: more };
        return commitResult(countStateOf(sight, one).count, { stream: one, events: [countedEvent()] });
      });
      assert.equal(answer, 1);
      assert.equal((await store.read(TENANT, one)).length, 2);
    });

    test("a decision sees what an index lists under a key as of the last commit, newest first", async (t) => {
      const { store, another, clock } = await openFixture(t, create);
      const other = await another();
      const key = { view: "tallies", key: "open" };
      const listed = (from = store) =>
        from.transact(TENANT, { index: [key] }, (sight) =>
          commitResult(sight.index(key).map(({ stream, data }) => [stream.id, data["count"]])),
        );
      assert.deepEqual(await listed(), []);
      await count(store, "a");
      clock.set(START + 1);
      await count(other, "b");
      await count(store, "elsewhere", { bucket: "closed" });
      await count(store, "theirs", {}, "other");
      for (const handle of [store, other])
        assert.deepEqual(await listed(handle), [
          ["b", 1],
          ["a", 1],
        ]);
      await count(store, "b", { bucket: "closed" });
      assert.deepEqual(await listed(other), [["a", 1]]);
    });

    test("a decision may ask for a key of an index in a later round, and write by what it finds", async (t) => {
      const { store } = await openFixture(t, create);
      await count(store, "a");
      const key = { view: "tallies", key: "open" };
      const answer = await store.transact(TENANT, { write: [one] }, (sight) => {
        const needs = sight.missing({ index: [key] });
        if (needs !== undefined) return { kind: "need", needs };
        const found = sight.index(key).map(({ stream }) => stream);
        const more = sight.missing({ write: found });
        if (more !== undefined) return { kind: "need", needs: more };
        return commitResult(
          found.map(({ id }) => id),
          ...found.map((stream) => ({ stream, events: [countedEvent()] })),
        );
      });
      assert.deepEqual(answer, ["a"]);
      assert.equal((await store.read(TENANT, actionStream("a"))).length, 2);
    });

    test("a decision that looks up an index without declaring its key is refused", async (t) => {
      const { store } = await openFixture(t, create);
      const look = store.transact(TENANT, { write: [one] }, (sight) =>
        commitResult(sight.index({ view: "tallies", key: "open" })),
      );
      await assert.rejects(look, broken);
    });

    test("a stream that nobody wrote has its initial state and no entries", async (t) => {
      const { store } = await openFixture(t, create);
      const scope = switchStream("tenant");
      const seen = await store.transact(TENANT, { read: [scope, one] }, (sight) =>
        commitResult({ stopped: sight.state(scope).stopped, count: countStateOf(sight, one).count }),
      );
      assert.deepEqual(seen, { stopped: false, count: 0 });
      assert.deepEqual(await store.read(TENANT, scope), []);
      assert.equal(await store.position(), 0);
    });

    test("a decision sees what the decision before it wrote", async (t) => {
      const { store } = await openFixture(t, create);
      const scope = switchStream("tenant");
      const stop = (by: string) =>
        store.transact(TENANT, { write: [scope] }, (sight) => {
          const events = decideSwitch(sight.state(scope), { stop: true, by, reason: "test" });
          return commitResult(events.length, { stream: scope, events });
        });
      assert.deepEqual(await Promise.all([stop("a"), stop("b"), stop("c")]), [1, 0, 0]);
    });

    test("a decision is told its tenant", async (t) => {
      const { store } = await openFixture(t, create);
      assert.equal(await store.transact(TENANT, {}, (sight) => commitResult(sight.tenant)), TENANT);
    });

    test("appending twice to a stream in one decision continues its chain", async (t) => {
      const { store } = await openFixture(t, create);
      const part = { stream: one, events: [countedEvent()] };
      await store.transact(TENANT, { write: [one] }, () => commitResult(null, part, part));
      const headers = (await store.read(TENANT, one)).map((entry) => JSON.parse(entry.header));
      assert.deepEqual(
        headers.map(({ seq }) => seq),
        [1, 2],
      );
      assert.equal(await count(store, "one"), 3);
    });

    test("a decision may ask for more streams and is then called again with them", async (t) => {
      const { store } = await openFixture(t, create);
      await count(store, "later");
      const later = actionStream("later");
      const seen = await store.transact(TENANT, { write: [one] }, (sight) => {
        const needs = sight.missing({ write: [later], read: [two, one], names: ["n"] });
        if (needs !== undefined) return { kind: "need", needs };
        return commitResult(countStateOf(sight, later).count, { stream: later, events: [countedEvent()] });
      });
      assert.equal(seen, 1);
      assert.equal((await store.read(TENANT, later)).length, 2);
    });

    test("what is missing is only what was not declared; reading does not allow writing", async (t) => {
      const { store } = await openFixture(t, create);
      const missing = await store.transact(TENANT, { write: [one], read: [two], names: ["a"] }, (sight) =>
        commitResult([
          sight.missing({ write: [one], read: [one, two], names: ["a"] }),
          sight.missing({ write: [one, two], read: [budgetStream("b")], names: ["a", "b"] }),
        ]),
      );
      assert.deepEqual(missing, [undefined, { write: [two], read: [budgetStream("b")], names: ["b"] }]);
    });

    test("a decision may ask for more a dozen times, as a call deep in workflows that several grants cover does", async (t) => {
      const { store } = await openFixture(t, create);
      const chain = Array.from({ length: 12 }, (_, at) => actionStream(`link-${at}`));
      const answer = await store.transact(TENANT, { write: [one] }, (sight) => {
        for (const read of chain) {
          const needs = sight.missing({ read: [read] });
          if (needs !== undefined) return { kind: "need", needs };
        }
        return commitResult(chain.length, { stream: one, events: [countedEvent()] });
      });
      assert.equal(answer, 12);
      assert.equal((await store.read(TENANT, one)).length, 1);
    });

    test("a decision that asks for more without end is stopped", async (t) => {
      const { store } = await openFixture(t, create);
      let round = 0;
      const endless = store.transact(TENANT, {}, () => ({
        kind: "need",
        needs: { read: [actionStream(`more-${round++}`)] },
      }));
      await assert.rejects(endless, broken);
    });

    test("looking at a stream or name that was not declared is refused", async (t) => {
      const { store } = await openFixture(t, create);
      await assert.rejects(
        store.transact(TENANT, {}, (sight) => commitResult(sight.state(one))),
        broken,
      );
      await assert.rejects(
        store.transact(TENANT, {}, (sight) => commitResult(sight.name("n"))),
        broken,
      );
    });

    test("writing to a stream, or taking a name, that was not declared is refused", async (t) => {
      const { store } = await openFixture(t, create);
      const append = { stream: two, events: [countedEvent()] };
      await assert.rejects(
        store.transact(TENANT, { write: [one] }, () => commitResult(null, append)),
        broken,
      );
      await assert.rejects(
        store.transact(TENANT, { read: [two] }, () => commitResult(null, append)),
        broken,
      );
      const names = [{ name: "n", stream: one }];
      const taking = store.transact(TENANT, {}, () => ({ kind: "commit", append: [], names, result: null }));
      await assert.rejects(taking, broken);
      assert.equal(await store.position(), 0);
    });

    test("a name leads to its stream, and can be led elsewhere", async (t) => {
      const { store, another } = await openFixture(t, create);
      const other = await another();
      const lead = (stream: typeof one | typeof two) =>
        store.transact(TENANT, { names: ["n"] }, () => ({
          kind: "commit",
          append: [],
          names: [{ name: "n", stream }],
          result: null,
        }));
      const look = () => other.transact(TENANT, { names: ["n"] }, (sight) => commitResult(sight.name("n")));
      assert.equal(await look(), undefined);
      await lead(one);
      assert.deepEqual(await look(), one);
      await lead(two);
      assert.deepEqual(await look(), two);
    });

    test("an artifact is kept once under its hash, and never changes", async (t) => {
      const { store, another } = await openFixture(t, create);
      const bytes = Uint8Array.from(times(200_000, (index) => index % 251));
      const hash = sha256(bytes);
      const put = () =>
        store.transact(TENANT, {}, () => ({
          kind: "commit",
          append: [],
          artifacts: [{ hash, bytes }],
          result: null,
        }));
      await Promise.all([put(), put()]);
      const got = await (await another()).artifact(TENANT, hash);
      assert.deepEqual(got, bytes);
      got?.fill(0);
      assert.deepEqual(await store.artifact(TENANT, hash), bytes);
      assert.equal(await store.artifact(TENANT, sha256("else")), undefined);
      assert.equal(await store.artifact(TENANT, "no hash"), undefined);
    });

    test("bytes that do not have their hash are refused, with the whole decision", async (t) => {
      const { store } = await openFixture(t, create);
      const artifacts = [{ hash: sha256("a"), bytes: Buffer.from("b") }];
      const append = [{ stream: one, events: [countedEvent()] }];
      const put = store.transact(TENANT, { write: [one] }, () => ({
        kind: "commit",
        append,
        artifacts,
        result: null,
      }));
      await assert.rejects(put, broken);
      assert.equal(await store.position(), 0);
    });

    test("time is the store's clock, and never before what the decision can see", async (t) => {
      const { store, clock } = await openFixture(t, create);
      const now = (write: typeof one) =>
        store.transact(TENANT, { write: [write] }, (sight) => commitResult(sight.now));
      await count(store, "one");
      clock.set(START - 3_600_000);
      assert.equal(await now(one), START);
      assert.equal(await now(actionStream("fresh")), START - 3_600_000);
      clock.set(START + 5);
      assert.equal(await now(one), START + 5);
    });

    test("entries of a stream never go back in time when the clock is set back", async (t) => {
      const { store, clock, another } = await openFixture(t, create);
      const other = await another();
      for (const [index, shift] of [0, 50, -7000, 20, 60, -1].entries()) {
        clock.set(START + shift);
        await count(index % 2 === 0 ? store : other, "one");
      }
      const at = (await store.read(TENANT, one)).map((entry) => JSON.parse(entry.header).at - START);
      assert.deepEqual(at, [0, 50, 50, 50, 60, 60]);
    });
  });
}
