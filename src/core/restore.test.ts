import assert from "node:assert/strict";
import { test } from "node:test";
import { fact, given } from "../testing/given.ts";
import { restored } from "./restore.ts";
import { HISTORY } from "./stream.ts";

const said = {
  by: "person:ann",
  reason: "compared",
  seen: "its inode is 2 and was 1",
  incarnation: "second",
};

test("a store's stream says how often it was restored, and who took it on last", () => {
  const once = given([]).when((draft) => {
    const more = draft.need({ write: [HISTORY] });
    if (more !== undefined) return more;
    draft.append(HISTORY, restored(said));
    return { kind: "done" };
  });
  once.then([fact(HISTORY, "store.restored", said)]);
  const { restores, last } = once.state(HISTORY);
  assert.equal(restores, 1);
  assert.partialDeepStrictEqual(last, said);
});

test("an event that a store's stream does not know is an error", () => {
  const world = given([fact(HISTORY, "store.sold")]);
  assert.throws(
    () =>
      world.when((draft) => draft.need({ read: [HISTORY] }) ?? { kind: "seen", state: draft.state(HISTORY) }),
    { code: "unknown_event" },
  );
});
