import assert from "node:assert/strict";
import { test } from "node:test";
import { STORE_HISTORY } from "../kernel/stream.ts";
import { fact, given } from "../testing/given.ts";
import { recordRestore } from "./stream.ts";

const said = {
  by: "person:ann",
  reason: "compared",
  seen: "its inode is 2 and was 1",
  incarnation: "second",
};

test("a store's stream says how often it was restored, and who took it on last", () => {
  const once = given([]).when((draft) => {
    const more = draft.need({ write: [STORE_HISTORY] });
    if (more !== undefined) return more;
    draft.append(STORE_HISTORY, recordRestore(said));
    return { kind: "done" };
  });
  once.then([fact(STORE_HISTORY, "store.restored", said)]);
  const { restores, last } = once.state(STORE_HISTORY);
  assert.equal(restores, 1);
  assert.partialDeepStrictEqual(last, said);
});

test("an event that a store's stream does not know is an error", () => {
  const world = given([fact(STORE_HISTORY, "store.sold")]);
  assert.throws(
    () =>
      world.when(
        (draft) =>
          draft.need({ read: [STORE_HISTORY] }) ?? { kind: "seen", state: draft.state(STORE_HISTORY) },
      ),
    { code: "unknown_event" },
  );
});
